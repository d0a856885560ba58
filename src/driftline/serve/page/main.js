// The frame of the page: which view is shown, the key, and the state of the connection.

import { call, Refused } from "./api.js";
import { signInForm } from "./dialogs.js";
import { h, setText } from "./dom.js";
import { moment } from "./format.js";
import { overviewView } from "./overview.js";
import { streamView } from "./stream.js";

const main = document.getElementById("main");
const connection = document.getElementById("connection");
const keyLine = document.getElementById("key");
const announcements = document.getElementById("announcements");
let session = { needs_key: false, key: null };
let stop = () => {};
let visit = 0;

/** Return whether the caller may do everything with a stream; "*" stands for all streams. */
function isAdmin(stream) {
  const scopes = session.key?.scopes ?? {};
  return !session.needs_key || scopes[stream] === "admin" || scopes["*"] === "admin";
}

/** Read which key is used; throw Refused if there is none, and one is needed. */
async function checkKey() {
  session = await call("GET", "session");
  keyLine.hidden = session.key === null;
  setText(keyLine.firstElementChild, session.key === null ? "" : `Key: ${session.key.name}`);
  if (session.needs_key && session.key === null) throw new Refused(401, "A key is needed.");
}

function onConnected(isConnected) {
  connection.className = isConnected ? "live" : "lost";
  const lostAt = connection.dataset.lostAt ?? moment(Date.now() / 1000);
  if (isConnected) delete connection.dataset.lostAt;
  else connection.dataset.lostAt = lostAt;
  setText(connection, isConnected ? "Live" : `No connection since ${lostAt}; trying again`);
  document.body.classList.toggle("stale", !isConnected);
}

/** Let screen readers say something. */
function announce(text) {
  setText(announcements, text);
}

/** Show a view, and let screen readers begin at its heading, unless the page was just opened. */
function show(element, title, isFirst) {
  document.title = title;
  main.replaceChildren(element);
  window.scrollTo(0, 0);
  if (!isFirst) main.querySelector("h1")?.focus();
}

function message(title, ...texts) {
  const heading = h("h1", { tabindex: "-1" }, title);
  return h(
    "div",
    { class: "message" },
    heading,
    ...texts.map((text) => h("p", {}, text)),
    h("p", {}, h("a", { href: "#/" }, "All streams")),
  );
}

function onRefused(error) {
  if (error.status === 401)
    show(
      signInForm(() => route(false)),
      "Sign in · driftline",
      false,
    );
  else if (error.status === 404) show(message("No such stream", error.message), "driftline", false);
  else show(message("This is not allowed", error.message), "driftline", false);
}

async function route(isFirst) {
  const mine = ++visit;
  stop();
  stop = () => {};
  try {
    await checkKey();
  } catch (error) {
    if (mine !== visit) return;
    if (error instanceof Refused && error.status < 500) {
      onRefused(error);
      return;
    }
    onConnected(false);
    setTimeout(() => mine === visit && route(isFirst), 1000);
    return;
  }
  if (mine !== visit) return;
  const [, name] = location.hash.match(/^#\/streams\/(.+)$/) ?? [];
  const tools = { isAdmin, checkKey, announce, onConnected, onRefused, needsKey: session.needs_key };
  const view = name === undefined ? overviewView(tools) : streamView(decodeURIComponent(name), tools);
  show(view.element, view.title, isFirst);
  stop = view.start();
}

keyLine.querySelector("button").addEventListener("click", async () => {
  await call("DELETE", "session");
  route(false);
});
addEventListener("hashchange", () => route(false));
route(true);

// A stream: what is said of it now, and how it got there.

import { alarmsPanel, alarmText } from "./alarms.js";
import { call, follow, Refused, streamPath } from "./api.js";
import { createTiles, h, setText, stateBadge, STATES } from "./dom.js";
import { driftPanel, MOST_CELLS } from "./drift.js";
import { between, count, duration, limits, moment, percent } from "./format.js";
import { chartPanels, panel } from "./panels.js";
import { streamSeries } from "./series.js";
import { shadowPanel } from "./shadow.js";

const REFRESH_MS = 3000;
const TILES = ["Error, last 1,000", "Answered", "Mistakes", "Label sets", "Awaited labels", "Labels"];

/** Return the commands that send the first rows. */
function firstSteps(name, needsKey) {
  const address = `${location.origin}${location.pathname}v1/${streamPath(name)}`;
  const key = needsKey ? " -H 'Authorization: Bearer KEY'" : "";
  const command = (verb, body) =>
    `curl ${address}/${verb}${key} -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
  const row = { amount: 12.5, shop: "north" };
  return panel(
    "First steps",
    "The stream has learned no label yet. Send rows with their labels if you have some, or ask for predictions and send the labels when they are known.",
    {},
    h("pre", {}, h("code", {}, command("learn", { rows: [row], labels: ["fine"] }))),
    h("pre", {}, h("code", {}, command("predict", { rows: [row], ids: ["17"] }))),
    h("pre", {}, h("code", {}, command("label", { labels: [{ id: "17", label: "fine" }] }))),
  );
}

function settingsPanel() {
  const list = h("dl", { class: "facts" });
  const element = panel("Settings", null, { isWide: true }, list);
  const update = (stream) => {
    const columns = (stream.columns ?? []).map((column) => `${column.name} (${column.kind})`).join(", ");
    const facts = {
      Parameters: h("code", {}, JSON.stringify(stream.parameters)),
      Columns: columns || "those of the first rows",
      "Labels are awaited for": duration(stream.expire_after),
      Created: moment(stream.created),
    };
    list.replaceChildren(...Object.entries(facts).flatMap(([name, fact]) => [h("dt", {}, name), h("dd", {}, fact)]));
  };
  return { element, update };
}

export function streamView(name, { isAdmin, checkKey, announce, onConnected, onRefused, needsKey }) {
  const path = streamPath(name);
  const canChange = isAdmin(name);
  const alarms = [];
  let stream = null;
  let status = null;
  let figures = null;
  let received = 0;

  const badge = h("span");
  const notices = h("div", { class: "notices" });
  const tiles = createTiles(TILES);
  const charts = chartPanels(announce);
  const drift = driftPanel();
  const alarmList = alarmsPanel();
  const shadow = shadowPanel(name, { announce, canChange, onChanged: () => load() });
  const settings = settingsPanel();
  const start = firstSteps(name, needsKey);
  const { error, answers, mistakes, classes } = charts.panels;
  const history = h(
    "div",
    { class: "panels" },
    error,
    answers,
    mistakes,
    classes,
    drift.element,
    alarmList.element,
    shadow.element,
  );
  const crumbs = h(
    "nav",
    { class: "crumbs", "aria-label": "Breadcrumb" },
    h("a", { href: "#/" }, "Streams"),
    h("span", { "aria-hidden": "true" }, "/"),
    h("span", { "aria-current": "page" }, name),
  );
  const head = h("div", { class: "head" }, h("h1", { tabindex: "-1" }, name), badge);
  const element = h("div", {}, crumbs, head, notices, tiles.element, start, history, settings.element);
  start.hidden = history.hidden = true;

  async function acknowledge(event) {
    const button = event.currentTarget;
    button.disabled = true;
    try {
      await call("POST", `${path}/alarm/acknowledge`);
      announce("The alarm is acknowledged.");
      element.querySelector("h1").focus();
    } catch (error) {
      button.disabled = false;
      button.after(h("span", { class: "problem", role: "alert" }, error.message));
    }
  }

  function updateNotices() {
    const found = [];
    if (status.state === "guarantee violated") {
      const { error: wrong, allowed } = status.answers;
      const level = typeof allowed === "number" ? `${percent(allowed)} are` : "less is";
      found.push([
        "violated",
        `Answers are wrong more often than allowed: ${between(wrong)} of them are wrong, ${level} allowed.`,
        null,
      ]);
    }
    if (status.alarm !== null) {
      const isPaused = status.state === "paused";
      const button =
        canChange && !isPaused
          ? h("button", { class: "button", type: "button", click: acknowledge }, "Acknowledge")
          : null;
      found.push(["alarm", alarmText(status.alarm), button]);
    }
    if (status.state === "paused") found.push(["paused", "The stream is paused: it refuses rows and labels.", null]);
    const texts = found.map(([, text]) => text);
    if (texts.join("\n") === notices.dataset.texts) return;
    notices.dataset.texts = texts.join("\n");
    notices.replaceChildren(
      ...found.map(([kind, text, button]) => h("div", { class: `notice ${kind}` }, h("p", {}, text), button)),
    );
  }

  function updateTiles() {
    const { recent_error: recent, answers: said, mistakes: made, sets } = status;
    const age = status.open === 0 ? null : status.oldest_open_seconds + (Date.now() - received) / 1000;
    const expiry = stream === null ? "" : `; given up after ${duration(stream.expire_after)}`;
    const has = recent !== null && recent.rows > 0;
    const share = said?.share ?? null;
    const level = typeof said?.allowed === "number" ? `, ${percent(said.allowed)} allowed` : "";
    const times = figures?.windows.at(-1)?.time;
    tiles.update([
      [has ? percent(recent.error) : "–", has ? between(recent) : "no label yet"],
      [
        percent(share),
        share === null
          ? "no row was asked about"
          : `${said.error.rows ? percent(said.error.error) : "–"} of answers wrong${level}`,
      ],
      [made === null ? "–" : count(made.count), made === null ? "" : `bound ${count(Math.ceil(made.bound))}`],
      [
        percent(sets?.coverage ?? null),
        (sets?.coverage ?? null) === null
          ? "no row was asked about"
          : `contain the label, ${percent(sets.coverage_asked)} asked; ${sets.mean_size.toFixed(1)} labels on average`,
      ],
      [count(status.open), age === null ? "none is awaited" : `oldest ${duration(age)}${expiry}`],
      [count(status.labelled), times === undefined ? "" : `last at ${moment(times)}`],
    ]);
  }

  function updateHistory() {
    start.hidden = status.labelled > 0;
    history.hidden = status.labelled === 0;
    const series = figures === null ? null : streamSeries(figures.windows, status);
    if (series !== null) charts.update(series, status, alarms);
  }

  function onStatus(given) {
    if (status?.state !== given.state) {
      badge.replaceChildren(stateBadge(given.state));
      document.title = `${name}: ${STATES[given.state]} · driftline`;
      if (status !== null) announce(STATES[given.state]);
    }
    status = given;
    received = Date.now();
    updateNotices();
    updateTiles();
    updateHistory();
    refreshSoon();
  }

  function onAlarm(alarm) {
    alarms.push(alarm);
    alarmList.update(alarms);
    if (status !== null) updateHistory();
  }

  // Charts need more data than the status has: these are read every few seconds while the status changes.
  let timer = 0;
  let refreshed = 0;
  let isStopped = false;

  function refreshSoon() {
    if (timer || isStopped) return;
    timer = setTimeout(refresh, Math.max(0, refreshed + REFRESH_MS - Date.now()));
  }

  async function refresh() {
    try {
      const read = (what) => call("GET", `${path}/${what}`);
      const found = await Promise.all([
        read("figures"),
        read(`drift?most=${MOST_CELLS}`),
        status.has_shadow ? read("shadow") : null,
      ]);
      figures = found[0];
      drift.update(found[1].rows);
      shadow.update(found[2]);
      updateHistory();
      updateTiles();
    } catch (error) {
      if (!(error instanceof Refused) && !(error instanceof TypeError)) throw error; // they are read at the next change
    } finally {
      refreshed = Date.now();
      timer = 0;
    }
  }

  async function load() {
    await checkKey();
    stream = await call("GET", path);
    settings.update(stream);
    onStatus(stream.status);
  }

  function startFollowing() {
    const clock = setInterval(() => status !== null && updateTiles(), 1000);
    const unfollow = follow(`${path}/events`, {
      prepare: load,
      handlers: { status: onStatus, alarm: onAlarm },
      onConnected,
      onRefused,
    });
    return () => {
      isStopped = true;
      clearInterval(clock);
      clearTimeout(timer);
      unfollow();
    };
  }

  return { element, title: `${name} · driftline`, start: startFollowing };
}

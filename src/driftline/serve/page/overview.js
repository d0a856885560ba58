// All streams at a glance, those with problems first.

import { follow, streamPath } from "./api.js";
import { createStream } from "./dialogs.js";
import { createTiles, h, setText, stateBadge, STATES, svg } from "./dom.js";
import { count, duration, limits, percent, plural } from "./format.js";

const ORDER = Object.keys(STATES);
const SPARK = { width: 132, height: 30 };

/** Return a small line of the error over time, from 0 to its maximum. */
function sparkline(errors) {
  const top = Math.max(...errors, 0.001);
  const x = (k) => 2 + ((SPARK.width - 6) * k) / Math.max(errors.length - 1, 1);
  const y = (error) => SPARK.height - 3 - ((SPARK.height - 7) * error) / top;
  const points = errors.map((error, k) => `${x(k).toFixed(1)},${y(error).toFixed(1)}`);
  const last = errors.length - 1;
  const base = SPARK.height - 3;
  return svg(
    "svg",
    { class: "spark", viewBox: `0 0 ${SPARK.width} ${SPARK.height}`, "aria-hidden": "true" },
    svg("path", { class: "under", d: `M${x(0)},${base}L${points.join("L")}L${x(last)},${base}Z` }),
    svg("polyline", { points: points.join(" ") }),
    svg("circle", { cx: x(last), cy: y(errors[last]), r: 2.5 }),
  );
}

function tableRow(name) {
  const link = h("a", { href: `#/${streamPath(name)}` }, name);
  const names = ["State", "Error, last 1,000", "Over time", "Answered", "Mistakes", "Awaited labels", "Learned"];
  const cells = Object.fromEntries(names.map((each) => [each, h("td", { "data-name": each })]));
  cells.State.classList.add("left");
  const element = h("tr", {}, h("th", { scope: "row", class: "left" }, link), ...Object.values(cells));
  let status = null;
  let received = 0;
  const set = (cell, main, note) => {
    if (!cell.firstChild) cell.append(h("b"), h("small"));
    setText(cell.firstChild, main);
    setText(cell.lastChild, note);
  };

  function updateAge() {
    const age = status.open === 0 ? null : status.oldest_open_seconds + (Date.now() - received) / 1000;
    set(cells["Awaited labels"], count(status.open), age === null ? "" : `oldest ${duration(age)}`);
  }

  function update(given) {
    if (status?.state !== given.state) cells.State.replaceChildren(stateBadge(given.state));
    status = given;
    received = Date.now();
    const { recent_error: error, answers, mistakes, errors } = given;
    const has = error !== null && error.rows > 0;
    set(cells["Error, last 1,000"], has ? percent(error.error) : "–", has ? limits(error) : "");
    cells["Over time"].replaceChildren(...(errors.length > 1 ? [sparkline(errors)] : []));
    const share = answers?.share ?? null;
    set(
      cells.Answered,
      percent(share),
      share === null ? "" : `${percent(answers.error.rows ? answers.error.error : null)} wrong`,
    );
    set(
      cells.Mistakes,
      mistakes === null ? "–" : count(mistakes.count),
      mistakes === null ? "" : `bound ${count(Math.ceil(mistakes.bound))}`,
    );
    set(cells.Learned, count(given.labelled), "");
    updateAge();
  }

  return { element, update, updateAge, status: () => status };
}

export function overviewView({ isAdmin, checkKey, announce, onConnected, onRefused }) {
  const rows = new Map();
  const tiles = createTiles(["Streams", "Healthy", "Alarms", "Guarantees violated", "Awaited labels"]);
  const body = h("tbody");
  const heads = ["State", "Error, last 1,000", "Over time", "Answered", "Mistakes", "Awaited labels", "Learned"];
  const columns = heads.map((each, k) => h("th", { scope: "col", class: k === 0 ? "left" : null }, each));
  const table = h(
    "table",
    { class: "stacked streams", hidden: true },
    h("caption", {}, "All streams, those with problems first"),
    h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "left" }, "Stream"), ...columns)),
    body,
  );
  const empty = h(
    "p",
    { class: "message", hidden: true },
    "There are no streams yet. A stream takes rows, predicts them, and learns their labels when these are known.",
  );
  const create = isAdmin("*")
    ? h("button", { class: "button primary", type: "button", click: createStream }, "New stream")
    : null;
  const head = h(
    "div",
    { class: "head" },
    h("h1", { tabindex: "-1" }, "Streams"),
    h("div", { class: "actions" }, create),
  );
  const element = h("div", {}, head, tiles.element, h("div", { class: "panel flush" }, table, empty));

  function sort() {
    const rank = (row) => ORDER.indexOf(row.status().state);
    const sorted = [...rows.values()].sort((one, other) => rank(one) - rank(other));
    if (sorted.every((row, k) => row.element === body.children[k]) && sorted.length === body.children.length) return;
    const focused = document.activeElement;
    body.replaceChildren(...sorted.map((row) => row.element));
    if (body.contains(focused)) focused.focus();
  }

  function updateTiles() {
    const statuses = [...rows.values()].map((row) => row.status());
    const n = (state) => statuses.filter((status) => status.state === state).length;
    const open = statuses.reduce((sum, status) => sum + status.open, 0);
    const others = [
      [n("waiting"), "waiting"],
      [n("paused"), "paused"],
    ].filter(([number]) => number > 0);
    const labelled = statuses.reduce((sum, status) => sum + status.labelled, 0);
    tiles.update([
      [count(statuses.length), others.map(([number, word]) => `${number} ${word}`).join(", ")],
      [count(n("healthy")), "the error has not risen"],
      [count(n("alarm")), "the error has risen", n("alarm") ? "alarm" : ""],
      [count(n("guarantee violated")), "more wrong answers than allowed", n("guarantee violated") ? "violated" : ""],
      [count(open), `${plural(labelled, "label")} learned`],
    ]);
  }

  function onStreams({ names, changed }) {
    for (const [name, status] of Object.entries(changed)) {
      if (!rows.has(name)) rows.set(name, tableRow(name));
      const before = rows.get(name).status()?.state;
      rows.get(name).update(status);
      if (before !== undefined && before !== status.state) announce(`${name}: ${STATES[status.state]}`);
    }
    for (const name of rows.keys()) if (!names.includes(name)) rows.delete(name);
    sort();
    updateTiles();
    table.hidden = rows.size === 0;
    empty.hidden = rows.size > 0;
  }

  function start() {
    const timer = setInterval(() => rows.forEach((row) => row.updateAge()), 1000);
    const unfollow = follow("events", {
      prepare: checkKey,
      handlers: { streams: onStreams },
      onConnected,
      onRefused,
    });
    return () => {
      clearInterval(timer);
      unfollow();
    };
  }

  return { element, title: "Streams · driftline", start };
}

// The alarms of a stream: when its error rose, since when, and which columns moved.

import { h } from "./dom.js";
import { count, moment, percent, shortened } from "./format.js";
import { panel } from "./panels.js";

const NAMES = ["Raised", "Noticed at row", "Since about row", "Error before", "Error since", "Moved"];

const movedText = ({ column, label, surprise }) =>
  `${shortened(column, 60)} in ${shortened(label, 40)} (${surprise.toFixed(1)})`;

function rowOf(alarm, k) {
  const moved =
    alarm.moved.length === 0 ? "–" : h("ul", {}, ...alarm.moved.map((each) => h("li", {}, movedText(each))));
  const before = alarm.error_before === null ? "–" : percent(alarm.error_before);
  const values = [
    moment(alarm.time),
    count(alarm.raised_at),
    count(alarm.since),
    before,
    percent(alarm.n_wrong / alarm.n_rows),
    moved,
  ];
  const cells = values.map((value, j) => h("td", { "data-name": NAMES[j], class: j === 5 ? "left" : null }, value));
  return h("tr", {}, h("th", { scope: "row" }, String(k + 1)), ...cells);
}

/** Return a sentence about a raised alarm. */
export function alarmText(alarm) {
  const since = `${percent(alarm.n_wrong / alarm.n_rows)} of the ${count(alarm.n_rows)} rows since then were predicted wrongly`;
  const before = alarm.error_before === null ? "" : `, ${percent(alarm.error_before)} before`;
  const start =
    alarm.kind === "rise" ? "The error has risen since about" : "The error exceeds the tolerated level since about";
  const moved = alarm.moved.length === 0 ? "" : ` Moved: ${alarm.moved.map(movedText).join(", ")}.`;
  return `${start} row ${count(alarm.since)}: ${since}${before}.${moved}`;
}

export function alarmsPanel() {
  const head = ["", ...NAMES].map((name) => h("th", { scope: "col", class: name === "Moved" ? "left" : null }, name));
  const body = h("tbody");
  const table = h(
    "table",
    { class: "stacked alarms" },
    h("caption", {}, "Alarms, the latest first"),
    h("thead", {}, h("tr", {}, ...head)),
    body,
  );
  const none = h("p", { class: "note" }, "No alarm was raised so far: the error has not risen for certain.");
  const place = h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Alarms" }, table);
  const element = panel("Changes and alarms", null, { isWide: true }, none, place);

  function update(alarms) {
    none.hidden = alarms.length > 0;
    place.hidden = alarms.length === 0;
    element.classList.toggle("empty", alarms.length === 0);
    body.replaceChildren(...alarms.map(rowOf).reverse());
  }

  update([]);
  return { element, update };
}

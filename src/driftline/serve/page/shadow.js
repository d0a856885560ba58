// The shadow beside the live model: their errors on the same rows, and who goes on.

import { call, streamPath } from "./api.js";
import { createChart } from "./chart.js";
import { confirmed } from "./dialogs.js";
import { createTiles, h, setText } from "./dom.js";
import { count, percent } from "./format.js";
import { panel } from "./panels.js";
import { shadowSeries, topOf } from "./series.js";

const points = (value) => `${value > 0 ? "+" : value < 0 ? "−" : ""}${Math.abs(100 * value).toFixed(1)}`;

export function shadowPanel(name, { announce, canChange, onChanged }) {
  const chart = createChart({
    format: (value) => `${Number((100 * value).toFixed(1))}%`,
    minHeight: 190,
    group: new Set(),
    announce,
  });
  const tiles = createTiles(["Live model", "Shadow", "Difference", "Verdict"]);
  const parameters = h("code");
  const path = `${streamPath(name)}/shadow`;
  const ask = (method, address, question) =>
    confirmed({ ...question, act: () => call(method, address).then(onChanged) });
  const promote = () =>
    ask("POST", `${path}/promote`, {
      title: "Promote the shadow?",
      text: "The shadow answers from the next request on, and the live model goes on learning as the shadow. Promoting again takes this back.",
      action: "Promote",
    });
  const drop = () =>
    ask("DELETE", path, {
      title: "Drop the shadow?",
      text: "What it has learned is lost. The live model is not touched.",
      action: "Drop",
      isDangerous: true,
    });
  const actions = canChange
    ? h(
        "div",
        { class: "actions" },
        h("button", { class: "button", type: "button", click: promote }, "Promote…"),
        h("button", { class: "button", type: "button", click: drop }, "Drop…"),
      )
    : null;
  const none = h(
    "p",
    { class: "note" },
    "There is no shadow. ",
    h("code", {}, `PUT /v1/${path}`),
    " lets another model learn beside this one, without answering.",
  );
  const parts = h(
    "div",
    { hidden: true },
    tiles.element,
    chart.element,
    h("p", { class: "note" }, "Parameters of the shadow: ", parameters),
  );
  const element = panel("Shadow and live model", null, { isWide: true }, actions, none, parts);

  /** Show a shadow with its comparison; none if there is none. */
  function update(shadow) {
    none.hidden = shadow !== null;
    parts.hidden = shadow === null;
    if (actions !== null) actions.hidden = shadow === null;
    element.classList.toggle("empty", shadow === null);
    if (shadow === null) return;
    const { rows, error, shadow_error: other, difference, low, high, verdict } = shadow.comparison;
    const range = low === null ? "" : `between ${points(low)} and ${points(high)}`;
    tiles.update([
      [percent(error), `of ${count(rows)} rows wrong`],
      [percent(other), `of ${count(rows)} rows wrong`],
      [difference === null ? "–" : points(difference), range ? `percentage points, ${range}` : "percentage points"],
      [{ "the shadow is better": "Better", "the shadow is worse": "Worse" }[verdict] ?? "Undecided", verdict],
    ]);
    setText(parameters, JSON.stringify(shadow.parameters));
    const series = shadowSeries(shadow.windows);
    chart.element.hidden = series === null;
    if (series === null) return;
    chart.update({
      ...series.place,
      label: `Errors on the same rows: live model ${percent(error)}, shadow ${percent(other)}.`,
      lines: [
        { name: "live model", colour: "error", values: series.error, now: percent(error) },
        { name: "shadow", colour: "bound", values: series.shadowError, isDashed: true, now: percent(other) },
      ],
      top: Math.min(topOf(series.error, series.shadowError), 1),
    });
  }

  update(null);
  return { element, update };
}

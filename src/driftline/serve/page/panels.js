// The charts of a stream: its error, answers, mistakes and classes over its rows.

import { createChart } from "./chart.js";
import { h } from "./dom.js";
import { between, count, limits, percent, shortened } from "./format.js";
import { classShares, topOf } from "./series.js";

const HIGH = 260;
const LOW = 190;
const whole = (value) => `${Number((100 * value).toFixed(1))}%`;

/** Return a part of the page with a heading, as wide as the page or as half of it. */
export function panel(title, note, { isWide = false }, ...children) {
  const id = `panel-${title.toLowerCase().replaceAll(/[^a-z]+/g, "-")}`;
  const text = note === null ? null : h("p", { class: "note" }, note);
  const attributes = { class: isWide ? "panel wide-panel" : "panel", "aria-labelledby": id };
  return h("section", attributes, h("h2", { id }, title), text, ...children);
}

/** Return the panels with charts, and a function that draws series in all of them. */
export function chartPanels(announce) {
  const group = new Set();
  const chart = (format, minHeight) => createChart({ format, minHeight, group, announce });
  const error = chart(whole, HIGH);
  const answers = chart(whole, LOW);
  const mistakes = chart(count, LOW);
  const classes = chart(whole, LOW);
  const panels = {
    error: panel(
      "Error",
      "The blue area has the limits of the error since the start; they hold at any time. A numbered line is an alarm, and the strip before it begins where the error began to rise.",
      { isWide: true },
      error.element,
    ),
    answers: panel(
      "Answers",
      "Rows that were answered, and how many of these answers were wrong.",
      {},
      answers.element,
    ),
    mistakes: panel("Mistakes", "All mistakes so far, and the bound on those of the model.", {}, mistakes.element),
    classes: panel("Classes", "Share of each class among the labels.", {}, classes.element),
  };

  function update(series, status, alarms) {
    const marks = alarms.map((alarm, k) => ({ from: alarm.since, at: alarm.raised_at, text: String(k + 1) }));
    const common = { ...series.place, marks };
    error.update({
      ...common,
      label: `Error: ${percent(status.error.error)} since the start, ${between(status.error)}.`,
      lines: [
        { name: "error", colour: "error", values: series.error },
        {
          name: "since the start",
          colour: "bound",
          values: series.errorSoFar,
          isThin: true,
          now: percent(status.error.error),
        },
      ],
      band: { name: "its limits", colour: "bound", low: series.low, high: series.high, now: limits(status.error) },
      top: Math.min(topOf(series.error, series.errorSoFar), 1),
    });
    const { share, error: wrong, allowed } = status.answers;
    const levels =
      typeof allowed === "number"
        ? [
            {
              name: "allowed",
              colour: "level",
              values: series.error.map(() => allowed),
              isThin: true,
              isDashed: true,
              now: percent(allowed),
            },
          ]
        : [];
    answers.update({
      ...common,
      label: share === null ? "Answers: none yet." : `Answers: ${percent(share)} of the rows were answered.`,
      lines: [
        { name: "answered", colour: "c3", values: series.answered, now: percent(share) },
        {
          name: "wrong answers",
          colour: "error",
          values: series.answeredError,
          now: wrong.rows ? percent(wrong.error) : "–",
        },
        ...levels,
      ],
      top: 1,
    });
    const bound = status.mistakes.bound;
    mistakes.update({
      ...common,
      label: `Mistakes: ${count(status.mistakes.count)}, with a bound of ${count(Math.ceil(bound))}.`,
      lines: [
        {
          name: "bound",
          colour: "bound",
          values: series.bound.map((each) => each && Math.ceil(each)),
          isDashed: true,
          now: count(Math.ceil(bound)),
        },
        { name: "mistakes", colour: "error", values: series.mistakes, now: count(status.mistakes.count) },
      ],
      top: topOf(series.mistakes, series.bound),
    });
    const shares = classShares(series.classes, status.classes);
    classes.update({
      ...common,
      label: `Classes: ${shares.map((each) => `${shortened(each.label, 40)} ${percent(each.values.at(-1))}`).join(", ")} at last.`,
      lines: [],
      areas: shares.map(({ label, colour, values }) => ({
        name: shortened(label, 24),
        colour,
        values,
        now: percent(values.at(-1)),
      })),
      top: 1,
    });
  }

  return { panels, update };
}

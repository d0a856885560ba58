// The heat map of drift: how surprisingly the mean of each feature moves in each class.

import { h } from "./dom.js";
import { number, shortened } from "./format.js";
import { panel } from "./panels.js";

export const MOST_CELLS = 400;
const MOST_FEATURES = 8;
const MOST_CLASSES = 8;
const MOST_LISTED = 10;
const STRONGEST_SHADE = 60; // per cent; text on it still has enough contrast
const [SURPRISING, SATURATED] = [3, 12]; // standard deviations

function firstOf(rows, name, most) {
  return [...new Set(rows.map((row) => row[name]))].slice(0, most);
}

function cellOf(row) {
  if (row === undefined) return h("td", { "aria-label": "unknown" });
  const shade = STRONGEST_SHADE * Math.min(row.surprise / SATURATED, 1);
  const isMoving = row.surprise > SURPRISING && row.rate !== null && Math.abs(row.rate) > 2 * row.rate_error;
  const direction = isMoving ? (row.rate > 0 ? "rises" : "falls") : "";
  const about = `mean ${number(row.mean)} ± ${number(row.mean_error)}${direction && `, ${direction}`}`;
  const arrow = direction && h("span", { "aria-label": direction }, direction === "rises" ? " ↑" : " ↓");
  return h(
    "td",
    { class: row.surprise > SURPRISING ? "wrong moving" : "wrong", "--shade": `${shade.toFixed(0)}%`, title: about },
    row.surprise.toFixed(1),
    arrow,
  );
}

function heatMap(rows) {
  const features = firstOf(rows, "feature", MOST_FEATURES);
  const labels = firstOf(rows, "label", MOST_CLASSES).sort();
  const found = new Map(rows.map((row) => [JSON.stringify([row.feature, row.label]), row]));
  const heading = (text, most) => h("span", { title: String(text) }, shortened(text, most));
  const head = labels.map((label) => h("th", { scope: "col" }, heading(label, 14)));
  const body = features.map((feature) => {
    const cells = labels.map((label) => cellOf(found.get(JSON.stringify([feature, label]))));
    return h("tr", {}, h("th", { scope: "row" }, heading(feature, 24)), ...cells);
  });
  return h(
    "table",
    { class: "matrix heat" },
    h("caption", {}, "How surprisingly the mean of each feature moves in each class, in standard deviations"),
    h("thead", {}, h("tr", {}, h("td", { class: "corner" }), ...head)),
    h("tbody", {}, ...body),
  );
}

function list(rows) {
  const names = ["Class", "Mean", "Change per row", "Surprise"];
  const head = ["Feature", ...names].map((name, k) => h("th", { scope: "col", class: k < 2 ? "left" : null }, name));
  const body = rows.slice(0, MOST_LISTED).map((row) => {
    const rate = row.rate === null ? "–" : `${number(row.rate)} ± ${number(row.rate_error)}`;
    const values = [
      shortened(row.label, 40),
      `${number(row.mean)} ± ${number(row.mean_error)}`,
      rate,
      row.surprise.toFixed(1),
    ];
    const cells = values.map((value, k) => h("td", { "data-name": names[k], class: k === 0 ? "left" : null }, value));
    return h("tr", {}, h("th", { scope: "row", class: "left" }, shortened(row.feature, 60)), ...cells);
  });
  return h(
    "table",
    { class: "stacked" },
    h("caption", {}, "The columns that move most"),
    h("thead", {}, h("tr", {}, ...head)),
    h("tbody", {}, ...body),
  );
}

export function driftPanel() {
  const place = h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Heat map of drift" });
  const rest = h("p", { class: "note" });
  const means = h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "The columns that move most" });
  const note =
    "How much better a moving mean explains the last rows than a constant one, in standard deviations: above about 3 is hardly chance.";
  const element = panel(
    "Drift by feature and class",
    note,
    {},
    place,
    rest,
    h("details", {}, h("summary", {}, "Means and rates"), means),
  );

  function update(rows) {
    const nFeatures = new Set(rows.map((row) => row.feature)).size;
    place.replaceChildren(rows.length ? heatMap(rows) : "No label was learned yet.");
    rest.textContent = nFeatures > MOST_FEATURES ? `The ${MOST_FEATURES} features that move most.` : "";
    means.replaceChildren(list(rows));
  }

  return { element, update };
}

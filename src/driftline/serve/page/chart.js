// Line charts and stacked areas over the rows of a stream, as SVG.
//
// Pointing at a chart, or moving with the arrow keys where it has the focus, shows the values of a window of rows.

import { h, svg } from "./dom.js";
import { count, moment } from "./format.js";

const MARGIN = { top: 18, right: 10, bottom: 24, left: 46 };

/** Return at most about n round numbers from 0 to top. */
function ticks(top, n) {
  const rough = top / n;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  return Array.from({ length: Math.floor(top / step + 1e-9) + 1 }, (_, k) => k * step);
}

/** Return the path of a line, with gaps where values are null, and a dot's worth of line for lone values. */
function linePath(points) {
  let path = "";
  let isDown = false;
  for (const [x, y] of points) {
    if (y !== null) path += `${isDown ? "L" : "M"}${x.toFixed(1)},${y.toFixed(1)}${isDown ? "" : "h.01"}`;
    isDown = y !== null;
  }
  return path;
}

/** Return the path of an area between two lines. */
function areaPath(upper, lower) {
  const known = upper
    .map((point, k) => [point, lower[k]])
    .filter(([one, other]) => one[1] !== null && other[1] !== null);
  if (known.length === 0) return "";
  const text = (points) => points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join("L");
  return `M${text(known.map(([one]) => one))}L${text(known.map(([, other]) => other).reverse())}Z`;
}

/**
 * Return a chart that is at least so high. `group` is a Set of charts over the same rows, in all of which a line marks the place that is pointed at.
 *
 * `update` takes: ends, starts, times (of windows of rows); lines, areas (name, colour, values; lines also isThin,
 * isDashed), band (name, colour, low, high), marks (from, at, text), top (the largest value that is shown), label.
 */
export function createChart({ format, minHeight, group, announce }) {
  const plot = h("div", { class: "plot", tabindex: "0", role: "img", "--height": `${minHeight}px` });
  const tip = h("div", { class: "tip", "aria-hidden": "true", hidden: true });
  const legend = h("ul", { class: "legend" });
  const element = h("div", { class: "chart" }, legend, h("div", { class: "frame" }, plot, tip));
  let data = null;
  let scale = null;
  let cursor = null;
  let at = null;

  const named = () => [...data.lines, ...(data.band ? [data.band] : []), ...(data.areas ?? [])];

  function drawLegend() {
    const items = named().map((each) => {
      const kind = each === data.band || data.areas?.includes(each) ? "square" : each.isDashed ? "dashed" : "line";
      return h(
        "li",
        {},
        h("i", { class: `swatch ${kind}`, "--colour": `var(--${each.colour})` }),
        each.name,
        each.now ? h("b", {}, each.now) : null,
      );
    });
    legend.replaceChildren(...items);
  }

  function drawAxes(width, height) {
    const axes = svg("g", { class: "axes" });
    for (const value of ticks(data.top, height > 200 ? 5 : 4)) {
      const y = scale.y(value);
      axes.append(svg("line", { x1: MARGIN.left, x2: width - MARGIN.right, y1: y, y2: y }));
      axes.append(svg("text", { x: MARGIN.left - 6, y: y + 4, "text-anchor": "end" }, format(value)));
    }
    const last = data.ends.at(-1);
    for (const row of ticks(last, Math.max(2, Math.floor(width / 130)))) {
      const anchor = row === 0 ? "start" : scale.x(row) > width - 40 ? "end" : "middle";
      const text = row === 0 ? "row 0" : count(row);
      if (Number.isInteger(row))
        axes.append(svg("text", { x: scale.x(row), y: height - 6, "text-anchor": anchor }, text));
    }
    return axes;
  }

  function drawMarks() {
    const group = svg("g", { class: "marks" });
    for (const { from, at: row, text } of data.marks ?? []) {
      const [x0, x1] = [scale.x(Math.max(from, 0)), scale.x(row)];
      group.append(
        svg("rect", { x: x0, y: MARGIN.top, width: Math.max(x1 - x0, 0), height: scale.y(0) - MARGIN.top }),
        svg("line", { x1, x2: x1, y1: MARGIN.top, y2: scale.y(0) }),
        svg("text", { x: x1, y: MARGIN.top - 5, "text-anchor": "middle" }, text),
      );
    }
    return group;
  }

  function drawAreas() {
    const group = svg("g", { class: "areas" });
    const below = data.ends.map(() => 0);
    for (const { colour, values } of data.areas ?? []) {
      const [upper, lower] = [[], []];
      values.forEach((value, k) => {
        for (const row of [data.starts[k], data.ends[k]]) {
          lower.push([scale.x(row), scale.y(below[k])]);
          upper.push([scale.x(row), scale.y(below[k] + value)]);
        }
        below[k] += value;
      });
      group.append(svg("path", { d: areaPath(upper, lower), "--colour": `var(--${colour})` }));
    }
    return group;
  }

  function drawLines() {
    const group = svg("g", { class: "lines" });
    const points = (values) =>
      values.map((value, k) => [scale.x(data.ends[k]), value === null ? null : scale.y(value)]);
    if (data.band) {
      const { low, high, colour } = data.band;
      group.append(
        svg("path", { class: "band", d: areaPath(points(high), points(low)), "--colour": `var(--${colour})` }),
      );
    }
    for (const { colour, values, isThin, isDashed } of data.lines) {
      const kind = `line${isThin ? " thin" : ""}${isDashed ? " dashed" : ""}`;
      group.append(svg("path", { class: kind, d: linePath(points(values)), "--colour": `var(--${colour})` }));
    }
    return group;
  }

  function draw() {
    if (data === null) return;
    drawLegend(); // which may change the height that is left
    const { clientWidth: width, clientHeight: height } = plot;
    if (width === 0) return;
    const inner = { width: width - MARGIN.left - MARGIN.right, height: height - MARGIN.top - MARGIN.bottom };
    const last = data.ends.at(-1);
    scale = {
      x: (row) => MARGIN.left + (inner.width * row) / last,
      y: (value) => MARGIN.top + inner.height * (1 - Math.min(value, data.top) / data.top),
      row: (x) => ((x - MARGIN.left) / inner.width) * last,
    };
    cursor = svg("line", { class: "cursor", y1: MARGIN.top, y2: scale.y(0) });
    const size = { viewBox: `0 0 ${width} ${height}`, width, height };
    plot.replaceChildren(svg("svg", size, drawAxes(width, height), drawAreas(), drawMarks(), drawLines(), cursor));
    plot.setAttribute("aria-label", `${data.label} The arrow keys read the values.`);
    if (at !== null) point(Math.min(at, data.ends.length - 1));
  }

  const windowText = (k) => `rows ${count(data.starts[k] + 1)}–${count(data.ends[k])}`;
  const valueText = (each, k) => {
    const values = each === data.band ? [each.low[k], each.high[k]] : [each.values[k]];
    return values.map((value) => (value === null ? "–" : format(value))).join(" to ");
  };

  function markCursor(row) {
    if (cursor === null) return;
    cursor.classList.toggle("shown", row !== null);
    if (row === null) return;
    cursor.setAttribute("x1", scale.x(row));
    cursor.setAttribute("x2", scale.x(row));
  }

  /** Show the values of a window, or of none. */
  function point(k) {
    at = k;
    group.forEach((chart) => chart.markCursor(k === null ? null : data.ends[k]));
    tip.hidden = k === null;
    if (k === null) return;
    const lines = named().map((each) =>
      h(
        "li",
        {},
        h("i", { class: "swatch line", "--colour": `var(--${each.colour})` }),
        `${each.name} `,
        h("b", {}, valueText(each, k)),
      ),
    );
    tip.replaceChildren(h("p", {}, windowText(k), h("br"), `until ${moment(data.times[k])}`), h("ul", {}, ...lines));
    const x = scale.x(data.ends[k]);
    const isLeft = x > plot.clientWidth / 2;
    tip.style.left = isLeft ? "" : `${x + 10}px`;
    tip.style.right = isLeft ? `${plot.clientWidth - x + 10}px` : "";
  }

  function onPointer(event) {
    if (data === null) return;
    const row = scale.row(event.clientX - plot.getBoundingClientRect().left);
    const k = data.ends.findIndex((end) => end >= row);
    point(k < 0 ? data.ends.length - 1 : k);
  }

  function onKey(event) {
    const last = (data?.ends.length ?? 0) - 1;
    const moves = { ArrowLeft: (at ?? last + 1) - 1, ArrowRight: (at ?? -1) + 1, Home: 0, End: last };
    if (event.key === "Escape") point(null);
    if (!(event.key in moves) || last < 0) return;
    event.preventDefault();
    point(Math.max(0, Math.min(moves[event.key], last)));
    announce(
      `${windowText(at)}: ${named()
        .map((each) => `${each.name} ${valueText(each, at)}`)
        .join(", ")}`,
    );
  }

  plot.addEventListener("pointermove", onPointer);
  plot.addEventListener("pointerdown", onPointer);
  plot.addEventListener("pointerleave", () => point(null));
  plot.addEventListener("blur", () => point(null));
  plot.addEventListener("keydown", onKey);
  new ResizeObserver(draw).observe(plot);
  const chart = {
    element,
    markCursor,
    update(given) {
      data = given;
      draw();
    },
  };
  group.add(chart);
  return chart;
}

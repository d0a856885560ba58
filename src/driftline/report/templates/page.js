"use strict";
(() => {
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const root = document.documentElement;
  const paper = matchMedia("print");
  const PAPER_WIDTH = 660; // pixels; width of A4 and Letter without margins
  const PAPER_HEIGHT = 0.85; // share of the height on a screen, so that more fits on a page
  const NARROW = 600; // pixels; on narrower screens a legend replaces the labels at the ends of lines

  // Replaces CSS custom properties, which follow the theme, by their values, in all fields named "…color…".
  function resolveColours(value, key, style) {
    if (Array.isArray(value)) return value.map((each) => resolveColours(each, key, style));
    if (value !== null && typeof value === "object")
      return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, resolveColours(each, name, style)]));
    return key.includes("color") && String(value).startsWith("--") ? style.getPropertyValue(value).trim() : value;
  }

  function merge(one, other) {
    const result = { ...one };
    for (const [name, value] of Object.entries(other))
      result[name] = value?.constructor === Object ? merge(one[name] ?? {}, value) : value;
    return result;
  }

  function layoutFor(chart, width, height) {
    const layout = merge(chart.layout, { width, height, uirevision: "kept", yaxis: { fixedrange: true } });
    if (width >= NARROW || chart.isSquare) return { ...layout, annotations: [...(layout.annotations ?? []), ...chart.labels] };
    const legend = chart.labels.length === 0 ? {} : {
      showlegend: true,
      height: height + 12 * chart.labels.length,
      legend: { y: -0.14, yanchor: "top" },
    };
    const narrow = { dragmode: false, margin: { l: 44, r: 12 }, xaxis: { fixedrange: true, nticks: 5 } };
    return merge(merge(layout, merge(narrow, legend)), chart.narrow);
  }

  function draw() {
    const style = getComputedStyle(root);
    const onPaper = paper.matches || "paper" in root.dataset;
    for (const chart of charts) {
      const element = document.getElementById(`chart-${chart.name}`);
      const height = onPaper ? PAPER_HEIGHT * chart.layout.height : chart.layout.height;
      const paperWidth = chart.isSquare ? height : chart.isHalf ? PAPER_WIDTH / 2 - 12 : PAPER_WIDTH;
      const width = onPaper ? paperWidth : element.clientWidth;
      const layout = resolveColours(layoutFor(chart, width, height), "", style);
      Plotly.react(element, resolveColours(chart.data, "", style), layout, { displayModeBar: false, doubleClick: "reset" });
      element.style.height = `${layout.height}px`;
    }
  }

  let frame = 0;
  function drawNextFrame() {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(draw);
  }

  draw();
  addEventListener("resize", drawNextFrame);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  paper.addEventListener("change", draw);
  addEventListener("beforeprint", () => {
    root.dataset.paper = ""; // the print styles do not apply yet
    for (const details of document.querySelectorAll("details")) details.open = true;
    draw();
  });
  addEventListener("afterprint", () => {
    delete root.dataset.paper;
    draw();
  });
})();

"use strict";
(() => {
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const root = document.documentElement;
  const paper = matchMedia("print");
  const PAPER_WIDTH = 660; // of A4 and Letter, less their margins
  const PAPER_HEIGHT = 0.85; // of that on a screen, so that more fits on a page
  const NARROW = 600; // pixels; below, names of lines go into a legend

  // Colours are custom properties of the page, so that they follow its theme; only they are named in "…color…".
  function coloured(value, key, style) {
    if (Array.isArray(value)) return value.map((each) => coloured(each, key, style));
    if (value !== null && typeof value === "object")
      return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, coloured(each, name, style)]));
    return key.includes("color") && String(value).startsWith("--") ? style.getPropertyValue(value).trim() : value;
  }

  function joined(one, other) {
    const result = { ...one };
    for (const [name, value] of Object.entries(other))
      result[name] = value?.constructor === Object ? joined(one[name] ?? {}, value) : value;
    return result;
  }

  function fitted(chart, width, height) {
    const layout = joined(chart.layout, { width, height, uirevision: "kept", yaxis: { fixedrange: true } });
    if (width >= NARROW || chart.isSquare) return { ...layout, annotations: [...(layout.annotations ?? []), ...chart.labels] };
    const legend = {
      showlegend: chart.labels.length > 0,
      height: height + 12 * chart.labels.length,
      legend: { y: -0.14, yanchor: "top" },
    };
    const narrow = { dragmode: false, margin: { l: 44, r: 12 }, xaxis: { fixedrange: true, nticks: 5 } };
    return joined(joined(layout, joined(narrow, legend)), chart.narrow);
  }

  function draw() {
    const style = getComputedStyle(root);
    const onPaper = paper.matches || "paper" in root.dataset;
    for (const chart of charts) {
      const place = document.getElementById(`chart-${chart.name}`);
      const height = onPaper ? PAPER_HEIGHT * chart.layout.height : chart.layout.height;
      const width = onPaper ? (chart.isSquare ? height : PAPER_WIDTH) : place.clientWidth;
      const layout = coloured(fitted(chart, width, height), "", style);
      Plotly.react(place, coloured(chart.data, "", style), layout, { displayModeBar: false, doubleClick: "reset" });
      place.style.height = `${layout.height}px`;
    }
  }

  let waiting = 0;
  function drawSoon() {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(draw);
  }

  draw();
  addEventListener("resize", drawSoon);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  paper.addEventListener("change", draw);
  addEventListener("beforeprint", () => {
    root.dataset.paper = ""; // the styles of paper do not apply yet
    draw();
  });
  addEventListener("afterprint", () => {
    delete root.dataset.paper;
    draw();
  });
})();

// Builds elements. What comes from the server becomes text nodes and attributes, never HTML.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (name.startsWith("--")) element.style.setProperty(name, value);
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** Return an element; attributes that are functions are called at the event of that name. */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** Return an element of SVG. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** Set the text of an element, if it is another one: what is selected in it stays selected. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

const SHAPES = {
  healthy: () => svg("circle", { cx: 6, cy: 6, r: 5 }),
  alarm: () => svg("path", { d: "M6 .8 11.600 11H.4Z" }),
  "guarantee violated": () => svg("path", { d: "M2 2l8 8M10 2l-8 8", stroke: "currentColor", "stroke-width": 2.6 }),
  paused: () => svg("path", { d: "M2 1h3v10H2zM7 1h3v10H7z" }),
  waiting: () => svg("circle", { cx: 6, cy: 6, r: 4, fill: "none", stroke: "currentColor", "stroke-width": 2 }),
};

export const STATES = {
  "guarantee violated": "Guarantee violated",
  alarm: "Alarm",
  healthy: "Healthy",
  waiting: "Waiting for labels",
  paused: "Paused",
};

/** Return the badge of a state: a shape and a word, so that nobody has to tell colours apart. */
export function stateBadge(state) {
  const shape = svg("svg", { viewBox: "0 0 12 12", "aria-hidden": "true" }, SHAPES[state]());
  return h("span", { class: `state ${state.replace(" ", "-")}` }, shape, STATES[state]);
}

/** Return tiles with figures, and a function that sets the value and the note of each. */
export function createTiles(names) {
  const parts = names.map((name) => ({ name, value: h("b"), note: h("span") }));
  const element = h("dl", { class: "tiles" });
  for (const { name, value, note } of parts) element.append(h("div", {}, h("dt", {}, name), h("dd", {}, value, note)));
  const update = (contents) =>
    contents.forEach(([value, note, tone], k) => {
      setText(parts[k].value, value);
      setText(parts[k].note, note);
      parts[k].value.className = tone ?? "";
    });
  return { element, update };
}

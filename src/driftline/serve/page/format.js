// Numbers and times as text.

const COUNT = new Intl.NumberFormat("en");
const SHORT = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
const UNITS = [
  [86400, "day", "days"],
  [3600, "hour", "hours"],
  [60, "min", "min"],
];

export const count = (value) => COUNT.format(value);
export const percent = (value) => (value === null ? "–" : `${(100 * value).toFixed(1)}%`);
export const number = (value) => (value === null ? "–" : SHORT.format(value));
export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

/** Return limits of an error, such as "2.1–4.5%". */
export const limits = ({ low, high }) => `${(100 * low).toFixed(1)}–${percent(high)}`;

/** Return the same in words. */
export const between = ({ low, high }) => `between ${(100 * low).toFixed(1)} and ${percent(high)}`;

/** Return a span of time, such as "2 min". */
export function duration(seconds) {
  for (const [length, one, many] of UNITS) {
    const n = Math.floor(seconds / length);
    if (n >= 1) return `${count(n)} ${n === 1 ? one : many}`;
  }
  return `${Math.floor(seconds)} s`;
}

/** Return a time, given in seconds since 1970; without the date if it is of today. */
export function moment(seconds) {
  const time = new Date(1000 * seconds);
  const clock = time.toLocaleTimeString("en-GB");
  if (time.toDateString() === new Date().toDateString()) return clock;
  return `${time.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" })}, ${clock}`;
}

/** Return a text of at most so many characters. */
export function shortened(text, most) {
  const characters = [...String(text)];
  return characters.length <= most ? characters.join("") : `${characters.slice(0, most - 1).join("")}…`;
}

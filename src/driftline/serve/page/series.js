// What the charts draw: sums over windows of rows become shares and bounds over time.

const MAX_POINTS = 64;
const MIN_POINTS = 16;
const ROWS_PER_POINT = 50;
const COUNTS = ["n_rows", "n_predicted", "n_wrong", "n_asked", "n_answered", "n_wrong_answers", "n_wrong_shadow"];

function joined(windows) {
  const sum = { ...windows.at(-1), classes: {} };
  for (const name of COUNTS) sum[name] = windows.reduce((total, each) => total + each[name], 0);
  for (const { classes } of windows)
    for (const [label, n] of Object.entries(classes)) sum.classes[label] = (sum.classes[label] ?? 0) + n;
  return sum;
}

/** Return windows of about the same length: few enough, and long enough that noise averages out. */
function longer(windows) {
  const nRows = windows.reduce((total, each) => total + each.n_rows, 0);
  const most = Math.min(Math.max(Math.floor(nRows / ROWS_PER_POINT), MIN_POINTS), MAX_POINTS);
  const n = Math.ceil(windows.length / most);
  const parts = [];
  for (let start = 0; start < windows.length; start += n) parts.push(windows.slice(start, start + n));
  const rows = (part) => part.reduce((total, each) => total + each.n_rows, 0);
  if (parts.length > 1 && rows(parts.at(-1)) < rows(parts[0]) / 2) parts.push([...parts.splice(-2)].flat());
  return parts.map(joined);
}

const share = (n, of) => (of > 0 ? n / of : null);

function sums(values) {
  let total = 0;
  return values.map((value) => (total += value));
}

/** Return where windows begin and end, in rows, and the times of their last labels. */
function places(windows) {
  const ends = sums(windows.map((each) => each.n_rows));
  return { ends, starts: [0, ...ends.slice(0, -1)], times: windows.map((each) => each.time) };
}

/** Return what is drawn of a stream; the bounds of now, in its status, are those at the end of the last window. */
export function streamSeries(windows, status) {
  if (windows.length === 0 || status.error === null) return null;
  const parts = longer(windows);
  const last = parts.at(-1);
  Object.assign(last, { low: status.error.low, high: status.error.high, mistake_bound: status.mistakes.bound });
  const place = places(parts);
  const mistakes = sums(parts.map((each) => each.n_wrong));
  const predicted = sums(parts.map((each) => each.n_predicted));
  return {
    place,
    error: parts.map((each) => share(each.n_wrong, each.n_predicted)),
    errorSoFar: mistakes.map((n, k) => share(n, predicted[k])),
    low: parts.map((each) => each.low),
    high: parts.map((each) => each.high),
    answered: parts.map((each) => share(each.n_answered, each.n_asked)),
    answeredError: parts.map((each) => share(each.n_wrong_answers, each.n_answered)),
    mistakes,
    bound: parts.map((each) => each.mistake_bound),
    classes: parts.map((each) => each.classes),
  };
}

/** Return what is drawn of a shadow and the live model: their errors on the same rows. */
export function shadowSeries(windows) {
  if (windows.length === 0) return null;
  const parts = longer(windows);
  return {
    place: places(parts),
    error: parts.map((each) => share(each.n_wrong, each.n_predicted)),
    shadowError: parts.map((each) => share(each.n_wrong_shadow, each.n_predicted)),
  };
}

/** Return the share of each class over time: of the seven most frequent ones, and of all others together. */
export function classShares(classes, totals) {
  const most = 8;
  const known = Object.keys(totals);
  const frequent = [...known]
    .sort((one, other) => totals[other] - totals[one])
    .slice(0, known.length > most ? most - 1 : most);
  const shown = known.filter((label) => frequent.includes(label));
  const rows = classes.map((each) => Object.values(each).reduce((total, n) => total + n, 0));
  const shares = shown.map((label, k) => ({
    label,
    colour: `c${k + 1}`,
    values: classes.map((each, t) => (each[label] ?? 0) / rows[t]),
  }));
  if (shown.length === known.length) return shares;
  const rest = classes.map((_, t) => 1 - shares.reduce((sum, each) => sum + each.values[t], 0));
  return [...shares, { label: `${known.length - shown.length} others`, colour: "c8", values: rest }];
}

/** Return the largest value to be shown, with some room, given what must be seen. */
export function topOf(...values) {
  const known = values.flat().filter((value) => value !== null);
  return Math.max(1.15 * Math.max(...known, 0), 1e-3);
}

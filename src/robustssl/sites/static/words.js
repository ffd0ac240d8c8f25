/* Numbers and reasons as they are written. */
import {whyNoGain} from "./curves.js";

const WORDS = {tabular: "tables", image: "images", text: "texts", other: "other data",
  distribution: "other distribution", label: "unknown classes", feature: "missing features",
  prior: "other class shares", consistent: "t = 0 alone"};

/* A number as Python writes it, n/a where it is undefined: of two neighbours that are equally near the even one, no sign
   before zero. A number lies in the middle of two if it is an odd multiple of a power of two. */
export function show(x, digits = 3) {
  if (x === null || x === undefined || Number.isNaN(x)) return "n/a";
  let text = x.toFixed(digits);
  if (Math.abs(x * 2 ** (digits + 1)) % 2 === 1 && "13579".includes(text.at(-1)))
    text = (x - Math.sign(x) * 10 ** -(digits + 1)).toFixed(digits);
  return text.replace(/^-(0\.?0*)$/, "$1");
}

export function signed(x, digits = 3) {
  const text = show(x, digits);
  return x > 0 && Number(text) !== 0 ? "+" + text : text;
}

/* `estimate [low, high]` and its note, then in parentheses the plain value where it differs; without an interval the
   reason. */
export function interval(found, write = show) {
  const estimate = write(found.estimate);
  if (found.low === null || Number.isNaN(found.low)) return found.note ? `${estimate} (${found.note})` : estimate;
  const plain = write(found.plain ?? found.estimate);
  return `${estimate} [${write(found.low)}, ${write(found.high)}]${found.note ?? ""}` + (plain === estimate ? "" : ` (${plain})`);
}

/* A number of a metric as the data hold it. */
export function metricInterval([plain, estimate, low, high, note]) {
  return interval({plain, estimate, low, high, note});
}

/* The range of a mean when one dataset is left out; nothing where there is one dataset only. */
export function rangeText(range, write = show) {
  return range ? `${write(range[0])} to ${write(range[1])}` : "";
}

export function breakEvenText(found) {
  if (!found) return "";
  const [at, low, high] = [found.estimate, found.low, found.high].map(t => t === Infinity ? "none" : show(t, 2));
  return Number.isNaN(found.low) ? at : `${at} [${low}, ${high}]`;
}

/* The gain of a row of a ranking, or why there is none. */
export function gainText(row, method) {
  if (row.gain) return interval(row.gain, signed);
  if (method.supervised) return "is a baseline";
  const where = row.lacking.length < row.tasks ? ` on ${row.lacking.length} of ${row.tasks} tasks` : "";
  return `not compared${where}: ${[...new Set(row.lacking.map(whyNoGain))].join(", ")}`;
}

/* How many of some curves are of an older version, as a mark behind a name. */
export function olderMark(older, all = 1) {
  if (!older) return "";
  return older === all ? " (older version)" : ` (older version on ${older} of ${all} tasks)`;
}

export function taskName(task) {
  return task.name + olderMark(task.older ? 1 : 0);
}

/* A value of a filter in words: null is unknown, "label, oracle" is "unknown classes, oracle". */
export function choiceName(value) {
  if (value === null || value === "null") return "unknown";
  return String(value).split(", ").map(part => Object.hasOwn(WORDS, part) ? WORDS[part] : part).join(", ");
}

/* A curve that nothing moves may be that of a learner that does not look at its unlabeled data at all. */
export function flatNote(scores, method) {
  if (!scores.flat || method.supervised) return "";
  return scores.values.every(row => row.every(x => x === 1)) ? "flat at 1" : "flat: do its unlabeled data do anything?";
}

export const counted = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;

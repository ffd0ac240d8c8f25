/* Numbers and reasons as they are written. */
import {whyNoGain} from "./curves.js";
import {IDENTICAL} from "./rule.js";

const WORDS = {tabular: "tables", image: "images", text: "texts", other: "other data",
  distribution: "other distribution", label: "unknown classes", feature: "missing features",
  prior: "other class shares", consistent: "t = 0 alone",
  oracle: "no inconsistent rows (oracle)", ceiling: "labels of all rows (ceiling)", there: "inconsistent rows"};

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

/* Up to which t there is a gain: beyond, it harms if the whole band is below zero. */
export function breakEvenWords(found) {
  if (!found) return "";
  if (found.estimate === Infinity) return ", on average at every t";
  return `, on average up to t = ${Number(show(found.estimate, 2))}, and ${Number.isFinite(found.high) ? "harms" : "may harm"} beyond`;
}

/* Why methods that gain over their own baselines, given with whether they are safe, are not the answer. */
export function whyNot(told) {
  const less = told.filter(({safe}) => safe).length, harmful = told.length - less;
  if (told.length === 1) return `${told[0].name} gains over its own baseline, but ${less ? "is less accurate" : "harms on a task"}.`;
  const every = told.length === 2 ? "both" : "all", number = n => n === told.length ? every : String(n), parts = [];
  if (harmful) parts.push(`${number(harmful)} ${harmful === 1 ? "harms" : "harm"} on a task`);
  if (less) parts.push(`${number(less)} ${less === 1 ? "is" : "are"} less accurate`);
  return `${told.length} methods gain over their own baselines, but ${parts.join(" and ")}.`;
}

/* The gain of a row of a ranking, or why there is none. */
export function gainText(row, method) {
  if (row.gain?.note === IDENTICAL) return `identical to its baseline in ${row.cells} of ${row.cells} cells`;
  if (row.gain) return interval(row.gain, signed);
  if (method.supervised) return "is a baseline";
  const where = row.lacking.length < row.tasks ? ` on ${row.lacking.length} of ${row.tasks} tasks` : "";
  return `not compared${where}: ${[...new Set(row.lacking.map(whyNoGain))].join(", ")}`;
}

export const NO_TASK = "No task fits these choices.";

/* How many of some methods are none of the baselines, and how many are. */
export function methodsText(methods) {
  const baselines = methods.filter(method => method.supervised).length;
  return [...methods.length > baselines ? [counted(methods.length - baselines, "method")] : [], ...baselines ? [counted(baselines, "baseline")] : []].join(" and ");
}

/* On how much a number over tasks rests: tasks and datasets. */
export function tasksText(data, tasks) {
  return `${counted(tasks.length, "task")} of ${counted(new Set(tasks.map(task => data.tasks[task].drawn)).size, "dataset")}`;
}

/* The seeds of a row, which may have more on one task than on another. */
export function seedsText({seeds}) {
  const least = Math.min(...seeds), most = Math.max(...seeds);
  return least < most ? `${least} to ${most} seeds` : counted(most, "seed");
}

/* How many methods and tasks a table is of, and what its shade means. */
export function countText(data, rows, every, tasks, fitting = tasks.length) {
  if (!tasks.length) return fitting ? "This score is not known on any of these tasks." : NO_TASK;
  const tied = every.filter(row => row.firstTier).length, all = methodsText(every.map(row => data.methods[row.method]));
  const shown = rows.length < every.length ? `${rows.length} of ${all}` : all;
  const unknown = fitting > tasks.length ? ` On ${counted(fitting - tasks.length, "more task")} this score is not known.` : "";
  const others = tied === 1 ? "; all others are told apart from it" : ` and ${tied - 1} that ${tied === 2 ? "is" : "are"} not told apart from it`;
  const shade = data.unranked || every.length < 2 || !tied ? "" : ` Shaded: the first${others}.`;
  return `${shown} on ${tasksText(data, tasks)}.${unknown}${shade}`;
}

/* How many of some curves are of an older version, as a mark behind a name. */
export function olderMark(older, all = 1) {
  if (!older) return "";
  return older === all ? " (older version)" : ` (older version on ${older} of ${all} tasks)`;
}

export const HARMS = "gains / unclear / harms";

/* On how many tasks a method gains, neither is shown, and it harms; and on how many that is not known. */
export function harmsText({helped, harmed, unknown, unclear}) {
  const parts = [helped, unclear, harmed].map(places => places.length);
  if (parts.every(n => !n)) return "not known";
  return parts.join(" / ") + (unknown.length ? `, ${unknown.length} not known` : "");
}

/* The spec of a task, for those who want it. */
export function taskTitle({environment, dataset, labels}) {
  return `${environment} on ${dataset}${labels === null ? "" : `, ${counted(labels, "label")} a class`}`;
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
  if (method.supervised || !scores.values.every(row => row.every(x => x === row[0]))) return "";
  return scores.values.every(row => row[0] === 1) ? "flat at 1" : "flat: do its unlabeled data do anything?";
}

export const counted = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;

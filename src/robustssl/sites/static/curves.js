/* Curves and gains as parts of the rule over tasks, and why a curve has no gain. */
import {dot} from "./numbers.js";
import {overTasks, sharedSeeds} from "./rule.js";

const INDEX = new WeakMap();

/* The curve of a method on a task if it has the score, else null. */
export function curveOf(data, task, method, score) {
  if (!INDEX.has(data)) INDEX.set(data, new Map(data.curves.map(curve => [`${curve.task},${curve.method}`, curve])));
  const found = INDEX.get(data).get(`${task},${method}`);
  return found?.scores[score]?.values ? found : null;
}

/* The scores of a curve by seed: {dataset, ts, seeds, values, ties}. */
export function scoresOf(data, curve, score) {
  const {grid, seeds, values, rows} = curve.scores[score];
  return {dataset: data.tasks[curve.task].drawn, ts: data.grids[grid], seeds: data.seeds[seeds], values, ties: {rows}};
}

/* The curve minus its baseline's; null where they cannot be compared. */
export function gainOf(data, curve, score) {
  const baseline = curve.baseline === null ? null : data.curves[curve.baseline];
  return differenceOf(data, curve, baseline, score, curve.scores[score].identical);
}

/* What adding inconsistent rows does, minus what replacing rows by them does: the curve of a method on a task that was run
   with both; null where it was not. */
export function addedMinusReplaced(data, curve, score) {
  const {mix, otherMix} = data.tasks[curve.task], other = curveOf(data, otherMix, curve.method, score);
  if (!other) return null;
  return mix === "add" ? differenceOf(data, curve, other, score) : differenceOf(data, other, curve, score);
}

/* One curve minus another, over the seeds that both have; null where they cannot be compared. */
function differenceOf(data, curve, other, score, identical = false) {
  if (!other?.scores[score]?.values) return null;
  const mine = scoresOf(data, curve, score), theirs = scoresOf(data, other, score), seeds = sharedSeeds([mine, theirs]);
  if (mine.ts !== theirs.ts || !seeds.length) return null;
  const values = seeds.map(seed => {
    const row = theirs.values[theirs.seeds.indexOf(seed)];
    return mine.values[mine.seeds.indexOf(seed)].map((x, i) => x - row[i]);
  });
  return {...mine, seeds, values, ties: {...mine.ties, difference: true, identical}};
}

/* Why a curve has no gain. */
export function whyNoGain(curve) {
  if (curve.baselineName === null) return "its baseline is unknown";
  return curve.baseline === null ? "its baseline was not run" : "its baseline was not run on these seeds and t";
}

/* What a curve, or a gain, adds to a mean over tasks: its expected value under the weights, by seed. */
export function partOf(found, weights) {
  const {dataset, seeds, values, ties} = found;
  return {dataset, seeds, values: values.map(row => dot(weights, row)), ties};
}

/* Where the mean gain over tasks turns negative, with its interval from the band: the first t at which the mean, the
   lower and the upper end are below zero; Infinity is "none up to 1", NaN says that there is no band, null that the
   curves have different grids. */
export function breakEven(gains) {
  const [{ts}] = gains;
  if (gains.some(gain => gain.ts !== ts)) return null;
  const at = ts.map((_, i) => overTasks(gains.map(gain => ({...gain, values: gain.values.map(row => row[i])})), -1, 1));
  const estimate = firstNegative(ts, at.map(x => x.plain));
  if (at.some(x => Number.isNaN(x.low))) return {estimate, low: NaN, high: NaN};
  return {estimate, low: firstNegative(ts, at.map(x => x.low)), high: firstNegative(ts, at.map(x => x.high))};
}

function firstNegative(ts, a) {
  const i = a.findIndex(x => x < 0);
  if (i < 1) return i === 0 ? 0 : Infinity;
  return ts[i - 1] + (ts[i] - ts[i - 1]) * a[i - 1] / (a[i - 1] - a[i]);
}

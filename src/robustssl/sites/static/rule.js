/* THE rule by which numbers of tasks become one number with an interval; the same as analysis/tasks.py.

   With T tasks, of dataset d and seed s: z_ds = sum over the tasks of d of x_(task, s) / T, over the seeds that all
   tasks of d share (n_d of them); v_d = var(z_d) / n_d. The mean over tasks is the sum of the means of z_d, its variance
   the sum of v_d, and its degrees of freedom (sum v_d)^2 / sum(v_d^2 / (n_d - 1)).

   A part is what a task adds: {dataset, seeds, values (one for each seed), ties}. Ties say what bounds a value that is
   the same for all seeds: {rows, difference, identical}, as in analysis/interval.py. */
import {betaCdf, betaQuantile, clip, mean, studentQuantile, sum} from "./numbers.js";

const SAME = 1e-24;  // a variance below is rounding
const MISS = 0.025;
export const IDENTICAL = "identical";
const NO_INTERVAL = "no interval";

/* The mean over tasks and its interval over seeds, {estimate, low, high, plain, note}; low and high are NaN where a
   dataset has fewer than two seeds that all of its tasks share. */
export function overTasks(parts, least = -Infinity, most = Infinity) {
  const {centre, variance, df} = moments(parts);
  const found = (low, high, note = "") => ({
    estimate: clip(centre, least, most), low: clip(low, least, most), high: clip(high, least, most), plain: centre, note});
  if (Number.isNaN(variance)) return found(NaN, NaN);
  if (variance <= SAME) return found(...tiedEnds(parts));
  const half = studentQuantile(df) * Math.sqrt(variance);
  return found(centre - half, centre + half);
}

/* p-value of the test that the mean over tasks is 0, by the moments that give the interval; NaN where seeds do not move it. */
export function pValue(parts) {
  const {centre, variance, df} = moments(parts);
  return variance > SAME ? betaCdf(df / (df + centre ** 2 / variance), df / 2, 0.5) : NaN;
}

/* Which of several hypotheses are rejected after Holm's correction; NaN never is. */
export function holm(ps, level = 0.05) {
  const known = ps.map(p => Number.isNaN(p) ? 1 : p), order = known.map((_, k) => k).sort((i, j) => known[i] - known[j]);
  const first = order.findIndex((k, place) => known[k] > level / (ps.length - place));
  const rejected = new Set(first < 0 ? order : order.slice(0, first));
  return ps.map((_, k) => rejected.has(k));
}

/* The mean over tasks, its variance over seeds, NaN where there is none, and the degrees of freedom of that. */
function moments(parts) {
  const sums = byDataset(parts).map(group => sumOf(group).map(z => z / parts.length)), centre = sum(sums.map(mean));
  if (sums.some(z => z.length < 2)) return {centre, variance: NaN, df: NaN};
  const spreads = sums.map(z => varianceOf(z) / z.length), variance = sum(spreads);
  return {centre, variance, df: variance ** 2 / sum(spreads.map((v, d) => v ** 2 / (sums[d].length - 1)))};
}

/* The least and the largest mean when one dataset is left out; null where there is one only. */
export function leaveOneOut(parts) {
  const groups = byDataset(parts), sums = groups.map(group => mean(sumOf(group))), total = sum(sums);
  if (groups.length < 2) return null;
  const means = groups.map((group, d) => (total - sums[d]) / (parts.length - group.length));
  return [Math.min(...means), Math.max(...means)];
}

/* Ranks of methods (methods x seeds) within each seed, 1 for the highest; ties share the mean of their ranks. */
export function ranks(values) {
  const levels = values.map(row => row.map(x => Math.round(1e12 * x)));  // what differs by rounding alone is a tie
  return levels.map(mine => mine.map((level, s) => {
    const better = levels.filter(row => row[s] > level).length, same = levels.filter(row => row[s] === level).length;
    return better + (same + 1) / 2;
  }));
}

function byDataset(parts) {
  const groups = new Map();
  for (const part of parts) groups.set(part.dataset, [...groups.get(part.dataset) ?? [], part]);
  return [...groups.values()];
}

/* The sum over the tasks of a dataset, by shared seed; of the means where they share none. */
function sumOf(group) {
  const shared = sharedSeeds(group);
  if (!shared.length) return [sum(group.map(part => mean(part.values)))];
  return shared.map(seed => sum(group.map(part => part.values[part.seeds.indexOf(seed)])));
}

/* The seeds that all have. */
export function sharedSeeds(group) {
  return group[0].seeds.filter(seed => group.every(part => part.seeds.includes(seed)));
}

function varianceOf(xs) {
  const centre = mean(xs);
  return sum(xs.map(x => (x - centre) ** 2)) / (xs.length - 1);
}

/* Where no seed moves any task: the means of the ends of the tasks' own intervals, and why there is none. */
function tiedEnds(parts) {
  const ends = parts.map(part => limits(mean(part.values), part.ties ?? {}));
  const [low, high] = [0, 1].map(k => mean(ends.map(pair => pair[k])));
  const reason = parts.every(part => part.ties?.identical) ? IDENTICAL : NO_INTERVAL;
  return [low, high, Number.isNaN(low) ? reason : ""];
}

/* Clopper and Pearson's limits of a share of rows; of a difference, plus or minus the share that so many rows may hide. */
function limits(value, {rows = null, difference = false, identical = false}) {
  if (rows === null || identical) return [NaN, NaN];
  if (difference) {
    const hidden = 1 - MISS ** (1 / rows);
    return [value - hidden, value + hidden];
  }
  const k = clip(value, 0, 1) * rows;
  return [k > 0 ? betaQuantile(MISS, k, rows - k + 1) : 0, k < rows ? betaQuantile(1 - MISS, k + 1, rows - k) : 1];
}

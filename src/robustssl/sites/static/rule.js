/* THE rule by which numbers of tasks become one number with an interval; the same as analysis/tasks.py.

   With T tasks, of dataset d and seed s: z_ds = sum over the tasks of d of x_(task, s) / T, over the seeds that all
   tasks of d share (n_d of them); v_d = var(z_d) / n_d. The mean over tasks is the sum of the means of z_d, its variance
   the sum of v_d, and its degrees of freedom (sum v_d)^2 / sum(v_d^2 / (n_d - 1)).

   A part is what a task adds: {dataset, seeds, values (one for each seed), ties}. Ties say what bounds a value that is
   the same for all seeds: {rows, difference, identical}, as in analysis/interval.py. */
import {betaQuantile, clip, mean, studentQuantile, sum} from "./numbers.js";

const SAME = 1e-24;  // a variance below is rounding
const MISS = 0.025;
export const IDENTICAL = "identical";
const NO_INTERVAL = "no interval";

/* The mean over tasks and its interval over seeds, {estimate, low, high, plain, note}; low and high are NaN where a
   dataset has fewer than two seeds that all of its tasks share. */
export function overTasks(parts, least = -Infinity, most = Infinity) {
  const sums = byDataset(parts).map(group => sumOf(group).map(z => z / parts.length));
  const centre = sum(sums.map(mean));
  const found = (low, high, note = "") => ({
    estimate: clip(centre, least, most), low: clip(low, least, most), high: clip(high, least, most), plain: centre, note});
  if (sums.some(z => z.length < 2)) return found(NaN, NaN);
  const spreads = sums.map(z => variance(z) / z.length), total = sum(spreads);
  if (total <= SAME) return found(...tiedEnds(parts));
  const df = total ** 2 / sum(spreads.map((v, d) => v ** 2 / (sums[d].length - 1)));
  const half = studentQuantile(df) * Math.sqrt(total);
  return found(centre - half, centre + half);
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

function variance(xs) {
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

/* What a gain is worth in labels: how many further ones would have bought the baseline the same; as in analysis/worth.py.

   The learning curve of the baseline is the mean over seeds of its scores at several label counts, made to rise by isotonic
   regression, and linear in log2 of the count between them. A gain g at n labels a class is worth L - n, where the curve at L is
   its value at n plus g. */
import {curveOf, partOf, scoresOf} from "./curves.js";
import {mean, studentQuantile, sum} from "./numbers.js";
import {show, signed} from "./words.js";

const FINE = 2048;  // points of the curve at which the interval is asked for
const ALIKE = 1e-12;

/* What gains by seed at `held` labels a class are worth by the baseline's scores (seeds x counts): {estimate, low, high, least, most};
   the curve tells numbers from least to most, a number beyond is infinite, and what is not known NaN. Without its interval if `isBare`. */
export function worthOf(gains, curves, counts, held, isBare = false) {
  const x = counts.map(Math.log2), own = Math.log2(held), grid = gridOf(x), n = gains.length, every = gains.map((_, k) => k);
  const lacking = kept => {
    const curve = rising(x.map((_, c) => mean(kept.map(s => curves[s][c])))), score = at(x, curve, own) + mean(kept.map(s => gains[s]));
    return grid.map(point => score - at(x, curve, point));
  };
  const plain = lacking(every), reached = reachedAt(grid, plain, own);
  let [low, high] = n > 1 && !isBare ? openEnds(grid, plain, every.map(k => lacking(every.filter(s => s !== k)))) : [NaN, NaN];
  if (!Number.isNaN(low)) [low, high] = [Math.min(low, reached), Math.max(high, reached)];
  const labels = end => Number.isFinite(end) ? 2 ** end - held : end;
  return {estimate: labels(reached), low: labels(low), high: labels(high), least: labels(x[0]), most: labels(x.at(-1))};
}

function gridOf(x) {
  const step = (x.at(-1) - x[0]) / (FINE - 1), even = Array.from({length: FINE}, (_, k) => k === FINE - 1 ? x.at(-1) : x[0] + k * step);
  return [...new Set([...even, ...x])].sort((a, b) => a - b);
}

/* A curve that is linear between its points, constant beyond them. */
function at(xs, ys, x) {
  if (x <= xs[0]) return ys[0];
  const i = xs.findIndex(other => other >= x);
  if (i < 0) return ys.at(-1);
  return ys[i - 1] + (x - xs[i - 1]) / (xs[i] - xs[i - 1]) * (ys[i] - ys[i - 1]);
}

/* Isotonic regression: neighbours that fall are replaced by their mean. */
export function rising(values) {
  const blocks = [];
  for (const value of values) {
    blocks.push({mean: value, count: 1});
    while (blocks.length > 1 && blocks.at(-2).mean >= blocks.at(-1).mean) {
      const [a, b] = blocks.splice(-2), count = a.count + b.count;
      blocks.push({mean: (a.mean * a.count + b.mean * b.count) / count, count});
    }
  }
  return blocks.flatMap(block => Array(block.count).fill(block.mean));
}

/* Where nothing is lacking any more; of a flat part the point that is nearest to the own. */
function reachedAt(grid, lacking, own) {
  if (lacking.every(x => x > ALIKE)) return Infinity;
  if (lacking.every(x => x < -ALIKE)) return -Infinity;
  const level = grid.filter((_, k) => Math.abs(lacking[k]) <= ALIKE);
  if (level.length) return Math.min(Math.max(own, level[0]), level.at(-1));
  return at(lacking.map(x => -x), grid, 0);
}

/* The first and the last point at which the interval, jackknifed over seeds, of what is lacking holds 0. */
function openEnds(grid, plain, without) {
  const n = without.length, factor = studentQuantile(n - 1) / Math.sqrt(n);
  const ends = grid.map((_, k) => {
    const pseudo = without.map(one => n * plain[k] - (n - 1) * one[k]), centre = mean(pseudo);
    return [centre, factor * Math.sqrt(sum(pseudo.map(x => (x - centre) ** 2)) / (n - 1))];
  });
  if (!ends.some(([, half]) => half > 0)) return [NaN, NaN];
  const maybe = ends.findIndex(([centre, half]) => centre - half <= 0), still = ends.findLastIndex(([centre, half]) => centre + half >= 0);
  const first = maybe < 0 ? Infinity : maybe === 0 ? -Infinity : grid[maybe];
  const last = still < 0 ? -Infinity : still === grid.length - 1 ? Infinity : grid[still];
  return [first, last];
}

/* What the gain of a row is worth on a task, given by its place; null where the baseline was run with one label count only. */
function worthOn(data, row, place, {score}, weightsOf, isBare) {
  const curve = row.curves[place], gain = row.gains[place], {environment, dataset, labels} = data.tasks[curve.task];
  const baseline = data.curves[curve.baseline].method, alike = data.tasks.map((_, i) => i)
    .filter(i => data.tasks[i].environment === environment && data.tasks[i].dataset === dataset && data.tasks[i].labels !== null)
    .sort((i, j) => data.tasks[i].labels - data.tasks[j].labels);
  const found = alike.map(task => curveOf(data, task, baseline, score)).filter(Boolean);
  const parts = found.map(other => { const scores = scoresOf(data, other, score); return partOf(scores, weightsOf(scores.ts)); });
  const seeds = gain.seeds.filter(seed => parts.every(part => part.seeds.includes(seed)));
  const counts = found.map(other => data.tasks[other.task].labels);
  if (counts.length < 2 || !seeds.length || !counts.includes(labels)) return null;
  const read = (part, seed) => part.values[part.seeds.indexOf(seed)];
  return worthOf(seeds.map(seed => read(gain, seed)), seeds.map(seed => parts.map(part => read(part, seed))), counts, labels, isBare);
}

/* The median over tasks, {estimate, least, most}; where a curve ends before it reaches the score, what is known: that the median is
   more than `most`, or less than `least`, or NaN. As in analysis/labels.py. */
export function medianOf(found) {
  const ends = found.map(({estimate, least, most}) => {
    if (Number.isFinite(estimate)) return [estimate, estimate];
    return estimate > 0 ? [most, Infinity] : [-Infinity, least];
  });
  const [low, high] = [0, 1].map(k => middle(ends.map(pair => pair[k]).sort((a, b) => a - b)));
  if (low === high) return {estimate: low, least: -Infinity, most: Infinity};
  if (low > 0 || (low === 0 && high === Infinity)) return {estimate: Infinity, least: -Infinity, most: low};
  const harm = high < 0 || (low === -Infinity && high === 0);
  return {estimate: harm ? -Infinity : NaN, least: high, most: Infinity};
}

function middle(sorted) {
  const [first, second] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[Math.floor(sorted.length / 2)]];
  return first === second ? first : (first + second) / 2;
}

/* What the gain of a row is worth: on one task with its interval, else the median over tasks; null where the baseline of a task was
   run with one label count only. */
export function worthOfRow(data, row, state, weightsOf) {
  const places = row.curves.map((_, k) => k).filter(k => row.curves[k]);
  if (!row.gain) return null;
  const found = places.map(k => worthOn(data, row, k, state, weightsOf, places.length > 1));
  if (found.includes(null)) return null;
  return found.length > 1 ? {...medianOf(found), low: NaN, high: NaN, tasks: found.length} : {...found[0], tasks: 1};
}

/* As analysis/labels.py writes it. */
export function worthText({estimate, low, high, least, most, tasks}) {
  const write = x => show(x, 1), isZero = x => Number(write(x)) === 0, median = tasks > 1 ? ` (median of ${tasks} tasks)` : "";
  if (Number.isNaN(estimate)) return "not known";
  if (estimate === Infinity) return (!isZero(most) ? `more than ${write(most)} labels a class` : "a gain beyond the learning curve") + median;
  if (estimate === -Infinity)
    return (!isZero(least) ? `more than ${write(-least)} labels a class thrown away` : "a harm beyond the learning curve") + median;
  const end = x => Number.isFinite(x) ? write(x) : x > 0 ? `> ${write(most)}` : `< ${write(least)}`;
  return `${signed(estimate, 1)} labels a class${Number.isNaN(low) ? "" : ` [${end(low)}, ${end(high)}]`}${median}`;
}

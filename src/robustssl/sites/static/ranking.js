/* A row for each method over the chosen tasks: its numbers, by the rule, and its place. */
import {breakEven, curveOf, gainOf, partOf, scoresOf} from "./curves.js";
import {weigher} from "./density.js";
import {mean, sum} from "./numbers.js";
import {leaveOneOut, overTasks, pValue, ranks, sharedSeeds} from "./rule.js";

/* The rows of those methods that were run on one of the tasks at least. A method is whole, and has a place and a mean
   rank, if it has all tasks, and of each as many seeds as any other. Of these, the first tier are the best and those that are
   not told apart from it, as in analysis/rules.py. `state` holds score, convention and density. */
export function ranking(data, tasks, methods, state) {
  const weightsOf = weigher(state.density);
  const rows = methods.map(method => rowOf(data, tasks, method, state, weightsOf)).filter(row => row.tasks);
  const most = tasks.map((_, k) => Math.max(...rows.map(row => row.seeds[k])));
  for (const row of rows) row.whole = row.seeds.every((n, k) => n > 0 && n === most[k]);
  const whole = rows.filter(row => row.whole);
  addMeanRanks(whole);
  whole.sort((x, y) => y.ea.estimate - x.ea.estimate).forEach((row, k) => { row.place = k + 1; });
  for (const row of whole) row.firstTier = row === whole[0] || !(behind(whole[0], row).low > 0);
  return rows;
}

/* By how much a whole row is behind another, paired by seed. */
export function behind(first, row) {
  return overTasks(first.parts.map((best, k) => {
    const mine = row.parts[k], seeds = sharedSeeds([best, mine]), at = (part, seed) => part.values[part.seeds.indexOf(seed)];
    return {dataset: best.dataset, seeds, values: seeds.map(seed => at(best, seed) - at(mine, seed))};
  }));
}

/* Per task: curves, parts and gains, null where there is none. Over tasks: ea and gain with their ranges when one dataset
   is left out, `p` of no gain, and `cells` in which it is compared; the gain is null where curves lack a comparison (`lacking`). */
function rowOf(data, tasks, method, {score, convention}, weightsOf) {
  const curves = tasks.map(task => curveOf(data, task, method, score)), have = curves.filter(Boolean);
  const read = found => found && partOf(found, weightsOf(found.ts));
  const parts = curves.map(curve => curve && read(scoresOf(data, curve, score)));
  const differences = curves.map(curve => curve && gainOf(data, curve, score)), gains = differences.map(read);
  const row = {method, tasks: have.length, curves, parts, gains, seeds: parts.map(part => part ? part.seeds.length : 0)};
  if (!have.length) return row;
  const known = parts.filter(Boolean), compared = gains.filter(Boolean), whole = compared.length === have.length;
  return {
    ...row,
    ea: overTasks(known, 0, 1),
    eaRange: leaveOneOut(known),
    cells: sum(differences.filter(Boolean).map(({seeds, ts}) => seeds.length * ts.length)),
    gain: whole ? overTasks(compared, -1, 1) : null,
    p: whole ? pValue(compared) : NaN,
    gainRange: whole ? leaveOneOut(compared) : null,
    breakEven: whole ? breakEven(differences.filter(Boolean)) : null,
    lacking: curves.filter((curve, k) => curve && !gains[k]),
    metrics: Object.fromEntries(data.conventions[convention].map((name, k) =>
      [name, meanOfKnown(have.map(curve => curve.scores[score].metrics?.[convention][k][0] ?? null))])),
    seconds: mean(have.map(curve => curve.seconds)),
    older: have.filter(curve => curve.older).length,
  };
}

/* The gain on each task, with an interval of its own; null where there is none. */
export function gainsByTask(row) {
  return row.gains.map(part => part && overTasks([part], -1, 1));
}

function meanOfKnown(xs) {
  const known = xs.filter(x => x !== null);
  return known.length ? mean(known) : null;
}

/* Ranks are given within task and seed, over the seeds that all have, and then go through the rule. */
function addMeanRanks(rows) {
  if (!rows.length) return;
  const byTask = rows[0].parts.map((_, k) => {
    const parts = rows.map(row => row.parts[k]), seeds = sharedSeeds(parts);
    const ranked = ranks(parts.map(part => seeds.map(seed => part.values[part.seeds.indexOf(seed)])));
    return ranked.map((values, r) => ({dataset: parts[r].dataset, seeds, values}));
  });
  if (byTask.some(parts => !parts[0].seeds.length)) return;
  rows.forEach((row, r) => { row.meanRank = overTasks(byTask.map(parts => parts[r]), 1, rows.length); });
}

/* Whether a method may harm: on which tasks it is worse than the same learner on the labeled data alone. */
import {gainsByTask} from "./ranking.js";
import {IDENTICAL} from "./rule.js";

/* By place among the tasks of a row: `helped` and `harmed`, better and worse beyond chance; `unknown`, without a comparison or
   without an interval of it; `unclear`, all others, on which neither is shown. The method is `safe` if there are none of either; a baseline uses the labeled data alone and cannot harm.
   `gains` has an interval for each task, null where there is none. */
export function safetyOf(row, method) {
  const gains = gainsByTask(row), places = gains.map((_, k) => k);
  if (method.supervised) return {gains, helped: [], harmed: [], unknown: [], unclear: [], safe: true};
  const helped = places.filter(k => gains[k]?.low > 0), harmed = places.filter(k => gains[k]?.high < 0);
  const unknown = places.filter(k => !gains[k] || (Number.isNaN(gains[k].low) && gains[k].note !== IDENTICAL));
  const unclear = places.filter(k => ![helped, harmed, unknown].some(some => some.includes(k)));
  return {gains, helped, harmed, unknown, unclear, safe: !harmed.length && !unknown.length};
}

export function addSafety(rows, data) {
  for (const row of rows) row.safety = safetyOf(row, data.methods[row.method]);
}

/* The place of the lowest gain of those known, null where there is none. */
export function worstPlace(gains) {
  return gains.reduce((worst, gain, k) => gain && (worst === null || gain.estimate < gains[worst].estimate) ? k : worst, null);
}

/* Safe methods first, then those that are not known to harm, and of equals those first whose expected score is higher. */
export function bySafety(x, y) {
  const level = ({safety}) => safety.safe ? 0 : safety.harmed.length ? 2 : 1;
  return level(x) - level(y) || y.ea.estimate - x.ea.estimate;
}

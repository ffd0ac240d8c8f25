/* Whether a method may harm: on which tasks it is worse than the same learner on the labeled data alone. */
import {gainsByTask} from "./ranking.js";
import {IDENTICAL} from "./rule.js";

/* By place among the tasks of a row: `harmed`, worse beyond chance; `unknown`, without a comparison or without an interval
   of it. The method is `safe` if there are none of either; a baseline uses the labeled data alone and cannot harm.
   `gains` has an interval for each task, null where there is none. */
export function safetyOf(row, method) {
  const gains = gainsByTask(row), places = gains.map((_, k) => k);
  if (method.supervised) return {gains, harmed: [], unknown: [], safe: true};
  const harmed = places.filter(k => gains[k]?.high < 0);
  const unknown = places.filter(k => !gains[k] || (Number.isNaN(gains[k].low) && gains[k].note !== IDENTICAL));
  return {gains, harmed, unknown, safe: !harmed.length && !unknown.length};
}

/* The lowest gain of those known, null where there is none. */
export function worstGain(gains) {
  return gains.filter(Boolean).reduce((x, y) => x && x.estimate <= y.estimate ? x : y, null);
}

/* Safe methods first, then those that are not known to harm, and of equals those first whose expected score is surer. */
export function bySafety(x, y) {
  const level = ({safety}) => safety.safe ? 0 : safety.harmed.length ? 2 : 1;
  const sure = ({ea}) => Number.isNaN(ea.low) ? ea.estimate : ea.low;
  return level(x) - level(y) || sure(y) - sure(x);
}

/* Curves as lines of a chart. */
import {curveOf, gainOf, partOf, scoresOf} from "./curves.js";
import {weightsAt} from "./density.js";
import {overTasks} from "./rule.js";

/* The mean over tasks of the curves of a method, or of its gains, with a band by the rule, at every t that one of them has.
   Null where there is nothing to draw: no curve, or a gain that cannot be computed on each of its tasks. */
export function lineOf(data, method, tasks, {score, show}) {
  const curves = tasks.map(task => curveOf(data, task, method, score)).filter(Boolean);
  const read = show === "gain" ? gainOf : scoresOf, found = curves.map(curve => read(data, curve, score));
  if (!found.length || found.includes(null)) return null;
  const ts = [...new Set(found.flatMap(part => part.ts))].sort((a, b) => a - b);
  const at = ts.map(t => overTasks(found.map(part => partOf(part, weightsAt(part.ts, t))), show === "gain" ? -1 : 0, 1));
  return {name: data.methods[method].name, ts, at};
}

/* Both populations: test rows, which are like the labeled ones, and the inconsistent rows that are set aside. */
import {tasksWith} from "./choice.js";
import {ranking} from "./ranking.js";
import {interval, signed} from "./words.js";

export const THERE = "accuracy_there";

/* The rows of the ranking, each with `there`: the row of its method by the accuracy on inconsistent rows, over those of
   the tasks for which a method has it; null where it is not known. */
export function bothPopulations(data, tasks, methods, state) {
  const there = new Map(ranking(data, tasksWith(data, tasks, THERE), methods, {...state, score: THERE}).map(row => [row.method, row]));
  return ranking(data, tasks, methods, state).map(row => ({...row, there: there.get(row.method) ?? null}));
}

/* The accuracy on inconsistent rows of a row of a ranking, and its gain; with the number of tasks if these are not all. */
export function thereText(row) {
  return row.there ? interval(row.there.ea) + someTasks(row) : "not known";
}

export function gainThereText(row, method) {
  if (row.there?.gain) return interval(row.there.gain, signed) + someTasks(row);
  return method.supervised ? "is a baseline" : "not known";
}

function someTasks({there, tasks}) {
  return there.tasks < tasks ? ` on ${there.tasks} of ${tasks} tasks` : "";
}

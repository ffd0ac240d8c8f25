/* The columns of the tables; their rows are those of a ranking. */
import {addedMinusReplaced, partOf} from "./curves.js";
import {weigher} from "./density.js";
import {link} from "./elements.js";
import {DATA, methodOf} from "./page.js";
import {overTasks} from "./rule.js";
import {THERE, gainThereText, thereText} from "./there.js";
import {breakEvenText, flatNote, gainText, interval, metricInterval, olderMark, rangeText, show, signed} from "./words.js";

const LOWER_FIRST = ["EVM", "VS"];

export const scoreName = state => state.score.replaceAll("_", " ");

export const METHOD = {name: "method", low: true, heading: true, of: row => methodOf(row).name,
  write: row => link("algorithms", methodOf(row), olderMark(row.older, row.tasks))};

/* On the page of a method, where a row has a task of its own. */
export const TASK = {name: "task", low: true, heading: true, of: row => DATA.tasks[row.task].name,
  write: row => link("tasks", DATA.tasks[row.task], olderMark(row.older || DATA.tasks[row.task].older ? 1 : 0))};

const PLACE = {name: "place", label: "#", low: true, of: row => row.place, write: row => String(row.place ?? "–"),
  title: "By expected score. No number: not run on all the chosen tasks and seeds"};
const RANK = {name: "rank", label: "mean rank", low: true, of: row => row.meanRank?.estimate,
  write: row => row.meanRank ? interval(row.meanRank, x => show(x, 1)) : "",
  title: "Of ranks within task and seed, 1 is best, with a 95% interval over seeds"};
const GAIN = {name: "gain", of: row => row.gain?.estimate, write: row => gainText(row, methodOf(row)),
  title: "Over the same learner on the labeled data alone, with a 95% interval over seeds"};
const GAIN_RANGE = {name: "gainRange", label: "gain without one dataset", of: row => row.gainRange?.[0],
  write: row => rangeText(row.gainRange, signed), title: "The least and the largest gain when one of the datasets is left out"};
const BREAK_EVEN = {name: "breakEven", label: "break-even", of: row => row.breakEven?.estimate,
  write: row => breakEvenText(row.breakEven), title: "The first t at which the mean gain is negative, with its 95% interval"};
/* Beside another score, if it is known for a curve at least; rows whose mean is over fewer tasks than that of others come last. */
const thereColumns = state => state.score === THERE || !DATA.scores.includes(THERE) ? [] : [
  {name: "there", label: "accuracy there", of: row => row.there?.whole ? row.there.ea.estimate : null, write: thereText,
    title: "On inconsistent rows, which no method was given; not known where their classes have no labels, or the records do not say it"},
  {name: "gainThere", label: "gain there", of: row => row.there?.whole ? row.there.gain?.estimate : null,
    write: row => gainThereText(row, methodOf(row)), title: "On inconsistent rows, over the same learner on the labeled data alone"},
];
const SECONDS = {name: "seconds", label: "s a cell", low: true, of: row => row.seconds,
  write: row => String(Number(row.seconds.toPrecision(2)))};

/* Over several tasks. */
export function rankColumns(state, tasks) {
  const several = new Set(tasks.map(task => DATA.tasks[task].drawn)).size > 1;
  return [
    ...DATA.unranked ? [] : [PLACE],
    METHOD,
    {name: "ea", label: `expected ${scoreName(state)}`, of: row => row.ea.estimate, write: row => interval(row.ea),
      tip: row => row.eaRange ? `${rangeText(row.eaRange)} when one dataset is left out` : "",
      title: "EA under the density of t, with a 95% interval over seeds"},
    GAIN,
    ...several ? [GAIN_RANGE] : [],
    BREAK_EVEN,
    ...thereColumns(state),
    ...DATA.unranked ? [] : [RANK],
    ...DATA.conventions[state.convention].map(name => ({name, low: LOWER_FIRST.includes(name), of: row => row.metrics[name],
      write: row => show(row.metrics[name]), title: tasks.length > 1 ? "mean over the tasks" : ""})),
    SECONDS,
    {name: "tasks", of: row => row.tasks, write: row => `${row.tasks} of ${tasks.length}`, title: "Tasks it was run on"},
  ];
}

/* Where tasks were run with rows added too, every t counts alike. */
function mixColumns(state) {
  if (DATA.tasks.every(task => task.otherMix === null)) return [];
  const found = row => {
    const difference = addedMinusReplaced(DATA, row.curves[0], state.score);
    return difference && overTasks([partOf(difference, weigher(state.density)(difference.ts))], -1, 1);
  };
  const text = row => found(row) ? interval(found(row), signed) : "not run";
  return [{name: "mix", label: "added - replaced", of: row => found(row)?.estimate, write: row => methodOf(row).supervised ? "is a baseline" : text(row),
    title: "The score when inconsistent rows are added minus that when they replace consistent ones: what fewer consistent rows do"}];
}

/* Of one task each; `first` is METHOD or TASK. */
export function curveColumns(state, first) {
  const scores = row => row.curves[0].scores[state.score], note = row => flatNote(scores(row), methodOf(row));
  const [area, ...others] = DATA.conventions[state.convention].map((name, k) => ({name, low: LOWER_FIRST.includes(name),
    of: row => row.metrics[name], write: row => metricInterval(scores(row).metrics[state.convention][k])}));
  return [
    first,
    area,
    GAIN,
    BREAK_EVEN,
    ...thereColumns(state),
    ...mixColumns(state),
    ...others,
    {name: "note", of: note, write: note},
    {name: "seeds", of: row => row.seeds[0], write: row => String(row.seeds[0])},
    SECONDS,
  ];
}

/* The columns of the tables; their rows are those of a ranking. */
import {barScale, gainBar} from "./bars.js";
import {addedMinusReplaced, partOf} from "./curves.js";
import {weigher} from "./density.js";
import {link, make} from "./elements.js";
import {ALL_OLDER, DATA, methodOf} from "./page.js";
import {overTasks} from "./rule.js";
import {worstPlace} from "./safety.js";
import {THERE, gainThereText, thereText} from "./there.js";
import {HARMS, breakEvenText, choiceName, flatNote, gainText, harmsText, interval, metricInterval, olderMark, rangeText, show, signed, taskTitle} from "./words.js";

const LOWER_FIRST = ["EVM", "VS"];

export const scoreName = state => state.score === THERE ? "accuracy there" : state.score.replaceAll("_", " ");

/* A link to the method of a row, with a mark where it is of an older version than others. */
export const methodLink = row => link("algorithms", methodOf(row), ALL_OLDER ? "" : olderMark(row.older, row.tasks));

export const METHOD = {name: "method", low: true, heading: true, of: row => methodOf(row).name,
  write: methodLink};

/* On the page of a method, where a row has a task of its own. */
export const TASK = {name: "task", low: true, heading: true, of: row => DATA.tasks[row.task].name,
  write: row => link("tasks", DATA.tasks[row.task], ALL_OLDER ? "" : olderMark(row.older || DATA.tasks[row.task].older ? 1 : 0))};

const PLACE = {name: "place", label: "#", low: true, className: "place", of: row => row.place, write: row => String(row.place ?? "–"),
  title: "By expected score. No number: not run on all the chosen tasks and seeds"};
const RANK = {name: "rank", label: "mean rank", low: true, of: row => row.meanRank?.estimate,
  write: row => row.meanRank ? interval(row.meanRank, x => show(x, 1)) : "",
  title: "Of ranks within task and seed, 1 is best, with a 95% interval over seeds"};
const GAIN_RANGE = {name: "gainRange", label: "gain without one dataset", of: row => row.gainRange?.[0],
  write: row => rangeText(row.gainRange, signed), title: "The least and the largest gain when one of the datasets is left out"};
const BREAK_EVEN = {name: "breakEven", label: "break-even", of: row => row.breakEven?.estimate,
  write: row => breakEvenText(row.breakEven), title: "The first t at which the mean gain is negative, with its 95% interval"};
/* Beside another score, if it is known for a curve at least; rows whose mean is over fewer tasks than that of others come last. */
const thereColumns = state => state.score === THERE || !DATA.scores.includes(THERE) ? [] : [
  {name: "gainThere", label: "gain there", of: row => row.there?.whole ? row.there.gain?.estimate : null,
    write: row => gainThereText(row, methodOf(row)), title: "On inconsistent rows, over the same learner on the labeled data alone"},
  {name: "there", label: "accuracy there", of: row => row.there?.whole ? row.there.ea.estimate : null, write: thereText,
    title: "On inconsistent rows, which no method was given; not known where their classes have no labels, or the records do not say it"},
];
const SECONDS = {name: "seconds", label: "seconds a model", low: true, of: row => row.seconds,
  write: row => row.seconds === null ? "not known" : String(Number(row.seconds.toPrecision(2))), title: "Cost: seconds to train one model, on average"};
export const YEAR = {name: "year", of: row => methodOf(row).year, write: row => String(methodOf(row).year ?? "")};
export const PAPER = {name: "paper", low: true, of: row => methodOf(row).authors, write: row => {
  const {authors, paper} = methodOf(row);
  return paper ? make("a", {href: paper, rel: "noreferrer"}, authors) : authors ?? "";
}};
const CLAIMS = {name: "claims", low: true, of: row => methodOf(row).targets.join(),
  write: row => methodOf(row).targets.map(choiceName).join(", "), title: "The inconsistencies that its authors claim to answer"};

/* The gain as a bar and in numbers, or why there is none. */
export function gainColumn(rows) {
  const x = barScale(rows.map(row => row.gain));
  return {name: "gain", of: row => row.gain?.estimate, write: row => make("span", {className: row.gain ? "gain" : "soft"},
    ...row.gain ? [gainBar(row.gain, x)] : [], gainText(row, methodOf(row))),
  title: "Over the same learner on the labeled data alone, with a 95% interval over seeds"};
}

/* Rows have their `safety`. Of a baseline there is nothing to say. */
export const harmsColumn = tasks => ({name: "harms", label: HARMS, low: true,
  of: row => methodOf(row).supervised ? null : row.safety.harmed.length + row.safety.unknown.length,
  write: row => methodOf(row).supervised ? "" : harmsText(row.safety),
  tip: row => [...row.safety.harmed, ...row.safety.unknown].map(k => DATA.tasks[tasks[k]].name).join("; "),
  title: "On how many tasks it is better than the labeled data alone beyond chance, on how many neither is shown, and on how many it is worse beyond chance"});

export const worstColumn = tasks => ({name: "worst", label: "worst task", title: "The task with the lowest gain",
  of: row => row.safety.gains[worstPlace(row.safety.gains)]?.estimate,
  write: row => {
    const k = worstPlace(row.safety.gains), task = DATA.tasks[tasks[k]];
    if (methodOf(row).supervised || k === null) return "";
    const name = link("tasks", {...task, name: task.short}, "", `${task.name}: ${taskTitle(task)}`);
    return make("span", {className: "worst"}, `${signed(row.safety.gains[k].estimate)} `, name);
  }});

export const areaColumn = (state, label) => ({name: "ea", label, of: row => row.ea.estimate, write: row => interval(row.ea),
  tip: row => row.eaRange ? `${rangeText(row.eaRange)} when one dataset is left out` : "",
  title: `Expected ${scoreName(state)} under the density of t, with a 95% interval over seeds`});

/* Over several tasks; `label` is that of the expected score. With `more`, the metrics and what else there is. */
export function rankColumns(rows, state, tasks, label) {
  return [
    ...DATA.unranked ? [] : [PLACE],
    METHOD,
    gainColumn(rows),
    harmsColumn(tasks),
    worstColumn(tasks),
    areaColumn(state, label),
    ...thereColumns(state),
    ...state.more ? moreColumns(state, tasks) : [],
    SECONDS,
    YEAR,
    PAPER,
    CLAIMS,
  ];
}

function moreColumns(state, tasks) {
  const several = new Set(tasks.map(task => DATA.tasks[task].drawn)).size > 1;
  const names = DATA.conventions[state.convention].filter(name => name !== "AUC" || state.convention !== "definition");
  return [
    ...names.map(name => ({name, label: name === "AUC" ? `AUC (${state.convention})` : name, low: LOWER_FIRST.includes(name),
      of: row => row.metrics[name], write: row => show(row.metrics[name]), title: tasks.length > 1 ? "mean over the tasks" : ""})),
    BREAK_EVEN,
    ...several ? [GAIN_RANGE] : [],
    ...DATA.unranked ? [] : [RANK],
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
export function curveColumns(rows, state, first) {
  const scores = row => row.curves[0].scores[state.score], note = row => flatNote(scores(row), methodOf(row));
  const [area, ...others] = DATA.conventions[state.convention].map((name, k) => ({name, low: LOWER_FIRST.includes(name),
    of: row => row.metrics[name], write: row => metricInterval(scores(row).metrics[state.convention][k])}));
  return [
    first,
    area,
    gainColumn(rows),
    BREAK_EVEN,
    ...thereColumns(state),
    ...mixColumns(state),
    ...others,
    {name: "note", of: note, write: note},
    {name: "seeds", of: row => row.seeds[0], write: row => String(row.seeds[0])},
    SECONDS,
  ];
}

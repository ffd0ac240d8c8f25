/* A question in words: which method to use, if about this share is inconsistent? */
import {adviceOf} from "../advice.js";
import {drawChart} from "../chart.js";
import {chosenMethods, chosenTasks, environmentOf} from "../choice.js";
import {METHOD, areaColumn, gainColumn, harmsColumn, scoreName, worstColumn} from "../columns.js";
import {readDensity, weigher} from "../density.js";
import {find, link, make, unique} from "../elements.js";
import {VALUES, fillSelect} from "../filters.js";
import {lineOf} from "../lines.js";
import {looksOf} from "../looks.js";
import {DATA, methodOf} from "../page.js";
import {ranking} from "../ranking.js";
import {addSafety} from "../safety.js";
import {DEFAULTS, readState, writeState} from "../state.js";
import {sortedTable} from "../tables.js";
import {NO_TASK, choiceName, counted, methodsText, taskTitle} from "../words.js";
import {worthOfRow, worthText} from "../worth.js";
import {ruling, verdict} from "./answer.js";

const QUESTION = ["data", "environment", "labels", "share"];
const BEST = 5;  // lines with the highest lower end of the gain, and
const WORST = 2;  // rows of those that harm most

export function overview() {
  const form = find("#ask"), state = readState(...QUESTION, "sort"), words = JSON.parse(form.dataset.words);
  fillSelect(form.data, unique(DATA.tasks.map(task => task.data)));
  fillSelect(form.environment, unique(DATA.tasks.filter(task => !task.access).map(environmentOf)),
    kind => Object.hasOwn(words, kind) ? words[kind] : choiceName(kind));
  fillSelect(form.labels, VALUES.labels());
  form.labels.closest("label").hidden = VALUES.labels().length < 2;
  for (const name of QUESTION) {
    form[name].value = state[name];
    if (form[name].value !== state[name]) form[name].value = DEFAULTS[name];
  }
  function update() {
    for (const name of QUESTION) state[name] = form[name].value;
    form.querySelector("output").textContent = `${state.share}%`;
    answer(state, update);
    writeState({...state, p: DEFAULTS.p});
  }
  form.addEventListener("input", update);
  form.addEventListener("submit", event => event.preventDefault());
  window.addEventListener("pageshow", update);  // a browser that goes back may fill in the form itself
  window.addEventListener("resize", update);
}

/* The share becomes a Beta density around it. */
function answer(state, update) {
  const share = state.share / 100;
  state.p = `beta:${(1 + 20 * share).toFixed(1)},${(1 + 20 * (1 - share)).toFixed(1)}`;
  state.density = readDensity(state.p);
  const tasks = chosenTasks(DATA, state), rows = ranking(DATA, tasks, chosenMethods(DATA, state), state);
  addSafety(rows, DATA);
  const worth = row => worthOfRow(DATA, row, state, weigher(state.density)), {best, worst} = thoseThatMatter(rows);
  const none = make("p", {className: "verdict"}, tasks.length ? "No method was run on all tasks of this kind." : NO_TASK);
  find("#answer").replaceChildren(...rows.some(row => row.whole) ? [verdict(rows, tasks, state, worth), ...ruling(rows, state)] : [none]);
  drawLines(rows, best, tasks, state);
  showTable(unique([...best, ...worst]), tasks, state, worth, update);
  find("#shown").textContent = shownText(rows, unique([...best, ...worst]));
  find("#tasks").replaceChildren(...tasks.map(task => make("li", {}, link("tasks", DATA.tasks[task], "", taskTitle(DATA.tasks[task])))));
  find("#task-count").textContent = `The ${counted(tasks.length, "task")}`;
  const kept = new URLSearchParams({environment: state.environment, data: state.data, labels: state.labels, p: state.p});
  for (const [key, value] of [...kept]) if (!value) kept.delete(key);
  find("#further").href = `explorer.html#${kept}`;
}

/* Whom the table shows, and how they were picked. */
function shownText(rows, shown) {
  if (!shown.length || shown.length === rows.length) return "";
  return `Shown are ${methodsText(shown.map(methodOf))} of ${methodsText(rows.map(methodOf))}: the answer, the best baseline, the ${BEST} methods with the highest lower end of the gain `
    + `and the ${WORST} that lose most. Blue and orange: the interval of this gain alone is above or below 0.`;
}

function showTable(rows, tasks, state, worth, update) {
  const columns = [METHOD, gainColumn(rows), harmsColumn(tasks), worstColumn(tasks), ...worthColumn(rows, worth),
    areaColumn(state, `expected ${scoreName(state)}`)];
  sortedTable(find("#drawn"), columns, rows, state, update);
}

/* What gains are worth in labels, where the records tell a number of a row at least. */
function worthColumn(rows, worth) {
  const found = new Map(rows.map(row => [row, worth(row)]));
  if (![...found.values()].some(one => Number.isFinite(one?.estimate))) return [];
  return [{name: "worth", of: row => found.get(row)?.estimate, write: row => found.get(row) ? worthText(found.get(row)) : "",
    title: "How many further labels would have bought the baseline the same; over several tasks the median, so that its sign may be another than that of the mean gain"}];
}

/* The answer, the best baseline and the methods with the surest gain; and those that harm most. */
function thoseThatMatter(rows) {
  const compared = rows.filter(row => row.whole && row.gain && !methodOf(row).supervised), {row, baseline} = adviceOf(rows, DATA);
  const end = (found, name) => Number.isNaN(found[name]) ? found.estimate : found[name];
  const best = [...compared].sort((x, y) => end(y.gain, "low") - end(x.gain, "low")).slice(0, BEST);
  const worst = [...compared].sort((x, y) => end(x.gain, "high") - end(y.gain, "high")).slice(0, WORST);
  return {best: unique([row, baseline, ...best].filter(Boolean)), worst};
}

function drawLines(rows, drawn, tasks, state) {
  const asked = {...state, show: "gain"}, coloured = drawn.filter(row => !methodOf(row).supervised);
  const looks = looksOf(coloured.map(methodOf)), methods = rows.filter(row => !methodOf(row).supervised);
  const lines = methods.map(row => [lineOf(DATA, row.method, tasks, asked), looks[coloured.indexOf(row)]]);
  const able = lines.filter(([line]) => line), left = methods.length - able.length;
  drawChart(find("#chart"), able.map(([line, look]) => ({...line, look})), {gain: true, label: `gain in ${scoreName(state)}`});
  find("#caption").textContent = !able.length ? "" : `Gain over the same learner on the labeled rows alone, mean over ${counted(tasks.length, "task")}; `
    + "below the bold line, unlabeled rows harm. In colour: the best, by the lower end of the gain. "
    + (able.length > coloured.length ? `Grey: ${able.length - coloured.length} more. ` : "")
    + (left ? `Not drawn: ${left} that cannot be compared on every task.` : "");
}

/* The page of a method: what it gains, on which tasks, in order of gain. */
import {drawChart} from "../chart.js";
import {chosenTasks, environmentOf} from "../choice.js";
import {TASK, curveColumns, gainColumn, harmsColumn, scoreName, worstColumn} from "../columns.js";
import {find, link, make, unique} from "../elements.js";
import {bindFilters} from "../filters.js";
import {lineOf} from "../lines.js";
import {metricsPart, partsOf, whenLoaded} from "../load.js";
import {lookAt} from "../looks.js";
import {DATA} from "../page.js";
import {ranking} from "../ranking.js";
import {IDENTICAL} from "../rule.js";
import {addSafety} from "../safety.js";
import {readState, withScore, writeState} from "../state.js";
import {bindCsv, focusColumn, sortedTable} from "../tables.js";
import {bothPopulations} from "../there.js";
import {breakEvenWords, choiceName, counted, gainText, interval, signed, taskTitle} from "../words.js";

const TINY_HEIGHT = 130;

export function methodPage() {
  const method = Number(document.body.dataset.number), about = DATA.methods[method], table = find("#numbers");
  const state = readState("data", "environment", "labels", "score", "on", "access", "convention", "sort");
  const first = about.supervised ? "AUC" : "gain";
  if (!location.hash.includes("sort=")) state.sort = `-${first}`;
  function update(focus) {
    whenLoaded([...partsOf(withScore(state)), metricsPart(withScore(state).score)], () => show(focus));
  }
  function show(focus) {
    const asked = {...withScore(state), show: "gain"}, tasks = chosenTasks(DATA, state);
    const rows = tasks.flatMap(task => bothPopulations(DATA, [task], [method], asked).map(row => ({...row, task})));
    sortedTable(table, curveColumns(rows, asked, TASK), rows, asked, name => { state.sort = asked.sort; update(name); });
    const [whole] = ranking(DATA, rows.map(row => row.task), [method], asked);
    find("#verdict").replaceChildren(methodVerdict(whole, about));
    drawKinds(method, rows, asked);
    drawMultiples(method, rows, tasks, asked);
    writeState(state);
    focusColumn(table, focus);
  }
  bindFilters(state, () => update());
  bindCsv(table, "numbers.csv");
  update();
  window.addEventListener("resize", () => update());
}

/* What is sure comes first. */
function methodVerdict(row, method) {
  if (!row) return "It was not run on these tasks.";
  if (method.supervised) return `A baseline: on ${counted(row.tasks, "task")} it scores ${interval(row.ea)} on average.`;
  const baseline = unique(row.curves.map(curve => curve.baselineName)).join(", ");
  if (!row.gain) return `It cannot be judged here: ${gainText(row, method)}.`;
  if (row.gain.note === IDENTICAL) return `Its predictions are those of ${baseline} on all ${counted(row.tasks, "task")}: it does nothing here.`;
  addSafety([row], DATA);
  const {gains, helped, harmed, unknown, unclear} = row.safety;
  const parts = [`gains on ${helped.length}`, `harms on ${harmed.length}`, `is not told apart from ${baseline} on ${unclear.length}`, ...unknown.length ? [`cannot be judged on ${unknown.length}`] : []];
  const average = `${interval(row.gain, signed)}${row.gain.low > 0 || row.gain.high < 0 ? "" : ", which may be chance"}${row.gain.estimate > 0 ? breakEvenWords(row.breakEven) : ""}`;
  return `Of ${counted(gains.length, "task")} it ${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}. Its mean gain is ${average}.`;
}

/* By what is inconsistent, where there are several kinds. */
function drawKinds(method, rows, state) {
  const kinds = unique(rows.map(row => environmentOf(DATA.tasks[row.task]))), host = find("#kinds");
  if (kinds.length < 2 || DATA.methods[method].supervised) return host.replaceChildren();
  const found = kinds.flatMap(kind => {
    const tasks = rows.map(row => row.task).filter(task => environmentOf(DATA.tasks[task]) === kind);
    return ranking(DATA, tasks, [method], state).map(row => ({...row, kind, on: tasks}));
  });
  addSafety(found, DATA);
  const table = make("table"), claimed = row => DATA.methods[method].targets.includes(row.kind) ? " (claimed)" : "";
  const each = column => ({...column(found[0].on), of: null, tip: row => column(row.on).tip?.(row) ?? "", write: row => column(row.on).write(row)});
  sortedTable(table, [
    {name: "kind", label: "what is inconsistent", heading: true, low: true, of: row => row.kind, write: row => choiceName(row.kind) + claimed(row)},
    {...gainColumn(found), of: null}, each(harmsColumn), each(worstColumn),
  ], found.map(row => ({...row, whole: true})), {...state, sort: "none"}, () => {});
  host.replaceChildren(make("div", {className: "scroll", tabIndex: 0, role: "region", ariaLabel: "by what is inconsistent"}, table));
}

/* A small chart for each task, the highest first, all on one scale. */
function drawMultiples(method, rows, tasks, state) {
  const able = rows.filter(row => row.gain).sort((x, y) => y.gain.estimate - x.gain.estimate), host = find("#multiples");
  const lines = able.map(row => ({...lineOf(DATA, method, [row.task], state), look: lookAt(0), banded: true}));
  const range = lines.flatMap(line => line.at.map(x => x.estimate));
  host.replaceChildren(...able.map(row => {
    const task = DATA.tasks[row.task];
    return make("li", {}, link("tasks", {...task, name: task.short}, "", taskTitle(task)), make("div", {className: "number small"}, interval(row.gain, signed)),
      make("div"));
  }));
  able.forEach((row, k) => drawChart(host.children[k].lastChild, [lines[k]], {gain: true, tiny: true, height: TINY_HEIGHT, range,
    label: `gain in ${scoreName(state)} on ${DATA.tasks[row.task].name}`}));
  find("#drawn").textContent = DATA.methods[method].supervised ? "It sees no unlabeled row, so its score is the same at every t: the numbers are below."
    : drawnText(able, rows, tasks, state);
}

/* What is drawn, and what is not. */
function drawnText(able, rows, tasks, state) {
  const hidden = DATA.tasks.filter(task => task.access).length, lacking = rows.filter(row => !able.includes(row)).map(row => DATA.tasks[row.task].short);
  const unseen = tasks.length - rows.length;
  return [
    `Gain over t on ${counted(able.length, "task")}, the highest first, all on one scale, with 95% bands.`,
    ...lacking.length ? [`Not drawn, since it cannot be compared there: ${lacking.join("; ")}.`] : [],
    ...unseen ? [`It was not run on ${counted(unseen, "other task")}.`] : [],
    ...hidden && !state.access ? [`Not drawn: ${counted(hidden, "task")} in which each method is given what no method has (oracles and ceilings; see the last choice above).`] : [],
  ].join(" ");
}

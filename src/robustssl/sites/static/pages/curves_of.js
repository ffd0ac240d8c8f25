/* The pages of a task and of a method: a chart and a table with a row for each curve. */
import {drawChart} from "../charts.js";
import {METHOD, TASK, curveColumns, scoreName} from "../columns.js";
import {readDensity} from "../density.js";
import {find, make, unique} from "../elements.js";
import {bindFilters} from "../filters.js";
import {lineOf} from "../lines.js";
import {DATA} from "../page.js";
import {DEFAULTS, readState, writeState} from "../state.js";
import {bindCsv, focusColumn, sortedTable} from "../tables.js";
import {bothPopulations} from "../there.js";
import {taskName} from "../words.js";

const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"];
const DASHES = [[], [8, 4], [2, 3], [8, 3, 2, 3]];

export function taskPage() {
  const task = Number(document.body.dataset.number), methods = DATA.methods.map((_, j) => j);
  bindPage(METHOD, state => bothPopulations(DATA, [task], methods, state),
    (rows, state) => rows.map(row => lineOf(DATA, row.method, [task], state)));
}

export function methodPage() {
  const method = Number(document.body.dataset.number);
  bindPage(TASK,
    state => DATA.tasks.flatMap((_, task) => bothPopulations(DATA, [task], [method], state).map(row => ({...row, task}))),
    (rows, state) => drawnTasks(rows).map((task, k) => {
      const line = lineOf(DATA, method, [task], state);
      return line && {...line, name: taskName(DATA.tasks[task]), colour: COLOURS[k % COLOURS.length],
        dash: DASHES[Math.floor(k / COLOURS.length)]};
    }));
}

/* Oracles and ceilings last, and no more than there are looks. */
function drawnTasks(rows) {
  const tasks = rows.map(row => row.task), ordinary = tasks.filter(task => !DATA.tasks[task].access);
  return unique([...ordinary, ...tasks]).slice(0, COLOURS.length * DASHES.length);
}

function bindPage(first, rowsOf, linesOf) {
  const state = readState("score", "convention", "show", "sort"), table = find("#numbers");
  state.density = readDensity(DEFAULTS.p);
  if (!curveColumns(state, first).some(column => column.name === state.sort.replace("-", "")))
    state.sort = `-${DATA.conventions[state.convention][0]}`;
  function update(focus) {
    const rows = rowsOf(state);
    sortedTable(table, curveColumns(state, first), rows, state, update);
    const lines = linesOf(rows, state).filter(Boolean), host = find("#chart");
    drawChart(host, lines, state.show === "gain" ? "gain over the baseline" : scoreName(state));
    if (lines.length < rows.length) host.append(make("p", {className: "small"}, `Drawn: ${lines.length} of ${rows.length} curves.`));
    writeState(state);
    focusColumn(table, focus);
  }
  bindFilters(state, () => update());
  bindCsv(table, "numbers.csv");
  update();
  window.addEventListener("resize", () => update());
}

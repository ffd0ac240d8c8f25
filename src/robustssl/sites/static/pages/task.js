/* The page of a task: the curves of its methods, and a table with a row for each. */
import {drawChart} from "../chart.js";
import {METHOD, curveColumns, scoreName} from "../columns.js";
import {find} from "../elements.js";
import {bindFilters} from "../filters.js";
import {lineOf} from "../lines.js";
import {metricsPart, partsOf, whenLoaded} from "../load.js";
import {looksOf} from "../looks.js";
import {DATA, methodOf} from "../page.js";
import {readState, withScore, writeState} from "../state.js";
import {bindCsv, focusColumn, sortedTable} from "../tables.js";
import {bothPopulations} from "../there.js";
import {counted} from "../words.js";

const IN_COLOUR = 5;

export function taskPage() {
  const task = Number(document.body.dataset.number), methods = DATA.methods.map((_, j) => j), table = find("#numbers");
  const state = readState("score", "on", "convention", "show", "sort");
  if (!location.hash.includes("sort=")) state.sort = "-gain";
  function update(focus) {
    whenLoaded([...partsOf(withScore(state)), metricsPart(withScore(state).score)], () => show(focus));
  }
  function show(focus) {
    const rows = bothPopulations(DATA, [task], methods, withScore(state)), control = find("[data-state=show]");
    control.closest("label").hidden = !rows.some(row => row.gain);
    if (control.closest("label").hidden) control.value = state.show = "score";  // there is no gain to show
    const asked = withScore(state);
    sortedTable(table, curveColumns(rows, asked, METHOD), rows, asked, name => { state.sort = asked.sort; update(name); });
    drawCurves(rows, task, asked);
    writeState(state);
    focusColumn(table, focus);
  }
  bindFilters(state, () => update());
  bindCsv(table, "numbers.csv");
  update();
  window.addEventListener("resize", () => update());
}

/* The best in colour, the others grey; of the scores also the baselines of the best. */
function drawCurves(rows, task, state) {
  const gain = state.show === "gain", value = row => gain ? row.gain?.estimate ?? -Infinity : row.ea.estimate;
  const lines = rows.map(row => ({row, line: lineOf(DATA, row.method, [task], state)})).filter(({row, line}) => line && !(gain && methodOf(row).supervised));
  const best = [...lines].sort((x, y) => value(y.row) - value(x.row)).slice(0, IN_COLOUR).map(({row}) => row.method);
  const looks = looksOf(best.map(method => DATA.methods[method]));
  drawChart(find("#chart"), lines.map(({row, line}) => ({...line, look: looks[best.indexOf(row.method)]})),
    {gain, label: gain ? `gain in ${scoreName(state)}` : scoreName(state)});
  const missing = gain ? rows.filter(row => !methodOf(row).supervised && !lines.some(({row: other}) => other === row)).map(row => methodOf(row).name) : [];
  find("#drawn").textContent = !lines.length ? `No ${gain ? "gain" : "score"} of this kind is known on this task.` : `${counted(lines.length, "method")}; the ${Math.min(IN_COLOUR, lines.length)} with the highest ${gain ? "gain" : "score"} in colour.`
    + (missing.length ? ` Not drawn, since they cannot be compared: ${missing.join(", ")}.` : "");
}

/* The leaderboard: every t counts alike. */
import {chosenMethods, chosenTasks} from "../choice.js";
import {rankColumns} from "../columns.js";
import {find} from "../elements.js";
import {bindFilters} from "../filters.js";
import {DATA} from "../page.js";
import {readState, writeState} from "../state.js";
import {bindCsv, focusColumn, sortedTable} from "../tables.js";
import {bothPopulations} from "../there.js";
import {counted} from "../words.js";

export function leaderboard() {
  const state = readState("score", "convention", "environment", "data", "labels", "family", "targets", "sort");
  const table = find("#ranking");
  function update(focus) {
    const tasks = chosenTasks(DATA, state), rows = bothPopulations(DATA, tasks, chosenMethods(DATA, state), state);
    sortedTable(table, rankColumns(state, tasks), rows, state, update);
    find("#count").textContent = `${counted(rows.length, "method")} on ${counted(tasks.length, "task")}.`;
    writeState(state);
    focusColumn(table, focus);
  }
  bindFilters(state, () => update());
  bindCsv(table, "leaderboard.csv");
  update();
}

/* The leaderboard: every t counts alike. */
import {chosenMethods, chosenTasks, searched, tasksWith} from "../choice.js";
import {rankColumns} from "../columns.js";
import {find} from "../elements.js";
import {bindFilters} from "../filters.js";
import {partsOf, whenLoaded} from "../load.js";
import {DATA, methodOf} from "../page.js";
import {addSafety} from "../safety.js";
import {readState, withScore, writeState} from "../state.js";
import {bindCsv, focusColumn, sortedTable} from "../tables.js";
import {bothPopulations} from "../there.js";
import {countText} from "../words.js";

export function leaderboard() {
  const state = readState("score", "convention", "environment", "data", "labels", "family", "targets", "access", "on", "q", "more", "sort");
  const table = find("#ranking");
  function update(focus) {
    whenLoaded(partsOf(withScore(state)), () => show(focus));
  }
  function show(focus) {
    const asked = {...withScore(state), tiers: !DATA.unranked};
    const chosen = chosenTasks(DATA, state), tasks = tasksWith(DATA, chosen, asked.score);
    const every = bothPopulations(DATA, tasks, chosenMethods(DATA, state), asked);
    const rows = every.filter(row => searched(methodOf(row), state.q));
    addSafety(rows, DATA);
    sortedTable(table, rankColumns(rows, asked, tasks, "AUC"), rows, asked, name => { state.sort = asked.sort; update(name); });
    find("#count").textContent = countText(DATA, rows, every, tasks, chosen.length);
    find("[data-state=convention]").closest("label").hidden = !state.more;
    writeState(state);
    focusColumn(table, focus);
  }
  bindFilters(state, () => update());
  bindCsv(table, "leaderboard.csv");
  update();
}

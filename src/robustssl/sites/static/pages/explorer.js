/* The explorer: any density of t. */
import {drawChart} from "../charts.js";
import {chosenMethods, chosenTasks} from "../choice.js";
import {rankColumns, scoreName} from "../columns.js";
import {HAND, LEAST, MOST, readDensity} from "../density.js";
import {drawDensity} from "../editor.js";
import {find, make} from "../elements.js";
import {bindFilters} from "../filters.js";
import {lineOf} from "../lines.js";
import {clip} from "../numbers.js";
import {DATA, methodOf} from "../page.js";
import {DEFAULTS, readState, writeState} from "../state.js";
import {bindCsv, focusColumn, sortedTable} from "../tables.js";
import {bothPopulations} from "../there.js";
import {counted, taskName} from "../words.js";

export function explorer() {
  const state = readState(...Object.keys(DEFAULTS)), table = find("#ranking");
  let drawn = "";
  function update(focus) {
    const begin = performance.now();
    state.density = readDensity(state.p);
    const tasks = chosenTasks(DATA, state), rows = bothPopulations(DATA, tasks, chosenMethods(DATA, state), state);
    const chosen = drawnMethods(rows, state);
    sortedTable(table, [drawColumn(table, chosen, state, update), ...rankColumns(state, tasks)], rows, state, update);
    find("#count").textContent = countText(rows, tasks);
    const wanted = JSON.stringify([chosen, tasks, state.score, state.show]);
    if (wanted !== drawn) drawMethods(chosen, tasks, state);
    drawn = wanted;
    writeState(state);
    focusColumn(table, focus);
    document.body.dataset.milliseconds = performance.now() - begin;
  }
  bindFilters(state, () => update());
  bindCsv(table, "ranking.csv");
  update();
  bindDensity(state, update);
  window.addEventListener("resize", () => { drawn = ""; update(); });
}

function countText(rows, tasks) {
  if (!tasks.length) return "No task fits these choices.";
  const names = tasks.slice(0, 6).map(task => taskName(DATA.tasks[task])).join("; ");
  return `${counted(rows.length, "method")} on ${counted(tasks.length, "task")}: ${names}${tasks.length > 6 ? "; …" : ""}`;
}

/* Those asked for; else the five best, and the baselines of these. */
function drawnMethods(rows, state) {
  if (state.draw === "none") return [];
  const asked = state.draw.split("|"), nameOf = row => methodOf(row).name;
  if (state.draw) return rows.filter(row => asked.includes(nameOf(row))).map(row => row.method);
  const best = rows.filter(row => row.place <= 5);
  const baselines = best.flatMap(row => row.curves).map(curve => DATA.curves[curve?.baseline]?.method);
  return rows.filter(row => best.includes(row) || baselines.includes(row.method)).map(row => row.method);
}

function drawColumn(table, chosen, state, update) {
  const names = chosen.map(method => DATA.methods[method].name);
  const toggle = (name, box) => {
    const kept = new Set(state.draw && state.draw !== "none" ? state.draw.split("|") : names);
    kept[box.checked ? "add" : "delete"](name);
    state.draw = [...kept].join("|") || "none";
    update();
    [...table.querySelectorAll("input")].find(other => other.ariaLabel === box.ariaLabel).focus();
  };
  return {name: "draw", write: row => {
    const {name} = methodOf(row);
    return make("input", {type: "checkbox", checked: chosen.includes(row.method), ariaLabel: `draw ${name}`,
      onchange: event => toggle(name, event.target)});
  }};
}

function drawMethods(chosen, tasks, state) {
  const lines = chosen.map(method => lineOf(DATA, method, tasks, state)), host = find("#chart");
  drawChart(host, lines.filter(Boolean), state.show === "gain" ? "gain over the baseline" : scoreName(state));
  const missing = chosen.map(method => DATA.methods[method]).filter((method, k) => !lines[k] && !method.supervised);
  if (missing.length) host.append(make("p", {className: "small"},
    `Not drawn, as they cannot be compared on every task: ${missing.map(method => method.name).join(", ")}.`));
}

function bindDensity(state, update) {
  const kind = find("#density-kind"), a = find("#beta-a"), b = find("#beta-b");
  const draw = () => drawDensity(find("#density"), state.density, values => {
    state.p = "hand:" + values.join(",");
    update();
  });
  const redraw = () => {
    kind.value = state.density.kind;
    find("#beta").hidden = state.density.kind !== "beta";
    find("#by-hand").hidden = state.density.kind !== "hand";
    if (state.density.kind === "beta") [a.value, b.value] = [state.density.a, state.density.b];
    draw();
  };
  const choose = (p, after) => { state.p = p; update(); after(); };
  const bounded = field => clip(Number(field.value) || LEAST, LEAST, MOST);
  kind.addEventListener("input", () => choose(kind.value === "hand" ? "hand:" + HAND.map(() => 0.5).join(",") : "beta:1,1", redraw));
  for (const input of [a, b]) {
    input.addEventListener("input", () => choose(`beta:${bounded(a)},${bounded(b)}`, draw));
    input.addEventListener("change", () => { input.value = bounded(input); });
  }
  for (const button of document.querySelectorAll("[data-density]"))
    button.addEventListener("click", () => choose(button.dataset.density, redraw));
  redraw();
}

/* The explorer: any density of t. */
import {drawChart, swatch} from "../chart.js";
import {chosenMethods, chosenTasks, searched, tasksWith} from "../choice.js";
import {rankColumns, scoreName} from "../columns.js";
import {LEAST, MOST, densityWords, readDensity} from "../density.js";
import {drawDensity} from "../editor.js";
import {find, make} from "../elements.js";
import {bindFilters} from "../filters.js";
import {lineOf} from "../lines.js";
import {partsOf, whenLoaded} from "../load.js";
import {looksOf} from "../looks.js";
import {clip} from "../numbers.js";
import {DATA, methodOf} from "../page.js";
import {addSafety} from "../safety.js";
import {DEFAULTS, readState, withScore, writeState} from "../state.js";
import {bindCsv, focusColumn, sortedTable} from "../tables.js";
import {bothPopulations} from "../there.js";
import {countText} from "../words.js";
import {ruling} from "./answer.js";

const COLOURED = 5;

export function explorer() {
  const state = readState(...Object.keys(DEFAULTS)), table = find("#ranking");
  let drawn = "";
  function update(focus) {
    whenLoaded(partsOf(withScore(state)), () => show(focus));
  }
  function show(focus) {
    state.density = readDensity(state.p);
    const asked = {...withScore(state), tiers: !DATA.unranked};
    const fitting = chosenTasks(DATA, state), tasks = tasksWith(DATA, fitting, asked.score);
    const every = bothPopulations(DATA, tasks, chosenMethods(DATA, state), asked);
    const rows = every.filter(row => searched(methodOf(row), state.q));
    addSafety(every, DATA);
    const chosen = chosenLines(rows, state), looks = looksOf(chosen.map(method => DATA.methods[method]));
    const columns = [drawColumn(table, chosen, looks, state, update), ...rankColumns(rows, asked, tasks, `expected ${scoreName(asked)}`)];
    sortedTable(table, columns, rows, asked, name => { state.sort = asked.sort; update(name); });
    find("#count").textContent = countText(DATA, rows, every, tasks, fitting.length);
    find("#words").replaceChildren(make("p", {}, densityWords(state.density)), ...ruling(every, asked));
    const wanted = JSON.stringify([chosen, rows.map(row => row.method), tasks, asked.score, state.show]);
    if (wanted !== drawn) drawMethods(rows, chosen, looks, tasks, asked);
    drawn = wanted;
    find("[data-state=convention]").closest("label").hidden = !state.more;
    writeState(state);
    focusColumn(table, focus);
  }
  bindFilters(state, () => update());
  bindCsv(table, "ranking.csv");
  update();
  bindDensity(state, update);
  window.addEventListener("resize", () => { drawn = ""; update(); });
}

/* Those asked for, in that order; else those with the highest gain, or without gains the first. */
function chosenLines(rows, state) {
  if (state.draw === "none") return [];
  const byName = new Map(rows.map(row => [methodOf(row).name, row.method]));
  if (state.draw) return state.draw.split("|").filter(name => byName.has(name)).map(name => byName.get(name));
  const value = row => state.show === "gain" ? row.gain?.estimate ?? -Infinity : row.ea.estimate;
  const able = rows.filter(row => row.whole && (state.show !== "gain" || row.gain));
  return able.sort((x, y) => value(y) - value(x)).slice(0, COLOURED).map(row => row.method);
}

function drawColumn(table, chosen, looks, state, update) {
  const names = chosen.map(method => DATA.methods[method].name);
  const toggle = (name, box) => {
    const kept = new Set(names);
    kept[box.checked ? "add" : "delete"](name);
    state.draw = [...kept].join("|") || "none";
    update();
    [...table.querySelectorAll("input")].find(other => other.ariaLabel === box.ariaLabel).focus();
  };
  return {name: "draw", className: "draw", write: row => {
    const {name} = methodOf(row), look = looks[chosen.indexOf(row.method)];
    return make("span", {}, make("input", {type: "checkbox", checked: Boolean(look), ariaLabel: `draw ${name}`,
      onchange: event => toggle(name, event.target)}), ...look ? [swatch({look})] : []);
  }};
}

function drawMethods(rows, chosen, looks, tasks, state) {
  const host = find("#chart");
  const lines = rows.map(({method}) => [lineOf(DATA, method, tasks, state), looks[chosen.indexOf(method)]]);
  const gain = state.show === "gain", able = lines.filter(([line]) => line);
  drawChart(host, able.map(([line, look]) => ({...line, look})), {gain, label: gain ? `gain in ${scoreName(state)}` : scoreName(state)});
  const missing = rows.filter((row, k) => !lines[k][0] && !methodOf(row).supervised).map(row => methodOf(row).name);
  const told = `Not drawn, as they cannot be compared on every task: ${missing.join(", ")}.`;
  if (missing.length) host.append(make("p", {className: "small soft"}, told));
}

function bindDensity(state, update) {
  const a = find("#beta-a"), b = find("#beta-b");
  const draw = () => drawDensity(find("#density"), state.density, values => {
    state.p = "hand:" + values.join(",");
    a.value = b.value = "";
    update();
  });
  const redraw = () => {
    [a.value, b.value] = [state.density.a ?? "", state.density.b ?? ""];
    draw();
  };
  const choose = (p, after) => { state.p = p; state.density = readDensity(p); update(); after(); };
  const bounded = field => clip(Number(field.value) || LEAST, LEAST, MOST);
  for (const input of [a, b]) {
    input.addEventListener("input", () => choose(`beta:${bounded(a)},${bounded(b)}`, draw));
    input.addEventListener("change", () => { input.value = bounded(input); });
  }
  for (const button of document.querySelectorAll("[data-density]"))
    button.addEventListener("click", () => choose(button.dataset.density, redraw));
  redraw();
}

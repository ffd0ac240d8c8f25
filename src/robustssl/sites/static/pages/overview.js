/* A question in words: which method is safest, if about this share is inconsistent? */
import {chosenMethods, chosenTasks} from "../choice.js";
import {readDensity} from "../density.js";
import {find, make, unique} from "../elements.js";
import {fillSelect} from "../filters.js";
import {DATA, methodOf} from "../page.js";
import {bySafety, safetyOf} from "../safety.js";
import {DEFAULTS, readState, writeState} from "../state.js";
import {bothPopulations} from "../there.js";
import {choiceName} from "../words.js";
import {explanation, safetyTable, verdict} from "./answer.js";

const QUESTION = ["data", "environment", "share"];

export function overview() {
  const form = find("#ask"), state = readState(...QUESTION), words = JSON.parse(form.dataset.words);
  fillSelect(form.data, unique(DATA.tasks.map(task => task.data)));
  fillSelect(form.environment, unique(DATA.tasks.filter(task => !task.access).map(task => task.kind)),
    kind => Object.hasOwn(words, kind) ? words[kind] : choiceName(kind));
  for (const name of QUESTION) {
    form[name].value = state[name];
    if (form[name].value !== state[name]) form[name].value = DEFAULTS[name];
  }
  function update() {
    for (const name of QUESTION) state[name] = form[name].value;
    form.querySelector("output").textContent = `${state.share}%`;
    find("#answer").replaceChildren(...answer(state));
    writeState({...state, p: DEFAULTS.p});
  }
  form.addEventListener("input", update);
  form.addEventListener("submit", event => event.preventDefault());
  window.addEventListener("pageshow", update);  // a browser that goes back may fill in the form itself
  update();
}

/* The share becomes a Beta density around it. */
function answer(state) {
  const share = state.share / 100;
  state.p = `beta:${(1 + 20 * share).toFixed(1)},${(1 + 20 * (1 - share)).toFixed(1)}`;
  state.density = readDensity(state.p);
  const tasks = chosenTasks(DATA, state);
  const rows = bothPopulations(DATA, tasks, chosenMethods(DATA, state), state).filter(row => row.whole);
  if (!rows.length) return [make("p", {}, "No method was run on all tasks of this kind.")];
  for (const row of rows) row.safety = safetyOf(row, methodOf(row));
  rows.sort(bySafety);
  const kept = new URLSearchParams({environment: state.environment, data: state.data, p: state.p});
  for (const [key, value] of [...kept]) if (!value) kept.delete(key);
  return [
    verdict(rows, state),
    explanation(rows[0], tasks, state),
    safetyTable(rows, tasks, state),
    make("p", {}, make("a", {href: `explorer.html#${kept}`}, "See it in the explorer")),
  ];
}

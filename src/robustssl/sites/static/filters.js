/* The controls that choose what a page shows. */
import {environmentOf} from "./choice.js";
import {make, unique} from "./elements.js";
import {DATA} from "./page.js";
import {DEFAULTS} from "./state.js";
import {THERE} from "./there.js";
import {choiceName} from "./words.js";

export const VALUES = {
  environment: () => unique(DATA.tasks.map(environmentOf)),
  data: () => unique(DATA.tasks.map(task => task.data)),
  labels: () => unique(DATA.tasks.map(task => task.labels)).sort((a, b) => a - b),
  dataset: () => unique(DATA.tasks.map(task => task.drawn)).sort(),
  score: () => DATA.scores.filter(score => score !== THERE || DATA.scores.length === 1),
  convention: () => Object.keys(DATA.conventions),
  family: () => unique(DATA.methods.map(method => method.family)),
  targets: () => unique(DATA.methods.flatMap(method => method.targets)),
  access: () => unique(DATA.tasks.map(task => task.access).filter(Boolean)),
  on: () => DATA.scores.includes(THERE) ? ["there"] : [],
};
const ALWAYS = ["targets", "access", "on"];  // of these one value is a choice, too

export function fillSelect(select, values, name = choiceName) {
  select.append(...values.map(value => make("option", {value: String(value)}, name(value))));
}

/* Fill every control with its values, set it as the state says, and keep the state as it is set. A control that leaves no choice
   is not shown. */
export function bindFilters(state, changed) {
  for (const control of document.querySelectorAll("[data-state]")) {
    const name = control.dataset.state, values = VALUES[name]?.();
    if (values) {
      fillSelect(control, values);
      control.closest("label").hidden = values.length < (ALWAYS.includes(name) ? 1 : 2);
    }
    setControl(control, state);
    control.addEventListener("input", () => {
      state[name] = readControl(control);
      changed();
    });
  }
  for (const group of document.querySelectorAll("details.more"))
    group.open = [...group.querySelectorAll("[data-state]")].some(({dataset}) => state[dataset.state] !== DEFAULTS[dataset.state]);
}

function setControl(control, state) {
  const name = control.dataset.state;
  if (control.type === "checkbox") {
    state[name] = state[name] ? "yes" : "";
    control.checked = state[name] === "yes";
  } else if (control.multiple) {
    for (const option of control.options) option.selected = state[name].split("|").includes(option.value);
  } else {
    if (control.options && ![...control.options].some(option => option.value === state[name])) state[name] = DEFAULTS[name];
    control.value = state[name];
  }
}

function readControl(control) {
  if (control.type === "checkbox") return control.checked ? "yes" : "";
  return control.multiple ? [...control.selectedOptions].map(option => option.value).join("|") : control.value;
}

/* The controls that choose what a page shows. */
import {make, unique} from "./elements.js";
import {DATA} from "./page.js";
import {DEFAULTS} from "./state.js";
import {choiceName} from "./words.js";

const VALUES = {
  environment: () => unique(DATA.tasks.map(task => task.kind)),
  data: () => unique(DATA.tasks.map(task => task.data)),
  labels: () => unique(DATA.tasks.map(task => task.labels)).sort((a, b) => a - b),
  dataset: () => unique(DATA.tasks.map(task => task.drawn)).sort(),
  score: () => DATA.scores,
  convention: () => Object.keys(DATA.conventions),
  family: () => unique(DATA.methods.map(method => method.family)),
  targets: () => unique(DATA.methods.flatMap(method => method.targets)),
};

export function fillSelect(select, values, name = choiceName) {
  select.append(...values.map(value => make("option", {value: String(value)}, name(value))));
}

/* Fill every control with its values, set it as the state says, and keep the state as it is set. */
export function bindFilters(state, changed) {
  for (const control of document.querySelectorAll("[data-state]")) {
    const name = control.dataset.state;
    if (name in VALUES) fillSelect(control, VALUES[name]());
    if (name === "targets") control.closest("label").hidden = !VALUES.targets().length;
    if (control.multiple) {
      for (const option of control.options) option.selected = state[name].split("|").includes(option.value);
    } else {
      if (![...control.options].some(option => option.value === state[name])) state[name] = DEFAULTS[name];
      control.value = state[name];
    }
    control.addEventListener("input", () => {
      state[name] = control.multiple ? [...control.selectedOptions].map(option => option.value).join("|") : control.value;
      changed();
    });
  }
}

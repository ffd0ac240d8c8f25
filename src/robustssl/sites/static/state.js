/* What a reader chose, kept in the address. */
import {readDensity} from "./density.js";
import {DATA} from "./page.js";
import {THERE} from "./there.js";

export const DEFAULTS = {score: DATA.scores[0], convention: "definition", environment: "", data: "", labels: "", dataset: "", family: "",
  targets: "", access: "", on: "", q: "", more: "", sort: "-ea", show: "gain", draw: "", p: "beta:1,1", share: "50"};

/* What the address says of the names that a page has controls for. */
export function readState(...names) {
  const asked = new URLSearchParams(location.hash.slice(1)), state = {...DEFAULTS};
  for (const name of names) state[name] = asked.get(name) ?? state[name];
  if (!DATA.scores.includes(state.score)) state.score = DEFAULTS.score;
  if (!Object.hasOwn(DATA.conventions, state.convention)) state.convention = DEFAULTS.convention;
  state.density = readDensity(state.p);
  return state;
}

/* The state with the score of the rows that are asked for: those like the labeled ones, or those there. */
export function withScore(state) {
  return state.on === "there" ? {...state, score: THERE} : state;
}

export function writeState(state) {
  const kept = new URLSearchParams();
  for (const [name, value] of Object.entries(DEFAULTS)) if (state[name] !== value) kept.set(name, state[name]);
  history.replaceState(null, "", "#" + kept);
  const link = document.querySelector("#permalink");
  if (link) link.href = location.href;
}

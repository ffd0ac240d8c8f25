/* Parts of the data that a page loads when it needs them, as scripts: a page from disk cannot fetch. */
import {DATA, ROOT} from "./page.js";
import {THERE} from "./there.js";
import {addPart} from "./unpack.js";

const loaded = new Set(Object.keys(ROBUSTSSL.parts));
const asked = new Map();
let latest = 0;

export const scoresPart = score => `score-${score}`;
export const metricsPart = score => `metrics-${score}`;
export const therePart = () => DATA.scores.includes(THERE) ? [scoresPart(THERE)] : [];

/* The parts that a table of methods needs: both populations, and the metrics if these are asked for. */
export function partsOf({score, more}) {
  return [scoresPart(score), ...therePart(), ...more ? [metricsPart(score)] : []];
}

/* Calls `then` once all parts are there, at once where nothing lacks. Of several calls that wait only the last is answered. */
export function whenLoaded(parts, then) {
  const lacking = parts.filter(name => !loaded.has(name)), call = ++latest;
  const main = document.querySelector("main"), answer = () => {
    if (call !== latest) return;
    main.ariaBusy = "false";
    then();
  };
  if (!lacking.length) return answer();
  main.ariaBusy = "true";
  return Promise.all(lacking.map(load)).then(answer);
}

function load(name) {
  if (!asked.has(name)) asked.set(name, new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = `${ROOT}assets/${name}.js`;
    script.addEventListener("load", () => {
      addPart(DATA, ROBUSTSSL.parts[name]);
      loaded.add(name);
      done();
    });
    script.addEventListener("error", () => failed(new Error(`cannot load ${script.src}`)));
    document.head.append(script);
  }));
  return asked.get(name);
}

/* A picture of the density of t; one drawn by hand has points that can be dragged or moved with the arrow keys. */
import {makeSvg} from "./elements.js";
import {clip} from "./numbers.js";

const WIDTH = 320;
const HEIGHT = 120;
const PAD = 14;
const STEPS = {ArrowUp: 0.05, ArrowRight: 0.05, ArrowDown: -0.05, ArrowLeft: -0.05, Home: -1, End: 1};

const toX = t => PAD + t * (WIDTH - 2 * PAD);
const toY = value => HEIGHT - PAD - value * (HEIGHT - 2 * PAD);

function outline(ts, values) {
  const points = ts.map((t, i) => `${toX(t)},${toY(values[i])}`).join(" ");
  return `${toX(0)},${toY(0)} ${points} ${toX(1)},${toY(0)}`;
}

/* `changed` is told the new values of a density drawn by hand. */
export function drawDensity(host, density, changed) {
  const area = makeSvg("polyline", {class: "area"});
  const svg = makeSvg("svg", {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "density"}, area);
  host.replaceChildren(svg);
  if (density.kind === "beta") drawBeta(svg, area, density);
  else drawByHand(svg, area, density, changed);
}

function drawBeta(svg, area, {a, b}) {
  const ts = Array.from({length: 101}, (_, i) => clip(i / 100, 0.004, 0.996));
  const logs = ts.map(t => (a - 1) * Math.log(t) + (b - 1) * Math.log(1 - t)), top = Math.max(...logs);
  area.setAttribute("points", outline(ts, logs.map(x => a === 1 && b === 1 ? 0.6 : Math.exp(x - top))));
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `Beta(${a}, ${b})`);
}

/* Its values are changed in place; not all of them can be zero. */
function drawByHand(svg, area, {ts, values}, changed) {
  svg.setAttribute("role", "group");
  svg.setAttribute("aria-label", "The density by hand: six points to move");
  const place = () => {
    area.setAttribute("points", outline(ts, values));
    handles.forEach((handle, i) => {
      handle.setAttribute("cy", toY(values[i]));
      handle.setAttribute("aria-valuenow", Math.round(100 * values[i]));
    });
  };
  const handles = ts.map((t, i) => makeHandle(svg, t, () => values[i], value => {
    const before = values[i];
    values[i] = clip(Math.round(value * 100) / 100, 0, 1);
    if (!values.some(x => x > 0)) values[i] = before;
    place();
    changed(values);
  }));
  svg.append(...handles);
  place();
}

function makeHandle(svg, t, get, set) {
  const handle = makeSvg("circle", {cx: toX(t), r: 8, class: "handle", tabindex: 0, role: "slider", "aria-valuemin": 0,
    "aria-valuemax": 100, "aria-label": `weight at t = ${t}`});
  handle.addEventListener("keydown", event => {
    if (!Object.hasOwn(STEPS, event.key)) return;
    event.preventDefault();
    set(get() + STEPS[event.key]);
  });
  handle.addEventListener("pointerdown", event => {
    handle.setPointerCapture(event.pointerId);
    handle.onpointermove = move => {
      const box = svg.getBoundingClientRect();
      set((HEIGHT - PAD - (move.clientY - box.top) * HEIGHT / box.height) / (HEIGHT - 2 * PAD));
    };
  });
  handle.addEventListener("pointerup", () => { handle.onpointermove = null; });
  return handle;
}

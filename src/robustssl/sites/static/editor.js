/* A picture of the density of t to draw on: drag anywhere, or move its six points with the arrow keys. */
import {HAND, heights} from "./density.js";
import {makeSvg} from "./elements.js";
import {clip} from "./numbers.js";

const WIDTH = 360;
const HEIGHT = 156;
const PAD = 14;
const FOOT = 40;  // room for the scale of t
const STEPS = {ArrowUp: 0.05, ArrowRight: 0.05, ArrowDown: -0.05, ArrowLeft: -0.05, Home: -1, End: 1};

const toX = t => PAD + t * (WIDTH - 2 * PAD);
const toY = value => HEIGHT - FOOT - value * (HEIGHT - FOOT - PAD);

function outline(ts, values) {
  const points = ts.map((t, i) => `${toX(t)},${toY(values[i])}`).join(" ");
  return `${toX(0)},${toY(0)} ${points} ${toX(1)},${toY(0)}`;
}

/* `changed` is told the values at six t of what was drawn; not all of them can be zero. */
export function drawDensity(host, density, changed) {
  const fine = density.kind === "hand" ? HAND : Array.from({length: 101}, (_, i) => i / 100);
  const values = heights(density, HAND);
  const area = makeSvg("polyline", {class: "area", points: outline(fine, heights(density, fine))});
  const svg = makeSvg("svg", {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "density", role: "group",
    "aria-label": "How likely each t is: six points to move"},
    makeSvg("rect", {x: 0, y: 0, width: WIDTH, height: HEIGHT, fill: "transparent"}), area,
    makeSvg("line", {class: "axis", x1: toX(0), x2: toX(1), y1: toY(0), y2: toY(0)}),
    ...[0, 0.2, 0.4, 0.6, 0.8, 1].map(t => makeSvg("text", {x: toX(t), y: HEIGHT - 22, "text-anchor": "middle"}, String(t))),
    makeSvg("text", {x: WIDTH / 2, y: HEIGHT - 5, "text-anchor": "middle"}, "inconsistency t"));
  const set = (i, value) => {
    const before = values[i];
    values[i] = clip(Math.round(value * 100) / 100, 0, 1);
    if (!values.some(x => x > 0)) values[i] = before;
  };
  const place = () => {
    area.setAttribute("points", outline(HAND, values));
    handles.forEach((handle, i) => showHandle(handle, values[i]));
    changed(values.map(value => Math.round(value * 100) / 100));
  };
  const handles = HAND.map((t, i) => makeHandle(t, values[i], step => { set(i, values[i] + step); place(); }));
  svg.append(...handles);
  bindDrag(svg, (i, value) => set(i, value), place);
  host.replaceChildren(svg);
}

function showHandle(handle, value) {
  handle.setAttribute("cy", toY(value));
  handle.setAttribute("aria-valuenow", Math.round(100 * value));
}

function makeHandle(t, value, move) {
  const handle = makeSvg("circle", {cx: toX(t), r: 6, class: "handle", tabindex: 0, role: "slider", "aria-valuemin": 0,
    "aria-valuemax": 100, "aria-label": `weight at t = ${t}`});
  showHandle(handle, value);
  handle.addEventListener("keydown", event => {
    if (!Object.hasOwn(STEPS, event.key)) return;
    event.preventDefault();
    move(STEPS[event.key]);
  });
  return handle;
}

/* Where the pointer is, and at each point that it passed since, the density is as high as the pointer was. */
function bindDrag(svg, set, done) {
  let last = null;
  const read = event => {
    const box = svg.getBoundingClientRect(), scale = WIDTH / box.width;
    return {t: clip(((event.clientX - box.left) * scale - PAD) / (WIDTH - 2 * PAD), 0, 1),
      value: clip((HEIGHT - FOOT - (event.clientY - box.top) * scale) / (HEIGHT - FOOT - PAD), 0, 1)};
  };
  const draw = event => {
    const now = read(event), [from, to] = [last ?? now, now].map(({t}) => t).sort((a, b) => a - b);
    HAND.forEach((t, i) => {
      const near = Math.abs(now.t - t) <= 0.1 + 1e-9;
      if (near) set(i, now.value);
      else if (t > from && t < to) set(i, last.value + (t - last.t) / (now.t - last.t) * (now.value - last.value));
    });
    last = now;
    done();
  };
  svg.addEventListener("pointerdown", event => {
    svg.setPointerCapture(event.pointerId);
    last = null;
    draw(event);
  });
  svg.addEventListener("pointermove", event => { if (svg.hasPointerCapture(event.pointerId)) draw(event); });
}

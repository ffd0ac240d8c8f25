/* Lines over t: some in colour with their names at their ends, the rest grey; a band for the line that is pointed at. */
import {download, make, makeSvg} from "./elements.js";
import {spread, ticks} from "./layout.js";
import {interval, show, signed} from "./words.js";

const NEAR = 4;  // lines that are read out
const LINE = 16;  // the height of a label
const LETTER = 7;  // the width of a letter, about
let charts = 0;
const USUAL = {label: "", gain: false, height: 340, tiny: false, range: []};

/* A line: name, ts, `at` (the interval at each t), `look` (colour and dash, none for a grey line), `banded` if its band is always
   there. `gain`: values are differences. `tiny`: one of many small charts, without names and without a readout.
   `range`: values that must be in sight, if not those of the lines. */
export function drawChart(host, lines, options = {}) {
  const asked = {...USUAL, ...options}, drawn = lines.filter(line => line.at.length);
  host.classList.add("chart");
  if (!drawn.length) return host.replaceChildren(make("p", {className: "soft"}, "There is nothing to draw for these choices."));
  const [grey, coloured] = [drawn.filter(line => !line.look), drawn.filter(line => line.look)], frame = frameOf(host, drawn, asked);
  const names = coloured.map(line => line.name).join(", ") || `${drawn.length} methods`;
  const svg = makeSvg("svg", {viewBox: `0 0 ${frame.width} ${frame.height}`, height: frame.height, role: "img",
    "aria-label": `${asked.label} over t of ${names}`});
  const inside = makeSvg("g", {"clip-path": `url(#${frame.id})`});
  inside.append(...drawn.filter(line => line.banded).map(line => bandOf(frame, line)), ...grey.map(line => pathOf(frame, line)),
    ...asked.gain ? [makeSvg("line", {class: "zero", x1: frame.left, x2: frame.right, y1: frame.y(0), y2: frame.y(0)})] : [],
    ...coloured.map(line => pathOf(frame, line)));
  svg.append(clipOf(frame), ...axes(frame, asked), inside);
  if (!asked.tiny) svg.append(...ends(frame, coloured));
  host.replaceChildren(svg);
  host.lines = drawn;
  if (!asked.tiny) host.append(bindReadout(svg, frame, drawn, asked), make("button", {type: "button", className: "small",
    onclick: () => save(svg)}, "Save the figure (SVG)"));
}

/* The scales: from t and from a value to pixels. */
function frameOf(host, lines, {gain, height, tiny, range}) {
  const width = Math.max(Math.floor(host.clientWidth), 200), shown = range.length ? range : valuesInSight(lines);
  const marks = ticks(Math.min(...shown, ...gain ? [0] : []), Math.max(...shown, ...gain ? [0] : []), tiny ? 3 : 5);
  const longest = Math.max(0, ...lines.filter(line => line.look).map(line => line.name.length));
  const left = tiny ? 40 : 52, right = tiny ? 8 : Math.min(Math.max(LETTER * longest + 28, 40), 0.38 * width), top = tiny ? 8 : 26, bottom = tiny ? 20 : 40;
  const [least, most] = [marks[0], marks.at(-1)];
  return {id: `inside-${++charts}`, width, height, left, right: width - right, top, bottom: height - bottom, marks,
    x: t => left + t * (width - right - left),
    y: value => height - bottom - (value - least) / (most - least) * (height - bottom - top)};
}

/* All of the lines in colour, and of the grey ones all but the outermost tenth on each side: one that fails must not flatten
   the rest. */
function valuesInSight(lines) {
  const of = line => line.at.flatMap(x => line.banded ? [x.estimate, x.low, x.high] : [x.estimate]).filter(x => !Number.isNaN(x));
  const coloured = lines.filter(line => line.look), greys = lines.filter(line => !line.look).flatMap(of).sort((x, y) => x - y);
  const few = coloured.length ? Math.floor(greys.length / 10) : 0;
  return [...coloured.flatMap(of), ...greys.slice(few, greys.length - few)];
}

/* Lines are not drawn outside of the axes. */
function clipOf({id, left, right, top, bottom}) {
  return makeSvg("clipPath", {id}, makeSvg("rect", {x: left - 4, y: top - 4, width: right - left + 8, height: bottom - top + 8}));
}

function axes(frame, {gain, label, tiny}) {
  const {left, right, bottom, x, y, marks} = frame;
  const digits = Math.max(...marks.map(mark => (String(mark).split(".")[1] ?? "").length));
  const line = (name, x1, x2, y1, y2) => makeSvg("line", {class: name, x1, x2, y1, y2});
  const text = (content, at) => makeSvg("text", at, content);
  const write = mark => gain ? signed(mark, digits) : show(mark, digits);
  return [
    ...marks.flatMap(mark => [line("grid", left, right, y(mark), y(mark)),
      text(write(mark), {x: left - 8, y: y(mark) + 4, "text-anchor": "end"})]),
    ...(tiny ? [0, 1] : [0, 0.2, 0.4, 0.6, 0.8, 1]).map(t => text(String(t), {x: x(t), y: bottom + 16, "text-anchor": "middle"})),
    ...tiny ? [] : [text("inconsistency t", {x: (left + right) / 2, y: bottom + 34, "text-anchor": "middle"}),
      text(label, {x: 0, y: 12})],
  ];
}

const colourOf = line => line.look ? {style: `--c: ${line.look.colour}`} : {};
const lookOf = line => ({class: line.look ? "series" : "series grey", ...colourOf(line), "stroke-dasharray": line.look?.dash ?? ""});
const points = pairs => pairs.map(([a, b]) => `${a.toFixed(1)},${b.toFixed(1)}`).join(" ");

function pathOf({x, y}, line) {
  return makeSvg("polyline", {...lookOf(line), points: points(line.ts.map((t, i) => [x(t), y(line.at[i].estimate)])), "data-name": line.name});
}

/* None where there are no intervals. */
function bandOf({x, y}, line) {
  const known = line.ts.map((t, i) => [t, line.at[i]]).filter(([, found]) => !Number.isNaN(found.low));
  return makeSvg("polygon", {class: line.look ? "band" : "band grey", ...colourOf(line),
    points: points([...known.map(([t, found]) => [x(t), y(found.high)]),
      ...known.reverse().map(([t, found]) => [x(t), y(found.low)])])});
}

function ends({x, y, right, width, top, bottom}, lines) {
  const wanted = lines.map(line => y(line.at.at(-1).estimate)), places = spread(wanted, LINE, top + 4, bottom);
  const room = Math.floor((width - right - 22) / LETTER);
  return lines.flatMap((line, k) => [
    makeSvg("polyline", {class: "leader", ...colourOf(line),
      points: points([[x(line.ts.at(-1)) + 3, wanted[k]], [right + 16, places[k]]])}),
    makeSvg("text", {class: "end", x: right + 20, y: places[k] + 4},
      line.name.length > room ? `${line.name.slice(0, room - 1)}…` : line.name, makeSvg("title", {}, line.name)),
  ]);
}

/* Pointing at the chart reads the nearest lines at the nearest t, and shows the band of the nearest. */
function bindReadout(svg, frame, lines, {gain}) {
  const list = make("ul", {className: "readout"}, make("li", {}, "Point at a line, or touch it, to read it."));
  const ts = [...new Set(lines.flatMap(line => line.ts))].sort((a, b) => a - b);
  const guide = makeSvg("line", {class: "guide", y1: frame.top, y2: frame.bottom, hidden: ""}), inside = svg.querySelector("g");
  let band = null;
  svg.append(guide);
  const point = event => {
    const box = svg.getBoundingClientRect(), height = event.clientY - box.top;
    const at = (event.clientX - box.left - frame.left) / (frame.right - frame.left);
    const t = ts.reduce((x, y) => Math.abs(y - at) < Math.abs(x - at) ? y : x);
    const near = nearest(lines, t, value => Math.abs(frame.y(value) - height)), [first] = near;
    guide.removeAttribute("hidden");
    for (const name of ["x1", "x2"]) guide.setAttribute(name, frame.x(t));
    for (const path of svg.querySelectorAll(".series")) path.classList.toggle("near", path.dataset.name === first?.line.name);
    band?.remove();
    if (first) inside.prepend(band = bandOf(frame, first.line));
    const read = ({line, found}) => make("li", {}, swatch(line), `${line.name} ${interval(found, gain ? signed : show)}`);
    list.replaceChildren(make("li", {}, `t = ${show(t, 2)}`), ...near.map(read));
  };
  for (const kind of ["pointermove", "pointerdown"]) svg.addEventListener(kind, point);
  return list;
}

/* The few lines that are nearest at t, the nearest first. */
function nearest(lines, t, distance) {
  return lines.filter(line => line.ts.includes(t)).map(line => ({line, found: line.at[line.ts.indexOf(t)]}))
    .sort((a, b) => distance(a.found.estimate) - distance(b.found.estimate)).slice(0, NEAR);
}

/* A sample of a line. */
export function swatch(line) {
  const sample = makeSvg("line", {...lookOf(line), x1: 0, x2: 22, y1: 5, y2: 5});
  return make("span", {className: "chart swatch", ariaHidden: "true"}, makeSvg("svg", {viewBox: "0 0 22 10", height: 10}, sample));
}

/* The figure as a file, with the colours that it has here. */
function save(svg) {
  const copy = svg.cloneNode(true), mine = [svg, ...svg.querySelectorAll("*")], theirs = [copy, ...copy.querySelectorAll("*")];
  const kept = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-family", "font-size"];
  mine.forEach((element, k) => {
    const style = getComputedStyle(element);
    for (const name of kept) theirs[k].style.setProperty(name, style.getPropertyValue(name));
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  download("curves.svg", new Blob([new XMLSerializer().serializeToString(copy)], {type: "image/svg+xml"}));
}

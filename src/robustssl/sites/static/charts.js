/* Lines with bands. */
import {css, download, make, makeSvg, unique} from "./elements.js";
import {interval} from "./words.js";

const BANDED = 8;  // with more lines than these, bands would hide each other
const BLACK = "#000000";  // the colour of baselines, white on a dark page

/* A line: name, colour, dash, ts, and `at`, the interval at each of them. Hovering reads values, a click holds them. */
export function drawChart(host, lines, label) {
  host.replaceChildren();
  if (!lines.length) {
    host.append(make("p", {}, "There is nothing to draw for these choices."));
    return;
  }
  const coloured = lines.map(line => line.colour === BLACK ? {...line, colour: css("--ink-line")} : line);
  const ts = unique(coloured.flatMap(line => line.ts)).sort((a, b) => a - b);
  const readout = make("p", {className: "readout", "aria-live": "polite"}, "Hover or tap to read values; click to hold them.");
  const names = coloured.map(line => line.name).join(", ");
  const canvas = make("div", {role: "img", "aria-label": `${label} over t of ${names}; the numbers are in the table`});
  host.append(canvas, legend(coloured), readout);
  const {data, series, bands} = plotData(coloured, ts);
  const axis = {stroke: css("--ink"), grid: {stroke: css("--grid"), width: 1}, ticks: {stroke: css("--grid"), width: 1}, labelSize: 22};
  host.plot = new uPlot({
    width: Math.max(host.clientWidth, 260), height: 380, series, bands, legend: {show: false},
    scales: {x: {time: false, range: [-0.02, 1.02]}},
    axes: [{...axis, splits: () => ts.length > 11 ? [0, 0.25, 0.5, 0.75, 1] : ts, label: "inconsistency t", size: 40},
      {...axis, label, size: 54}],
    cursor: {lock: true, focus: {prox: 20}},
    hooks: {setCursor: [plot => { if (plot.cursor.idx != null) readout.textContent = valuesAt(coloured, ts[plot.cursor.idx]); }]},
  }, data, canvas);
  host.append(make("button", {type: "button", className: "small",
    onclick: () => saveChart(host.querySelector("canvas"), coloured)}, "Save the chart (PNG)"));
}

/* Bands come first, so that lines lie above them. A line is drawn through a t that it does not have (undefined); a band ends
   where there is no interval (null). */
function plotData(lines, ts) {
  const data = [ts], series = [{label: "t"}], bands = [];
  const onto = (line, write) => ts.map(t => line.ts.includes(t) ? write(line.at[line.ts.indexOf(t)]) : undefined);
  const known = x => Number.isNaN(x) ? null : x;
  for (const line of lines.length > BANDED ? [] : lines.filter(({at}) => at.some(x => !Number.isNaN(x.low)))) {
    data.push(onto(line, x => known(x.high)), onto(line, x => known(x.low)));
    const hidden = {stroke: "transparent", width: 0, points: {show: false}, label: ""};
    series.push(hidden, {...hidden});
    bands.push({series: [series.length - 2, series.length - 1], fill: line.colour + "22"});
  }
  for (const line of lines) {
    data.push(onto(line, x => x.estimate));
    series.push({label: line.name, stroke: line.colour, width: 2, dash: line.dash, points: {show: true, size: 6}});
  }
  return {data, series, bands};
}

function valuesAt(lines, t) {
  const values = lines.filter(line => line.ts.includes(t)).map(line => ({name: line.name, found: line.at[line.ts.indexOf(t)]}));
  values.sort((x, y) => y.found.estimate - x.found.estimate);
  return `t = ${t}: ` + values.map(({name, found}) => `${name} ${interval(found)}`).join(" · ");
}

function legend(lines) {
  const sample = line => makeSvg("svg", {width: 28, height: 10, "aria-hidden": "true"}, makeSvg("line", {x1: 0, x2: 28, y1: 5, y2: 5,
    stroke: line.colour, "stroke-width": 3, "stroke-dasharray": line.dash.join(",")}));
  return make("ul", {className: "legend"}, ...lines.map(line => make("li", {}, sample(line), " " + line.name)));
}

/* The chart on paper of its own, with its legend. */
function saveChart(canvas, lines) {
  const scale = window.devicePixelRatio || 1, row = 20 * scale;
  const copy = make("canvas", {width: canvas.width, height: canvas.height + row * (lines.length + 1)});
  const pen = copy.getContext("2d");
  pen.fillStyle = css("--paper");
  pen.fillRect(0, 0, copy.width, copy.height);
  pen.drawImage(canvas, 0, 0);
  pen.font = `${13 * scale}px sans-serif`;
  lines.forEach((line, k) => {
    const y = canvas.height + row * (k + 0.5);
    pen.strokeStyle = line.colour;
    pen.lineWidth = 2 * scale;
    pen.setLineDash(line.dash.map(d => d * scale));
    pen.beginPath();
    pen.moveTo(row, y);
    pen.lineTo(3 * row, y);
    pen.stroke();
    pen.fillStyle = css("--ink");
    pen.fillText(line.name, 3.4 * row, y + 4 * scale);
  });
  copy.toBlob(blob => download("curves.png", blob));
}

"use strict";
/* The pages' script: expected accuracy under any density of t, rankings, charts. Data come from data.js. */
(() => {
const D = ROBUSTSSL;
const ROOT = document.body.dataset.root;

// ---------------------------------------------------------------- numbers

/* The logarithm of the gamma function, by Lanczos' series (g = 7, nine terms). */
const LANCZOS = [0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313,
  -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7];
function logGamma(x) {
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x);
  x -= 1;
  let sum = LANCZOS[0];
  for (let k = 1; k < 9; k++) sum += LANCZOS[k] / (x + k);
  const t = x + 7.5;
  return 0.5 * Math.log(2 * Math.PI) + (x + 0.5) * Math.log(t) - t + Math.log(sum);
}

/* The regularised incomplete beta function, by its continued fraction. */
function betaCdf(x, a, b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - betaCdf(1 - x, b, a);
  const front = Math.exp(a * Math.log(x) + b * Math.log1p(-x) + logGamma(a + b) - logGamma(a) - logGamma(b)) / a;
  const tiny = 1e-300;
  let c = 1, d = 1 - (a + b) * x / (a + 1);
  d = 1 / (Math.abs(d) < tiny ? tiny : d);
  let fraction = d;
  for (let m = 1; m < 1000; m++) {
    const steps = [m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
      -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))];
    let change = 1;
    for (const step of steps) {
      d = 1 + step * d; d = 1 / (Math.abs(d) < tiny ? tiny : d);
      c = 1 + step / c; c = Math.abs(c) < tiny ? tiny : c;
      change = d * c;
      fraction *= change;
    }
    if (Math.abs(change - 1) < 1e-16) break;
  }
  return front * fraction;
}

/* Weights of the points of a grid: the integrals of the density times the hat function of each. */
function weights(ts, density) {
  const found = ts.map(() => 0);
  for (let i = 0; i + 1 < ts.length; i++) {
    const h = ts[i + 1] - ts[i];
    let left, right;
    if (density.kind === "beta") {
      const {a, b} = density;
      const mass = betaCdf(ts[i + 1], a, b) - betaCdf(ts[i], a, b);
      const first = a / (a + b) * (betaCdf(ts[i + 1], a + 1, b) - betaCdf(ts[i], a + 1, b));
      left = (ts[i + 1] * mass - first) / h;
      right = (first - ts[i] * mass) / h;
    } else {
      const p = at(density, ts[i]), q = at(density, ts[i + 1]);
      left = h * (2 * p + q) / 6;
      right = h * (p + 2 * q) / 6;
    }
    found[i] += left;
    found[i + 1] += right;
  }
  const sum = found.reduce((x, y) => x + y, 0);
  return found.map(w => w / sum);
}

/* A density drawn by hand: values at its own points, linear between. */
function at(density, t) {
  const {ts, values} = density;
  let i = 0;
  while (i + 2 < ts.length && t > ts[i + 1]) i++;
  const share = (t - ts[i]) / (ts[i + 1] - ts[i]);
  return values[i] + share * (values[i + 1] - values[i]);
}

/* The mean under the weights, and its variance over seeds. */
function expected(part, w) {
  let value = 0, spread = 0, k = 0;
  for (let i = 0; i < w.length; i++) {
    value += w[i] * part.mean[i];
    if (part.cov) for (let j = 0; j <= i; j++, k++) spread += (i === j ? 1 : 2) * w[i] * w[j] * part.cov[k];
  }
  return {value, variance: part.cov ? Math.max(spread, 0) / part.n : NaN, n: part.n};
}

const quantile = df => D.quantiles[Math.min(Math.max(df, 1), D.quantiles.length) - 1];
const mean = xs => xs.reduce((x, y) => x + y, 0) / xs.length;
const clip = (x, low, high) => Math.min(Math.max(x, low), high);

/* The mean over tasks, and the mean of the ends of Student's intervals over seeds: wide enough even if a seed
   moves all tasks alike. The tasks are what they are. */
function over(parts, low, high) {
  if (!parts.length) return null;
  const ends = parts.map(p => {
    const half = quantile(p.n - 1) * Math.sqrt(p.variance);
    return [clip(p.value - half, low, high), clip(p.value + half, low, high)];
  });
  return {value: mean(parts.map(p => p.value)), low: mean(ends.map(e => e[0])), high: mean(ends.map(e => e[1]))};
}

// ---------------------------------------------------------------- ranking

const CURVES = new Map(D.curves.map(c => [c.task + "," + c.algorithm, c]));
const curveOf = (task, algorithm, score) => {
  const found = CURVES.get(task + "," + algorithm);
  return found && found.scores[score] ? {...found.scores[score], seconds: found.seconds} : null;
};

function average(xs) {
  const known = xs.filter(x => x !== null && x !== undefined);
  return known.length ? mean(known) : null;
}

/* A row for each algorithm over the chosen tasks; ranks only of those that have all of them. */
function ranking(tasks, algorithms, state) {
  const cache = new Map();
  const weightsOf = grid => {
    if (!cache.has(grid)) cache.set(grid, weights(D.grids[grid], state.density));
    return cache.get(grid);
  };
  const names = D.conventions[state.convention];
  const rows = [];
  for (const a of algorithms) {
    const parts = tasks.map(task => curveOf(task, a, state.score));
    const have = parts.filter(Boolean);
    if (!have.length) continue;
    const each = parts.map(p => p && expected(p, weightsOf(p.grid)));
    const gains = have.filter(p => p.gain).map(p => expected(p.gain, weightsOf(p.grid)));
    const falls = have.filter(p => p.gain).map(p => p.gain.breakEven[0]);
    const row = {
      algorithm: a, each, tasks: have.length, seeds: parts.map(p => p ? p.n : 0),
      gains: parts.map(p => p && p.gain ? over([expected(p.gain, weightsOf(p.grid))], -1, 1) : null),
      ea: over(each.filter(Boolean), 0, 1),
      gain: gains.length === have.length ? over(gains, -1, 1) : null,
      breakEven: falls.length === have.length ? Math.min(...falls.map(t => t === null ? Infinity : t)) : null,
      seconds: mean(have.map(p => p.seconds)),
    };
    names.forEach((name, k) => { row[name] = average(have.map(p => p.metrics[state.convention][k][0])); });
    rows.push(row);
  }
  const most = tasks.map((_, k) => Math.max(...rows.map(r => r.seeds[k])));
  for (const row of rows) row.whole = row.seeds.every((n, k) => n === most[k] && n > 0);
  const whole = rows.filter(r => r.whole);
  for (const row of whole) row.ranks = [];
  tasks.forEach((_, k) => {
    for (const row of whole) {
      const level = r => Math.round(1e12 * r.each[k].value);  // what differs by rounding alone is a tie
      const better = whole.filter(r => level(r) > level(row)).length;
      const same = whole.filter(r => level(r) === level(row)).length;
      row.ranks.push(better + (same + 1) / 2);
    }
  });
  for (const row of whole) {
    const value = mean(row.ranks), n = row.ranks.length;
    const spread = Math.sqrt(row.ranks.reduce((s, r) => s + (r - value) ** 2, 0) / (n - 1));
    const half = n > 1 ? quantile(n - 1) * spread / Math.sqrt(n) : NaN;
    row.meanRank = {value, low: clip(value - half, 1, whole.length), high: clip(value + half, 1, whole.length)};
  }
  whole.sort((x, y) => y.ea.value - x.ea.value);
  whole.forEach((row, k) => { row.place = k + 1; });
  return rows;
}

// ---------------------------------------------------------------- state, kept in the address

const DEFAULTS = {score: D.scores[0], convention: "definition", environment: "", data: "", labels: "", dataset: "",
  family: "", targets: "", sort: "-ea", show: "score", draw: "", p: "beta:1,1", share: "50"};

/* What the address says of the names that a page has controls for. */
function readState(...names) {
  const asked = new URLSearchParams(location.hash.slice(1));
  const state = {...DEFAULTS};
  for (const name of names) state[name] = asked.get(name) ?? state[name];
  if (!D.scores.includes(state.score)) state.score = D.scores[0];
  if (!Object.hasOwn(D.conventions, state.convention)) state.convention = "definition";
  state.density = readDensity(state.p);
  return state;
}
window.addEventListener("hashchange", () => location.reload());  // a person wrote another address

function writeState(state) {
  const kept = new URLSearchParams();
  for (const [name, value] of Object.entries(DEFAULTS)) if (state[name] !== value) kept.set(name, state[name]);
  history.replaceState(null, "", "#" + kept);
}

const HAND = [0, 0.2, 0.4, 0.6, 0.8, 1], LEAST = 0.01, MOST = 1000;
function readDensity(text) {
  const [kind, list] = text.split(":");
  const numbers = (list || "").split(",").map(Number);
  if (kind === "hand" && numbers.length === HAND.length && numbers.every(x => x >= 0 && x <= 1) && numbers.some(x => x > 0))
    return {kind, ts: HAND, values: numbers};
  if (kind === "beta" && numbers.length === 2 && numbers.every(x => x >= LEAST && x <= MOST))
    return {kind, a: numbers[0], b: numbers[1]};
  return {kind: "beta", a: 1, b: 1};
}

/* Oracles and ceilings are asked for by name; no method can be one. */
const ALL_REFERENCES = D.tasks.every(t => t.reference);
function chosenTasks(state) {
  return D.tasks.map((_, i) => i).filter(i => {
    const task = D.tasks[i];
    return (state.environment ? task.kind === state.environment : !task.reference || ALL_REFERENCES) && (!state.data || task.data === state.data)
      && (!state.labels || String(task.labels) === state.labels)
      && (!state.dataset || state.dataset.split("|").includes(task.dataset));
  });
}

function chosenAlgorithms(state) {
  return D.algorithms.map((_, i) => i).filter(i => {
    const found = D.algorithms[i];
    return (!state.family || found.family === state.family || found.supervised)
      && (!state.targets || found.supervised || (state.targets === "any" ? found.targets.length
        : found.targets.includes(state.targets)));
  });
}

// ---------------------------------------------------------------- elements

function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && name !== "list") element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter(c => c !== null));
  return element;
}
const find = selector => document.querySelector(selector);
const show = (x, digits = 3) => x === null || x === undefined || Number.isNaN(x) ? "n/a" : x.toFixed(digits).replace(/^-(0\.0*)$/, "$1");
const signed = x => (x > 0 ? "+" : "") + show(x);
const interval = (part, write = show) => part === null ? "" : Number.isNaN(part.low) ? write(part.value)
  : `${write(part.value)} [${write(part.low)}, ${write(part.high)}]`;
const link = (kind, thing, text) => make("a", {href: `${ROOT}${kind}/${thing.page}`}, text ?? thing.name);

function download(name, blob) {
  const address = URL.createObjectURL(blob);
  make("a", {href: address, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

function tableCsv(table) {
  const quote = text => /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  const wanted = [...table.rows[0].cells].map(cell => cell.querySelector("button") !== null);  // not the boxes
  return [...table.rows].map(row => [...row.cells].filter((_, k) => wanted[k])
    .map(c => quote(c.textContent.trim())).join(",")).join("\n") + "\n";
}

/* A select whose options come from the data; an empty one for all. */
function fill(select, values, words = {}) {
  select.append(...values.map(v => make("option", {value: v}, words[v] ?? String(v))));
}
const unique = xs => [...new Set(xs)];

/* A table that sorts by its headings. Columns: name, title, of(row) -> number or text, write(row). */
function sortedTable(host, columns, rows, state, changed) {
  const descending = state.sort.startsWith("-"), by = state.sort.replace("-", "");
  const column = columns.find(c => c.name === by && c.of) ?? columns.find(c => c.of);
  const last = x => x === null || x === undefined || Number.isNaN(x);
  const ordered = [...rows].sort((x, y) => {
    if (x.whole !== y.whole) return x.whole ? -1 : 1;
    const [a, b] = [column.of(x), column.of(y)];
    if (last(a) || last(b)) return last(a) - last(b);
    return (a < b ? -1 : a > b ? 1 : 0) * (descending ? -1 : 1);
  });
  const head = make("tr", {}, ...columns.map(c => make("th", {scope: "col", title: c.title ?? "",
    "aria-sort": c !== column ? "none" : descending ? "descending" : "ascending"},
    c.of ? make("button", {type: "button", "data-column": c.name, onclick: () => {
      state.sort = c === column && descending ? c.name : c === column ? "-" + c.name : (c.low ? "" : "-") + c.name;
      changed(c.name);
    }}, c.label ?? c.name) : make("span", {}, c.label ?? c.name))));
  const body = ordered.map(row => make("tr", {className: row.whole === false ? "incomplete" : "", "data-algorithm": row.algorithm ?? ""},
    ...columns.map((c, k) => { const cell = make(k === (columns.heading ?? 1) ? "th" : "td", {scope: "row"}, c.write(row)); return cell; })));
  for (const cell of body.flatMap(r => [...r.cells])) if (cell.tagName === "TD") cell.removeAttribute("scope");
  host.replaceChildren(make("thead", {}, head), make("tbody", {}, ...body));
  return ordered;
}

// ---------------------------------------------------------------- charts

const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/* Lines with bands. A line: name, ts, mean, low and high (if there are), colour, dash. Hovering reads values, a click fixes. */
function chart(host, lines, label) {
  host.replaceChildren();
  if (!lines.length) { host.append(make("p", {}, "Nothing to draw: choose algorithms in the table.")); return; }
  const ts = unique(lines.flatMap(l => l.ts)).sort((a, b) => a - b), data = [ts], series = [{label: "t"}], bands = [];
  const onto = (line, values) => ts.map(t => line.ts.includes(t) ? values[line.ts.indexOf(t)] : null);
  for (const line of lines.filter(l => l.low)) {  // bands first, so that lines lie above them
    data.push(onto(line, line.high), onto(line, line.low));
    const hidden = {stroke: "transparent", width: 0, points: {show: false}, label: "", spanGaps: true};
    series.push(hidden, {...hidden});
    bands.push({series: [series.length - 2, series.length - 1], fill: line.colour + "22"});
  }
  for (const line of lines) {
    data.push(onto(line, line.mean));
    series.push({label: line.name, stroke: line.colour, width: 2, dash: line.dash, spanGaps: true, points: {show: true, size: 6}});
  }
  const readout = make("p", {className: "readout", "aria-live": "polite"}, "Hover or tap to read values; click to hold them.");
  const canvas = make("div", {role: "img", "aria-label": `${label} over t of ${lines.map(l => l.name).join(", ")}; the numbers are in the table`});
  host.append(canvas, legend(lines), readout);
  const axis = {stroke: css("--ink"), grid: {stroke: css("--grid"), width: 1}, ticks: {stroke: css("--grid"), width: 1}};
  const plot = new uPlot({
    width: Math.max(host.clientWidth, 260), height: 380, series, bands, legend: {show: false},
    scales: {x: {time: false, range: [-0.02, 1.02]}},
    axes: [{...axis, splits: () => ts.length > 11 ? [0, 0.25, 0.5, 0.75, 1] : ts, label: "inconsistency t", labelSize: 22, size: 40}, {...axis, label, labelSize: 22, size: 54}],
    cursor: {lock: true, focus: {prox: 20}},
    hooks: {setCursor: [u => {
      const i = u.cursor.idx;
      if (i === null || i === undefined) return;
      const values = lines.filter(l => l.ts.includes(ts[i])).map(l => {
        const k = l.ts.indexOf(ts[i]);
        return {name: l.name, value: l.mean[k], low: l.low ? l.low[k] : NaN, high: l.low ? l.high[k] : NaN};
      }).sort((x, y) => y.value - x.value);
      readout.textContent = `t = ${ts[i]}: ` + values.map(v => `${v.name} ${interval(v)}`).join(" · ");
    }]},
  }, data, canvas);
  host.plot = plot;
  host.append(make("button", {type: "button", className: "small", onclick: () => saveChart(host.querySelector("canvas"), lines)},
    "Save the chart (PNG)"));
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
    pen.beginPath(); pen.moveTo(row, y); pen.lineTo(3 * row, y); pen.stroke();
    pen.fillStyle = css("--ink");
    pen.fillText(line.name, 3.4 * row, y + 4 * scale);
  });
  copy.toBlob(blob => download("curves.png", blob));
}

function legend(lines) {
  const sample = line => {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("width", 28); svg.setAttribute("height", 10); svg.setAttribute("aria-hidden", "true");
    const path = document.createElementNS("http://www.w3.org/2000/svg", "line");
    for (const [k, v] of Object.entries({x1: 0, x2: 28, y1: 5, y2: 5, stroke: line.colour, "stroke-width": 3,
      "stroke-dasharray": line.dash.join(",")})) path.setAttribute(k, v);
    svg.append(path);
    return svg;
  };
  return make("ul", {className: "legend"}, ...lines.map(line => make("li", {}, sample(line), " " + line.name)));
}

/* The mean of the curves of an algorithm over tasks, at every t that one of them has: a curve is linear between its points. */
function lineOf(a, tasks, state) {
  const parts = tasks.map(t => curveOf(t, a, state.score)).filter(Boolean);
  const used = state.show === "gain" ? parts.filter(p => p.gain) : parts;
  if (!used.length) return null;
  const ts = unique(used.flatMap(p => D.grids[p.grid])).sort((a, b) => a - b);
  const at = ts.map(t => over(used.map(p => expected(state.show === "gain" ? p.gain : p, between(D.grids[p.grid], t))),
    state.show === "gain" ? -1 : 0, 1));
  const found = D.algorithms[a];
  return {name: found.name, ts, mean: at.map(x => x.value), ...(Number.isNaN(at[0].low) ? {} : {low: at.map(x => x.low), high: at.map(x => x.high)}),
    colour: found.colour === "#000000" ? css("--ink-line") : found.colour, dash: found.dash};
}

/* Weights of the points of a grid that give the value at t. */
function between(ts, t) {
  return ts.map((s, i) => {
    if (i > 0 && t >= ts[i - 1] && t < s) return (t - ts[i - 1]) / (s - ts[i - 1]);
    if (t === s) return 1;
    return i + 1 < ts.length && t > s && t < ts[i + 1] ? (ts[i + 1] - t) / (ts[i + 1] - s) : 0;
  });
}

// ---------------------------------------------------------------- the density

/* A picture of P(t); by hand, its points can be dragged or moved with the arrow keys. */
function densityEditor(host, state, changed) {
  const width = 320, height = 120, pad = 14, NS = "http://www.w3.org/2000/svg";
  const X = t => pad + t * (width - 2 * pad), Y = v => height - pad - v * (height - 2 * pad);
  const node = (tag, attributes) => {
    const element = document.createElementNS(NS, tag);
    for (const [k, v] of Object.entries(attributes)) element.setAttribute(k, v);
    return element;
  };
  const svg = node("svg", {viewBox: `0 0 ${width} ${height}`, class: "density"});
  host.replaceChildren(svg);
  const density = state.density;
  if (density.kind === "beta") {
    const {a, b} = density, ts = Array.from({length: 101}, (_, i) => clip(i / 100, 0.004, 0.996));
    const logs = ts.map(t => (a - 1) * Math.log(t) + (b - 1) * Math.log(1 - t));
    const top = Math.max(...logs);
    const points = ts.map((t, i) => `${X(t)},${Y(a === 1 && b === 1 ? 0.6 : Math.exp(logs[i] - top))}`).join(" ");
    svg.append(node("polyline", {points: `${X(0)},${Y(0)} ${points} ${X(1)},${Y(0)}`, class: "area"}));
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", `Beta(${a}, ${b})`);
    return;
  }
  svg.setAttribute("role", "group");
  svg.setAttribute("aria-label", "The density by hand: six points to move");
  const area = node("polyline", {class: "area"});
  svg.append(area);
  const handles = density.values.map((value, i) => {
    const handle = node("circle", {r: 8, class: "handle", tabindex: 0, role: "slider", "aria-valuemin": 0, "aria-valuemax": 100,
      "aria-label": `weight at t = ${density.ts[i]}`});
    const set = v => {
      const before = density.values[i];
      density.values[i] = clip(Math.round(v * 100) / 100, 0, 1);
      if (!density.values.some(x => x > 0)) density.values[i] = before;
      place();
      state.p = "hand:" + density.values.join(",");
      changed();
    };
    handle.addEventListener("keydown", event => {
      const step = {ArrowUp: 0.05, ArrowRight: 0.05, ArrowDown: -0.05, ArrowLeft: -0.05, Home: -1, End: 1}[event.key];
      if (!step) return;
      event.preventDefault();
      set(density.values[i] + step);
    });
    handle.addEventListener("pointerdown", event => {
      handle.setPointerCapture(event.pointerId);
      handle.onpointermove = e => {
        const box = svg.getBoundingClientRect();
        set((height - pad - (e.clientY - box.top) * height / box.height) / (height - 2 * pad));
      };
    });
    handle.addEventListener("pointerup", () => { handle.onpointermove = null; });
    svg.append(handle);
    return handle;
  });
  function place() {
    const points = density.values.map((v, i) => `${X(density.ts[i])},${Y(v)}`).join(" ");
    area.setAttribute("points", `${X(0)},${Y(0)} ${points} ${X(1)},${Y(0)}`);
    handles.forEach((handle, i) => {
      handle.setAttribute("cx", X(density.ts[i]));
      handle.setAttribute("cy", Y(density.values[i]));
      handle.setAttribute("aria-valuenow", Math.round(100 * density.values[i]));
    });
  }
  place();
}

// ---------------------------------------------------------------- pages

const WORDS = {tabular: "tables", image: "images", text: "texts", other: "other data",
  distribution: "distribution", label: "label space", feature: "feature space"};

function rankColumns(state, tasks) {
  const metric = name => ({name, of: row => row[name], write: row => show(row[name]), low: ["EVM", "VS"].includes(name),
    title: tasks.length > 1 ? "mean over the tasks" : ""});
  const columns = [
    {name: "place", label: "#", low: true, of: row => row.place ?? null, write: row => row.place ? String(row.place) : "–",
      title: "By expected score. No number: not run on all the chosen tasks and seeds"},
    {name: "algorithm", low: true, of: row => D.algorithms[row.algorithm].name, write: row => link("algorithms", D.algorithms[row.algorithm])},
    {name: "ea", label: "expected " + state.score.replace("_", " "), of: row => row.ea.value, write: row => interval(row.ea),
      title: "EA under the density of t, with a 95% interval over seeds"},
    {name: "gain", label: "gain", of: row => row.gain && row.gain.value, write: row => interval(row.gain, signed),
      title: "Over the same learner on the labeled data alone"},
    {name: "breakEven", label: "break-even", of: row => row.breakEven, title: "The first t at which it falls below its baseline, on the worst task",
      write: row => row.breakEven === null ? "" : row.breakEven === Infinity ? "none" : show(row.breakEven, 2)},
    {name: "rank", label: "mean rank", low: true, of: row => row.meanRank && row.meanRank.value,
      write: row => row.meanRank ? interval(row.meanRank, x => show(x, 1)) : "", title: "Over tasks, 1 is best"},
    ...D.conventions[state.convention].map(metric),
    {name: "seconds", label: "s a cell", low: true, of: row => row.seconds, write: row => row.seconds.toPrecision(2)},
    {name: "tasks", of: row => row.tasks, write: row => `${row.tasks} of ${tasks.length}`, title: "Tasks it was run on"},
  ];
  return columns;
}

function bindFilters(state, changed) {
  for (const control of document.querySelectorAll("[data-state]")) {
    const name = control.dataset.state;
    if (control.tagName === "SELECT" && control.dataset.from) {
      const from = {environment: unique(D.tasks.map(t => t.kind)), data: unique(D.tasks.map(t => t.data)),
        labels: unique(D.tasks.map(t => t.labels)).sort((a, b) => a - b), score: D.scores, convention: Object.keys(D.conventions),
        family: unique(D.algorithms.map(a => a.family)), targets: unique(D.algorithms.flatMap(a => a.targets)),
        dataset: unique(D.tasks.map(t => t.dataset))}[control.dataset.from];
      fill(control, from, WORDS);
    }
    if (control.multiple) for (const option of control.options) option.selected = state[name].split("|").includes(option.value);
    else {
      if (![...control.options].some(o => o.value === state[name])) state[name] = DEFAULTS[name];
      control.value = state[name];
    }
    if (control.dataset.from === "targets") control.closest("label").hidden = !D.algorithms.some(a => a.targets.length);
    control.addEventListener("input", () => {
      state[name] = control.multiple ? [...control.selectedOptions].map(o => o.value).join("|") : control.value;
      changed();
    });
  }
}

function leaderboard() {
  const state = readState("score", "convention", "environment", "data", "labels", "family", "targets", "sort"), table = find("#ranking");
  function update(focus) {
    const tasks = chosenTasks(state), rows = ranking(tasks, chosenAlgorithms(state), state);
    sortedTable(table, rankColumns(state, tasks), rows, state, update);
    find("#count").textContent = `${rows.length} algorithms on ${tasks.length} tasks.`;
    writeState(state);
    if (focus) table.querySelector(`[data-column="${focus}"]`).focus();
  }
  bindFilters(state, () => update());
  find("#csv").addEventListener("click", () => download("leaderboard.csv", new Blob([tableCsv(table)])));
  update();
}

function explorer() {
  const state = readState(...Object.keys(DEFAULTS)), table = find("#ranking"), host = find("#chart");
  let drawn = "";
  function update(focus) {
    const begin = performance.now();
    state.density = readDensity(state.p);
    const tasks = chosenTasks(state), rows = ranking(tasks, chosenAlgorithms(state), state);
    const chosen = drawnAlgorithms(rows, state);
    const columns = rankColumns(state, tasks);
    columns.unshift({name: "draw", label: "draw", write: row => make("input", {type: "checkbox", checked: chosen.includes(row.algorithm),
      ariaLabel: "draw " + D.algorithms[row.algorithm].name, onchange: event => {
        const mine = D.algorithms[row.algorithm].name, kept = state.draw && state.draw !== "none" ? state.draw.split("|") : null;
        const names = new Set(kept ?? chosen.map(a => D.algorithms[a].name));
        names[event.target.checked ? "add" : "delete"](mine);
        state.draw = [...names].join("|") || "none";
        update();
        [...table.querySelectorAll("input")].find(box => box.ariaLabel === "draw " + mine).focus();
      }})});
    columns.heading = 2;
    sortedTable(table, columns, rows, state, update);
    find("#count").textContent = tasks.length ? `${rows.length} algorithms on ${tasks.length} tasks: `
      + tasks.slice(0, 6).map(i => D.tasks[i].name).join("; ") + (tasks.length > 6 ? "; …" : "") : "No task fits these choices.";
    const wanted = JSON.stringify([chosen, tasks, state.score, state.show]);
    if (wanted !== drawn) {
      chart(host, chosen.map(a => lineOf(a, tasks, state)).filter(Boolean),
        state.show === "gain" ? "gain over the baseline" : state.score.replace("_", " "));
      drawn = wanted;
    }
    writeState(state);
    if (focus) table.querySelector(`[data-column="${focus}"]`).focus();
    document.body.dataset.milliseconds = performance.now() - begin;
  }
  function bindDensity() {
    const kind = find("#density-kind"), a = find("#beta-a"), b = find("#beta-b");
    const redraw = () => {
      kind.value = state.density.kind;
      find("#beta").hidden = state.density.kind !== "beta";
      find("#by-hand").hidden = state.density.kind !== "hand";
      if (state.density.kind === "beta") { a.value = state.density.a; b.value = state.density.b; }
      densityEditor(find("#density"), state, update);
    };
    kind.addEventListener("input", () => {
      state.p = kind.value === "hand" ? "hand:" + HAND.map(() => 0.5).join(",") : "beta:1,1";
      update(); redraw();
    });
    for (const input of [a, b]) {
      input.addEventListener("input", () => {
        const [x, y] = [a, b].map(field => clip(Number(field.value) || LEAST, LEAST, MOST));
        state.p = `beta:${x},${y}`;
        update(); densityEditor(find("#density"), state, update);
      });
      input.addEventListener("change", () => { input.value = clip(Number(input.value) || LEAST, LEAST, MOST); });
    }
    for (const button of document.querySelectorAll("[data-density]")) button.addEventListener("click", () => {
      state.p = button.dataset.density;
      update(); redraw();
    });
    redraw();
  }
  bindFilters(state, () => update());
  find("#csv").addEventListener("click", () => download("ranking.csv", new Blob([tableCsv(table)])));
  update();
  bindDensity();
  window.addEventListener("resize", () => { drawn = ""; update(); });
}

/* Those asked for; else the five best, and the baselines of these. */
function drawnAlgorithms(rows, state) {
  if (state.draw === "none") return [];
  const names = state.draw ? state.draw.split("|") : null;
  const best = [...rows].filter(r => r.whole).sort((x, y) => x.place - y.place).slice(0, 5).map(r => r.algorithm);
  const wanted = names ? rows.map(r => r.algorithm).filter(a => names.includes(D.algorithms[a].name))
    : rows.map(r => r.algorithm).filter(a => best.includes(a) || best.some(b => D.algorithms[b].baseline === D.algorithms[a].name));
  return wanted;
}

/* A question in words: which method is safest, if about this share is inconsistent? */
function overview() {
  const form = find("#ask"), state = readState("data", "environment", "share");
  fill(form.data, unique(D.tasks.map(t => t.data)), WORDS);
  fill(form.environment, unique(D.tasks.filter(t => !t.reference).map(t => t.kind)), JSON.parse(form.dataset.words));
  for (const name of ["data", "environment", "share"]) {
    form[name].value = state[name];
    if (form[name].value !== state[name]) form[name].value = DEFAULTS[name];
  }
  function answer() {
    for (const name of ["data", "environment", "share"]) state[name] = form[name].value;
    const share = state.share / 100;
    form.querySelector("output").textContent = `${state.share}%`;
    state.p = `beta:${(1 + 20 * share).toFixed(1)},${(1 + 20 * (1 - share)).toFixed(1)}`;
    state.density = readDensity(state.p);
    const tasks = chosenTasks(state), rows = ranking(tasks, chosenAlgorithms(state), state).filter(r => r.whole);
    find("#answer").replaceChildren(...(rows.length ? verdict(rows, tasks, state)
      : [make("p", {}, "No method was run on all tasks of this kind.")]));
    writeState({...state, p: DEFAULTS.p});
  }
  form.addEventListener("input", answer);
  form.addEventListener("submit", event => event.preventDefault());
  window.addEventListener("pageshow", answer);  // a browser that goes back may fill in the form itself
  answer();
}

const sure = part => Number.isNaN(part.low) ? part.value : part.low;

/* Tasks on which a method is worse than the same learner on the labeled data alone, beyond chance. */
const harmed = (row, tasks) => tasks.filter((_, k) => row.gains[k] && row.gains[k].high < 0);

/* Of the methods that harm on no task, the one whose expected score has the highest lower end. */
function verdict(rows, tasks, state) {
  rows.sort((x, y) => (harmed(x, tasks).length > 0) - (harmed(y, tasks).length > 0) || sure(y.ea) - sure(x.ea));
  const [first] = rows, found = D.algorithms[first.algorithm], seeds = Math.min(...first.seeds);
  const rivals = rows.filter(r => r !== first && !harmed(r, tasks).length && r.ea.high >= first.ea.low);
  const name = i => D.tasks[i].name;
  const said = [`, expected accuracy ${interval(first.ea)}.`];
  if (found.supervised) said.push(" It uses the labeled data alone.");
  else if (first.gain && !(first.gain.low > 0)) said.push(` It may not beat the labeled data alone: its gain is ${interval(first.gain, signed)}.`);
  else if (first.gain) said.push(` It beats the same learner on the labeled data alone, by ${interval(first.gain, signed)} on average.`);
  if (seeds < 2) said.push(" One seed tells no interval: nothing of this is certain.");
  else if (rivals.length) said.push(` ${rivals.length} more of ${rows.length} methods overlap with it: the order among these is not certain.`);
  const shown = rows.slice(0, 6);
  for (const baseline of rows.filter(r => D.algorithms[r.algorithm].supervised).slice(0, 1)) if (!shown.includes(baseline)) shown.push(baseline);
  const kept = new URLSearchParams({environment: state.environment, data: state.data, p: state.p});
  for (const [key, value] of [...kept]) if (!value) kept.delete(key);
  const worst = row => row.gains.filter(Boolean).length ? row.gains.reduce((x, y) => !x || (y && y.value < x.value) ? y : x) : null;
  return [
    make("p", {className: "verdict"}, "Safest: ", make("strong", {}, link("algorithms", found)), said.join("")),
    make("p", {}, `Safest means: on none of the tasks is it worse than the same learner on the labeled data alone beyond chance, and of such
      methods the lower end of its 95% interval is the highest. Averages over ${tasks.length} ${tasks.length === 1 ? "task" : "tasks"}
      (${tasks.slice(0, 9).map(name).join("; ")}${tasks.length > 9 ? "; …" : ""}), at least ${seeds} ${seeds === 1 ? "seed" : "seeds"} each,
      with t about ${state.share}% (a Beta density around it).`),
    make("table", {className: "numbers"},
      make("thead", {}, make("tr", {}, ...["method", "expected accuracy", "gain over labeled alone", "on its worst task", "harms on"]
        .map(t => make("th", {scope: "col"}, t)))),
      make("tbody", {}, ...shown.map(r => make("tr", {}, make("th", {scope: "row"}, link("algorithms", D.algorithms[r.algorithm])),
        make("td", {}, interval(r.ea)), make("td", {}, D.algorithms[r.algorithm].supervised ? "is a baseline" : interval(r.gain, signed)),
        make("td", {}, interval(worst(r), signed)), make("td", {}, harmed(r, tasks).map(name).join("; ") || "none"))))),
    make("p", {}, make("a", {href: `explorer.html#${kept}`}, "See it in the explorer")),
  ];
}

function curveColumns(state, first) {
  const metric = (name, k) => ({name, low: ["EVM", "VS"].includes(name), of: row => row.part.metrics[state.convention][k][0],
    write: row => { const [plain, estimate, low, high] = row.part.metrics[state.convention][k];
      if (low === null) return show(plain);
      return `${show(estimate)} [${show(low)}, ${show(high)}]` + (show(plain) === show(estimate) ? "" : ` (${show(plain)})`); }});
  const w = row => weights(D.grids[row.part.grid], {kind: "beta", a: 1, b: 1});
  return [
    first,
    ...D.conventions[state.convention].map(metric),
    {name: "gain", of: row => row.part.gain && expected(row.part.gain, w(row)).value,
      write: row => row.part.gain ? interval(over([expected(row.part.gain, w(row))], -1, 1), signed) : ""},
    {name: "breakEven", label: "break-even", of: row => row.part.gain && (row.part.gain.breakEven[0] ?? Infinity),
      write: row => row.part.gain ? breakEven(row.part.gain) : "", title: "with its 95% interval"},
    {name: "note", label: "note", of: row => note(row), write: row => note(row)},
    {name: "seeds", of: row => row.part.n, write: row => String(row.part.n)},
    {name: "seconds", label: "s a cell", low: true, of: row => row.part.seconds, write: row => row.part.seconds.toPrecision(2)},
  ];
}

function breakEven(gain) {
  const [at, low, high] = gain.breakEven.map(t => t === null ? "none" : show(t, 2));
  return gain.n > 1 ? `${at} [${low}, ${high}]` : at;
}

/* A learner that nothing moves may not look at its unlabeled data at all. */
function note(row) {
  const flat = row.part.flat && !D.algorithms[row.algorithm].supervised;
  return !flat ? "" : row.part.mean[0] === 1 ? "flat at 1" : "flat: do its unlabeled data do anything?";
}

function curvePage(rowsOf, first, linesOf) {
  const state = readState("score", "convention", "show", "sort"), table = find("#numbers");
  if (!curveColumns(state, first).some(c => c.name === state.sort.replace("-", ""))) state.sort = "-" + D.conventions[state.convention][0];
  function update(focus) {
    const rows = rowsOf(state), columns = curveColumns(state, first);
    columns.heading = 0;
    sortedTable(table, columns, rows, state, update);
    chart(find("#chart"), linesOf(rows, state), state.show === "gain" ? "gain over the baseline" : state.score.replace("_", " "));
    writeState(state);
    if (focus) table.querySelector(`[data-column="${focus}"]`).focus();
  }
  bindFilters(state, () => update());
  find("#csv").addEventListener("click", () => download("numbers.csv", new Blob([tableCsv(table)])));
  update();
  window.addEventListener("resize", () => update());
}

function taskPage() {
  const task = Number(document.body.dataset.number);
  const most = score => Math.max(...D.curves.filter(c => c.task === task && c.scores[score]).map(c => c.scores[score].n));
  curvePage(
    state => D.algorithms.map((_, a) => ({algorithm: a, part: curveOf(task, a, state.score)})).filter(r => r.part)
      .map(r => ({...r, whole: r.part.n === most(state.score)})),
    {name: "algorithm", low: true, of: row => D.algorithms[row.algorithm].name, write: row => link("algorithms", D.algorithms[row.algorithm])},
    (rows, state) => rows.map(r => lineOf(r.algorithm, [task], state)).filter(Boolean));
}

function algorithmPage() {
  const a = Number(document.body.dataset.number);
  const palette = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"], dashes = [[], [8, 4], [2, 3], [8, 3, 2, 3]];
  curvePage(
    state => D.tasks.map((_, t) => ({task: t, algorithm: a, part: curveOf(t, a, state.score)})).filter(r => r.part).map(r => ({...r, whole: true})),
    {name: "task", low: true, of: row => D.tasks[row.task].name, write: row => link("tasks", D.tasks[row.task])},
    (rows, state) => rows.slice(0, 24).map((r, k) => {
      const line = lineOf(a, [r.task], state);
      return line && {...line, name: D.tasks[r.task].name, colour: palette[k % 6], dash: dashes[Math.floor(k / 6) % 4]};
    }).filter(Boolean));
}

// ---------------------------------------------------------------- start

find("#theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  try { localStorage.setItem("theme", root.dataset.theme); } catch { /* a page from disk may have no storage */ }
  window.dispatchEvent(new Event("resize"));
});

/* Served from a store that is still running, a page comes again when there is more; the address keeps its state. */
if (document.body.dataset.live) {
  let known = null;
  setInterval(async () => {
    const answer = await fetch("/version").catch(() => null);
    const version = answer && await answer.text();
    if (known !== null && version !== null && version !== known) location.reload();
    known = version ?? known;
  }, 2000);
}

const begin = {overview, leaderboard, explorer, task: taskPage, algorithm: algorithmPage}[document.body.dataset.page];
begin();
find(".skip").addEventListener("click", event => {  // the fragment is the state's
  event.preventDefault();
  find("main").focus();
});
window.robustssl = {weights, expected, over};
})();

/* The data of a page as pack.py wrote them: numbers in base64, read back exactly. */

const MICRO = 1e6;
const UNKNOWN = -(2 ** 31);
const NOTES = ["", "~", "no interval", "identical"];

/* What every page begins with. Scores and metrics of curves are there once their part is added. */
export function unpack({baselines, curves, parts, ...index}) {
  const data = {...index, curves: curves.task.map((task, i) => ({task, method: curves.method[i], baseline: curves.baseline[i],
    baselineName: baselines[curves.baselineName[i]] ?? null, older: curves.older[i], seconds: curves.seconds[i], scores: {}}))};
  for (const part of Object.values(parts)) addPart(data, part);
  return data;
}

export function addPart(data, part) {
  if (part.score) addScores(data, part);
  else addMetrics(data, part);
}

function addScores(data, {score, curves, identical, grid, seeds, rows, numbers, values}) {
  const found = numbers === "rows" ? new Uint16Array(bytes(values)) : new Float64Array(bytes(values));
  const same = new Set(identical);
  let at = 0;
  curves.forEach((i, k) => {
    const width = data.grids[grid[k]].length, share = numbers === "rows" ? rows[k] : 1;
    const read = () => Array.from(found.subarray(at, at += width), x => x / share);
    const table = data.seeds[seeds[k]].map(read);
    data.curves[i].scores[score] = {...data.curves[i].scores[score], grid: grid[k], seeds: seeds[k], rows: rows[k], values: table,
      identical: same.has(i)};
  });
}

function addMetrics(data, {metrics, curves, notes, values}) {
  const found = new Int32Array(bytes(values)), number = x => x === UNKNOWN ? null : x / MICRO;
  let at = 0;
  for (const i of curves) {
    const told = {};
    for (const [name, list] of Object.entries(data.conventions)) told[name] = list.map(() => {
      const [value, estimate, low, high] = Array.from(found.subarray(4 * at, 4 * at + 4), number);
      return [value, estimate, low, high, NOTES[notes[at++]]];
    });
    data.curves[i].scores[metrics] = {...data.curves[i].scores[metrics], metrics: told};
  }
}

const bytes = text => Uint8Array.from(atob(text), letter => letter.charCodeAt(0)).buffer;

/* Densities of t, and the weights that they give to the points of a grid. */
import {betaCdf, clip, sum} from "./numbers.js";

export const HAND = [0, 0.2, 0.4, 0.6, 0.8, 1];  // where a density drawn by hand has its points
export const LEAST = 0.01;  // of the parameters of a Beta density
export const MOST = 1000;

/* The density that a text describes ("beta:2,5" or "hand:" with six values); every t alike if it describes none. */
export function readDensity(text) {
  const [kind, list] = text.split(":");
  const numbers = (list || "").split(",").map(Number);
  if (kind === "hand" && numbers.length === HAND.length && numbers.every(x => x >= 0 && x <= 1) && numbers.some(x => x > 0))
    return {kind, ts: HAND, values: numbers};
  if (kind === "beta" && numbers.length === 2 && numbers.every(x => x >= LEAST && x <= MOST))
    return {kind, a: numbers[0], b: numbers[1]};
  return {kind: "beta", a: 1, b: 1};
}

/* The integrals of the density times the hat function of each grid point; they sum to 1. A density may be all at one t. */
export function weights(ts, density) {
  if (density.kind === "point") return weightsAt(ts, density.t);
  const found = ts.map(() => 0), segment = density.kind === "beta" ? betaSegment : handSegment;
  for (let i = 0; i + 1 < ts.length; i++) {
    const [left, right] = segment(ts[i], ts[i + 1], density);
    found[i] += left;
    found[i + 1] += right;
  }
  const total = sum(found);
  return found.map(w => w / total);
}

function betaSegment(from, to, {a, b}) {
  const mass = betaCdf(to, a, b) - betaCdf(from, a, b);
  const first = a / (a + b) * (betaCdf(to, a + 1, b) - betaCdf(from, a + 1, b));
  return [(to * mass - first) / (to - from), (first - from * mass) / (to - from)];
}

function handSegment(from, to, density) {
  const p = valueAt(density, from), q = valueAt(density, to), h = to - from;
  return [h * (2 * p + q) / 6, h * (p + 2 * q) / 6];
}

/* The value at t of a density drawn by hand, which is linear between its points. */
function valueAt({ts, values}, t) {
  let i = 0;
  while (i + 2 < ts.length && t > ts[i + 1]) i++;
  return values[i] + (t - ts[i]) / (ts[i + 1] - ts[i]) * (values[i + 1] - values[i]);
}

/* The height of a density at some t, its highest point at 1. */
export function heights(density, at) {
  const {kind, a, b} = density;
  if (kind === "hand") return at.map(t => valueAt(density, t));
  if (a === 1 && b === 1) return at.map(() => 0.6);
  const logs = at.map(t => clip(t, 0.004, 0.996)).map(t => (a - 1) * Math.log(t) + (b - 1) * Math.log(1 - t)), top = Math.max(...logs);
  return logs.map(x => Math.exp(x - top));
}

/* Weights of the grid points that give the value of a curve at t, where the curve is linear between its points. */
export function weightsAt(ts, t) {
  return ts.map((s, i) => {
    if (t === s) return 1;
    if (i > 0 && t > ts[i - 1] && t < s) return (t - ts[i - 1]) / (s - ts[i - 1]);
    return i + 1 < ts.length && t > s && t < ts[i + 1] ? (ts[i + 1] - t) / (ts[i + 1] - s) : 0;
  });
}

/* The t below which a density has a share p of its mass, of a fine grid of cells. */
function quantiles(density, ps) {
  const ts = Array.from({length: 201}, (_, i) => i / 200), found = weights(ts, density);
  let total = 0;
  const below = found.map(w => { total += w; return total; });
  return ps.map(p => ts[below.findIndex(mass => mass >= p - 1e-9)]);
}

/* What a density says, in words. */
export function densityWords(density) {
  if (density.kind === "beta" && density.a === 1 && density.b === 1) return "Every t is taken to be equally likely.";
  const [low, middle, high] = quantiles(density, [0.1, 0.5, 0.9]).map(t => t.toFixed(2));
  return `You expect t to be about ${middle}, and between ${low} and ${high} in 8 cases of 10.`;
}

/* A function from a grid to its weights that computes those of each grid once. */
export function weigher(density) {
  const known = new Map();
  return ts => {
    if (!known.has(ts)) known.set(ts, weights(ts, density));
    return known.get(ts);
  };
}

/* Densities of t, and the weights that they give to the points of a grid. */
import {betaCdf, sum} from "./numbers.js";

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

/* The integrals of the density times the hat function of each grid point; they sum to 1. */
export function weights(ts, density) {
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

/* Weights of the grid points that give the value of a curve at t, where the curve is linear between its points. */
export function weightsAt(ts, t) {
  return ts.map((s, i) => {
    if (t === s) return 1;
    if (i > 0 && t > ts[i - 1] && t < s) return (t - ts[i - 1]) / (s - ts[i - 1]);
    return i + 1 < ts.length && t > s && t < ts[i + 1] ? (ts[i + 1] - t) / (ts[i + 1] - s) : 0;
  });
}

/* A function from a grid to its weights that computes those of each grid once. */
export function weigher(density) {
  const known = new Map();
  return ts => {
    if (!known.has(ts)) known.set(ts, weights(ts, density));
    return known.get(ts);
  };
}

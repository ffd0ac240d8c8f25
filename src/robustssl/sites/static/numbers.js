/* Sums, the beta distribution and Student's. */

const LANCZOS = [0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313,
  -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7];
const QUANTILES = new Map();
const TINY = 1e-300;
const NORMAL_QUANTILE = 1.959963984540054;  // of 0.975

export const sum = xs => xs.reduce((x, y) => x + y, 0);
export const mean = xs => sum(xs) / xs.length;
export const clip = (x, low, high) => Math.min(Math.max(x, low), high);
export const dot = (xs, ys) => xs.reduce((total, x, i) => total + x * ys[i], 0);

/* The logarithm of the gamma function, by Lanczos' series (g = 7, nine terms). */
export function logGamma(x) {
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x);
  let series = LANCZOS[0];
  for (let k = 1; k < 9; k++) series += LANCZOS[k] / (x - 1 + k);
  const t = x + 6.5;
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(series);
}

const notZero = x => Math.abs(x) < TINY ? TINY : x;

/* The distribution function of Beta(a, b): the regularised incomplete beta function, by its continued fraction. */
export function betaCdf(x, a, b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - betaCdf(1 - x, b, a);
  const front = Math.exp(a * Math.log(x) + b * Math.log1p(-x) + logGamma(a + b) - logGamma(a) - logGamma(b)) / a;
  let c = 1, d = 1 / notZero(1 - (a + b) * x / (a + 1)), fraction = d;
  for (let m = 1; m < 10000; m++) {
    const even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    let change = 1;
    for (const step of [even, odd]) {
      d = 1 / notZero(1 + step * d);
      c = notZero(1 + step / c);
      change = d * c;
      fraction *= change;
    }
    if (Math.abs(change - 1) < 1e-16) break;
  }
  return front * fraction;
}

/* The x at which the distribution function of Beta(a, b) reaches p, by bisection down to neighbouring numbers. */
export function betaQuantile(p, a, b) {
  let low = 0, high = 1;
  for (let k = 0; k < 1100; k++) {
    const middle = (low + high) / 2;
    if (middle === low || middle === high) break;
    if (betaCdf(middle, a, b) < p) low = middle;
    else high = middle;
  }
  return high;
}

/* The quantile 0.975 of Student's distribution with df degrees of freedom, df any number from 1 up; of one task df is a whole
   number, and known after the first time. */
export function studentQuantile(df) {
  if (!QUANTILES.has(df)) {
    if (!Number.isInteger(df)) return newton(df);
    QUANTILES.set(df, newton(df));
  }
  return QUANTILES.get(df);
}

/* Newton's method, from the normal quantile: the distribution function is concave there, so no step goes too far. */
function newton(df) {
  const scale = Math.exp(logGamma((df + 1) / 2) - logGamma(df / 2)) / Math.sqrt(df * Math.PI);
  let t = NORMAL_QUANTILE;
  for (let k = 0; k < 100; k++) {
    const tail = (1 - betaCdf(t * t / (df + t * t), 0.5, df / 2)) / 2;
    const step = (tail - 0.025) / (scale * (1 + t * t / df) ** (-(df + 1) / 2));
    t += step;
    if (Math.abs(step) < 1e-9) break;  // the next step would be about its square
  }
  return t;
}

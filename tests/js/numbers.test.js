import assert from "node:assert/strict";
import test from "node:test";
import {readDensity, weights, weightsAt} from "../../src/robustssl/sites/static/density.js";
import {betaCdf, betaQuantile, dot, logGamma, studentQuantile} from "../../src/robustssl/sites/static/numbers.js";

const near = (x, y, error = 1e-12) => assert.ok(Math.abs(x - y) <= error, `${x} is not ${y}`);

test("gamma and beta have their known values", () => {
  near(logGamma(0.5), Math.log(Math.PI) / 2);
  near(logGamma(11), Math.log(3628800));
  near(betaCdf(0.3, 1, 1), 0.3);
  near(betaCdf(0.9, 2, 3), 0.9963);  // 6x^2 - 8x^3 + 3x^4
  assert.deepEqual([betaCdf(0, 2, 3), betaCdf(1, 2, 3)], [0, 1]);
  near(betaQuantile(0.975, 1, 20), 1 - 0.025 ** (1 / 20));
  near(betaCdf(betaQuantile(0.025, 17, 20), 17, 20), 0.025);
});

test("the quantile of Student's distribution has its known values, for real degrees of freedom too", () => {
  near(studentQuantile(1), Math.tan(Math.PI * 0.475));
  near(studentQuantile(2), 0.95 * Math.sqrt(2 / (0.975 * 0.025 * 4)));
  near(studentQuantile(9), 2.262157162798205);
  near(studentQuantile(2.5), 3.574654842003682);
  near(studentQuantile(40.5), 2.020298428185433);
});

test("weights are the integrals of the density times hat functions", () => {
  const uniform = weights([0, 0.5, 1], readDensity("beta:1,1"));
  [0.25, 0.5, 0.25].forEach((w, i) => near(uniform[i], w));
  const ts = [0, 0.1, 0.3, 1];  // a line has its mean, whatever the grid
  near(dot(weights(ts, readDensity("beta:2,5")), ts), 2 / 7);
  near(dot(weights(ts, readDensity("beta:400,37.5")), ts), 400 / 437.5);
  const first = weights([0, 0.2, 0.4, 0.6, 0.8, 1], readDensity("hand:1,0,0,0,0,0"));
  near(first[0], 2 / 3);
  near(first[1], 1 / 3);
});

test("a text that describes no density gives the uniform one", () => {
  for (const text of ["", "beta:0,0", "hand:0,0,0,0,0,0", "hand:1e308,1,1,1,1,1", "beta:1", "x:1,1", "hand:NaN,1,1,1,1,1"])
    assert.deepEqual(readDensity(text), {kind: "beta", a: 1, b: 1});
});

test("between its points a curve is linear", () => {
  assert.deepEqual(weightsAt([0, 0.5, 1], 0.5), [0, 1, 0]);
  assert.deepEqual(weightsAt([0, 0.5, 1], 0.25), [0.5, 0.5, 0]);
  assert.deepEqual(weightsAt([0, 0.5, 1], 1), [0, 0, 1]);
});

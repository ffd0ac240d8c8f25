import assert from "node:assert/strict";
import test from "node:test";
import {betaQuantile, studentQuantile} from "../../src/robustssl/sites/static/numbers.js";
import {leaveOneOut, overTasks, ranks} from "../../src/robustssl/sites/static/rule.js";

const near = (x, y) => assert.ok(Math.abs(x - y) <= 1e-12, `${x} is not ${y}`);
const part = (dataset, values, ties, seeds = values.map((_, s) => s)) => ({dataset, seeds, values, ties});

test("one task has Student's interval", () => {
  const {estimate, low, high, note} = overTasks([part("a", [0.1, 0.2, 0.6])]);
  const half = studentQuantile(2) * Math.sqrt(0.07 / 3);
  near(estimate, 0.3);
  near(low, 0.3 - half);
  near(high, 0.3 + half);
  assert.equal(note, "");
});

test("seeds are paired within a dataset, and variances of datasets added", () => {
  const opposite = overTasks([part("a", [0.1, 0.2, 0.3], {rows: 10}), part("a", [0.3, 0.2, 0.1], {rows: 10})]);
  near(opposite.low, betaQuantile(0.025, 2, 9));  // the sum is the same for all seeds: the mean of the limits of each
  const two = overTasks([part("a", [0.1, 0.2, 0.3]), part("b", [0.3, 0.2, 0.1])]);
  near(two.high - two.estimate, studentQuantile(4) * Math.sqrt(2 * 0.0025 / 3));
});

test("seeds count that all tasks of a dataset share; without two of them there is no interval", () => {
  const shared = overTasks([part("a", [0, 4, 6], null, [1, 2, 3]), part("a", [1, 4, 9], null, [3, 2, 7])]);
  near(shared.estimate, (4 + 4 + 6 + 1) / 4);
  near(shared.high - shared.estimate, studentQuantile(1) * 0.25);
  for (const seeds of [[3, 8, 9], [7, 8, 9]]) {
    const few = overTasks([part("a", [0, 4, 6], null, [1, 2, 3]), part("a", [2, 4, 9], null, seeds)]);
    assert.ok(Number.isNaN(few.low) && few.note === "");
  }
});

test("equal seeds have the interval of their ties, or a reason", () => {
  const equal = (values, ties) => overTasks([part("a", values, ties)], -1, 1);
  near(equal([1, 1, 1], {rows: 20}).low, 0.025 ** (1 / 20));
  near(equal([1, 1, 1], {rows: 20}).high, 1);
  near(equal([0, 0], {rows: 20}).high, 1 - 0.025 ** (1 / 20));
  near(equal([0.1, 0.1], {rows: 20, difference: true}).high, 0.1 + 1 - 0.025 ** (1 / 20));
  assert.equal(equal([0, 0], {rows: 20, difference: true, identical: true}).note, "identical");
  assert.equal(equal([0, 0], {rows: null, difference: true, identical: true}).note, "identical");
  assert.equal(equal([0.5, 0.5], {rows: null}).note, "no interval");
  assert.equal(equal([0.5, 0.5], undefined).note, "no interval");
});

test("numbers stay inside their bounds", () => {
  const {low, high} = overTasks([part("a", [0, 0.9, 1])], 0, 1);
  assert.deepEqual([low, high], [0, 1]);
});

test("a dataset is left out with all its tasks", () => {
  const parts = [part("a", [1, 3]), part("a", [2, 2]), part("b", [6, 6]), part("c", [10, 12])];
  const [least, largest] = leaveOneOut(parts);
  near(least, 10 / 3);
  near(largest, 17 / 2);
  assert.equal(leaveOneOut(parts.slice(0, 2)), null);
});

test("ranks are within seeds, and ties share theirs", () => {
  assert.deepEqual(ranks([[0.5, 0.1], [0.5 + 1e-15, 0.3], [0.2, 0.2]]), [[1.5, 3], [1.5, 1], [3, 2]]);
});

import assert from "node:assert/strict";
import test from "node:test";
import {spread, ticks} from "../../src/robustssl/sites/static/layout.js";
import {lookAt, looksOf} from "../../src/robustssl/sites/static/looks.js";

test("ticks are round and hold the range", () => {
  assert.deepEqual(ticks(-0.034, 0.021), [-0.04, -0.02, 0, 0.02, 0.04]);
  assert.deepEqual(ticks(0, 1), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  assert.deepEqual(ticks(0.5, 0.5).length > 1, true);
});

test("labels are moved apart and stay near to what they want, inside the frame", () => {
  for (const wanted of [[10, 11, 12, 200], [50, 50, 50, 50], [0, 300, 299, 298], [100], [5, 290, 6, 289, 7]]) {
    const found = spread(wanted, 16, 0, 300), sorted = [...found].sort((a, b) => a - b);
    sorted.slice(1).forEach((y, k) => assert.ok(y - sorted[k] >= 16 - 1e-6, `${found}`));
    assert.ok(sorted[0] >= -1e-6 && sorted.at(-1) <= 300 + 1e-6, `${found}`);
    const order = list => list.map((_, k) => k).sort((i, j) => list[i] - list[j]);
    assert.deepEqual(order(found), order(wanted));
  }
  assert.deepEqual(spread([20, 100, 240], 16, 0, 300), [20, 100, 240]);
});

test("no two lines of a chart share colour and dash, and a method keeps its colour where it can", () => {
  const all = Array.from({length: 200}, (_, place) => lookAt(place));
  assert.equal(new Set(all.map(({colour, dash}) => colour + dash)).size, 200);
  const found = looksOf(Array.from({length: 60}, (_, k) => ({look: 7 * k})));  // all want one colour
  assert.equal(new Set(found.map(({colour, dash}) => colour + dash)).size, 60);
  assert.equal(new Set(found.slice(0, 7).map(({colour}) => colour)).size, 7);
  assert.equal(looksOf([{look: 3}])[0].colour, looksOf([{look: 1}, {look: 3}])[1].colour);
  assert.equal(looksOf([{look: 3}])[0].dash, "");
});

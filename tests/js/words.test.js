import assert from "node:assert/strict";
import test from "node:test";
import {breakEvenText, choiceName, flatNote, interval, metricInterval, olderMark, rangeText, show, signed, taskName} from "../../src/robustssl/sites/static/words.js";

test("numbers are written as Python writes them", () => {
  assert.deepEqual([0.8125, 0.4375, -0.8125, 0.0625, 2 / 3].map(x => show(x)), ["0.812", "0.438", "-0.812", "0.062", "0.667"]);
  assert.deepEqual([2.5, 3.5, 0.25].map(x => show(x, 1)), ["2.5", "3.5", "0.2"]);
  assert.deepEqual([-0.0001, null, undefined, NaN].map(x => show(x)), ["0.000", "n/a", "n/a", "n/a"]);
  assert.deepEqual([0.0001, 0.01, -0.01, 0].map(x => signed(x)), ["0.000", "+0.010", "-0.010", "0.000"]);
});

test("intervals have their ends, their note and their plain value", () => {
  const found = {estimate: 0.754, low: 0.719, high: 0.789, plain: 0.754, note: ""};
  assert.equal(interval(found), "0.754 [0.719, 0.789]");
  assert.equal(interval({...found, note: "~", plain: 0.76}), "0.754 [0.719, 0.789]~ (0.760)");
  assert.equal(interval({...found, estimate: 0.01, plain: 0.01, low: -0.02, high: 0.04}, signed), "+0.010 [-0.020, +0.040]");
  assert.equal(interval({...found, low: NaN, high: NaN, note: "identical"}), "0.754 (identical)");
  assert.equal(interval({...found, low: NaN, high: NaN}), "0.754");
  assert.equal(metricInterval([0.5, 0.5, null, null, "no interval"]), "0.500 (no interval)");
  assert.equal(metricInterval([null, null, null, null, ""]), "n/a");
});

test("ranges and break-evens", () => {
  assert.equal(rangeText([-0.01, 0.02], signed), "-0.010 to +0.020");
  assert.equal(rangeText(null), "");
  assert.equal(breakEvenText({estimate: 0.5, low: 0, high: Infinity}), "0.50 [0.00, none]");
  assert.equal(breakEvenText({estimate: Infinity, low: NaN, high: NaN}), "none");
  assert.equal(breakEvenText(null), "");
});

test("what is older, unknown or flat is said to be so", () => {
  assert.deepEqual([olderMark(0, 2), olderMark(2, 2), olderMark(1, 2)], ["", " (older version)", " (older version on 1 of 2 tasks)"]);
  assert.equal(taskName({name: "wine", older: true}), "wine (older version)");
  assert.deepEqual([null, 5, "label", "label, oracle", "consistent", "constructor"].map(choiceName),
    ["unknown", "5", "unknown classes", "unknown classes, no inconsistent rows (oracle)", "t = 0 alone", "constructor"]);
  const flat = value => ({values: [[value, value]]});
  assert.equal(flatNote(flat(1), {supervised: false}), "flat at 1");
  assert.match(flatNote(flat(0.5), {supervised: null}), /^flat: do/);
  assert.equal(flatNote(flat(0.5), {supervised: true}), "");
});

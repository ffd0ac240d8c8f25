import assert from "node:assert/strict";
import test from "node:test";
import {adviceOf} from "../../src/robustssl/sites/static/advice.js";
import {searched} from "../../src/robustssl/sites/static/choice.js";
import {densityWords, heights, readDensity} from "../../src/robustssl/sites/static/density.js";
import {holm} from "../../src/robustssl/sites/static/rule.js";
import {breakEvenWords, countText, harmsText, methodsText, seedsText, whyNot} from "../../src/robustssl/sites/static/words.js";

const METHODS = [{supervised: true}, {supervised: false}, {supervised: false}, {supervised: null}];
const interval = (estimate, half) => ({estimate, low: estimate - half, high: estimate + half});
const safety = (harmed = [], unknown = []) => ({helped: [], unclear: [], harmed, unknown, safe: !harmed.length && !unknown.length});
const row = (method, ea, gain, p, more = {}) => ({method, whole: true, ea: interval(ea, 0.01), gain, p, safety: safety(), ...more});
const advice = (...rows) => adviceOf(rows, {methods: METHODS});
const baseline = row(0, 0.8, null, NaN);

test("a method that gains beyond chance and harms nowhere is the answer", () => {
  const {kind, row: {method}} = advice(baseline, row(1, 0.85, interval(0.05, 0.02), 1e-4), row(2, 0.9, interval(0.1, 0.2), 0.4));
  assert.deepEqual([kind, method], ["gain", 1]);
});

test("else the best baseline is, whatever the mean gain", () => {
  const sure = more => row(1, 0.85, interval(0.05, 0.02), 1e-4, more);
  for (const other of [row(1, 0.85, interval(0.05, 0.06), 0.2), sure({safety: safety([3])}), sure({safety: safety([], [3])}),
    row(1, 0.7, interval(0.05, 0.02), 1e-4), row(1, 0.85, interval(-0.05, 0.02), 1e-4), sure({whole: false, p: 1e-4})]) {
    const {kind, row: {method}} = advice(baseline, other, row(2, 0.9, interval(0.1, 0.2), 0.4));
    assert.deepEqual([kind, method], ["baseline", 0]);
  }
});

test("of many methods one must be surer than of one", () => {
  const mine = p => row(1, 0.85, interval(0.05, 0.04), p), others = Array.from({length: 20}, () => row(2, 0.7, interval(0, 0.1), 0.9));
  assert.equal(advice(baseline, mine(0.01)).kind, "gain");
  assert.equal(advice(baseline, mine(0.01), ...others).kind, "baseline");
  assert.deepEqual(holm([0.01, 0.04, 0.03, NaN]), [true, false, false, false]);
  assert.deepEqual(holm([0.01, 0.02]), [true, true]);
  assert.deepEqual(holm([]), []);
});

test("what gains by its own interval alone is told from what gains beyond chance", () => {
  const others = Array.from({length: 20}, () => row(2, 0.7, interval(0, 0.1), 0.9)), sure = row(3, 0.85, interval(0.05, 0.02), 1e-6);
  const {compared, told, alone} = advice(baseline, sure, row(1, 0.86, interval(0.05, 0.04), 0.01), ...others);
  assert.deepEqual([compared.length, told.map(x => x.method), alone.map(x => x.method)], [22, [3], [1]]);
});

test("the best baseline is the one of the highest score, not of the narrowest interval", () => {
  const wide = {...row(0, 0.82, null, NaN), ea: interval(0.82, 0.1)};
  assert.equal(advice(baseline, wide, row(1, 0.7, interval(0, 0.1), 0.9)).row, wide);
});

test("what was never compared is not called safe", () => {
  const alone = row(1, 0.99, null, NaN, {safety: safety([], [0, 1])});
  assert.equal(advice(alone).kind, "unknown");
  assert.equal(advice(baseline, alone).kind, "unknown");
  assert.equal(advice(baseline, alone, row(2, 0.7, interval(0, 0.1), 0.9)).kind, "baseline");
});

test("words", () => {
  assert.equal(harmsText({helped: [0], unclear: [2, 3, 4], harmed: [1], unknown: []}), "1 / 3 / 1");
  assert.equal(harmsText({helped: [], unclear: [2, 3, 4], harmed: [], unknown: [0, 1]}), "0 / 3 / 0, 2 not known");
  assert.equal(harmsText({helped: [], unclear: [], harmed: [], unknown: [0, 1]}), "not known");
  assert.deepEqual([[3, 3], [3, 5], [1]].map(seeds => seedsText({seeds})), ["3 seeds", "3 to 5 seeds", "1 seed"]);
  assert.equal(breakEvenWords({estimate: 0.4, low: 0.2, high: 0.8}), ", on average up to t = 0.4, and harms beyond");
  assert.equal(breakEvenWords({estimate: 0.45, low: 0.2, high: Infinity}), ", on average up to t = 0.45, and may harm beyond");
  assert.equal(breakEvenWords({estimate: Infinity, low: NaN, high: NaN}), ", on average at every t");
  assert.equal(breakEvenWords(null), "");
  const one = {name: "a", safe: true}, two = {name: "b", safe: false};
  assert.equal(whyNot([one]), "a gains over its own baseline, but is less accurate.");
  assert.equal(whyNot([two]), "b gains over its own baseline, but harms on a task.");
  assert.equal(whyNot([one, two, two]), "3 methods gain over their own baselines, but 2 harm on a task and 1 is less accurate.");
  assert.equal(whyNot([one, one]), "2 methods gain over their own baselines, but both are less accurate.");
  assert.match(whyNot([two, two, two]), /but all harm on a task\.$/);
  const data = {tasks: [{drawn: "a"}, {drawn: "a"}], methods: METHODS};
  const rows = [{method: 0, firstTier: true}, {method: 1, firstTier: true}, {method: 3}];
  assert.equal(countText(data, rows, rows, [0, 1]), "2 methods and 1 baseline on 2 tasks of 1 dataset. Shaded: the first and 1 that is not told apart from it.");
  assert.equal(countText(data, [{}], rows, [0]), "1 of 2 methods and 1 baseline on 1 task of 1 dataset. Shaded: the first and 1 that is not told apart from it.");
  assert.equal(countText(data, [], [], []), "No task fits these choices.");
  assert.deepEqual([[], [0], [1], [0, 1, 2]].map(chosen => methodsText(chosen.map(k => METHODS[k]))), ["", "1 baseline", "1 method", "2 methods and 1 baseline"]);
});

test("a density in words and in heights", () => {
  assert.equal(densityWords(readDensity("beta:1,1")), "Every t is taken to be equally likely.");
  assert.equal(densityWords(readDensity("beta:11,11")), "You expect t to be about 0.50, and between 0.36 and 0.64 in 8 cases of 10.");
  assert.equal(densityWords(readDensity("hand:1,1,1,1,1,1")), "You expect t to be about 0.50, and between 0.10 and 0.90 in 8 cases of 10.");
  assert.deepEqual(heights(readDensity("hand:0,1,0,0,0,0.5"), [0, 0.1, 0.2, 0.9, 1]).map(x => Math.round(100 * x) / 100), [0, 0.5, 1, 0.25, 0.5]);
  assert.equal(Math.max(...heights(readDensity("beta:2,5"), [0, 0.2, 0.4])), 1);
});

test("methods are searched by name, family, authors and claims", () => {
  const method = {name: "fixmatch", family: "deep", authors: "Sohn et al.", targets: ["label"]};
  for (const text of ["", "MATCH", " sohn ", "deep", "lab"]) assert.ok(searched(method, text), text);
  assert.ok(!searched(method, "svm"));
  assert.ok(!searched({name: "a", family: null, authors: null, targets: []}, "null"));
});

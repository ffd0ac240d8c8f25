import assert from "node:assert/strict";
import test from "node:test";
import {chosenMethods, chosenTasks} from "../../src/robustssl/sites/static/choice.js";
import {addedMinusReplaced} from "../../src/robustssl/sites/static/curves.js";
import {readDensity} from "../../src/robustssl/sites/static/density.js";
import {lineOf} from "../../src/robustssl/sites/static/lines.js";
import {ranking} from "../../src/robustssl/sites/static/ranking.js";
import {bySafety, safetyOf, worstPlace} from "../../src/robustssl/sites/static/safety.js";
import {THERE, bothPopulations, gainThereText, thereText} from "../../src/robustssl/sites/static/there.js";
import {gainText} from "../../src/robustssl/sites/static/words.js";
import {smallPayload} from "./payload.js";

const near = (x, y) => assert.ok(Math.abs(x - y) <= 1e-12, `${x} is not ${y}`);
const STATE = {score: "accuracy", convention: "definition", density: readDensity("beta:1,1")};
const ALL = [0, 1, 2, 3];

function rowsOf(data, tasks = [0, 1]) {
  const rows = ranking(data, tasks, ALL, STATE);
  for (const row of rows) row.safety = safetyOf(row, data.methods[row.method]);
  return rows;
}

test("whole methods have places and mean ranks; others have neither", () => {
  const rows = rowsOf(smallPayload());
  assert.deepEqual(rows.map(row => row.place), [2, 3, 1, undefined]);
  [29 / 12, 31 / 12, 1].forEach((rank, k) => near(rows[k].meanRank.estimate, rank));  // seed 0 of the first task is a tie
  assert.equal(rows[3].meanRank, undefined);
  assert.deepEqual(rows.map(row => row.tasks), [2, 2, 2, 1]);
});

test("a gain is over the tasks of a method, and its break-even that of the mean curve", () => {
  const [, row] = rowsOf(smallPayload());
  near(row.gain.estimate, (0.02 / 3 - 0.44 / 3) / 2);
  near(row.breakEven.estimate, 0.01 / (0.01 + 0.43));
  assert.deepEqual(row.gainRange.map(x => Math.round(1e6 * x)), [-146667, 6667]);
  assert.equal(row.older, 1);
});

test("what is not compared says why", () => {
  const data = smallPayload(), texts = () => rowsOf(data).map(row => gainText(row, data.methods[row.method]));
  assert.deepEqual(texts().filter((_, k) => k !== 1),
    ["is a baseline", "not compared: its baseline was not run", "not compared: its baseline is unknown"]);
  data.curves[3].baseline = null;
  assert.equal(texts()[1], "not compared on 1 of 2 tasks: its baseline was not run");
  data.seeds.push([7, 8, 9]);
  data.curves[0].scores.accuracy.seeds = 1;
  assert.equal(rowsOf(data, [0]).map(row => gainText(row, data.methods[row.method]))[1],
    "not compared: its baseline was not run on these seeds and t");
});

test("safe is only what was compared on every task and harms on none", () => {
  const data = smallPayload(), [baseline, harmful, alone] = rowsOf(data);
  assert.deepEqual([baseline, harmful, alone].map(row => row.safety.safe), [true, false, false]);
  assert.deepEqual(harmful.safety.harmed, [1]);
  assert.deepEqual(alone.safety.unknown, [0, 1]);
  assert.equal(worstPlace(harmful.safety.gains), 1);
  near(harmful.safety.gains[1].estimate, -0.44 / 3);
  assert.deepEqual([harmful, alone, baseline].sort(bySafety), [baseline, alone, harmful]);
  const [, first] = rowsOf(data, [0]);
  assert.equal(first.safety.safe, true);
  data.curves[2].baseline = null;
  assert.equal(rowsOf(data)[1].safety.safe, false);
});

test("a gain of one seed is not known to be safe, identical predictions are", () => {
  const data = smallPayload(), mine = data.curves[2], accuracy = data.curves[0].scores.accuracy;
  mine.scores.accuracy.values = accuracy.values;
  mine.scores.accuracy.identical = true;
  assert.equal(rowsOf(data, [0])[1].safety.safe, true);
  mine.scores.accuracy.identical = false;
  data.seeds.push([0]);
  mine.scores.accuracy = {...mine.scores.accuracy, seeds: 1, values: [[0.9, 0.9]]};
  assert.deepEqual(rowsOf(data, [0])[1].safety.unknown, [0]);
});

test("both populations: the accuracy on inconsistent rows, over the tasks that have it", () => {
  const data = smallPayload(), [baseline, , mine] = data.curves, both = () => bothPopulations(data, [0, 1], ALL, STATE);
  assert.deepEqual(both().map(row => thereText(row)), ["not known", "not known", "not known", "not known"]);
  assert.equal(gainThereText(both()[1], data.methods[1]), "not known");
  assert.equal(gainThereText(both()[0], data.methods[0]), "is a baseline");
  const scores = values => ({...mine.scores.accuracy, rows: null, values});
  mine.scores[THERE] = scores([[0.4, 0.6], [0.5, 0.7], [0.6, 0.8]]);
  assert.equal(gainThereText(both()[1], data.methods[1]), "not known");  // its baseline does not say it
  baseline.scores[THERE] = scores([[0.3, 0.3], [0.4, 0.4], [0.5, 0.5]]);
  const [alone, row] = both();
  near(row.there.ea.estimate, 0.6);
  near(row.there.gain.estimate, 0.2);
  assert.equal(row.there.tasks, 1);
  assert.ok(row.there.whole);
  assert.match(thereText(row), /^0\.600 \[.*\] on 1 of 2 tasks$/);
  assert.equal(gainThereText(row, data.methods[1]), "+0.200 (no interval) on 1 of 2 tasks");
  near(alone.there.ea.estimate, 0.4);
  const plain = ranking(data, [0, 1], ALL, STATE);
  assert.deepEqual(both().map(({there: _there, ...rest}) => rest), plain);
});

test("rows added minus rows replaced is the same from both tasks, and paired by seed", () => {
  const data = smallPayload(), [first, second] = data.tasks, [, , replaced, added] = data.curves;
  assert.equal(addedMinusReplaced(data, replaced, "accuracy"), null);
  Object.assign(first, {otherMix: 1});
  Object.assign(second, {mix: "add", otherMix: 0});
  data.seeds.push([2, 1, 7]);
  added.scores.accuracy.seeds = 1;
  const found = [replaced, added].map(curve => addedMinusReplaced(data, curve, "accuracy"));
  assert.deepEqual(found.map(({seeds}) => [...seeds].sort()), [[1, 2], [1, 2]]);
  for (const {seeds, values} of found) {  // of seed 1: [.5, .42] - [.72, .5], of seed 2: [.4, .3] - [.8, .62]
    [-0.22, -0.08].forEach((x, i) => near(values[seeds.indexOf(1)][i], x));
    [-0.4, -0.32].forEach((x, i) => near(values[seeds.indexOf(2)][i], x));
  }
  assert.equal(addedMinusReplaced(data, data.curves[6], "accuracy"), null);
});

test("a gain is drawn only where it is compared on every task", () => {
  const data = smallPayload(), gain = {score: "accuracy", show: "gain"};
  assert.deepEqual(lineOf(data, 1, [0, 1], gain).ts, [0, 1]);
  assert.equal(lineOf(data, 2, [0, 1], gain), null);
  assert.equal(lineOf(data, 3, [1], {score: "accuracy", show: "score"}), null);
  data.curves[3].baseline = null;
  assert.equal(lineOf(data, 1, [0, 1], gain), null);
});

test("filters choose tasks and methods; oracles only by name, baselines always", () => {
  const data = smallPayload();
  assert.deepEqual(chosenTasks(data, {}), [0, 1]);
  assert.deepEqual(chosenTasks(data, {environment: "label", access: "oracle"}), [2]);
  assert.deepEqual(chosenTasks(data, {dataset: "wine|x"}), [1]);
  assert.deepEqual(chosenTasks(data, {labels: "3"}), []);
  assert.deepEqual(chosenMethods(data, {family: "deep"}), [0, 1]);
  assert.deepEqual(chosenMethods(data, {family: "null"}), [0, 3]);
  assert.deepEqual(chosenMethods(data, {targets: "any"}), [0, 1]);
  assert.deepEqual(chosenMethods(data, {targets: "feature"}), [0]);
  assert.deepEqual(chosenMethods(data, {targets: "consistent"}), [0, 2]);
});

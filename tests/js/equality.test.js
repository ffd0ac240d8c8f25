/* The pages compute what Python does, within 1e-9.

   The environment variable ROBUSTSSL_CASES names a JSON file {"index": ..., "parts": ..., "expected": ...}: the files of data
   of a site, and what `cases(payload)` of make_cases.py says of them. Each case is {score, tasks, density, rows}; tasks are indices into
   payload.tasks. A row is {method, ea, eaRange, gain, p, gainRange, breakEven, meanRank}: intervals are [estimate, low, high,
   note], ranges [least, largest], a break-even [estimate, low, high], where "none" is none up to 1; null is what there is
   not. Without the variable the test is skipped. */
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import test from "node:test";
import {ranking} from "../../src/robustssl/sites/static/ranking.js";
import {holm} from "../../src/robustssl/sites/static/rule.js";
import {addPart, unpack} from "../../src/robustssl/sites/static/unpack.js";
import {medianOf, worthOf} from "../../src/robustssl/sites/static/worth.js";

const file = process.env.ROBUSTSSL_CASES;

const plain = x => x === Infinity ? "none" : x === undefined || Number.isNaN(x) ? null : x;
const intervalOf = x => x ? [x.estimate, x.low, x.high, x.note].map(plain) : null;
const breakEvenOf = x => x ? [x.estimate, x.low, x.high].map(plain) : null;

function alike(mine, theirs) {
  if (Array.isArray(mine) && Array.isArray(theirs)) return mine.length === theirs.length && mine.every((x, i) => alike(x, theirs[i]));
  return typeof mine === "number" && typeof theirs === "number" ? Math.abs(mine - theirs) <= 1e-9 : mine === theirs;
}

test("rankings are those of Python", {skip: file ? false : "ROBUSTSSL_CASES is not set"}, () => {
  const {index, parts, expected} = JSON.parse(readFileSync(file, "utf8")), payload = unpack(index);
  for (const part of Object.values(parts)) addPart(payload, part);
  const methods = payload.methods.map((_, j) => j);
  assert.ok(expected.length > 0);
  for (const {score, tasks, density, rows} of expected) {
    const found = ranking(payload, tasks, methods, {score, density, convention: "definition"});
    assert.equal(found.length, rows.length);
    for (const row of found) {
      const theirs = rows.find(other => other.method === row.method);
      const mine = {method: row.method, ea: intervalOf(row.ea), eaRange: row.eaRange, gain: intervalOf(row.gain), p: row.gain ? plain(row.p) : null,
        gainRange: row.gainRange, breakEven: breakEvenOf(row.breakEven), meanRank: intervalOf(row.meanRank)};
      for (const [name, value] of Object.entries(mine)) assert.ok(alike(value, theirs[name]),
        `${name} of ${payload.methods[row.method].name}, ${score}, tasks ${tasks}, density ${JSON.stringify(density)}: `
        + `${JSON.stringify(value)}, but Python has ${JSON.stringify(theirs[name])}`);
    }
  }
});

test("what gains are worth in labels, and who is told apart, is that of Python", {skip: file ? false : "ROBUSTSSL_CASES is not set"}, () => {
  const {worth, holm: tests, medians} = JSON.parse(readFileSync(file, "utf8")), write = x => x === Infinity ? "inf" : x === -Infinity ? "-inf" : plain(x);
  for (const {ps, rejected} of tests) assert.deepEqual(holm(ps.map(p => p ?? NaN)), rejected);
  const read = x => x === null ? NaN : Number(String(x).replace("inf", "Infinity"));
  for (const {of, median} of medians) {
    const {estimate, least, most} = medianOf(of.map(one => { const [a, b, c] = one.map(read); return {estimate: a, least: b, most: c}; }));
    assert.ok(alike([estimate, least, most].map(write), median), `${JSON.stringify([of, median])}: ${estimate}, ${least}, ${most}`);
  }
  assert.ok(worth.length > 30 && medians.length > 30);
  for (const {gains, curves, counts, held, worth: theirs} of worth) {
    const {estimate, low, high, least, most} = worthOf(gains, curves, counts, held), mine = [estimate, low, high, least, most].map(write);
    assert.ok(alike(mine, theirs), `${JSON.stringify(mine)}, but Python has ${JSON.stringify(theirs)}`);
  }
});

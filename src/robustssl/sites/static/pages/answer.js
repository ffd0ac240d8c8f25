/* The answer to the question of the overview. */
import {scoreName} from "../columns.js";
import {link, make} from "../elements.js";
import {DATA, methodOf} from "../page.js";
import {worstGain} from "../safety.js";
import {gainThereText} from "../there.js";
import {counted, gainText, interval, olderMark, rangeText, signed, taskName} from "../words.js";

const SHOWN = 6;

/* Of the safe methods, the one whose expected score has the highest lower end. */
export function verdict(rows, state) {
  const [first] = rows, method = methodOf(first);
  if (!first.safety.safe) return make("p", {className: "verdict"},
    "No method is known to be safe here: each harms on a task, or cannot be compared with its baseline on every task.");
  const rivals = rows.filter(row => row !== first && row.safety.safe && row.ea.high >= first.ea.low);
  const said = [`, expected ${scoreName(state)} ${interval(first.ea)}${leftOut(first.eaRange)}.`];
  if (method.supervised) said.push(" It uses the labeled data alone.");
  else if (first.gain.low > 0) said.push(" It beats the same learner on the labeled data alone, by "
    + `${interval(first.gain, signed)} on average${leftOut(first.gainRange, signed)}.`);
  else said.push(` It may not beat the labeled data alone: its gain is ${interval(first.gain, signed)}${leftOut(first.gainRange, signed)}.`);
  if (Number.isNaN(first.ea.low)) said.push(" Without an interval nothing of this is certain.");
  else if (rivals.length) said.push(` ${rivals.length} more of ${counted(rows.length, "method")} overlap with it: `
    + "the order among these is not certain.");
  return make("p", {className: "verdict"}, "Safest: ", make("strong", {}, methodLink(first)), said.join(""));
}

function leftOut(range, write) {
  return range ? ` (${rangeText(range, write)} when one dataset is left out)` : "";
}

function methodLink(row) {
  return link("algorithms", methodOf(row), olderMark(row.older, row.tasks));
}

export function explanation(row, tasks, state) {
  const text = "A method is safe if it was compared with the same learner on the labeled data alone on every task and is worse than "
    + "it, beyond chance, on none; both are tested on rows like the labeled ones. The safest is the one of these whose 95% interval "
    + "has the highest lower end. "
    + `Means are over ${counted(tasks.length, "task")}, at least ${counted(Math.min(...row.seeds), "seed")} each, `
    + `with t about ${state.share}% (a Beta density around it).`;
  return make("div", {}, make("p", {}, text), taskList(`The ${counted(tasks.length, "task")}`, tasks));
}

/* The first few, the first baseline and the first few others. */
export function safetyTable(rows, tasks, state) {
  const baselines = rows.filter(row => methodOf(row).supervised), others = rows.filter(row => !baselines.includes(row));
  const wanted = new Set([...rows.slice(0, SHOWN), ...baselines.slice(0, 1), ...others.slice(0, SHOWN / 2)]);
  const shown = rows.filter(row => wanted.has(row));
  const several = shown.some(row => row.eaRange);
  const both = shown.some(row => row.there);
  const heads = ["method", `expected ${scoreName(state)}`, "gain over labeled alone", ...both ? ["gain on inconsistent rows"] : [],
    ...several ? ["gain without one dataset"] : [],
    "on its worst task", "harms on"];
  const line = row => make("tr", {}, make("th", {scope: "row"}, methodLink(row)),
    make("td", {title: leftOut(row.eaRange).trim()}, interval(row.ea)),
    make("td", {className: "wrap"}, gainText(row, methodOf(row))),
    ...both ? [make("td", {}, gainThereText(row, methodOf(row)))] : [],
    ...several ? [make("td", {}, rangeText(row.gainRange, signed))] : [],
    make("td", {}, worstText(row)),
    make("td", {className: "wrap"}, ...harms(row, tasks)));
  return make("div", {className: "scroll", tabIndex: 0, role: "region", ariaLabel: "the safest methods"},
    make("table", {className: "numbers"}, make("thead", {}, make("tr", {}, ...heads.map(text => make("th", {scope: "col"}, text)))),
      make("tbody", {}, ...shown.map(line))));
}

function taskList(text, tasks) {
  return make("details", {}, make("summary", {}, text), tasks.map(task => taskName(DATA.tasks[task])).join("; "));
}

function worstText(row) {
  const worst = worstGain(row.safety.gains);
  return worst ? interval(worst, signed) : "";
}

function harms(row, tasks) {
  const {harmed, unknown, safe} = row.safety, where = places => `${places.length} of ${counted(tasks.length, "task")}`;
  const list = (text, places) => taskList(text, places.map(k => tasks[k]));
  if (safe) return ["none"];
  return [
    ...harmed.length ? [list(where(harmed), harmed)] : [],
    ...unknown.length ? [list(`not known on ${where(unknown)}`, unknown)] : [],
  ];
}

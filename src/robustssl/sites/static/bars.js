/* A gain with its interval as a small bar, on one scale for all rows of a table. */
import {makeSvg} from "./elements.js";
import {clip} from "./numbers.js";

const BAR = {width: 128, height: 16};

/* The scale that holds zero and the intervals, but for a tenth of the lowest and of the highest: these end at its edge. */
export function barScale(gains) {
  const known = gains.filter(Boolean), few = Math.floor(known.length / 10);
  const ends = name => known.map(gain => Number.isNaN(gain[name]) ? gain.estimate : gain[name]).sort((x, y) => x - y);
  const least = Math.min(0, ends("low")[few] ?? 0), most = Math.max(0, ends("high")[known.length - 1 - few] ?? 0);
  const span = most - least || 1;
  return value => 4 + clip((value - least) / span, 0, 1) * (BAR.width - 8);
}

/* Blue for a gain, orange for a loss, grey where the interval holds zero or there is none. */
export function gainBar(gain, x) {
  const side = gain.low > 0 ? "gain" : gain.high < 0 ? "loss" : "unsure", y = BAR.height / 2;
  const parts = [makeSvg("line", {class: "zero", x1: x(0), x2: x(0), y1: 0, y2: BAR.height})];
  if (!Number.isNaN(gain.low)) parts.push(makeSvg("line", {class: `span ${side}`, x1: x(gain.low), x2: x(gain.high), y1: y, y2: y}));
  parts.push(makeSvg("circle", {class: side, cx: x(gain.estimate), cy: y, r: 3.5}));
  return makeSvg("svg", {class: "bar", viewBox: `0 0 ${BAR.width} ${BAR.height}`, "aria-hidden": "true"}, ...parts);
}

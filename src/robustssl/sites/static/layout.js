/* Where the parts of a chart are put. */

/* Round steps from at or below the least to at or above the largest number, about `count` of them. */
export function ticks(least, largest, count = 5) {
  const span = largest - least || 1, raw = span / count, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(k => k * power).find(x => x >= raw - 1e-12);
  const first = Math.floor(least / step + 1e-9), last = Math.ceil(largest / step - 1e-9);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return Array.from({length: last - first + 1}, (_, k) => Number(((first + k) * step).toFixed(digits)));
}

/* Places for labels that want to stand at some heights, moved apart by `gap` at least and kept between two ends where there is
   room: each group of labels that touch is centred on what its labels want. */
export function spread(wanted, gap, low, high) {
  const order = wanted.map((_, k) => k).sort((i, j) => wanted[i] - wanted[j]);
  const groups = [];
  for (const k of order) {
    groups.push({ids: [k], centre: wanted[k]});
    for (;;) {
      const mine = groups.at(-1), before = groups.at(-2);
      const half = group => gap * (group.ids.length - 1) / 2;
      const centre = Math.min(Math.max(mine.centre, low + half(mine)), high - half(mine));
      mine.at = Math.max(centre, low + half(mine));
      if (!before || mine.at - half(mine) - gap >= before.at + half(before) - 1e-9) break;
      const count = before.ids.length + mine.ids.length;
      groups.splice(-2, 2, {ids: [...before.ids, ...mine.ids],
        centre: (before.centre * before.ids.length + mine.centre * mine.ids.length) / count});
    }
  }
  const found = [];
  for (const {ids, at} of groups) ids.forEach((k, i) => { found[k] = at + gap * (i - (ids.length - 1) / 2); });
  return found;
}

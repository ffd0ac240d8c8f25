/* Whom to use: what is sure comes first. */
import {holm} from "./rule.js";
import {bySafety} from "./safety.js";

/* Of rows with their safety: `compared`, the methods with a gain on every task; `told`, those of them whose mean gain is above 0 beyond
   chance (Holm's correction over all compared); `alone`, those whose own interval is above 0, which is less;
   the best `baseline`, null where none was run; and the `row` to use. `kind` is "gain" where the best row that harms nowhere is
   one of those told; "baseline" where it is not, with the best baseline; "unknown" where no method was compared on every task. */
export function adviceOf(rows, data) {
  const whole = rows.filter(row => row.whole), isBaseline = row => data.methods[row.method].supervised;
  const compared = whole.filter(row => row.gain && !isBaseline(row)), rejected = holm(compared.map(row => row.p));
  const told = compared.filter((row, k) => rejected[k] && row.gain.estimate > 0);
  const alone = compared.filter(row => row.gain.low > 0 && !told.includes(row)), found = {compared, told, alone};
  const [baseline = null] = whole.filter(isBaseline).sort(bySafety);
  if (!compared.length) return {kind: "unknown", row: baseline, baseline, ...found};
  const [first] = [...told, ...baseline ? [baseline] : []].filter(row => row.safety.safe).sort(bySafety);
  return told.includes(first) ? {kind: "gain", row: first, baseline, ...found} : {kind: "baseline", row: baseline, baseline, ...found};
}

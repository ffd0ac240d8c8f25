/* The answer to the question of the overview, which leads with what is sure. */
import {adviceOf} from "../advice.js";
import {methodLink, scoreName} from "../columns.js";
import {make, unique} from "../elements.js";
import {DATA, methodOf} from "../page.js";
import {behind} from "../ranking.js";
import {breakEvenWords, counted, interval, seedsText, signed, tasksText, whyNot} from "../words.js";
import {worthText} from "../worth.js";

const nameOf = row => make("strong", {}, methodLink(row));

/* The sentence: whom to use, why that is sure, and on how much it rests. `worth` is what the gain of a row is worth in labels, or null. */
export function verdict(rows, tasks, state, worth) {
  const say = (...parts) => make("p", {className: "verdict"}, ...parts);
  if (DATA.unranked) return say("No recommendation: these settings were chosen by test rows, which nobody has who must choose.");
  const {kind, row, baseline, told} = adviceOf(rows, DATA), rests = row ? ` (${tasksText(DATA, tasks)}, ${seedsText(row)})` : "";
  if (kind === "unknown") return say("No method is known to be safe here: none was compared with the labeled rows alone on every task.");
  if (kind === "gain") {
    const labels = worth(row), inLabels = labels?.estimate > 0 ? `, worth ${worthText(labels)},` : "", {helped, unclear} = row.safety;
    return say(nameOf(row), ` gains ${interval(row.gain, signed)} ${scoreName(state)}${inLabels} over ${overWhom(row, baseline)}`
      + `${breakEvenWords(row.breakEven)}. At about ${state.share}% it gains on ${helped.length}, harms on none and is unclear on ${unclear.length} of ${rests.slice(2, -1)}.`);
  }
  const expected = row ? `, expected ${scoreName(state)} ${interval(row.ea)}${rests}` : "";
  if (!told.length) return say("No method is told apart from the labeled rows alone here", ...row ? ["; use ", nameOf(row), expected] : [], ".");
  return say(...row ? ["Use ", nameOf(row), `, on the labeled rows alone${expected}. `] : [],
    whyNot(told.map(other => ({name: methodOf(other).name, safe: other.safety.safe}))));
}

/* The baseline of a row, and what it gains over the best baseline if that is another. */
function overWhom(row, baseline) {
  const own = unique(row.curves.map(curve => curve.baselineName)).join(", "), best = baseline && methodOf(baseline).name;
  if (!best || own === best) return `${own} on the labeled rows alone`;
  const more = behind(row, baseline);
  return `${own}, the same learner on the labeled rows alone (${interval(more, signed)}${more.low > 0 ? "" : ", which may be chance,"} over ${best}, the best on these)`;
}

/* How sure the rest is: who gains, by which test, who harms, and who cannot be compared. */
export function ruling(rows, state) {
  const methods = rows.filter(row => !methodOf(row).supervised), {kind, row: answer, compared, told, alone} = adviceOf(rows, DATA);
  const harmful = methods.filter(row => row.safety.harmed.length), unknown = methods.filter(row => row.safety.unknown.length);
  if (!methods.length) return [];
  const names = found => found.length && found.length <= 4 ? ` (${found.map(row => methodOf(row).name).join(", ")})` : "";
  const verb = (found, word) => found.length < 2 ? `${word}s` : word;
  const above = kind === "gain" ? alone.filter(row => row.ea.estimate > answer.ea.estimate) : [];
  const others = above.length ? `, among them ${above.map(row => methodOf(row).name).join(", ")} with a higher ${scoreName(state)} than ${methodOf(answer).name},` : names(alone);
  const allowed = compared.length > 1 ? `, allowing for ${compared.length} comparisons (Holm's correction)` : "";
  const parts = [
    `Of ${counted(methods.length, "method")}, ${told.length || "none"}${names(told)} ${verb(told, "gain")} ${scoreName(state)} beyond chance on average${allowed}`,
    ...alone.length ? [`${alone.length}${told.length ? " more" : ""}${others} ${verb(alone, "gain")} by ${alone.length < 2 ? "its" : "their"} own interval only, as may happen by chance among so many`] : [],
    harmful.length ? `${harmful.length} ${verb(harmful, "harm")} on a task or more` : "none is shown to harm on any task",
    ...unknown.length ? [`${unknown.length} cannot be compared on every task${names(unknown)}`] : [],
  ];
  return [make("p", {className: "soft"}, `${parts.join("; ")}.`)];
}

/* What the authors of methods claim to answer, and what is measured there. */
import {barScale, gainBar} from "../bars.js";
import {chosenTasks} from "../choice.js";
import {METHOD, PAPER, YEAR, scoreName} from "../columns.js";
import {find, make} from "../elements.js";
import {bindFilters} from "../filters.js";
import {partsOf, whenLoaded} from "../load.js";
import {DATA, methodOf} from "../page.js";
import {ranking} from "../ranking.js";
import {safetyOf} from "../safety.js";
import {readState, withScore, writeState} from "../state.js";
import {bindCsv, focusColumn, sortedTable} from "../tables.js";
import {HARMS, choiceName, counted, gainText, harmsText, interval, signed} from "../words.js";

const AT_0 = {kind: "point", t: 0};

export function claims() {
  const state = readState("data", "labels", "score", "on", "sort"), table = find("#claims");
  const places = JSON.parse(find("#places").textContent);
  if (!location.hash.includes("sort=")) state.sort = "-gain";
  function update(focus) {
    whenLoaded(partsOf(withScore(state)), () => show(focus));
  }
  function show(focus) {
    const asked = withScore(state), rows = DATA.methods.flatMap((method, j) => method.targets.map(kind => claimOf(j, kind, asked)));
    for (const row of rows) row.place = places[methodOf(row).name]?.[row.kind] ?? "unknown";
    sortedTable(table, claimColumns(rows, asked), rows, asked, name => { state.sort = asked.sort; update(name); });
    find("#verdict").textContent = claimsVerdict(rows);
    writeState(state);
    focusColumn(table, focus);
  }
  bindFilters(state, () => update());
  bindCsv(table, "claims.csv");
  update();
}

/* A claim about consistent rows is measured on all tasks at t = 0, any other where that is inconsistent, alone or with more. */
function claimOf(method, kind, state) {
  const at0 = kind === "consistent", every = chosenTasks(DATA, {...state, environment: "", access: "", dataset: ""});
  const tasks = every.filter(task => at0 || DATA.tasks[task].kind.split("+").includes(kind));
  const [row] = ranking(DATA, tasks, [method], {...state, density: at0 ? AT_0 : state.density});
  const found = row ?? {method, tasks: 0, gain: null, lacking: [], gains: []};
  return {...found, kind, of: tasks.length, whole: true, safety: row ? safetyOf(row, DATA.methods[method]) : null};
}

const claimName = kind => kind === "consistent" ? "rows like the labeled ones (t = 0)" : choiceName(kind);

function claimColumns(rows, state) {
  const x = barScale(rows.map(row => row.gain));
  return [
    METHOD,
    {name: "gain", label: `gain there in ${scoreName(state)}`, of: row => row.gain?.estimate, write: row => row.gain
      ? make("span", {className: "gain"}, gainBar(row.gain, x), interval(row.gain, signed))
      : make("span", {className: "soft"}, row.tasks ? gainText(row, methodOf(row)) : "not measured")},
    {name: "claim", label: "claims to answer", low: true, of: row => claimName(row.kind), write: row => claimName(row.kind)},
    {name: "harms", label: HARMS, low: true, of: row => row.safety?.harmed.length, write: row => row.safety ? harmsText(row.safety) : ""},
    YEAR,
    PAPER,
    {name: "place", label: "where it is claimed", low: true, className: "wrap", of: row => row.place, write: row => row.place},
  ];
}

function claimsVerdict(rows) {
  const known = rows.filter(row => row.gain), count = fits => known.filter(fits).length;
  if (!known.length) return "None of the claims is measured here.";
  const up = count(row => row.gain.low > 0), down = count(row => row.gain.high < 0), rest = known.length - up - down, lacking = rows.length - known.length;
  const parts = [`${up || "none"} ${up > 1 ? "are" : "is"} borne out by a gain beyond chance`, ...down ? [`in ${down} the method loses`] : [],
    ...rest ? [`in ${rest} it is not told apart from the labeled rows alone`] : []];
  return `Of ${counted(known.length, "claim")} measured here ${parts.join(", ")}.${lacking ? ` Not measured: ${lacking}.` : ""}`;
}

/* Tables that sort by their headings, and are saved as CSV. */
import {download, find, make} from "./elements.js";

const last = x => x === null || x === undefined || Number.isNaN(x);

/* Columns: name, label, title, write(row) -> text or element; of(row) -> number or text if it sorts, `low` if lowest first;
   `heading` names its row; tip(row) is a text to hover for. Rows that are not whole come last; with state.tiers, the first tier
   is shaded. */
export function sortedTable(table, columns, rows, state, changed) {
  const descending = state.sort.startsWith("-"), by = state.sort.replace("-", "");
  const column = columns.find(c => c.name === by && c.of) ?? columns.find(c => c.of);
  const ordered = [...rows].sort((x, y) => {
    if (x.whole !== y.whole) return x.whole ? -1 : 1;
    const [a, b] = [column.of(x), column.of(y)];
    if (last(a) || last(b)) return last(a) - last(b);
    return (a < b ? -1 : a > b ? 1 : 0) * (descending ? -1 : 1);
  });
  const sortBy = c => {
    state.sort = c === column ? (descending ? "" : "-") + c.name : (c.low ? "" : "-") + c.name;
    changed(c.name);
  };
  const heads = columns.map(c => make("th", {scope: "col", title: c.title ?? "", className: c.heading ? "first" : c.className ?? "",
    "aria-sort": c !== column ? "none" : descending ? "descending" : "ascending"},
  c.of ? make("button", {type: "button", "data-column": c.name, onclick: () => sortBy(c)}, c.label ?? c.name)
    : make("span", {}, c.label ?? c.name)));
  const className = row => !row.whole ? "incomplete" : row.firstTier && state.tiers ? "first-tier" : "";
  const lines = ordered.map(row => make("tr", {className: className(row), "data-method": row.method},
    ...columns.map(c => make(c.heading ? "th" : "td", {className: c.className ?? "", ...c.heading && {scope: "row"},
      ...c.tip && {title: c.tip(row)}}, c.write(row)))));
  table.replaceChildren(make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...lines));
}

export function focusColumn(table, name) {
  if (name) table.querySelector(`[data-column="${name}"]`).focus();
}

/* The button of the page saves the columns that sort, as they are shown. */
export function bindCsv(table, name) {
  const quote = text => /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  find("#csv").addEventListener("click", () => {
    const wanted = [...table.rows[0].cells].map(cell => cell.querySelector("button") !== null);
    const lines = [...table.rows].map(row => [...row.cells].filter((_, k) => wanted[k])
      .map(cell => quote(cell.textContent.trim())).join(","));
    download(name, new Blob([lines.join("\n") + "\n"]));
  });
}

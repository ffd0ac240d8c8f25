/* What the page was given: its data, and the way to the first page. */

export const DATA = ROBUSTSSL;
export const ROOT = document.body.dataset.root;
export const methodOf = row => DATA.methods[row.method];

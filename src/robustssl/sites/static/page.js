/* What the page was given: its data, and the way to the first page. */
import {unpack} from "./unpack.js";

export const DATA = unpack(ROBUSTSSL);
export const ROOT = document.body.dataset.root;
export const ALL_OLDER = DATA.curves.every(curve => curve.older);  // then no mark tells one from another
export const methodOf = row => DATA.methods[row.method];

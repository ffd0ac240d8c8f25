/* The page that this is, and what all pages have. */
import {partOf, scoresOf} from "./curves.js";
import {weights} from "./density.js";
import {find} from "./elements.js";
import {claims} from "./pages/claims.js";
import {explorer} from "./pages/explorer.js";
import {leaderboard} from "./pages/leaderboard.js";
import {methodPage} from "./pages/method.js";
import {overview} from "./pages/overview.js";
import {taskPage} from "./pages/task.js";
import {DATA} from "./page.js";
import {overTasks} from "./rule.js";

const PAGES = {claims, overview, leaderboard, explorer, task: taskPage, method: methodPage};

function bindTheme() {
  find("#theme").addEventListener("click", () => {
    const {dataset} = document.documentElement;
    const dark = dataset.theme ? dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    dataset.theme = dark ? "light" : "dark";
    try {
      localStorage.setItem("theme", dataset.theme);
    } catch { /* a page from disk may have no storage */ }
    window.dispatchEvent(new Event("resize"));
  });
}

/* The same page under another rule, with the same state; the control keeps the focus, so that its keys go on working. */
function bindRule() {
  const control = find("#rule");
  if (!control) return;
  try {
    if (sessionStorage.getItem("focus") === "rule") control.focus();
    sessionStorage.removeItem("focus");
  } catch { /* a page from disk may have no storage */ }
  control.addEventListener("change", () => {
    try {
      sessionStorage.setItem("focus", "rule");
    } catch { /* likewise */ }
    location.href = control.value + location.hash;
  });
}

/* Served from a store that is still running, a page is loaded again when there is more; the address keeps its state. */
function watchServer() {
  let known = null;
  setInterval(async () => {
    const answer = await fetch("/version").catch(() => null), version = answer && await answer.text();
    if (known !== null && version !== null && version !== known) location.reload();
    known = version ?? known;
  }, 2000);
}

bindTheme();
bindRule();
if (document.body.dataset.live) watchServer();
window.addEventListener("hashchange", () => location.reload());  // a person wrote another address
PAGES[document.body.dataset.page]?.();  // some pages are texts alone
find(".skip").addEventListener("click", event => {  // the fragment is the state's
  event.preventDefault();
  find("main").focus();
});
window.robustssl = {DATA, overTasks, partOf, scoresOf, weights};

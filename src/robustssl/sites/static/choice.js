/* Which tasks and methods the filters of a page choose. */

/* Oracles and ceilings, where a method is given what no method has, are chosen by their access only, unless there is nothing else. */
export function chosenTasks(data, state) {
  const all = data.tasks.every(task => task.access);
  return data.tasks.map((_, i) => i).filter(i => {
    const task = data.tasks[i];
    return (!state.environment || environmentOf(task) === state.environment)
      && (state.access ? task.access === state.access : !task.access || all)
      && (!state.data || task.data === state.data)
      && (!state.labels || String(task.labels) === state.labels)
      && (!state.dataset || state.dataset.split("|").includes(task.drawn));
  });
}

/* Those of some tasks on which a score is known of a method at least. */
export function tasksWith(data, tasks, score) {
  const known = new Set(data.curves.filter(curve => curve.scores[score]?.values).map(curve => curve.task));
  return tasks.filter(task => known.has(task));
}

/* The kind of environment of a task, whatever the access. */
export const environmentOf = task => task.kind.split(", ")[0];

/* Baselines are always among the methods. A claim about consistent rows, t = 0 alone, is none about an inconsistency. */
export function chosenMethods(data, state) {
  return data.methods.map((_, j) => j).filter(j => {
    const {family, supervised, targets} = data.methods[j];
    if (supervised) return true;
    const fits = state.targets === "any" ? targets.some(kind => kind !== "consistent") : !state.targets || targets.includes(state.targets);
    return fits && (!state.family || String(family) === state.family);
  });
}

/* Whether a method is one that a reader looks for, by a part of its name, of its family, its authors or its claims. */
export function searched({name, family, authors, targets}, text) {
  return [name, family, authors, ...targets].some(word => String(word ?? "").toLowerCase().includes(text.trim().toLowerCase()));
}

/* Which tasks and methods the filters of a page choose. */

/* Oracles and ceilings, which no method can be, are chosen by name only, unless there is nothing else. */
export function chosenTasks(data, state) {
  const all = data.tasks.every(task => task.access);
  return data.tasks.map((_, i) => i).filter(i => {
    const task = data.tasks[i];
    return (state.environment ? task.kind === state.environment : !task.access || all)
      && (!state.data || task.data === state.data)
      && (!state.labels || String(task.labels) === state.labels)
      && (!state.dataset || state.dataset.split("|").includes(task.drawn));
  });
}

/* Baselines are always among the methods. A claim about consistent rows, t = 0 alone, is none about an inconsistency. */
export function chosenMethods(data, state) {
  return data.methods.map((_, j) => j).filter(j => {
    const {family, supervised, targets} = data.methods[j];
    if (supervised) return true;
    const fits = state.targets === "any" ? targets.some(kind => kind !== "consistent") : !state.targets || targets.includes(state.targets);
    return fits && (!state.family || String(family) === state.family);
  });
}

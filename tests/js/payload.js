/* A small payload: method 0 is a baseline, 1 is compared with it, 2 lacks its baseline, of 3 nothing is known. */

const NAMES = ["supervised_net", "fixmatch", "tsvm", "their:Own"];
const BASELINES = [null, "supervised_net", "supervised_svm", null];

function curve(task, method, values, more = {}) {
  const metrics = {definition: [[0.5, 0.5, 0.4, 0.6, ""]]};
  const accuracy = {grid: 0, seeds: 0, values, rows: 20, identical: false, metrics};
  return {task, method, baseline: null, baselineName: BASELINES[method], older: false, seconds: 0.1,
    scores: {accuracy}, ...more};
}

const task = (drawn, kind, access = null) => ({name: `${drawn}, ${kind}`, page: "x.html", kind, access, drawn, data: "tabular", labels: 5,
  mix: "replace", otherMix: null, older: drawn === "wine"});

export function smallPayload() {
  return {
    scores: ["accuracy"], conventions: {definition: ["AUC"]}, grids: [[0, 1]], seeds: [[0, 1, 2]],
    tasks: [task("iris", "label"), task("wine", "label"), task("wine", "label, oracle", "oracle")],
    methods: NAMES.map((name, j) => ({name, page: "x.html", family: [null, "deep", "statistical", null][j],
      supervised: [true, false, false, null][j], targets: [[], ["label"], ["consistent"], []][j], look: j})),
    curves: [
      curve(0, 0, [[0.5, 0.5], [0.6, 0.6], [0.7, 0.7]]),
      curve(1, 0, [[0.5, 0.5], [0.6, 0.6], [0.7, 0.7]]),
      curve(0, 1, [[0.6, 0.4], [0.72, 0.5], [0.8, 0.62]], {baseline: 0}),
      curve(1, 1, [[0.4, 0.3], [0.5, 0.42], [0.6, 0.5]], {baseline: 1, older: true}),
      curve(0, 2, [[0.9, 0.9], [0.8, 0.9], [0.9, 0.8]]),
      curve(1, 2, [[0.9, 0.9], [0.8, 0.9], [0.9, 0.8]]),
      curve(0, 3, [[0.3, 0.3], [0.3, 0.3], [0.3, 0.3]]),
    ],
  };
}

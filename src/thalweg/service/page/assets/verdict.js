// What stands above the charts: how the model does, in words and tiles; or what is to be done while there is nothing.
import { made } from "./made.js";
import { count, number, perSecond, seconds, share } from "./numbers.js";

const MORE = 0.0005; // shares that differ by less read as the same
const FEW = 20; // labels, of which a share says little

const tile = (name, value, beside, meaning) =>
  made(
    "div",
    { class: "tile" },
    made("dt", {}, name),
    made("dd", { class: "value" }, value),
    beside ? made("dd", { class: "beside" }, beside) : null,
    made("dd", { class: "meaning" }, meaning),
  );

const example = (text) => made("pre", { class: "command", tabindex: "0" }, made("code", {}, text));
const address = () => location.origin + location.pathname.replace(/\/$/, "");

const curl = (path, body) => `curl ${address()}${path} \\\n  -H 'Content-Type: application/json' \\\n  -d '${body}'`;

// A rare label is found or missed: that most predictions are right says nothing of it.
const ofRareLabel = (course) => {
  const [recall, precision, cost] = ["recall", "precision", "cost"].map((name) => course.lastScore(name));
  const flagged = precision == null ? "nothing is flagged" : `${share(precision)} of what is flagged is right`;
  const priced = cost == null ? "" : `; mistakes cost ${number(cost)} a row`;
  return `Finds ${share(recall)} of the rows with the positive label; ${flagged}${priced}.`;
};

const ofClasses = (course) => {
  if (course.lastScore("recall") != null) return ofRareLabel(course);
  const [error, still] = [course.lastScore("error"), course.lastScore("error", "no_change")];
  if (course.learned < FEW) return `${count(course.learned)} labels so far: too few to say how good the predictions are.`;
  const said = `Recently wrong in ${share(error)} of its predictions`;
  if (still == null) return said + ".";
  if (Math.abs(still - error) < MORE) return `${said}, as often as repeating the last label.`;
  return `${said}; repeating the last label is wrong in ${share(still)}.`;
};

const ofNumbers = (course) => {
  const error = course.lastScore("mae");
  const baselines = Object.keys(course.scores).slice(1).map((name) => [`the ${name.replace("_", " ")}`, course.lastScore("mae", name)]);
  const [name, best] = baselines.reduce((a, b) => (b[1] < a[1] ? b : a));
  const said = `Recently off by ${number(error)} on average`;
  if (number(error) === number(best)) return `${said}, as ${name} is.`;
  return `${said}; ${name} is off by ${number(best)}.`;
};

const amongLabelled = (course) => (course.labelBudget ? ", only of rows with a label" : "");

const TASKS = {
  classification: {
    error: "error",
    sentence: ofClasses,
    label: '"yes"',
    tiles: (course) => [
      tile("Recent error", share(course.lastScore("error")), `no-change ${share(course.lastScore("error", "no_change"))}`, `share of wrong predictions${amongLabelled(course)}`),
      course.lastScore("recall") == null ? null : tile("Recall", share(course.lastScore("recall")), `precision\u00a0${share(course.lastScore("precision"))}`, "rows with the positive label that were found, over the last 10,000 labels"),
      course.lastScore("cost") == null ? null : tile("Cost", number(course.lastScore("cost")), null, "of mistakes a row, over the last 10,000 labels"),
    ],
  },
  regression: {
    error: "mae",
    sentence: ofNumbers,
    label: "1.5",
    tiles: (course) => [
      tile("Recent error", number(course.lastScore("mae")), `RMSE\u00a0${number(course.lastScore("rmse"))}, R²\u00a0${number(course.lastScore("r2"))}`, `mean absolute error${amongLabelled(course)}`),
      tile("Coverage", share(course.lastScore("coverage")), `asked for ${share(course.coverage)}`, "recent labels within their interval"),
    ],
  },
};

const interval = (course, { interval: [low, high] }) => {
  const written = course.task === "regression" ? number : share;
  return `95\u00a0% interval ${written(low)} to ${written(high)}`;
};

// Where labels are asked for, the labelled rows are not like the others.
const ofBudget = (course) => {
  const { error } = course.labelBudget;
  const said = course.task === "regression" ? `Off by about ${number(error)} on average` : `Wrong in about ${share(error)} of all predictions`;
  return `${said} (${interval(course, course.labelBudget)}), by the labels that were asked for.`;
};

const sentence = (course) =>
  course.labelBudget?.interval && course.learned >= FEW
    ? ofBudget(course)
    : course.lastScore(TASKS[course.task].error) == null
      ? "Learning: no prediction has been checked yet."
      : TASKS[course.task].sentence(course);

const noLabels = (course) => [
  made("h1", {}, course.rows ? "No labels yet" : "No rows yet"),
  made(
    "p",
    {},
    course.rows
      ? `${count(course.pending)} of ${count(course.rows)} predicted rows wait for theirs. Give one by the id that came with the prediction, and the model learns from it.`
      : "Ask the model for a prediction. It comes with an id, by which you give the label later; with the first labels the charts begin.",
  ),
  example(
    course.rows
      ? curl("/v1/label", `{"model": "${course.name}", "labels": [{"id": "…", "label": ${TASKS[course.task].label}}]}`)
      : curl("/v1/predict", `{"model": "${course.name}", "rows": [{"height": 1.5, "width": 0.2}]}`),
  ),
];

// Of a model that asks for labels: how many, and the error over all rows as those show it.
const asked = (course) => {
  const budget = course.labelBudget;
  if (!budget) return [];
  const written = course.task === "regression" ? number : share;
  return [
    tile("Labels asked for", share(budget.rows ? budget.asked / budget.rows : null), null, `budget ${budget.budget}, ${count(budget.waiting)} waiting`),
    tile("Estimated error", written(budget.error), null, `over all rows, ${budget.interval ? interval(course, budget) : "not known yet"}`),
  ];
};

const tiles = (course) =>
  made(
    "dl",
    { class: "tiles" },
    ...TASKS[course.task].tiles(course),
    tile("Labels learned", count(course.learned), null, `of ${count(course.rows)} predicted rows`),
    ...asked(course),
    tile("Waiting", count(course.pending), null, "rows whose label has not come"),
    tile("Delay", seconds(course.last("delay")), null, "from a row to its label, recently"),
    tile("Throughput", perSecond(course.throughput), null, "rows predicted, recently"),
  );

// Elements are remade only where their text changes, so that a reader's selection survives.
const replaced = (place, parts) => {
  const before = place.textContent;
  const next = made("div", {}, ...parts);
  if (next.textContent !== before) place.replaceChildren(...next.childNodes);
};

export const showVerdict = (place, course) =>
  replaced(place, course.length ? [made("h1", {}, sentence(course)), tiles(course)] : noLabels(course));

export const showNoModels = (place) =>
  replaced(place, [
    made("h1", {}, "No model yet"),
    made("p", {}, "This service has no model. Make one, ask it for predictions, and watch it learn here."),
    example(curl("/v1/models", '{"name": "default", "kind": "auto"}')),
  ]);

export const showTrouble = (place, message) => replaced(place, [made("h1", {}, "Not to be had"), made("p", {}, message)]);

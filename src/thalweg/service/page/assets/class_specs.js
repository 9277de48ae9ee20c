// The charts of a model that predicts classes.
import { isKnown, line, lookOf } from "./line.js";

const SCORES = { pr_auc: "PR AUC", recall: "recall", precision: "precision", roc_auc: "ROC AUC" };
const MOST_CLASSES = 8;
const MOST_COLUMNS = 6;
const FEWEST = 8; // points that a line through the last class means looks back on, at the least
const AHEAD = 0.08; // how far it is drawn on, as a share of the whole; it looks back twice as far

// The classes that are remembered best, each with the colour it has in every chart.
const shownClasses = (course) => {
  const labels = [...new Set([...Object.keys(course.memory), ...Object.keys(course.means)])];
  const latest = (label) => (course.memory[label] || []).findLast((value) => value != null) ?? 0;
  const kept = new Set([...labels].sort((a, b) => latest(b) - latest(a)).slice(0, MOST_CLASSES));
  return labels.filter((label) => kept.has(label));
};
const classLines = (course, columns) =>
  shownClasses(course).flatMap((label, at) => (isKnown(columns[label]) ? [line(label, lookOf(at), columns[label])] : []));

// A line through the last points, drawn on beyond them: [where it begins, where it ends], or null.
export const heading = (x, values) => {
  const last = x.length - 1;
  const ahead = (x[last] - x[0]) * AHEAD;
  const places = [];
  for (let at = last; at >= 0 && (places.length < FEWEST || x[at] >= x[last] - 2 * ahead); at -= 1) {
    if (values[at] != null) places.push(at);
  }
  if (places.length < FEWEST || places[0] !== last) return null;
  const mean = (of) => places.reduce((sum, at) => sum + of(at), 0) / places.length;
  const [x0, y0] = [mean((at) => x[at]), mean((at) => values[at])];
  const spread = mean((at) => (x[at] - x0) ** 2);
  if (!(spread > 0)) return null;
  const slope = mean((at) => (x[at] - x0) * (values[at] - y0)) / spread;
  return [values[last], values[last] + slope * ahead, x[last] + ahead];
};

export const smallCharts = (course, x) => {
  const classes = shownClasses(course).filter((label) => course.means[label]);
  const columns = [...new Set(classes.flatMap((label) => Object.keys(course.means[label])))].slice(0, MOST_COLUMNS);
  return columns.map((column, place) => {
    const drawn = [];
    let end = null;
    for (const label of classes) {
      const values = course.means[label][column];
      if (!isKnown(values)) continue;
      const look = lookOf(shownClasses(course).indexOf(label));
      drawn.push(line(label, look, [...values, null]));
      const going = heading(x, values);
      if (!going) continue;
      end = going[2];
      drawn.push({ ...line(label, look, [...values.map((_, at) => (at === values.length - 1 ? going[0] : null)), going[1]], true), silent: true });
    }
    return {
      key: `mean${place}`,
      title: column,
      unit: "number",
      small: true,
      fromZero: false,
      x: end == null ? x : [...x, end],
      lines: end == null ? drawn.map((each) => ({ ...each, values: each.values.slice(0, x.length) })) : drawn,
    };
  });
};

export const families = {
  title: "Weight by kind of boundary",
  caption: "The weight of each family of members in the model’s prediction: what kind of boundary the stream has.",
};

export const mainCharts = (course) => {
  const rare = ["pr_auc", "recall", "precision", "roc_auc"].flatMap((key, at) =>
    isKnown(course.score(key)) ? [line(SCORES[key], lookOf(at), course.score(key), key === "roc_auc")] : []);
  return [
    {
      key: "error",
      title: "Error over time",
      caption: "The recent share of wrong predictions, each made before its label was learned. Beside it, that of repeating the last label.",
      unit: "share",
      wide: true,
      lines: [line(course.name, "model", course.score("error")), line("no-change", "no-change", course.score("error", "no_change"), true)],
    },
    rare.length && {
      key: "rare",
      title: "The positive label",
      caption: "How well the label of interest is found, over the last 10,000 labels.",
      unit: "number",
      wide: true,
      lines: rare,
    },
    isKnown(course.score("cost")) && {
      key: "cost",
      title: "Cost of mistakes",
      caption: "What mistakes about the label of interest cost a row, over the last 10,000 labels.",
      unit: "number",
      wide: true,
      lines: [line("cost a row", "model", course.score("cost"))],
    },
  ];
};

export const charts = (course) => [
  (!Object.keys(course.family_weights).length || isKnown(course.rate)) && {
    key: "rate",
    title: "Learning rate",
    caption: "How eagerly the model learns. It has no unit.",
    unit: "number",
    lines: isKnown(course.rate) ? [line("learning rate", "model", course.rate)] : [],
    empty: "This kind of model has no single learning rate.",
  },
  {
    key: "memory",
    title: "Memory of each class",
    caption:
      "Effective sample size: how many rows of each class the model still remembers." +
      (Object.keys(course.family_weights).length
        ? " Where there is a gap, no member that counts its rows had a part in the predictions."
        : ""),
    unit: "rows",
    lines: classLines(course, course.memory),
    empty: Object.keys(course.family_weights).length
      ? "No member of this model that counts its rows has a part in the predictions at the moment."
      : "This kind of model does not report how many rows it remembers.",
  },
  {
    key: "half_life",
    title: "Half-life of each class",
    caption: "After so many rows of a class, half of what was known of it is forgotten.",
    unit: "rows",
    lines: classLines(course, course.half_life),
    empty: "This model does not forget at a rate: it has no half-life.",
  },
];

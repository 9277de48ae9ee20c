// The charts of a model that predicts numbers.
import { isKnown, line } from "./line.js";

export const families = {
  title: "Weight by kind of member",
  caption: "The weight of each family of members in the model’s prediction: what kind of response the stream has.",
};

const NARROW = 640;
const FEW = 80; // rows that a narrow page has room for

const lastOf = (values) => (innerWidth < NARROW ? values.slice(-FEW) : values);

export const mainCharts = (course) => [
  {
    key: "error",
    title: "Absolute error over time",
    caption: "Mean absolute error over the last 1,000 labels, each predicted before it was learned; beside it, those of the last label, of the mean of all labels known by then, and of the median of the last 1,000.",
    unit: "number",
    wide: true,
    lines: [
      line(course.name, "model", course.score("mae")),
      line("last value", "no-change", course.score("mae", "last_value"), true),
      line("running mean", "c4", course.score("mae", "running_mean"), true),
      line("running median", "c2", course.score("mae", "running_median"), true),
    ],
  },
  course.predictions?.number.length && {
    key: "predictions",
    title: "The last predictions",
    caption: "Predictions in their intervals, and the labels as dots, in the order in which labels came.",
    unit: "number",
    wide: true,
    fromZero: false,
    along: "row", // and not along the axis that the other charts share
    x: lastOf(course.predictions.number),
    band: [1, 2],
    lines: [
      line("prediction", "model", lastOf(course.predictions.prediction)),
      { ...line("lower", "model", lastOf(course.predictions.lower)), faint: true },
      { ...line("upper", "model", lastOf(course.predictions.upper)), faint: true },
      { ...line("label", "c1", lastOf(course.predictions.target)), dots: true },
    ],
  },
];

export const charts = (course) => [
  {
    key: "skill",
    title: "Skill",
    caption: "1 less the squared error as a share of a baseline’s: 0 is no better than it, 1 is perfect.",
    unit: "number",
    fromZero: false,
    lines: [line("against the last value", "model", course.score("skill")), line("against the mean (R²)", "c1", course.score("r2"))].filter(({ values }) => isKnown(values)),
    empty: "Told when labels differ.",
  },
  {
    key: "coverage",
    title: "Coverage of the intervals",
    caption: "The share of labels within their interval, over the last 1,000; dashed, what it should be.",
    unit: "share",
    fromZero: false,
    lines: [line("coverage", "model", course.score("coverage")), line("asked for", "no-change", course.time.map(() => course.coverage), true)],
  },
  {
    key: "width",
    title: "Width of the intervals",
    caption: "The mean width over the last 1,000 labels, in the unit of the labels.",
    unit: "number",
    lines: [line("width", "model", course.score("mean_width"))],
  },
];

export const smallCharts = () => [];

// Every chart of the page, as data: what it shows of a course, and what is said where there is nothing to show.
import * as classification from "./class_specs.js";
import { familyLook, isKnown, line } from "./line.js";
import * as regression from "./number_specs.js";

const TASKS = { classification, regression };

const sharedCharts = (course) => [
  {
    key: "waiting",
    title: "Labels waiting",
    caption: "Predicted rows whose label has not come.",
    unit: "rows",
    lines: isKnown(course.waiting) ? [line("waiting", "model", course.waiting)] : [],
    empty: "No row waits for its label.",
  },
  {
    key: "delay",
    title: "Delay of labels",
    caption: "Recent time from a row to its label.",
    unit: "seconds",
    lines: isKnown(course.delay) ? [line("delay", "model", course.delay)] : [],
    empty: "No delay is known yet.",
  },
  {
    key: "speed",
    title: "Throughput",
    caption: "Labels learned in a second.",
    unit: "perSecond",
    lines: isKnown(course.speed()) ? [line("labels", "model", course.speed())] : [],
    empty: "Told when labels have come for more than a second.",
  },
];

const drawable = ({ lines }) => (lines.some(({ values }) => isKnown(values)) ? lines : []);

export const specs = (course, axis) => {
  const x = course[axis];
  const task = TASKS[course.task];
  const families = Object.entries(course.family_weights).map(([name, values], at) => line(name, familyLook(name, at), values));
  const weights = families.length && { key: "families", unit: "share", stacked: true, lines: families, ...task.families };
  const charts = [...task.mainCharts(course), weights, ...task.charts(course), ...sharedCharts(course)];
  return [...charts.filter(Boolean).map((chart) => ({ fromZero: true, x, empty: "No prediction has been checked yet.", ...chart, lines: drawable(chart) })), ...task.smallCharts(course, x)];
};

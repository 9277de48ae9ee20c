// The columns: how much the model relies on each, why its error rose, and which columns changed, before and after.
import { made } from "./made.js";
import { count, number, share } from "./numbers.js";

const three = (value) => (value == null ? "–" : value.toFixed(3).replace("-", "−"));
const FEW = 8; // that are shown at once; the rest is folded
const NORMAL = 1.96;

// ---- importance
const placed = (kind, left, width) => {
  const element = made("span", { class: kind });
  element.style.left = `${left.toFixed(2)}%`;
  if (width != null) element.style.width = `${Math.max(width, 0).toFixed(2)}%`;
  return element;
};

const ranked = ({ name, increase, standard_error: error }, reach) => {
  const at = (value) => (100 * Math.min(Math.max(value, 0), reach)) / reach;
  const [low, high] = [increase - NORMAL * (error ?? 0), increase + NORMAL * (error ?? 0)];
  const interval = error == null ? null : placed("between", at(low), at(high) - at(low));
  const track = made("div", { class: "track", "aria-hidden": "true" }, placed("amount", 0, at(increase)), interval);
  const said = error == null ? three(increase) : `${three(increase)} ± ${three(NORMAL * error)}`;
  return made("li", {}, made("span", { title: name }, name), track, made("span", {}, said));
};

const LOSSES = {
  "log-loss": "the log-loss",
  error: "the share of mistakes",
  "squared error": "the squared error, in units of the labels' variance,",
};

const WHAT = {
  reversed: ({ column, labels }) => `The effect of ${column} reversed at about label ${count(labels)}.`,
  gained: ({ column, labels }) => `${column} became more important at about label ${count(labels)}.`,
  lost: ({ column, labels }) => `${column} became less important at about label ${count(labels)}.`,
};

const folded = (items, few, list, about) => {
  const parts = [list(items.slice(0, few))];
  if (items.length > few) parts.push(made("details", {}, made("summary", {}, about(items.length - few)), list(items.slice(few))));
  return parts;
};

const ofImportance = ({ columns: all, changes, loss, columns_left_out: left }) => {
  const columns = [...all].sort((one, other) => other.increase - one.increase); // over the last labels
  const parts = [made("h2", {}, "What the model relies on")];
  if (!columns.length) return [...parts, made("p", { class: "note" }, "Nothing is known before the first samples, after 64 labels.")];
  const recent = changes.slice(-3).map((change) => made("p", { class: "opening" }, WHAT[change.what](change)));
  const reach = Math.max(...columns.map(({ increase, standard_error: error }) => increase + NORMAL * (error ?? 0)), 1e-9);
  const list = (some) => made("ol", { class: "ranking" }, ...some.map((column) => ranked(column, reach)));
  const further = left ? ` ${count(left)} further columns make less of a difference.` : "";
  return [
    ...parts,
    ...recent,
    made("p", { class: "note" }, `By how much ${LOSSES[loss] ?? "the loss"} grows if a column is replaced by other recent values of it, with 95\u00a0% intervals.${further}`),
    ...folded(columns, FEW, list, (more) => `${count(more)} more columns`),
  ];
};

// ---- why the error rose
const NAMED = 4; // columns in a sentence
const RECENT = 5; // rises that are shown

const named = (columns) => {
  const more = columns.length > NAMED ? ` and ${count(columns.length - NAMED)} more` : "";
  return `column${columns.length === 1 ? "" : "s"} ${columns.slice(0, NAMED).join(", ")}${more}`;
};

const withRows = (changed) => named(changed.map(({ column, row }) => `${column} (row ${count(row)})`));
const capital = (words) => words[0].toUpperCase() + words.slice(1);

const why = ({ cause, columns, alike, changed }, write) => {
  const relation = "the relation between columns and label changed";
  const [before, together, later] = ["before", "with", "after"].map((when) => changed.filter((each) => each.when === when));
  const after = later.length ? ` ${capital(withRows(later))} changed after the rise.` : "";
  if (!columns.length && cause === "unclear") return `before any watched column was seen to change.${after} Whether ${relation} cannot be said.`;
  if (!columns.length) return `${later.length ? "before any" : "while no"} watched column was seen to change: probably ${relation}.${after}`;
  const when = [
    together.length ? `when ${named(together.map(({ column }) => column))} changed` : "",
    before.length ? `after ${withRows(before)} had changed` : "",
  ].filter((part) => part).join(", ");
  if (!alike) return `${when}. Too few rows are like those before to say whether ${relation}, too.${after}`;
  const like = `${count(alike.rows)} rows like those before`;
  const ends = `(error ${write(alike.before)} before, ${write(alike.after)} after)`;
  if (cause === "concept") return `${when}, but ${like} were predicted worse, too ${ends}: ${relation}.${after}`;
  return `${when}. ${like} were predicted no worse ${ends}: the new values account for the rise.${after}`;
};

const ofCauses = (causes, write) => [
  made("h2", {}, "Why the error rose"),
  ...causes.slice(-RECENT).reverse().map((cause) =>
    made("p", {}, `At label ${count(cause.labels)}${cause.short ? ", for a short time," : ""} the error rose ${why(cause, write)}`)),
];

// ---- columns that changed
const isShare = (what) => what !== "mean" && what !== "spread";

const changed = ({ column, what, row, before, after }, measures, unit = "row") => {
  const write = isShare(what) ? share : number;
  return made(
    "tr",
    {},
    made("th", { scope: "row" }, measures[column] ? `${column} (${measures[column]})` : column),
    made("td", {}, what === "missing" ? "missing share" : what),
    made("td", {}, `${unit} ${count(row)}`),
    made("td", {}, write(before)),
    made("td", {}, write(after)),
  );
};

const table = (lines, first = "Column") =>
  made(
    "table",
    {},
    made("thead", {}, made("tr", {}, ...[first, "What", "Since", "Before", "After"].map((head) => made("th", { scope: "col" }, head)))),
    made("tbody", {}, ...lines),
  );

const scrolled = (inner) => made("div", { class: "scrolled", tabindex: "0" }, inner);

const ofInputs = ({ rows, columns, changes, changes_left_out: older, not_watched: unwatched }) => {
  const parts = [made("h2", {}, "Columns that changed")];
  const beside = unwatched.length ? ` Not watched: ${unwatched.join(", ")}.` : "";
  const enough = "The first 1,024 rows are the reference.";
  if (!changes.length) {
    const said = rows ? `None of ${count(columns.length)} columns has changed in ${count(rows)} rows. ${enough}` : enough;
    return [...parts, made("p", { class: "note" }, said + beside)];
  }
  const measures = Object.fromEntries(columns.map(({ name, measure }) => [name, measure]));
  const list = (some) => scrolled(table(some.map((change) => changed(change, measures))));
  const about = `The newest first, in ${count(rows)} rows${older ? `; ${count(older)} older ones are left out` : ""}. ${enough}${beside}`;
  return [...parts, made("p", { class: "note" }, about), ...folded([...changes].reverse(), FEW, list, (more) => `${count(more)} earlier changes`)];
};

// ---- predictions and labels that changed
const ofOutcomes = (outcomes) => {
  const parts = [made("h2", {}, "Predictions and labels that changed")];
  const looked = outcomes.map(({ name, rows }) => `${count(rows)} ${name}s`).join(" and ");
  const lines = outcomes.flatMap(({ name, changes }) =>
    changes.map((change) => changed(change, {}, name === "label" ? "label" : "row")).reverse());
  if (!lines.length) return [...parts, made("p", { class: "note" }, `None, in ${looked}. The first 1,024 are the reference.`)];
  const older = outcomes.reduce((sum, { changes_left_out: left }) => sum + left, 0);
  const about = `The newest of each first, in ${looked}${older ? `; ${count(older)} older ones are left out` : ""}. The first 1,024 are the reference.`;
  const list = (some) => scrolled(table(some, ""));
  return [...parts, made("p", { class: "note" }, about), ...folded(lines, FEW, list, (more) => `${count(more)} more changes`)];
};

// Drawn anew only where something has changed, so that what is unfolded stays so.
export const showColumns = (place, importance, inputs, isRegression) => {
  const known = JSON.stringify([importance, inputs]);
  if (place.dataset.known === known) return;
  const open = [...place.querySelectorAll("details")].map((each) => each.open);
  place.dataset.known = known;
  place.hidden = !inputs;
  if (!inputs) return place.replaceChildren();
  const causes = inputs.causes.length ? ofCauses(inputs.causes, isRegression ? number : share) : null;
  const outcomes = inputs.outcomes.length ? ofOutcomes(inputs.outcomes) : null;
  const blocks = [importance ? ofImportance(importance) : null, causes, ofInputs(inputs), outcomes].filter((block) => block);
  place.replaceChildren(...blocks.map((parts) => made("div", {}, ...parts)));
  [...place.querySelectorAll("details")].forEach((each, at) => (each.open = open[at] ?? false));
};

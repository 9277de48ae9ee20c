// How one model went, by a response of the service: columns that grow by a point at a time until the next response.
const NUMBERS = ["time", "labels", "rate", "waiting", "delay"];
const BY_NAME = ["memory", "half_life", "family_weights"]; // of a class, or of a family of members
const NESTED = ["means", "scores"]; // by class and column, by predictor and metric

const blank = (length) => new Array(length).fill(null);

export class Course {
  constructor(response) {
    const points = response.points;
    this.length = points.time.length;
    for (const name of NUMBERS) this[name] = points[name] ? [...points[name]] : blank(this.length);
    for (const name of BY_NAME) this[name] = copied(points[name]);
    for (const name of NESTED) this[name] = Object.fromEntries(Object.entries(points[name] || {}).map(([key, columns]) => [key, copied(columns)]));
    const { name, task, rows, labels, waiting, throughput, changes, promotions = [], predictions, coverage, label_budget: labelBudget = null } = response;
    Object.assign(this, { name, task, rows, learned: labels, pending: waiting, throughput, changes, promotions, predictions, coverage, labelBudget });
  }

  // True where there is something new to show. Before the first label there is no point, but rows may wait.
  append(point) {
    if (this.length && point.time <= this.last("time") && point.labels <= this.last("labels")) return false;
    this.learned = Math.max(this.learned, point.labels);
    this.pending = point.waiting ?? this.pending;
    this.rows = point.rows ?? this.rows;
    this.throughput = point.throughput ?? this.throughput;
    this.labelBudget = point.label_budget ?? this.labelBudget;
    this.predictions = point.predictions ?? this.predictions;
    if (point.labels) this.grow(point);
    return true;
  }

  grow(point) {
    for (const name of NUMBERS) this[name].push(point[name] ?? null);
    for (const name of BY_NAME) grown(this[name], point[name] || {}, this.length);
    for (const name of NESTED) {
      for (const key of Object.keys(point[name] || {})) this[name][key] ||= {};
      for (const [key, columns] of Object.entries(this[name])) grown(columns, (point[name] || {})[key] || {}, this.length);
    }
    this.length += 1;
  }

  last(name) {
    return this.length ? this[name][this.length - 1] : null;
  }

  // Of the model, or of a baseline: a metric over the last labels, at each point.
  score(metric, predictor = "model") {
    return (this.scores[predictor] || {})[metric] || [];
  }

  lastScore(metric, predictor) {
    return this.score(metric, predictor).at(-1) ?? null;
  }

  // Labels a second, each over a hundredth of the time shown, or a second: many labels may come at one moment.
  speed() {
    const least = Math.max(1, (this.last("time") - this.time[0]) / 100);
    let before = 0;
    return this.time.map((time, at) => {
      while (before + 1 < at && time - this.time[before + 1] >= least) before += 1;
      const passed = time - this.time[before];
      return passed >= least ? (this.labels[at] - this.labels[before]) / passed : null;
    });
  }
}

const copied = (columns) => Object.fromEntries(Object.entries(columns || {}).map(([key, values]) => [key, [...values]]));

const grown = (columns, point, length) => {
  for (const key of Object.keys(point)) columns[key] ||= blank(length);
  for (const [key, values] of Object.entries(columns)) values.push(point[key] ?? null);
};

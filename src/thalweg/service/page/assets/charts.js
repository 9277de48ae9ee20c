// All charts of a course: one cursor, one zoom and the same moments of change in each.
import { Chart } from "./chart.js";
import { made } from "./made.js";
import { count, when } from "./numbers.js";
import { specs } from "./specs.js";

const same = (a, b) => a === b || (a && b && a[0] === b[0] && a[1] === b[1]);
const ownRange = ({ data }) => [data[0][0], data[0][data[0].length - 1]];

export class Charts {
  constructor(place) {
    this.place = place;
    this.charts = new Map();
    this.grid = made("div", { class: "grid" });
    this.means = made("div", { class: "grid" });
    this.heading = made("h2", {}, "Where the class means are heading");
    this.about = made("p", { class: "note" }, "The mean of each class as the model holds it. Dashed: a line through the last points, drawn on.");
    this.axis = "time";
    this.range = null;
    let waiting = 0;
    addEventListener("resize", () => {
      cancelAnimationFrame(waiting);
      waiting = requestAnimationFrame(() => this.charts.forEach((chart) => chart.fit()));
    });
  }

  // Another model, or none: nothing of the one before stays.
  clear() {
    for (const { plot } of this.charts.values()) if (plot) plot.destroy();
    this.charts.clear();
    this.range = null;
    this.grid.replaceChildren();
    this.means.replaceChildren();
    this.place.replaceChildren();
  }

  show(course) {
    this.course = course;
    const wanted = specs(course, this.axis);
    const keys = new Set(wanted.map(({ key }) => key));
    if ([...this.charts.keys()].some((key) => !keys.has(key))) this.clear();
    for (const spec of wanted) {
      let chart = this.charts.get(spec.key);
      if (!chart) {
        chart = new Chart(spec.key, spec.along ? this.alone(spec.along) : this.shared());
        this.charts.set(spec.key, chart);
        if (spec.wide) this.place.insertBefore(chart.figure, this.grid.isConnected ? this.grid : null);
        else if (spec.small) this.means.append(chart.figure);
        else this.grid.append(chart.figure);
      }
      if (!spec.wide && !this.grid.isConnected) this.place.append(this.grid);
      if (spec.small && !this.means.isConnected) this.place.append(this.heading, this.about, this.means);
      chart.show(spec);
    }
    this.charts.forEach((chart) => chart.fit()); // the first of a grid was drawn before its neighbour took half of it
  }

  along(axis) {
    this.axis = axis;
    this.range = null;
    this.charts.forEach((chart) => (chart.reset.hidden = true));
    if (this.course) this.show(this.course);
  }

  remake() {
    this.charts.forEach((chart) => chart.remake());
    if (this.range) this.spread();
  }

  shared() {
    return {
      axis: () => this.axis,
      zoom: () => this.range,
      zoomTo: (range) => this.zoomTo(range),
      scaled: (plot) => this.scaled(plot),
      keyed: (chart, event) => this.keyed(chart, event),
      marks: () => [...this.marked("changes", "the error changed"), ...this.marked("promotions", "another model took its place", true)].sort((a, b) => a.x - b.x),
    };
  }

  marked(kind, said, solid = false) {
    return this.course[kind].map(({ time, labels, [this.axis]: x }) => ({ x, solid, text: `${said}, ${when(time)}, at label ${count(labels)}` }));
  }

  // A chart along something of its own: it takes no part in zoom, cursor and marks.
  alone(axis) {
    const nothing = () => {};
    const keyed = (chart, event) => this.keyed(chart, event, false);
    return { axis: () => axis, zoom: () => null, zoomTo: nothing, scaled: nothing, keyed, marks: () => [], alone: true };
  }

  zoomTo(range) {
    if (same(this.range, range)) return;
    this.range = range;
    this.spread();
  }

  spread() {
    for (const { plot, reset, shared } of this.charts.values()) {
      if (shared.alone) continue;
      reset.hidden = !this.range;
      if (!plot) continue;
      const [min, max] = this.range || ownRange(plot);
      plot.setScale("x", { min, max });
    }
  }

  scaled(plot) {
    const { min, max } = plot.scales.x;
    if (min == null || min === max || plot.data[0].length < 2) return;
    this.zoomTo(same([min, max], ownRange(plot)) ? null : [min, max]);
  }

  // Arrows walk, + and - zoom, Escape returns.
  keyed({ plot, spoken }, event, zooms = true) {
    if (!plot) return;
    const x = plot.data[0];
    const at = plot.cursor.idx == null ? x.length - 1 : plot.cursor.idx;
    const goTo = (wanted) => {
      const place = Math.max(0, Math.min(x.length - 1, wanted));
      plot.setCursor({ left: plot.valToPos(x[place], "x"), top: 10 }, true, true);
      const cells = [...plot.root.querySelectorAll(".u-series:not(.silent)")];
      spoken.textContent = cells.map((cell) => cell.textContent).join(", ");
    };
    const widen = (factor) => {
      const { min, max } = plot.scales.x;
      const [first, last] = ownRange(plot);
      const half = ((max - min) / 2) * factor;
      const wanted = [Math.max(first, x[at] - half), Math.min(last, x[at] + half)];
      this.zoomTo(same(wanted, [first, last]) ? null : wanted);
    };
    const step = event.shiftKey ? 10 : 1;
    if (event.key === "ArrowLeft") goTo(at - step);
    else if (event.key === "ArrowRight") goTo(at + step);
    else if (event.key === "Home") goTo(0);
    else if (event.key === "End") goTo(x.length - 1);
    else if (zooms && (event.key === "+" || event.key === "=")) widen(0.5);
    else if (zooms && event.key === "-") widen(2);
    else if (zooms && event.key === "Escape") this.zoomTo(null);
    else return;
    event.preventDefault();
  }
}

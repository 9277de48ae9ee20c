// One chart in its figure. It grows with its data; a change of its lines or of the theme makes it anew.
import { colour, font } from "./look.js";
import { made } from "./made.js";
import { drawMarks, showTip, tipFor } from "./marks.js";
import { brief, count, timeTicks, when, written } from "./numbers.js";

const NARROW = 560;
const TABLE_LINES = 24;
// Distances between ticks that read well as a length of time.
const LENGTHS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, ...[1, 2, 5, 10, 20, 50, 100, 200].map((days) => 86400 * days)];

const axis = (extra) => ({
  stroke: colour("soft"),
  font: font(12),
  grid: { stroke: colour("grid"), width: 1 },
  ticks: { show: false },
  ...extra,
});

// Without a cursor the legend shows the last point that has a value.
const idleLegend = (plot) => {
  if (plot.legend.idx == null) plot.setLegend({ idx: lastKnown(plot) }, false);
};
const lastKnown = (plot) => {
  let at = plot.data[0].length - 1;
  while (at > 0 && plot.data.slice(1).every((values) => values[at] == null)) at -= 1;
  return plot.data.length > 2 && at === plot.data[0].length - 1 && plot.data[1][at] == null && at > 0 ? at - 1 : at;
};

// Between the two lines of a band; or, of a stacked chart, between each line and the one below it.
const FAINT = "38"; // of a colour, as its opacity
const bandsOf = ({ band, stacked, lines }) => {
  if (band) return [{ series: [band[1] + 1, band[0] + 1], fill: colour(lines[band[0]].look) + FAINT }];
  return stacked ? lines.slice(1).map((_, at) => ({ series: [at + 2, at + 1] })) : [];
};

// Of one or two points there is no line to see: they are drawn as dots.
const known = (values) => values.filter((value) => value != null).length;

// A single point stands in the middle, with so much on either side.
const around = (half) => ({ data: [x] }, min, max) => (x.length === 1 ? [x[0] - half, x[0] + half] : [min, max]);

const axisText = (axisName, value) => (axisName === "time" ? when : count)(value);

export class Chart {
  // `shared` has marks(), axis(), zoomed(plot), and keyed(chart, event).
  constructor(key, shared) {
    this.shared = shared;
    this.title = made("h3");
    this.caption = made("p");
    this.place = made("div", { class: "plot", tabindex: "0", role: "group" });
    this.spoken = made("p", { class: "unseen", "aria-live": "polite" });
    this.reset = made("button", { type: "button", hidden: true, onclick: () => shared.zoomTo(null) }, "Reset zoom");
    this.numbers = made("details", { ontoggle: () => this.table() }, made("summary", {}, "The numbers"), made("div"));
    this.figure = made(
      "figure",
      { class: "chart", "data-chart": key },
      made("figcaption", {}, made("div", {}, this.title, this.caption), made("div", { class: "tools" }, this.reset)),
      this.place,
      this.spoken,
      this.numbers,
    );
    this.place.onkeydown = (event) => shared.keyed(this, event);
  }

  show(spec) {
    const shape = JSON.stringify([spec.title, spec.lines.map(({ name, dashed }) => [name, dashed]), this.shared.axis()]);
    this.spec = spec;
    if (shape !== this.shape) {
      this.shape = shape;
      this.title.textContent = spec.title;
      this.caption.textContent = spec.caption || "";
      this.remake();
    } else if (this.plot) {
      const { min, max } = this.plot.scales.x;
      const zoom = this.shared.zoom();
      this.plot.setData(this.data(), zoom == null);
      if (zoom != null) this.plot.setScale("x", { min, max });
      if (this.plot.cursor.idx == null) this.plot.setLegend({ idx: lastKnown(this.plot) }, false);
    }
    this.table();
  }

  // Of a stacked chart, the upper edge of each area.
  data() {
    const { x, lines, stacked } = this.spec;
    let below = x.map(() => 0);
    return [x, ...lines.map(({ values }) => (stacked ? (below = values.map((value, at) => (value == null ? null : below[at] + value))) : values))];
  }

  remake() {
    if (this.plot) this.plot.destroy();
    this.plot = null;
    this.place.replaceChildren();
    const empty = !this.spec.lines.length;
    this.place.classList.toggle("empty", empty);
    this.place.setAttribute("aria-label", `Chart: ${this.spec.title}. ${empty ? this.spec.empty : "Arrow keys walk along."}`);
    this.numbers.hidden = empty;
    if (empty) return void this.place.append(made("p", { class: "note" }, this.spec.empty));
    this.plot = new uPlot(this.options(), this.data(), this.place);
    idleLegend(this.plot);
    this.plot.over.addEventListener("pointermove", (event) => {
      if (event.pointerType !== "touch") return;
      const box = this.plot.over.getBoundingClientRect();
      this.plot.setCursor({ left: event.clientX - box.left, top: event.clientY - box.top });
    });
  }

  size() {
    const width = Math.max(240, Math.floor(this.place.clientWidth));
    return { width, height: this.spec.small ? 220 : this.spec.wide && width >= NARROW ? 320 : 240 };
  }

  fit() {
    if (this.plot && this.size().width !== this.plot.width) this.plot.setSize(this.size());
  }

  options() {
    const { spec, shared } = this;
    const write = written[spec.unit];
    const byTime = shared.axis() === "time";
    const { width, height } = this.size();
    let tip = null;
    const reach = (plot, min, max) => {
      if (min == null || spec.stacked) return [0, 1];
      if (spec.fromZero) return [0, max > 0 ? max * 1.06 : 1];
      const air = (max - min || Math.abs(max) || 1) * 0.08;
      return [min - air, max + air];
    };
    const ticks = byTime ? timeTicks : (values) => values.map(width < NARROW && !shared.alone ? brief : count);
    return {
      width,
      height,
      padding: [18, 26, 0, 0],
      cursor: {
        y: false,
        drag: { x: !shared.alone, y: false },
        points: { show: !spec.stacked, size: 7 },
        ...(shared.alone ? {} : { sync: { key: "course", setSeries: false, scales: ["x", null], filters: { pub: moves, sub: moves } } }),
      },
      scales: { x: { time: byTime, range: around(byTime ? 30 : 5) }, y: { range: reach } },
      bands: bandsOf(spec),
      legend: { markers: { width: 3, dash: (_, at) => (at > 0 && spec.lines[at - 1].dashed ? "dotted" : "solid") } },
      axes: [
        axis({ values: (_, values) => ticks(values), space: width >= NARROW ? 80 : 55, size: 34 }),
        axis({ values: (_, values) => values.map(write), size: 62, gap: 8, ...(spec.unit === "seconds" ? { incrs: LENGTHS } : {}) }),
      ],
      series: [
        { label: shared.axis(), value: (_, value) => axisText(shared.axis(), value) },
        ...spec.lines.map(({ name, look, dashed, silent, dots, faint }) => ({
          label: name,
          class: silent ? "silent" : undefined,
          stroke: colour(look),
          width: look === "model" ? 2 : 1.6,
          dash: dashed ? [6, 4] : undefined,
          value: (_, value, at, place) => write(spec.stacked ? this.spec.lines[at - 1].values[place] : value),
          points: { show: (plot, at) => known(plot.data[at]) < (spec.stacked ? 2 : 3), size: 7, fill: colour(look) },
          ...(spec.stacked ? { width: 0, fill: colour(look) } : {}),
          ...(byTime && !spec.stacked ? { gaps: idleGaps } : {}),
          ...(dots ? { paths: () => null, points: { show: true, size: 5, fill: colour(look) } } : {}),
          ...(faint ? { width: 1, stroke: colour(look) + FAINT } : {}),
        })),
      ],
      hooks: {
        ready: [(plot) => (tip = tipFor(plot))],
        setScale: [(plot, key) => key === "x" && shared.scaled(plot)],
        [spec.stacked ? "draw" : "drawAxes"]: [(plot) => drawMarks(plot, shared.marks(), spec.stacked ? "ink" : "change")],
        setCursor: [(plot) => tip && showTip(plot, tip, shared.marks())],
        setLegend: [idleLegend],
      },
    };
  }

  // Some points of all curves, the last among them; written only while they are looked at.
  table() {
    if (!this.numbers.open || !this.plot) return;
    const { x, lines, unit, title } = this.spec;
    const shown = lines.filter(({ silent }) => !silent);
    const step = Math.ceil(x.length / TABLE_LINES);
    const places = [];
    for (let at = x.length - 1; at >= 0; at -= step) places.unshift(at);
    const cells = (kind, values) => made("tr", {}, ...values.map((value, at) => made(at ? kind : "th", { scope: at && kind === "td" ? null : kind === "th" ? "col" : "row" }, value)));
    const head = cells("th", [this.shared.axis(), ...shown.map(({ name }) => name)]);
    const body = places
      .filter((at) => shown.some(({ values }) => values[at] != null))
      .map((at) => cells("td", [axisText(this.shared.axis(), x[at]), ...shown.map(({ values }) => written[unit](values[at]))]));
    const table = made("table", { class: "numbers" }, made("caption", { class: "unseen" }, title), made("thead", {}, head), made("tbody", {}, ...body));
    this.numbers.lastChild.replaceChildren(made("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title }, table));
  }
}

// Where no point came for a tenth of the time shown, and for far longer than usual, a line would invent one.
const [IDLE, UNUSUAL] = [0.1, 10];
const idleGaps = (plot, _, first, last, gaps) => {
  const [x] = plot.data;
  const { min, max } = plot.scales.x;
  const pauses = x.slice(first + 1, last + 1).map((time, at) => time - x[first + at]);
  const usual = [...pauses].sort((one, other) => one - other)[pauses.length >> 1];
  const least = Math.max(IDLE * (max - min), UNUSUAL * usual);
  const place = (at) => Math.round(plot.valToPos(x[at], "x", true));
  pauses.forEach((pause, at) => pause > least && gaps.push([place(first + at), place(first + at + 1)]));
  return gaps.sort((one, other) => one[0] - other[0]);
};

const moves = (type) => type === "mousemove" || type === "mouseleave";

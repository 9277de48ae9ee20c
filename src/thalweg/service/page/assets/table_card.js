// One uploaded table: what it waits for, how its run goes, and what can be done with the result.
import { Chart } from "./chart.js";
import { made } from "./made.js";
import { count, share } from "./numbers.js";
import { send } from "./service.js";

const nothing = () => {};
const LOOKS = ["no-change", "majority"]; // of the baselines, in their order

const option = (value, text, selected) => made("option", { value, selected }, text);
const described = ({ name, examples }) => (examples.length ? `${name} (${examples.slice(0, 3).join(", ")})` : name);
const button = (text, onclick, kind) => made("button", { type: kind === "go" ? "submit" : "button", class: kind, onclick }, text);

export class TableCard {
  // `page` has size, isSending(), sendFile(file, table), changed(table), removed(id) and failed(error).
  constructor(table, page) {
    this.page = page;
    this.note = made("span", { class: "note" });
    this.body = made("div");
    this.element = made("article", { class: "table" }, made("header", {}, made("h2", {}, table.name), this.note, button("Discard", () => this.discard())), this.body);
    const shared = { axis: () => "rows", zoom: () => null, zoomTo: nothing, scaled: nothing, keyed: nothing, marks: () => [], alone: true };
    this.chart = new Chart(`table-${table.id}`, shared);
    addEventListener("resize", () => this.chart.fit());
  }

  show(table) {
    this.table = table;
    const shape = JSON.stringify([table.state, this.page.isSending(), this.again, table.message]);
    if (shape !== this.shape) {
      this.shape = shape;
      this.body.replaceChildren(...this[table.state]());
    }
    this.note.textContent = this.said();
    const bar = this.body.querySelector("progress");
    if (bar) this.advance(bar);
    if (this.chart.figure.isConnected) this.draw();
  }

  said() {
    const { state, size, received, progress, run } = this.table;
    if (state === "receiving") return `${this.page.size(received)} of ${this.page.size(size)}`;
    const rows = progress.rows ? `, ${count(progress.rows)} rows` : "";
    return `${this.page.size(size)}${rows}${run ? `, predicting ${run.target}` : ""}`;
  }

  advance(bar) {
    const { state, size, received, progress } = this.table;
    const done = state === "receiving" ? received / size : progress.share;
    if (done == null) bar.removeAttribute("value");
    else bar.value = done;
    bar.setAttribute("aria-valuetext", done == null ? "waiting" : share(done));
  }

  // ---- by state, what there is to see
  receiving() {
    if (this.page.isSending()) return [made("p", {}, "It is being sent."), made("progress", { max: 1, "aria-label": "Sent" })];
    const file = made("input", { type: "file", class: "unseen", onchange: () => this.page.sendFile(file.files[0], this.table) });
    const again = made("label", { class: "drop" }, file, made("b", {}, "Choose the same file to send the rest"));
    return [made("p", {}, "The upload was interrupted."), again];
  }

  reading() {
    return [made("p", {}, "Its columns are being read."), made("progress", { "aria-label": "Reading columns" })];
  }

  ready() {
    return [this.form()];
  }

  waiting() {
    return [made("p", {}, "It waits for the run before it."), made("progress", { "aria-label": "Waiting" })];
  }

  running() {
    return [made("progress", { max: 1, "aria-label": "Rows done" }), this.chart.figure];
  }

  finished() {
    const { id, headline, findings } = this.table;
    const name = made("input", { required: true, pattern: "[A-Za-z0-9][A-Za-z0-9_.\\-]{0,63}", title: "Letters, digits, dots, dashes and underscores", "aria-label": "Name of the live model", placeholder: "Name of the model" });
    const kept = made("p", { role: "status" });
    const keep = made("form", { class: "keep" }, name, made("button", { type: "submit" }, "Keep as a live model"));
    keep.onsubmit = async (event) => {
      event.preventDefault();
      try {
        await send("POST", `uploads/${id}/keep`, { name: name.value });
        kept.className = "";
        kept.replaceChildren(`It predicts and learns as ${name.value}: `, made("a", { href: `.#${encodeURIComponent(name.value)}` }, "watch it live"), ".");
      } catch (error) {
        kept.className = "wrong";
        kept.textContent = error.message;
      }
    };
    const report = made("a", { class: "go", href: `uploads/${id}/report`, target: "_blank", rel: "noopener" }, "Read the report");
    return [
      made("p", { class: "headline" }, headline),
      ...findings.slice(0, 2).map((text) => made("p", {}, text)),
      this.chart.figure,
      made("div", { class: "actions" }, report, keep),
      kept,
      this.anew(),
    ];
  }

  failed() {
    const { message, columns, progress } = this.table;
    return [made("p", { class: "wrong", role: "alert" }, message), progress.points.length ? this.chart.figure : null, columns.length ? this.form() : null].filter(Boolean);
  }

  anew() {
    return made("details", {}, made("summary", {}, "Run it again in another way"), this.form());
  }

  form() {
    const { columns, target, run } = this.table;
    const before = { target, time: null, delay: 0, drop: [], ...run }; // a run holds what is not as usual
    const pick = (name, chosen, none) =>
      made("select", { name, required: !none }, ...(none ? [option("", none, chosen == null)] : []), ...columns.map((column) => option(column.name, described(column), column.name === chosen)));
    const field = (text, control) => made("label", {}, text, control);
    const boxes = columns.map(({ name }) => made("label", {}, made("input", { type: "checkbox", name: "drop", value: name, checked: before.drop.includes(name) }), name));
    const refused = made("p", { class: "wrong", role: "alert" });
    const form = made(
      "form",
      {},
      made(
        "div",
        { class: "fields" },
        field("Column to predict", pick("target", before.target)),
        field("Column with the time of a row", pick("time", before.time, "none: rows are in their order")),
        field("Rows until a label is known", made("input", { name: "delay", type: "number", min: 0, max: 1000000000, step: 1, value: before.delay, required: true })),
      ),
      made("details", {}, made("summary", {}, "Leave columns out"), made("div", { class: "leave" }, ...boxes)),
      refused,
      made("div", { class: "actions" }, button("Run", null, "go")),
    );
    form.onsubmit = async (event) => {
      event.preventDefault();
      const given = new FormData(form);
      const asked = { target: given.get("target"), delay: Number(given.get("delay")), drop: given.getAll("drop").filter((name) => name !== given.get("target")) };
      if (given.get("time")) asked.time = given.get("time");
      try {
        this.page.changed(await send("POST", `uploads/${this.table.id}/run`, asked));
      } catch (error) {
        refused.textContent = error.message;
      }
    };
    return form;
  }

  draw() {
    const { progress } = this.table;
    const x = progress.points.map(([rows]) => rows);
    const names = Object.keys(progress.points.at(-1)?.[1] || {});
    const lines = names.map((name, at) => ({
      name: name.replaceAll("_", " "),
      look: name === "model" ? "model" : LOOKS[(at - 1) % LOOKS.length],
      dashed: name !== "model",
      values: progress.points.map(([, recent]) => recent[name] ?? null),
    }));
    const metric = progress.metric[0].toUpperCase() + progress.metric.slice(1);
    this.chart.show({ title: `${metric} over the last 1,000 rows`, unit: progress.form === "share" ? "share" : "number", x, lines, wide: true, fromZero: true, empty: "No row has been scored yet." });
  }

  remake() {
    if (this.chart.figure.isConnected) this.chart.remake();
  }

  async discard() {
    const atWork = ["receiving", "waiting", "running"].includes(this.table.state);
    if (!confirm(`${atWork ? "Stop it, and delete" : "Delete"} ${this.table.name} and its results from this service?`)) return;
    try {
      await send("POST", `uploads/${this.table.id}/discard`);
      this.page.removed(this.table.id);
    } catch (error) {
      this.page.failed(error);
    }
  }
}

// The page: rows go to the learners, pictures follow, controls change the stream.

class Demonstration {
  static window = 200; // rows of the error
  static every = 20; // rows between points of a curve
  static shown = 150; // rows in the pictures
  static pace = 200; // rows a second
  static budget = 9; // milliseconds of a frame
  static frozenAfter = 1000;
  static turns = [Infinity, 24000, 12000, 6000, 3000, 1500];
  static delays = [0, 10, 20, 50, 100, 200, 500];
  static streams = { disc: WanderingDisc, checkerboard: RotatingCheckerboard, painting: Painting };

  constructor(element, kernels) {
    Object.assign(this, { element, kernels, playing: false, seen: true, frames: 0 });
    const [first, second, errors] = element.querySelectorAll("canvas");
    this.planes = [new Plane(first), new Plane(second)];
    this.chart = new ErrorChart(errors);
    this.form = element.querySelector("form");
    this.calm = matchMedia("(prefers-reduced-motion: reduce)");
    this.listen();
    this.reset();
    if (!this.calm.matches) this.play(true);
  }

  // The same stream from its first row on, and learners that have seen nothing.
  reset() {
    this.learners?.forEach((learner) => learner.discard());
    this.learners = LEARNERS.map((name, i) => new Learner(this.kernels, name, i === 1 ? Demonstration.frozenAfter : Infinity));
    this.stream = new Demonstration.streams[this.form.stream.value]();
    this.chance = new Chance(1);
    Object.assign(this, { rows: 0, turn: 0, owed: 0, last: [], frozenAt: Infinity, cursor: null });
    this.mistakes = this.learners.map(() => ({ all: 0, recent: [], curve: [] }));
    this.planes.forEach((plane) => Object.assign(plane, { next: 0, stale: true }));
    this.show();
    this.fill(Infinity);
    this.draw();
  }

  // One row of the stream, for all learners.
  advance() {
    const [x, right] = this.stream.row(this.chance, this.turn);
    const label = this.chance.uniform() < this.noise ? 1 - right : right;
    this.turn = (this.turn + 1 / this.rowsPerTurn) % 1;
    this.take(x, label);
  }
  take(x, label) {
    this.rows++;
    const wrong = this.learners.map((learner) => learner.take(x, label, this.delay) !== label);
    wrong.forEach((mistaken, i) => {
      const own = this.mistakes[i];
      own.all += mistaken;
      own.recent.push(mistaken);
      if (own.recent.length > Demonstration.window) own.recent.shift();
      if (this.rows % Demonstration.every === 0) own.curve.push(this.error(i));
    });
    this.last.push({ x, label, wrong });
    if (this.last.length > Demonstration.shown) this.last.shift();
    this.planes[0].stale = true;
    if (this.frozenAt === Infinity) this.planes[1].stale = true;
    if (this.learners[1].frozen) this.frozenAt = Math.min(this.frozenAt, this.rows);
  }
  error(model) {
    const { recent } = this.mistakes[model];
    return recent.filter(Boolean).length / recent.length;
  }

  // Finds out predictions over the plane for so many milliseconds.
  fill(time) {
    const until = performance.now() + time;
    let found = true;
    while (found && performance.now() < until)
      found = this.planes.map((plane, i) => plane.refresh(this.learners[i], this.stream)).some(Boolean);
  }

  frame(now) {
    if (!this.playing || !this.seen) return;
    requestAnimationFrame((then) => this.frame(then));
    const begun = performance.now();
    this.owed = Math.min(this.owed + ((now - (this.before ?? now)) / 1000) * Demonstration.pace, Demonstration.pace / 4);
    this.before = now;
    for (; this.owed >= 1 && performance.now() - begun < Demonstration.budget; this.owed--) this.advance();
    // Who asked for less motion gets a picture twice a second.
    if (this.calm.matches && now - (this.drawn ?? 0) < 500) return;
    this.drawn = now;
    this.fill(this.calm.matches ? Infinity : Math.max(2, Demonstration.budget - (performance.now() - begun)));
    const charted = Math.floor(this.rows / Demonstration.every);
    this.drawPlanes();
    if (charted !== this.charted) this.drawErrors();
    this.charted = charted;
    this.frames++;
  }

  draw() {
    this.drawPlanes();
    this.drawErrors();
  }
  drawPlanes() {
    this.planes.forEach((plane, i) => {
      const rows = this.last.map(({ x, label, wrong }) => ({ x, label, wrong: wrong[i] }));
      plane.draw(this.stream, this.turn, rows, this.cursor);
    });
  }
  drawErrors() {
    this.chart.draw(this.rows, Demonstration.every, this.mistakes.map(({ curve }) => curve), this.frozenAt);
    const percent = (share) => (this.rows ? `${(100 * share).toFixed(1)} %` : "–");
    this.element.querySelector("[data-show=rows]").textContent = this.rows.toLocaleString("en");
    this.element.querySelectorAll("tbody tr").forEach((line, i) => {
      const [, recent, all] = line.children;
      recent.textContent = percent(this.error(i));
      all.textContent = percent(this.mistakes[i].all / this.rows);
    });
  }

  play(playing) {
    Object.assign(this, { playing, before: undefined });
    this.form.querySelector("[data-do=play]").textContent = playing ? "Pause" : "Play";
    if (playing) requestAnimationFrame((now) => this.frame(now));
  }
  // Many rows at once, whatever the time.
  step(rows) {
    for (let i = 0; i < rows; i++) this.advance();
    this.fill(Infinity);
    this.draw();
  }

  // What the controls say, in words and for the stream.
  show() {
    const { noise, speed, delay, stream } = this.form, paints = stream.value === "painting";
    this.noise = noise.value / 100;
    this.rowsPerTurn = Demonstration.turns[speed.value];
    this.delay = Demonstration.delays[delay.value];
    speed.disabled = paints;
    this.form.querySelector(".brushes").hidden = !paints;
    this.element.classList.toggle("draws", paints);
    const turn = this.rowsPerTurn === Infinity ? "none" : `a turn in ${this.rowsPerTurn.toLocaleString("en")} rows`;
    const words = { noise: `${noise.value} % of labels`, speed: paints ? "as you paint" : turn, delay: `${this.delay} rows` };
    for (const [name, text] of Object.entries(words)) {
      this.form[name].previousElementSibling.textContent = text;
      this.form[name].setAttribute("aria-valuetext", text);
    }
    for (const { canvas } of this.planes) {
      canvas.setAttribute("role", paints ? "application" : "img");
      canvas.tabIndex = paints ? 0 : -1;
    }
  }

  listen() {
    const does = { play: () => this.play(!this.playing), step: () => this.step(100), reset: () => this.reset() };
    for (const button of this.form.querySelectorAll("button")) button.onclick = does[button.dataset.do];
    this.form.onsubmit = (event) => event.preventDefault();
    this.form.oninput = ({ target }) => (target.name === "stream" ? this.reset() : this.show());
    new ResizeObserver(() => this.draw()).observe(this.element);
    new MutationObserver(() => this.draw()).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
    new IntersectionObserver(([entry]) => {
      const before = this.seen;
      this.seen = entry.isIntersecting;
      if (this.seen && !before && this.playing) this.play(true);
    }).observe(this.element);
    for (const plane of this.planes) this.listenToBrush(plane);
  }
  listenToBrush(plane) {
    const { canvas } = plane;
    // A stroke from where the brush was.
    const paint = (to) => {
      const from = this.cursor ?? to, steps = Math.ceil(Math.hypot(to[0] - from[0], to[1] - from[1]) / (this.stream.brush / 2));
      for (let i = 0; i <= steps; i++) {
        const at = to.map((value, j) => value + (i / (steps || 1)) * (from[j] - value));
        this.stream.paint(at, Number(this.form.brush.value));
      }
      this.cursor = to;
      if (!this.playing) this.draw();
    };
    const paints = () => this.stream instanceof Painting;
    canvas.onpointerdown = (event) => {
      if (!paints()) return;
      canvas.setPointerCapture(event.pointerId);
      this.cursor = null;
      paint(plane.at(event, this.stream));
    };
    canvas.onpointermove = (event) => {
      if (paints() && event.buttons) paint(plane.at(event, this.stream));
    };
    canvas.onpointerup = canvas.onblur = () => (this.cursor = null);
    canvas.onkeydown = (event) => {
      const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1], " ": [0, 0] };
      if (!paints() || !(event.key in moves)) return;
      event.preventDefault();
      const from = this.cursor ?? [0.5, 0.5];
      this.cursor = from.map((value, i) => Math.min(Math.max(value + 0.05 * moves[event.key][i], 0), 1));
      if (event.key === " ") paint(this.cursor);
      else if (!this.playing) this.draw();
    };
  }
}

let demonstration;
loadKernels(KERNELS).then(
  (kernels) => (demonstration = new Demonstration(document.getElementById("watch"), kernels)),
  (error) => {
    const status = document.querySelector("#watch [data-show=status]");
    status.textContent = `The learners cannot run in this browser: they need WebAssembly with SIMD (${error.message}).`;
  },
);

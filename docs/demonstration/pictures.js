// What the page draws: a model's predictions over the plane with the last rows, and the errors.

// A drawing surface as sharp as the screen. Colours are those of the style sheet, in the reader's theme.
class Surface {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
  }
  begin() {
    const { clientWidth, clientHeight } = this.canvas, density = Math.min(devicePixelRatio, 2);
    const width = Math.round(clientWidth * density), height = Math.round(clientHeight * density);
    if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height });
    Object.assign(this, { width: clientWidth, height: clientHeight });
    this.context.setTransform(density, 0, 0, density, 0, 0);
    this.context.clearRect(0, 0, clientWidth, clientHeight);
    const style = getComputedStyle(this.canvas);
    this.colour = (name) => style.getPropertyValue(`--${name}`);
    this.font = `${style.fontSize} ${style.fontFamily}`;
  }
  line(points, colour, width, dashes = []) {
    const { context } = this;
    context.beginPath();
    points.forEach((point, i) => (i ? context.lineTo(...point) : context.moveTo(...point)));
    Object.assign(context, { strokeStyle: colour, lineWidth: width, lineJoin: "round" });
    context.setLineDash(dashes);
    context.stroke();
  }
}

// What a model predicts over the plane, found out bit by bit: to find out all takes longer than a frame.
class Plane extends Surface {
  cells = 40; next = 0; stale = true;

  constructor(canvas) {
    super(canvas);
    this.ground = new OffscreenCanvas(this.cells, this.cells);
    this.probabilities = new Float32Array(this.cells ** 2).fill(0.5);
    this.found = new Float32Array(this.cells ** 2);
  }
  // Finds out the next row of cells, and shows all after the last one. False: nothing was out of date.
  refresh(learner, { low, high }) {
    if (this.next === 0) {
      if (!this.stale) return false;
      this.stale = false;
    }
    const step = (high - low) / this.cells, up = low + (this.next + 0.5) * step;
    for (let i = 0; i < this.cells; i++)
      this.found[this.next * this.cells + i] = learner.probability([low + (i + 0.5) * step, up]);
    this.next = (this.next + 1) % this.cells;
    if (this.next === 0) this.probabilities.set(this.found);
    return true;
  }
  place([x1, x2], { low, high }) {
    return [((x1 - low) / (high - low)) * this.width, ((high - x2) / (high - low)) * this.height];
  }
  at({ offsetX, offsetY }, { low, high }) {
    return [low + (offsetX / this.width) * (high - low), high - (offsetY / this.height) * (high - low)];
  }
  // Rows are { x, label, wrong }, the newest last.
  draw(stream, turn, rows, cursor) {
    this.begin();
    this.drawGround();
    const { context } = this, ink = this.colour("ink"), size = this.width < 250 ? 2 : 2.7;
    for (const border of stream.borders(turn)) this.line(border.map((x) => this.place(x, stream)), ink, 1);
    for (const wrong of [false, true])
      for (const label of [0, 1]) {
        context.beginPath();
        for (const row of rows.filter((each) => each.label === label && each.wrong === wrong))
          this.mark(label, size, ...this.place(row.x, stream));
        Object.assign(context, { strokeStyle: wrong ? ink : this.colour(`class${label}`), lineWidth: wrong ? 2 : 1.3 });
        context.stroke();
      }
    if (!cursor) return;
    const [across, down] = this.place(cursor, stream), radius = (stream.brush / (stream.high - stream.low)) * this.width;
    context.beginPath();
    context.arc(across, down, radius, 0, 2 * Math.PI);
    Object.assign(context, { strokeStyle: ink, lineWidth: 1.5 });
    context.stroke();
  }
  mark(label, size, across, down) {
    const { context } = this;
    context.moveTo(across + size, down + (label ? size : 0));
    if (!label) return context.arc(across, down, size, 0, 2 * Math.PI);
    context.lineTo(across - size, down - size);
    context.moveTo(across + size, down - size);
    context.lineTo(across - size, down + size);
  }
  drawGround() {
    const { cells } = this, image = new ImageData(cells, cells);
    const classes = [0, 1].map((label) => this.colour(`class${label}`).match(/\w\w/g).map((part) => parseInt(part, 16)));
    for (let i = 0; i < cells ** 2; i++) {
      const probability = this.probabilities[i], down = cells - 1 - Math.floor(i / cells);
      const opaque = 105 * Math.sqrt(Math.abs(2 * probability - 1));
      image.data.set([...classes[Number(probability > 0.5)], opaque], 4 * (down * cells + (i % cells)));
    }
    this.ground.getContext("2d").putImageData(image, 0, 0);
    this.context.drawImage(this.ground, 0, 0, this.width, this.height);
  }
}

// The errors of all models over the last rows of the stream.
class ErrorChart extends Surface {
  static shown = 4000; static highest = 0.85;

  draw(rows, every, errors, frozenAt) {
    this.begin();
    const left = 34, bottom = this.height - 20, top = 8, right = this.width - 6, last = Math.max(rows, ErrorChart.shown);
    const across = (row) => left + ((row - last + ErrorChart.shown) / ErrorChart.shown) * (right - left);
    const down = (error) => bottom - (Math.min(error, ErrorChart.highest) / ErrorChart.highest) * (bottom - top);
    const { context } = this;
    Object.assign(context, { font: this.font.replace(/^\S+/, "11px"), fillStyle: this.colour("ink"), textBaseline: "middle" });
    for (const share of [0, 0.2, 0.4, 0.6, 0.8]) {
      this.line([[left, down(share)], [right, down(share)]], this.colour("rule"), 1);
      context.textAlign = "right";
      context.fillText(`${100 * share} %`, left - 5, down(share));
    }
    for (let row = Math.ceil((last - ErrorChart.shown) / 1000) * 1000; row <= last; row += 1000) {
      context.textAlign = row === last ? "right" : "center";
      if (across(row) > left + 14 || row === 0) context.fillText(row.toLocaleString("en"), across(row), bottom + 11);
    }
    if (frozenAt > last - ErrorChart.shown) {
      this.line([[across(frozenAt), top], [across(frozenAt), bottom]], this.colour("model1"), 1, [1, 3]);
      Object.assign(context, { textAlign: "left", fillStyle: this.colour("model1") });
      context.fillText("frozen", across(frozenAt) + 4, top + 5);
    }
    const from = Math.max(0, Math.floor((last - ErrorChart.shown) / every));
    const dashes = [[], [7, 3], [2, 2]];
    for (let model = errors.length - 1; model >= 0; model--) {
      const points = errors[model].slice(from).map((error, i) => [across((from + i + 1) * every), down(error)]);
      this.line(points.filter(([x]) => x >= left), this.colour(`model${model}`), model ? 1.5 : 2.2, dashes[model]);
    }
  }
}

// The streams of the page: rows of two features and two classes, defined as in thalweg.streams. `turn` is the share of a
// turn that has passed; borders are lines of points.

// Mulberry32: the same seed gives the same stream.
class Chance {
  constructor(seed) { this.state = seed; }
  uniform() {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  normal() { return Math.sqrt(-2 * Math.log(1 - this.uniform())) * Math.cos(2 * Math.PI * this.uniform()); }
}

class WanderingDisc {
  low = -3; high = 3;
  radius = 1.2; orbit = 1;

  centre(turn) { return [this.orbit * Math.cos(2 * Math.PI * turn), this.orbit * Math.sin(2 * Math.PI * turn)]; }
  label(x, turn) {
    const [c1, c2] = this.centre(turn);
    return Number(Math.hypot(x[0] - c1, x[1] - c2) > this.radius);
  }
  row(chance, turn) {
    const x = [chance.normal(), chance.normal()];
    return [x, this.label(x, turn)];
  }
  borders(turn) {
    const [c1, c2] = this.centre(turn);
    const angles = Array.from({ length: 73 }, (_, i) => (i * Math.PI) / 36);
    return [angles.map((angle) => [c1 + this.radius * Math.cos(angle), c2 + this.radius * Math.sin(angle)])];
  }
}

class RotatingCheckerboard {
  low = 0; high = 1;
  side = 0.5; noise = 0.01;

  label([x1, x2], turn) {
    const cos = Math.cos(2 * Math.PI * turn), sin = Math.sin(2 * Math.PI * turn);
    const column = Math.floor((x1 * cos - x2 * sin) / this.side), row = Math.floor((x1 * sin + x2 * cos) / this.side);
    return (((column + row) % 2) + 2) % 2;
  }
  row(chance, turn) {
    const x = [chance.uniform(), chance.uniform()], label = this.label(x, turn);
    return [x.map((value) => value + this.noise * chance.normal()), label];
  }
  borders(turn) {
    const cos = Math.cos(2 * Math.PI * turn), sin = Math.sin(2 * Math.PI * turn);
    const turned = ([u, v]) => [u * cos + v * sin, v * cos - u * sin];
    return [-2, -1, 0, 1, 2].flatMap((k) => {
      const at = k * this.side;
      return [[[at, -2], [at, 2]].map(turned), [[-2, at], [2, at]].map(turned)];
    });
  }
}

// A picture of two colours, painted by the reader: rows are uniform over it, and their label is the colour there.
class Painting {
  low = 0; high = 1;
  cells = 80; brush = 0.1;

  constructor() {
    this.colours = new Uint8Array(this.cells ** 2).fill(1);
    this.paint([0.5, 0.5], 0, 0.3);
  }
  paint([x1, x2], colour, radius = this.brush) {
    for (let i = 0; i < this.colours.length; i++) {
      const across = ((i % this.cells) + 0.5) / this.cells, up = (Math.floor(i / this.cells) + 0.5) / this.cells;
      if (Math.hypot(across - x1, up - x2) <= radius) this.colours[i] = colour;
    }
    this.lines = null;
  }
  label(x) {
    const [across, up] = x.map((value) => Math.min(Math.max(Math.floor(value * this.cells), 0), this.cells - 1));
    return this.colours[up * this.cells + across];
  }
  row(chance) {
    const x = [chance.uniform(), chance.uniform()];
    return [x, this.label(x)];
  }
  borders() {
    if (this.lines) return this.lines;
    const n = this.cells, lines = [];
    for (let i = 0; i < n; i++)
      for (let j = 1; j < n; j++) {
        const at = j / n, from = i / n, to = (i + 1) / n;
        if (this.colours[i * n + j] !== this.colours[i * n + j - 1]) lines.push([[at, from], [at, to]]);
        if (this.colours[j * n + i] !== this.colours[(j - 1) * n + i]) lines.push([[from, at], [to, at]]);
      }
    return (this.lines = lines);
  }
}

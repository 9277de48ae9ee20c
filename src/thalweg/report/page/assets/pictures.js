"use strict";
// A chart as a picture of its own: title, plot and legend on the page's ground, as PNG or as SVG.
const pictures = (() => {
  const HEAD = 36; // room for the title
  const LINE = 22; // height of a line of the legend

  const strokeOf = (plot, series) => (typeof series.stroke === "function" ? series.stroke(plot) : series.stroke);
  const shown = (plot) => plot.series.slice(1).filter((series) => series.show);

  const download = (name, blob) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };

  // Where each entry of the legend stands, in lines no longer than the picture is wide.
  const ruler = document.createElement("canvas").getContext("2d");
  const placed = (plot, font) => {
    ruler.font = font(13);
    let x = 16;
    let y = HEAD + plot.height + 12;
    const entries = shown(plot).map((series) => {
      const needed = ruler.measureText(series.label).width + 44;
      if (x + needed > plot.width && x > 16) [x, y] = [16, y + LINE];
      const entry = { series, x, y };
      x += needed;
      return entry;
    });
    return { entries, height: y + LINE };
  };

  const png = ({ spec, plot }, { colour, font }) => {
    const { entries, height } = placed(plot, font);
    const picture = document.createElement("canvas");
    const ctx = picture.getContext("2d");
    picture.width = plot.width * devicePixelRatio;
    picture.height = height * devicePixelRatio;
    ctx.scale(devicePixelRatio, devicePixelRatio);
    ctx.fillStyle = colour("ground");
    ctx.fillRect(0, 0, plot.width, height);
    ctx.fillStyle = colour("ink");
    ctx.font = "600 " + font(17);
    ctx.fillText(spec.title, 16, 26);
    ctx.drawImage(plot.ctx.canvas, 0, HEAD, plot.width, plot.height);
    ctx.font = font(13);
    for (const { series, x, y } of entries) {
      ctx.fillStyle = strokeOf(plot, series);
      ctx.fillRect(x, y - 6, 16, 4);
      ctx.fillStyle = colour("ink");
      ctx.fillText(series.label, x + 22, y);
    }
    picture.toBlob((blob) => download(`thalweg-${spec.key}.png`, blob), "image/png");
  };

  // ---- SVG: drawn from the same data, on the scales of the plot as it is zoomed now
  const made = (name, attributes, ...children) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) if (value != null) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };
  const tenths = (value) => Math.round(10 * value) / 10;

  const ticks = ({ min, max }, most) => {
    const raw = (max - min) / most;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = power * [1, 2, 5, 10].find((factor) => factor * power >= raw);
    const first = Math.ceil(min / step);
    return Array.from({ length: Math.floor(max / step + 1e-9) - first + 1 }, (_, at) => (first + at) * step);
  };

  // "M" after every gap, "L" else.
  const path = (points) => {
    let before = null;
    const steps = [];
    for (const point of points) {
      if (point) steps.push(`${before ? "L" : "M"}${tenths(point[0])} ${tenths(point[1])}`);
      before = point;
    }
    return steps.join("");
  };

  const svg = ({ spec, plot, overTime }, { colour, font, changes, dateTicks }) => {
    const left = plot.bbox.left / devicePixelRatio;
    const top = plot.bbox.top / devicePixelRatio;
    const width = plot.bbox.width / devicePixelRatio;
    const height = plot.bbox.height / devicePixelRatio;
    const x = (value) => plot.valToPos(value, "x");
    const area = made("g", { "clip-path": "url(#area)" });
    const frame = made("g", { transform: `translate(${tenths(left)} ${tenths(HEAD + top)})`, "font-size": 12 });
    const inside = (at) => at >= -0.5 && at <= width + 0.5;

    const { min, max } = plot.scales.x;
    const across = overTime && dateTicks ? dateTicks(plot, min, max).map(([row]) => row) : ticks(plot.scales.x, width / 90);
    for (const value of across) {
      const at = tenths(x(value));
      frame.append(made("line", { x1: at, x2: at, y1: 0, y2: tenths(height), stroke: colour("grid") }));
      frame.append(made("text", { x: at, y: tenths(height + 20), "text-anchor": "middle", fill: colour("soft") }, plot.axes[0].values(plot, [value])[0]));
    }
    for (const value of ticks(plot.scales.y, height / 45)) {
      const at = tenths(plot.valToPos(value, "y"));
      frame.append(made("line", { x1: 0, x2: tenths(width), y1: at, y2: at, stroke: colour("grid") }));
      frame.append(made("text", { x: -8, y: at + 4, "text-anchor": "end", fill: colour("soft") }, plot.axes[1].values(plot, [value])[0]));
    }
    if (!overTime) {
      area.append(made("path", { d: `M0 ${tenths(height)}L${tenths(width)} 0`, stroke: colour("soft"), "stroke-dasharray": "2 3" }));
    }
    frame.append(area);

    const rows = plot.data[0];
    let below = rows.map((row) => [x(row), height]);
    if (spec.band) {
      const [upper, lower] = [1, 2].map((at) => plot.data[at].map((value, i) => (value == null ? null : [x(rows[i]), plot.valToPos(value, "y")])).filter(Boolean));
      area.append(made("path", { d: path([...upper, ...lower.reverse()]) + "Z", fill: colour("model"), opacity: 0.22 }));
    }
    plot.series.forEach((series, at) => {
      if (at === 0 || !series.show) return;
      const points = plot.data[at].map((value, i) => (value == null ? null : [x(rows[i]), plot.valToPos(value, series.scale)]));
      const stroke = strokeOf(plot, series);
      if (spec.stacked) {
        area.append(made("path", { d: path([...points, ...below.slice().reverse()]) + "Z", fill: stroke }));
        below = points;
      } else if (series.scale === "rows") {
        const bars = points.map(([middle, high]) => `M${tenths(middle - 13)} ${tenths(height)}V${tenths(high)}H${tenths(middle + 13)}V${tenths(height)}Z`);
        area.append(made("path", { d: bars.join(""), fill: colour("line") }));
      } else if (spec.lines && spec.lines[0][at - 1]?.dots) {
        for (const point of points) if (point) area.append(made("circle", { cx: tenths(point[0]), cy: tenths(point[1]), r: 2, fill: stroke }));
      } else {
        area.append(made("path", { d: path(points), stroke, "stroke-width": series.width, fill: "none", "stroke-linejoin": "round", "stroke-dasharray": series.dash ? series.dash.join(" ") : null }));
        if (!overTime) for (const point of points) area.append(made("circle", { cx: tenths(point[0]), cy: tenths(point[1]), r: 3.5, fill: stroke }));
      }
    });
    for (const change of overTime ? changes : []) {
      const where = tenths(x(change.row));
      if (!inside(where)) continue;
      frame.append(made("line", { x1: where, x2: where, y1: 0, y2: tenths(height), stroke: colour("change"), "stroke-dasharray": "2 3", opacity: 0.75 }));
      if (change.name) frame.append(made("text", { x: where, y: -4, "text-anchor": "middle", "font-size": 11, fill: colour("change") }, change.name));
    }

    const legend = placed(plot, font);
    const picture = made(
      "svg",
      { viewBox: `0 0 ${plot.width} ${legend.height}`, width: plot.width, height: legend.height, "font-family": getComputedStyle(document.body).fontFamily },
      made("title", {}, spec.title),
      made("clipPath", { id: "area" }, made("rect", { width: tenths(width), height: tenths(height) })),
      made("rect", { width: plot.width, height: legend.height, fill: colour("ground") }),
      made("text", { x: 16, y: 26, "font-size": 17, "font-weight": 600, fill: colour("ink") }, spec.title),
      frame,
    );
    for (const { series, x: from, y } of legend.entries) {
      picture.append(made("rect", { x: tenths(from), y: y - 6, width: 16, height: 4, fill: strokeOf(plot, series) }));
      picture.append(made("text", { x: tenths(from + 22), y, "font-size": 13, fill: colour("ink") }, series.label));
    }
    download(`thalweg-${spec.key}.svg`, new Blob([new XMLSerializer().serializeToString(picture)], { type: "image/svg+xml" }));
  };

  return { png, svg };
})();

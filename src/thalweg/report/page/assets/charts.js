"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
  const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
  const tenths = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
  const two = new Intl.NumberFormat("en", { maximumSignificantDigits: 2 });
  const four = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
  const known = (write) => (value) => (value == null ? "–" : write(value));
  const written = {
    share: known((value) => (Math.abs(value) < 0.01 ? two : tenths).format(100 * value) + "\u00a0%"),
    rows: known((value) => (value < 100 ? tenths : whole).format(value)),
    number: known((value) => four.format(value)),
  };
  // ---- times of rows, where the run has them: interpolated between the points that are given
  const times = data.times;
  const dated = Boolean(times && times.isTime);
  const between = (from, to, value) => {
    let low = 0;
    let high = from.length - 1;
    if (high < 1 || value <= from[0]) return to[0];
    if (value >= from[high]) return to[high];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (from[middle] <= value) low = middle;
      else high = middle;
    }
    const span = from[high] - from[low];
    return span ? to[low] + ((value - from[low]) / span) * (to[high] - to[low]) : to[low];
  };
  const timeAt = (row) => between(times.rows, times.times, row);
  const iso = (time, from, to) => new Date(1000 * time).toISOString().slice(from, to).replace("T", " ");
  const placed = (row) => {
    const number = `row ${whole.format(row)}`;
    if (!times) return number;
    return `${dated ? iso(Math.floor(timeAt(row) / times.unit) * times.unit, 0, times.digits) : `${times.name} ${whole.format(timeAt(row))}`}, ${number}`;
  };
  // Ticks at round times, as rows and what is written there.
  const STEPS = [1, 5, 15, 30, 60, 300, 900, 1800, 3600, 10800, 21600, 43200, 86400, 172800, 604800, 1209600];
  const MONTHS = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 12000];
  const dateTicks = (plot, first, last) => {
    const [from, to] = [timeAt(first), timeAt(last)];
    const least = (to - from) / Math.max(2, plot.width / 80);
    const step = STEPS.find((each) => each >= least);
    const found = [];
    if (step) {
      const monday = step % 604800 ? 0 : 345600;
      for (let time = Math.ceil((from - monday) / step) * step + monday; time <= to; time += step) {
        const day = time % 86400 === 0;
        found.push([time, day ? iso(time, 0, 10) : iso(time, 11, step < 60 ? 19 : 16)]);
      }
    } else {
      const months = MONTHS.find((each) => each * 2629746 >= least) || 12000;
      const start = new Date(1000 * from);
      const after = start.getUTCDate() > 1 || start % 86400000 ? 1 : 0;
      let month = Math.ceil((12 * start.getUTCFullYear() + start.getUTCMonth() + after) / months) * months;
      for (; ; month += months) {
        const day = new Date(0);
        day.setUTCFullYear(Math.floor(month / 12), month % 12, 1);
        if (day / 1000 > to) break;
        found.push([day / 1000, iso(day / 1000, 0, months % 12 ? 7 : 4)]);
      }
    }
    // Where few rows have many times, there is no room for all.
    const room = (76 * (last - first)) / plot.width;
    let before = -Infinity;
    return found
      .map(([time, name]) => [between(times.times, times.rows, time), name])
      .filter(([row]) => row - before > room && ((before = row), true));
  };
  const rowTicks = (plot, ticks) => {
    const format = plot.width < 560 ? compact : whole;
    if (!dated) return ticks.map((tick) => format.format(times ? timeAt(tick) : tick));
    const names = new Map(dateTicks(plot, plot.scales.x.min, plot.scales.x.max));
    return ticks.map((tick) => names.get(tick) || "");
  };
  const drawn = []; // { figure, spec, plot, overTime, shared }
  let zoom = null; // [first row, last row] of all charts over time, or null

  // ---- colours: the page's own variables, read anew when the theme changes
  const colour = (name) => getComputedStyle(root).getPropertyValue("--" + name).trim();
  const mixed = (name, shade) => {
    const parts = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
    const ground = parts(colour("ground"));
    const channels = parts(colour(name)).map((full, at) => Math.round(full + shade * (ground[at] - full)));
    return `rgb(${channels.join(",")})`;
  };
  const font = (size) => `${size}px ${getComputedStyle(document.body).fontFamily}`;

  // ---- zoom, the same in all
  // The error and the looks at the model have points of their own; all charts reach from the first to the last of any.
  const ends = data.charts.filter(({ ownAxis }) => !ownAxis).flatMap(({ rows }) => [rows[0], rows[rows.length - 1]]);
  const full = [Math.min(...ends), Math.max(...ends)];
  const ownRange = (plot) => [plot.data[0][0], plot.data[0][plot.data[0].length - 1]];
  const same = (a, b) => a === b || (a && b && a[0] === b[0] && a[1] === b[1]);
  const setZoom = (wanted) => {
    if (same(zoom, wanted)) return;
    zoom = wanted;
    for (const { figure, plot, shared } of drawn) {
      if (!shared) continue;
      const [min, max] = wanted || full;
      plot.setScale("x", { min, max });
      figure.querySelector("[data-reset]").hidden = !wanted;
    }
  };
  const scaled = (plot, key) => {
    if (key !== "x") return;
    const { min, max } = plot.scales.x;
    const all = same([min, max], full) || same([min, max], ownRange(plot));
    setZoom(all ? null : [min, max]);
    if (all && !same([min, max], full)) plot.setScale("x", { min: full[0], max: full[1] });
  };

  // ---- moments of change: a line each, numbered while there is room, with a tip near the cursor
  const drawChanges = (plot, stacked) => {
    const { ctx, bbox } = plot;
    const ratio = devicePixelRatio;
    ctx.save();
    ctx.fillStyle = colour("change");
    ctx.strokeStyle = colour(stacked ? "ink" : "change");
    ctx.lineWidth = ratio;
    ctx.font = font(11 * ratio);
    ctx.textAlign = "center";
    let named = -Infinity; // where the last name is: the next one needs room
    data.changes.forEach((change) => {
      const x = plot.valToPos(change.row, "x", true);
      if (x < bbox.left || x > bbox.left + bbox.width) return;
      ctx.globalAlpha = change.name ? 0.75 : 0.4;
      ctx.setLineDash([2 * ratio, 3 * ratio]);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      ctx.globalAlpha = 1;
      if (x - named < 14 * ratio) return;
      if (change.name) named = x;
      ctx.fillText(change.name, x, bbox.top - 4 * ratio);
    });
    ctx.restore();
  };
  const tipFor = (plot) => {
    const tip = document.createElement("div");
    tip.className = "tip";
    tip.hidden = true;
    plot.over.appendChild(tip);
    return tip;
  };
  const showTip = (plot, tip) => {
    const left = plot.cursor.left;
    let near = null;
    if (left >= 0) {
      for (const change of data.changes) {
        const away = Math.abs(plot.valToPos(change.row, "x") - left);
        if (away <= 7 && (!near || away < near.away)) near = { change, away };
      }
    }
    tip.hidden = !near;
    if (!near) return;
    tip.textContent = `${near.change.name && `${near.change.name}: `}${placed(near.change.row)}, ${near.change.text}`;
    const room = plot.over.clientWidth - tip.offsetWidth;
    tip.style.left = Math.max(0, Math.min(room, left + 10)) + "px";
  };

  // ---- options of every chart
  const axis = (extra) => ({
    stroke: colour("soft"),
    font: font(12),
    grid: { stroke: colour("grid"), width: 1 },
    ticks: { show: false },
    ...extra,
  });
  // Without a cursor the legend shows the last point.
  const idleLegend = (plot) => {
    if (plot.legend.idx == null) plot.setLegend({ idx: plot.data[0].length - 1 }, false);
  };
  const widthOf = (place) => Math.max(240, Math.floor(place.clientWidth));
  const heightOf = (spec, width) => (spec.small ? 220 : width < 560 ? 240 : 320);

  const overTime = (figure, spec, place) => {
    const write = written[spec.unit];
    const buttons = [...figure.querySelectorAll("[data-view]")];
    const view = Math.max(0, buttons.findIndex((button) => button.getAttribute("aria-pressed") === "true"));
    const lines = spec.lines[view];
    const values = () => {
      const raw = spec.views[view];
      if (!spec.stacked) return [spec.rows, ...raw];
      let below = spec.rows.map(() => 0);
      return [spec.rows, ...raw.map((line) => (below = line.map((value, at) => below[at] + (value || 0))))];
    };
    const series = lines.map((line, at) => {
      const stroke = mixed(line.look, line.shade);
      const base = {
        label: line.name,
        stroke,
        value: (plot, _, at, idx) => write(spec.views[view][at - 1][idx]),
        points: { show: spec.rows.length < 3 },
      };
      if (spec.stacked) return { ...base, width: 0, fill: stroke, points: { show: false } };
      if (line.dots) return { ...base, paths: () => null, points: { show: true, size: 4, fill: stroke, width: 0, space: 0 } };
      if (spec.band && at < 2) return { ...base, width: 0, points: { show: false } };
      return { ...base, width: line.look === "model" ? 2 : 1.6, dash: line.dashed ? (line.look === "majority" ? [2, 3] : [6, 4]) : undefined };
    });
    let tip;
    const top = spec.stacked ? () => [0, 1] : (plot, min, max) => {
      if (min == null) return [0, 1];
      if (spec.fromZero) return [0, max > 0 ? max * 1.06 : 1];
      const air = (max - min || Math.abs(max) || 1) * 0.08;
      return [min - air, max + air];
    };
    const width = widthOf(place);
    const plot = new uPlot(
      {
        width,
        height: heightOf(spec, width),
        padding: [18, dated ? 38 : 26, 0, 0],
        cursor: {
          y: false,
          drag: { x: true, y: false },
          points: { show: !spec.stacked, size: 7 },
          sync: spec.ownAxis ? undefined : { key: "rows", setSeries: false, scales: ["x", null], filters: {
            pub: (type) => type === "mousemove" || type === "mouseleave",
            sub: (type) => type === "mousemove" || type === "mouseleave",
          } },
        },
        scales: { x: { time: false }, y: { range: top } },
        legend: { markers: { width: 3, dash: (_, at) => (at > 0 && lines[at - 1].dashed ? "dotted" : "solid") } },
        bands: spec.stacked ? lines.slice(1).map((_, at) => ({ series: [at + 2, at + 1] })) : spec.band ? [{ series: [1, 2], fill: mixed("model", 0.78) }] : [],
        axes: [
          axis({
            ...(dated && { splits: (made, _, first, last) => dateTicks(made, first, last).map(([row]) => row) }),
            values: rowTicks,
            space: width < 560 ? 50 : 80,
            size: 34,
          }),
          axis({ values: (_, ticks) => ticks.map((tick) => write(tick)), size: 62, gap: 8 }),
        ],
        series: [{ label: times ? "at" : "row", value: (_, row) => (row == null ? "–" : times ? placed(row) : whole.format(row)) }, ...series],
        hooks: {
          ready: [(made) => (tip = tipFor(made))],
          setScale: spec.ownAxis ? [] : [scaled],
          [spec.stacked ? "draw" : "drawAxes"]: [(made) => drawChanges(made, spec.stacked)],
          setCursor: [(made) => tip && showTip(made, tip)],
          setLegend: [idleLegend],
        },
      },
      values(),
      place,
    );
    // Views may have other lines: the chart is made again.
    for (const button of buttons)
      button.onclick = () => {
        for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
        draw(figure);
      };
    return plot;
  };

  const calibration = (figure, spec, place) => {
    const [says, right, rows] = [0, 1, 2].map((at) => data.bins[spec.key].points.map((bin) => bin[at]));
    const most = Math.max(...rows);
    const width = widthOf(place);
    return new uPlot(
      {
        width,
        height: heightOf(spec, width),
        padding: [18, 26, 0, 0],
        cursor: { y: false, drag: { x: false, y: false } },
        scales: { x: { time: false, range: [0, 1] }, y: { range: [0, 1] }, rows: { range: [0, most * 4] } },
        axes: [
          axis({ values: (_, ticks) => ticks.map(written.share), space: 60, size: 34 }),
          axis({ values: (_, ticks) => ticks.map(written.share), size: 62, gap: 8 }),
        ],
        series: [
          { label: "says", value: (_, value) => written.share(value) },
          { label: "rows", scale: "rows", stroke: colour("grid"), fill: colour("line"), paths: uPlot.paths.bars({ size: [0.6, 26] }), points: { show: false }, value: (_, value) => written.rows(value) },
          { label: data.bins[spec.key].came, stroke: colour("model"), width: 2, points: { show: true, size: 7, fill: colour("model") }, value: (_, value) => written.share(value) },
        ],
        hooks: {
          setLegend: [idleLegend],
          drawAxes: [(plot) => {
            const { ctx, bbox } = plot;
            ctx.save();
            ctx.strokeStyle = colour("soft");
            ctx.lineWidth = devicePixelRatio;
            ctx.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
            ctx.beginPath();
            ctx.moveTo(bbox.left, bbox.top + bbox.height);
            ctx.lineTo(bbox.left + bbox.width, bbox.top);
            ctx.stroke();
            ctx.restore();
          }],
        },
      },
      [says, rows, right],
      place,
    );
  };

  // ---- keyboard: arrows walk, + and - zoom, Escape returns
  const keyed = (entry) => (event) => {
    const { plot, figure, shared: zooms } = entry;
    const x = plot.data[0];
    const at = plot.cursor.idx == null ? x.length - 1 : plot.cursor.idx;
    const goTo = (idx) => {
      const place = Math.max(0, Math.min(x.length - 1, idx));
      plot.setCursor({ left: plot.valToPos(x[place], "x"), top: 10 });
      const spoken = figure.querySelector("[data-spoken]");
      const cells = [...plot.root.querySelectorAll(".u-series")].map((cell) => cell.textContent);
      if (spoken) spoken.textContent = cells.join(", ");
    };
    const { min, max } = plot.scales.x;
    const widen = (factor) => {
      const [first, last] = full;
      const half = ((max - min) / 2) * factor;
      const wanted = [Math.max(first, x[at] - half), Math.min(last, x[at] + half)];
      setZoom(same(wanted, [first, last]) ? null : wanted);
    };
    const step = event.shiftKey ? 10 : 1;
    if (event.key === "ArrowLeft") goTo(at - step);
    else if (event.key === "ArrowRight") goTo(at + step);
    else if (event.key === "Home") goTo(0);
    else if (event.key === "End") goTo(x.length - 1);
    else if (zooms && (event.key === "+" || event.key === "=")) widen(0.5);
    else if (zooms && event.key === "-") widen(2);
    else if (zooms && event.key === "Escape") setZoom(null);
    else return;
    event.preventDefault();
  };

  // ---- making and remaking all charts
  const specs = new Map(data.charts.map((spec) => [spec.key, spec]));
  const draw = (figure) => {
    const before = drawn.findIndex((entry) => entry.figure === figure);
    if (before >= 0) drawn.splice(before, 1)[0].plot.destroy();
    const key = figure.dataset.chart;
    const place = figure.querySelector(".plot");
    const known = specs.get(key);
    const spec = known || { key, title: data.bins[key].title };
    if (!known && !data.bins[key].points.length) return;
    const plot = known ? overTime(figure, spec, place) : calibration(figure, spec, place);
    const entry = { figure, spec, plot, overTime: Boolean(known), shared: Boolean(known) && !spec.ownAxis };
    drawn.push(entry);
    if (zoom && entry.shared) plot.setScale("x", { min: zoom[0], max: zoom[1] });
    idleLegend(plot);
    place.onkeydown = keyed(entry);
    plot.over.addEventListener("pointermove", (event) => {
      if (event.pointerType !== "touch") return;
      const box = plot.over.getBoundingClientRect();
      plot.setCursor({ left: event.clientX - box.left, top: event.clientY - box.top });
    });
    const look = { colour, font, changes: data.changes, dateTicks: dated ? dateTicks : null };
    figure.querySelector("[data-png]").onclick = () => pictures.png(entry, look);
    figure.querySelector("[data-svg]").onclick = () => pictures.svg(entry, look);
    const reset = figure.querySelector("[data-reset]");
    if (reset) {
      reset.hidden = !(zoom && entry.shared);
      reset.onclick = () => setZoom(null);
    }
  };
  const make = () => {
    zoom = null;
    for (const figure of document.querySelectorAll("[data-chart]")) draw(figure);
  };

  let waiting = 0;
  const fit = () => {
    for (const { spec, plot } of drawn) {
      const width = widthOf(plot.root.parentNode);
      if (width !== plot.width) plot.setSize({ width, height: heightOf(spec, width) });
    }
  };
  addEventListener("resize", () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(fit);
  });

  // ---- tables that are wider than the page say so
  const cut = new ResizeObserver((entries) => {
    for (const { target } of entries) target.toggleAttribute("data-cut", target.scrollWidth > target.clientWidth + 1);
  });
  for (const table of document.querySelectorAll(".scroll")) cut.observe(table);

  // ---- light and dark
  const system = matchMedia("(prefers-color-scheme: dark)");
  const toggle = document.getElementById("theme");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const named = () => (toggle.textContent = isDark() ? "Light" : "Dark");
  toggle.onclick = () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    named();
    make();
  };
  system.addEventListener("change", () => {
    named();
    make();
  });

  // ---- on paper: light, and as wide as a page; canvases are drawn before the printer's style sheet holds
  let before = null;
  addEventListener("beforeprint", () => {
    before = root.dataset.theme ?? "";
    root.dataset.theme = "light";
    root.classList.add("printing");
    make();
  });
  addEventListener("afterprint", () => {
    if (before) root.dataset.theme = before;
    else delete root.dataset.theme;
    root.classList.remove("printing");
    make();
  });
  named();
  make();
})();

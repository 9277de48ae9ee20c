// Moments of change: a line each, numbered while there is room, with a tip near the cursor. A promotion's is solid.
import { colour, font } from "./look.js";

const MOST_NUMBERED = 20;
const NEAR = 7; // pixels

export const drawMarks = (plot, marks, stroke) => {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  const numbered = marks.length <= MOST_NUMBERED;
  ctx.save();
  ctx.fillStyle = colour("change");
  ctx.strokeStyle = colour(stroke);
  ctx.lineWidth = ratio;
  ctx.font = font(11 * ratio);
  ctx.textAlign = "center";
  marks.forEach(({ x, solid }, at) => {
    const place = plot.valToPos(x, "x", true);
    if (place < bbox.left || place > bbox.left + bbox.width) return;
    ctx.globalAlpha = numbered ? 0.75 : 0.4;
    ctx.setLineDash(solid ? [] : [2 * ratio, 3 * ratio]);
    ctx.beginPath();
    ctx.moveTo(place, bbox.top);
    ctx.lineTo(place, bbox.top + bbox.height);
    ctx.stroke();
    ctx.globalAlpha = 1;
    if (numbered) ctx.fillText(String(at + 1), place, bbox.top - 4 * ratio);
  });
  ctx.restore();
};

export const tipFor = (plot) => {
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  plot.over.appendChild(tip);
  return tip;
};

export const showTip = (plot, tip, marks) => {
  const left = plot.cursor.left;
  let near = null;
  if (left >= 0) {
    for (const [at, { x, text }] of marks.entries()) {
      const away = Math.abs(plot.valToPos(x, "x") - left);
      if (away <= NEAR && (!near || away < near.away)) near = { at, text, away };
    }
  }
  tip.hidden = !near;
  if (!near) return;
  tip.textContent = `${near.at + 1}: ${near.text}`;
  const room = plot.over.clientWidth - tip.offsetWidth;
  tip.style.left = Math.max(0, Math.min(room, left + 10)) + "px";
};

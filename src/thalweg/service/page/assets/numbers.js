// Numbers as a reader wants them.
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const tenths = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const two = new Intl.NumberFormat("en", { maximumSignificantDigits: 2 });
const four = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
const known = (write) => (value) => (value == null ? "–" : write(value).replace("-", "−"));

const LENGTHS = [
  [86400, "d"],
  [3600, "h"],
  [60, "min"],
  [1, "s"],
];

export const count = known((value) => whole.format(value));
export const brief = known((value) => compact.format(value));
export const share = known((value) => (Math.abs(value) < 0.01 ? two : tenths).format(100 * value) + "\u00a0%");
export const rows = known((value) => (value < 100 ? tenths : whole).format(value));
export const number = known((value) => four.format(value));
export const seconds = known((value) => {
  if (value < 0.0005) return "0\u00a0s";
  if (value < 1) return two.format(1000 * value) + "\u00a0ms";
  const [length, unit] = LENGTHS.find(([least]) => value >= least);
  return (value / length < 10 ? tenths : whole).format(value / length) + "\u00a0" + unit;
});
export const perSecond = known((value) => (value < 10 ? two : whole).format(value) + "/s");

export const written = { share, rows, number, seconds, perSecond };

// ---- times of day and days, as finely as the ticks are apart
const clock = (options) => new Intl.DateTimeFormat("en-GB", options);
const exact = clock({ hour: "2-digit", minute: "2-digit", second: "2-digit" });
const minutes = clock({ hour: "2-digit", minute: "2-digit" });
const days = clock({ day: "numeric", month: "short" });
const moment = clock({ day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit" });

export const timeTicks = (ticks) => {
  const apart = ticks.length > 1 ? ticks[1] - ticks[0] : 60;
  const form = apart < 60 ? exact : apart < 86400 ? minutes : days;
  return ticks.map((tick) => form.format(1000 * tick));
};
export const when = known((value) => moment.format(1000 * value));

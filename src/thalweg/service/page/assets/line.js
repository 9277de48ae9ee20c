// The lines of a chart, as data.
const COLOURS = 8;

export const line = (name, look, values, dashed = false) => ({ name, look, values, dashed });
export const isKnown = (values) => values && values.some((value) => value != null);
export const lookOf = (at) => `c${at % COLOURS}`;

// A family of committee members has the same colour in all reports (FAMILIES in report/style.py).
const FAMILIES = { linear: 0, "least squares": 0, tilings: 3, trees: 5, products: 7, "tilings of the rest": 5, kernel: 4, quadratic: 4, persistence: 7, "last value": 7, "running mean": 6, shares: 6 };
export const familyLook = (name, at) => lookOf(FAMILIES[name] ?? at);

// The lines of a chart, as data.
const COLOURS = 8;

export const line = (name, look, values, dashed = false) => ({ name, look, values, dashed });
export const isKnown = (values) => values && values.some((value) => value != null);
export const lookOf = (at) => `c${at % COLOURS}`;

// A shadow challenger: how much better it is, with the interval that holds however often one looks.
import { made } from "./made.js";
import { count, number, share } from "./numbers.js";

const standing = ({ interval }) => {
  if (!interval) return "unknown";
  return interval[0] > 0 ? "better" : interval[1] < 0 ? "behind" : "even";
};

const WORDS = {
  better: ({ challenger }) => `${challenger} is better.`,
  behind: ({ champion }) => `${champion} is better.`,
  even: () => "Not decided: the difference may be on either side of zero.",
  unknown: () => "Not decided: no label has been compared yet.",
};

const picture = ({ difference, interval }) => {
  const reach = (Math.max(...interval.map(Math.abs)) || 1) * 1.1;
  const at = (value) => `${(50 + (50 * value) / reach).toFixed(2)}%`;
  const placed = (kind, styles) => {
    const element = made("span", { class: kind });
    Object.assign(element.style, styles);
    return element;
  };
  const [low, high] = interval;
  return made(
    "div",
    { class: "track", "aria-hidden": "true" },
    placed("zero", { left: "50%" }),
    placed("bar", { left: at(low), width: `${((50 * (high - low)) / reach).toFixed(2)}%` }),
    placed("dot", { left: at(difference) }),
  );
};

const hundred = (value) => number(Math.round(10000 * value) / 100);

// Who makes more mistakes is named first, so that the number is never negative; only the interval may be.
const COMPARED = {
  classification: { write: hundred, said: (more, less, by) => `In 100 predictions, ${more} makes ${by} more mistakes than ${less}` },
  regression: { write: number, said: (more, less, by) => `The mean squared error of ${more} is ${by} above that of ${less}` },
};

const inWords = ({ champion, challenger, labels, difference, interval, level }, task) => {
  const [more, less, sign] = difference < 0 ? [challenger, champion, -1] : [champion, challenger, 1];
  const write = COMPARED[task].write;
  const [low, high] = interval.map((end) => sign * end).sort((a, b) => a - b).map(write);
  return (
    `${COMPARED[task].said(more, less, write(sign * difference))}: between ${low} and ${high}, ` +
    `with ${share(level)} confidence at all times at once, over ${count(labels)} labels of rows that both had predicted.`
  );
};

const boxOf = (compared, task) => {
  const { champion, challenger, interval } = compared;
  const tone = standing(compared);
  const parts = [made("h2", {}, `${challenger} challenges ${champion}`), made("p", { class: "opening" }, WORDS[tone](compared))];
  if (interval) {
    parts.push(
      made("div", { class: "interval" }, made("span", {}, `← ${champion} better`), picture(compared), made("span", {}, `${challenger} better →`)),
      made("p", { class: "note" }, inWords(compared, task)),
    );
  }
  return made("div", { class: `challenge ${tone}` }, ...parts);
};

export const showChallenges = (place, all, task) => {
  place.hidden = !all.length;
  const boxes = all.map((compared) => boxOf(compared, task));
  if (place.textContent !== boxes.map((box) => box.textContent).join("")) place.replaceChildren(...boxes);
};

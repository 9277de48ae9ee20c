// The live page: which model, how the connection is, and when what is drawn.
import { showChallenges } from "./challenge.js";
import { Charts } from "./charts.js";
import { showColumns } from "./columns.js";
import { Course } from "./course.js";
import { switchable } from "./look.js";
import { made } from "./made.js";
import { number, share } from "./numbers.js";
import { Refused, ask, follow, modelPath } from "./service.js";
import { tokenForm } from "./token.js";
import { showNoModels, showTrouble, showVerdict } from "./verdict.js";

const LOOK_AGAIN = 10000; // milliseconds between requests for what events do not hold: models, changes, comparison

const at = (id) => document.getElementById(id);
const charts = new Charts(at("charts"));
let course = null;
let listening = new AbortController();
let due = false;

// ---- how the connection is
const state = (word, seconds) => {
  const said = {
    connecting: "connecting…",
    live: "live",
    lost: `connection lost, trying again${seconds > 1 ? ` in ${Math.round(seconds)} s` : ""}`,
    idle: "waiting for a model",
    closed: "a token is needed",
  };
  at("state").dataset.state = word;
  if (at("state").textContent !== said[word]) at("state").textContent = said[word];
};

// ---- drawing, once a frame at the most
const draw = () => {
  if (due) return;
  due = true;
  requestAnimationFrame(() => {
    due = false;
    if (!course) return;
    showVerdict(at("verdict"), course);
    at("axis").hidden = !course.length;
    if (course.length) charts.show(course);
    else charts.clear();
  });
};

// ---- which model
const chosen = () => {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return ""; // an address that somebody has broken
  }
};

const offer = (models) => {
  const names = models.map(({ name }) => name);
  const current = names.includes(chosen()) ? chosen() : names[0];
  const picks = models.map((model) => {
    const radio = made("input", { type: "radio", name: "model", value: model.name, checked: model.name === current });
    radio.onchange = () => (location.hash = encodeURIComponent(model.name));
    const overall = model.task === "regression" ? `error ${number(model.error)} overall` : `${share(model.error)} overall`;
    const error = model.error == null ? null : made("small", {}, overall);
    return made("label", { class: model.archived ? "archived" : null }, radio, made("span", {}, model.name), error);
  });
  const place = at("models");
  const text = picks.map((pick) => pick.textContent).join("|");
  if (place.dataset.offered !== text || place.querySelector("input:checked")?.value !== current) {
    const focused = place.contains(document.activeElement);
    place.replaceChildren(place.firstElementChild, ...picks);
    place.dataset.offered = text;
    if (focused) place.querySelector("input:checked")?.focus();
  }
  place.hidden = names.length < 2;
  return current;
};

// Those who learn in the model's shadow; or the model itself, if it is one of those.
const challengersOf = (models, name) =>
  models
    .filter((model) => !model.archived && model.challenger_of && [model.name, model.challenger_of].includes(name))
    .map((model) => model.name);

// ---- what events do not hold is asked for now and then
const refresh = async () => {
  const { models } = await ask("v1/models");
  if (!models.length) {
    course = null;
    charts.clear();
    showNoModels(at("verdict"));
    showChallenges(at("challenge"), []);
    showColumns(at("columns"), null, null);
    at("models").hidden = at("axis").hidden = true;
    state("idle");
    return;
  }
  const name = offer(models);
  const isChallenger = models.find((model) => model.name === name).challenger_of != null;
  const [details, importance, inputs, ...compared] = await Promise.all([
    ask(modelPath(name, "course")),
    isChallenger ? null : ask(modelPath(name, "importance")),
    ask(modelPath(name, "inputs")),
    ...challengersOf(models, name).map((challenger) => ask(modelPath(challenger, "compare"))),
  ]);
  const another = course?.name !== name;
  course = new Course(details); // anew each time: a revised label changes what went before
  if (another) {
    charts.clear();
    listen(name);
  }
  showChallenges(at("challenge"), compared, course.task);
  showColumns(at("columns"), importance, course.length ? inputs : null, course.task === "regression");
  document.title = `${name} – thalweg, live`;
  draw();
};

const listen = (name) => {
  listening.abort();
  listening = new AbortController();
  const { signal } = listening;
  const onEvent = ({ kind, data }) => {
    if (kind === "point" && !signal.aborted && course.append(data)) draw();
  };
  const last = course.length ? String(course.last("labels")) : "";
  follow(modelPath(name, "events"), last, signal, onEvent, (word, seconds) => !signal.aborted && state(word, seconds)).catch(failed);
};

// ---- the token
const token = tokenForm(at("live"), () => look());

const failed = (error) => {
  if (!(error instanceof Refused)) return state("lost", LOOK_AGAIN / 1000);
  if (error.status === 401 || error.status === 403) {
    listening.abort();
    course = null;
    state("closed");
    return token.ask(error, "Enter one that may read.");
  }
  if (!course) showTrouble(at("verdict"), error.message);
  return state("lost", LOOK_AGAIN / 1000);
};

let looking = 0;
const look = async () => {
  clearTimeout(looking);
  try {
    await refresh();
    token.close();
  } catch (error) {
    failed(error);
  }
  if (!token.isOpen()) looking = setTimeout(look, LOOK_AGAIN);
};

// ---- begin
for (const button of document.querySelectorAll("[data-axis]")) {
  button.onclick = () => {
    for (const other of document.querySelectorAll("[data-axis]")) other.setAttribute("aria-pressed", String(other === button));
    charts.along(button.dataset.axis);
  };
}
addEventListener("hashchange", look);
switchable(at("theme"), () => charts.remake());
look();

// The page for tables: send one in pieces, choose what to predict, watch its run.
import { switchable } from "./look.js";
import { count } from "./numbers.js";
import { Refused, ask, send } from "./service.js";
import { TableCard } from "./table_card.js";
import { tokenForm } from "./token.js";

const [AT_WORK, AT_REST] = [700, 10000]; // milliseconds between requests for how the tables are
const LONGEST_WAIT = 15000; // before another attempt to send a piece

const at = (id) => document.getElementById(id);
const cards = new Map();
const sending = new Set(); // ids of tables that this tab sends
let limits = { most_bytes: 0, piece_bytes: 1 };
let looking = 0;

export const size = (bytes) => (bytes < 1e6 ? `${count(Math.ceil(bytes / 1e3))} kB` : `${count(Math.round(bytes / 1e6))} MB`);
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

// ---- how the tables are
const show = (table) => {
  let card = cards.get(table.id);
  if (!card) {
    card = new TableCard(table, { size, isSending: () => sending.has(table.id), sendFile, changed: show, removed, failed });
    cards.set(table.id, card);
    at("list").prepend(card.element);
  }
  card.show(table);
};

const removed = (id) => {
  cards.get(id)?.element.remove();
  cards.delete(id);
};

const showAll = ({ tables, ...rest }) => {
  limits = rest;
  at("limits").textContent = `CSV, Parquet, JSON and others, compressed or not, up to ${size(limits.most_bytes)}`;
  for (const id of [...cards.keys()]) if (!tables.some((table) => table.id === id)) removed(id);
  [...tables].reverse().forEach(show);
  return tables.some(({ id, state }) => sending.has(id) || ["reading", "waiting", "running"].includes(state));
};

const state = (word, text) => {
  at("state").dataset.state = word;
  at("state").textContent = text;
};

const look = async () => {
  clearTimeout(looking);
  const listed = await ask("uploads").catch(failed);
  let wait = AT_REST;
  if (listed) {
    wait = showAll(listed) ? AT_WORK : AT_REST;
    token.close();
    state("live", "live");
  }
  clearTimeout(looking); // somebody may have looked meanwhile
  if (!token.isOpen()) looking = setTimeout(look, wait);
};

const failed = (error) => {
  if (!(error instanceof Refused)) return state("lost", "connection lost, trying again");
  if (error.status === 401 || (error.status === 403 && !cards.size)) {
    state("closed", "a token is needed");
    return token.ask(error, "Enter one that may learn.");
  }
  at("refused").textContent = error.message;
};
const token = tokenForm(at("tables"), () => look());

// ---- sending
const sendFile = async (file, table) => {
  at("refused").textContent = "";
  try {
    if (!table && file.size > limits.most_bytes) throw new Refused(413, `${file.name} has ${size(file.size)}: a table may have ${size(limits.most_bytes)} here`);
    if (table && file.size !== table.size) throw new Refused(409, `${file.name} is another file: it has ${count(file.size)} bytes and not ${count(table.size)}`);
    table ??= await send("POST", "uploads", { name: file.name, size: file.size });
    sending.add(table.id);
    show(table);
    await sendPieces(file, table);
  } catch (error) {
    failed(error);
  } finally {
    if (table) sending.delete(table.id);
    look();
  }
};

// A piece that fails is sent again, from where the service is, until it comes or the service refuses it.
const sendPieces = async (file, table) => {
  let wait = 500;
  while (table.state === "receiving" && cards.has(table.id)) {
    const offset = table.received;
    try {
      table = await send("PUT", `uploads/${table.id}/content?offset=${offset}`, file.slice(offset, offset + limits.piece_bytes));
      wait = 500;
      show(table);
    } catch (error) {
      if (error instanceof Refused && error.status < 500 && ![408, 409, 429].includes(error.status)) throw error;
      if (error.name === "NotReadableError" || error.name === "NotFoundError") throw new Refused(0, `${file.name} changed or went away while it was sent`);
      state("lost", "connection lost, trying again");
      await pause(wait);
      wait = Math.min(2 * wait, LONGEST_WAIT);
      table = await ask(`uploads/${table.id}`).catch((again) => {
        if (again instanceof Refused && again.status === 404) throw again;
        return table;
      });
    }
  }
};

// ---- begin
at("file").onchange = () => {
  for (const file of at("file").files) sendFile(file);
  at("file").value = "";
};
const zone = at("drop");
for (const kind of ["dragenter", "dragover"]) zone.addEventListener(kind, (event) => (event.preventDefault(), zone.classList.add("over")));
for (const kind of ["dragleave", "drop"]) zone.addEventListener(kind, (event) => (event.preventDefault(), zone.classList.remove("over")));
zone.addEventListener("drop", (event) => {
  for (const file of event.dataTransfer.files) sendFile(file);
});
addEventListener("beforeunload", (event) => sending.size && event.preventDefault());
switchable(at("theme"), () => cards.forEach((card) => card.remake()));
look();

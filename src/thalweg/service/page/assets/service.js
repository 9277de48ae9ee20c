// The service: questions, the token that it may ask for, and events for as long as anyone listens.
const KEPT = "thalweg-token"; // in this tab alone
const FIRST_WAIT = 500; // milliseconds before the first new attempt, doubled up to the longest
const LONGEST_WAIT = 15000;
const SILENCE = 60000; // without a word for so long, a stream counts as lost

export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export const keepToken = (token) => (token ? sessionStorage.setItem(KEPT, token) : sessionStorage.removeItem(KEPT));
export const hasToken = () => sessionStorage.getItem(KEPT) != null;

const headers = (more) => {
  const token = sessionStorage.getItem(KEPT);
  return token ? { Authorization: `Bearer ${token}`, ...more } : more;
};

const checked = async (response) => {
  if (response.ok) return response;
  const body = await response.json().catch(() => ({}));
  throw new Refused(response.status, body.error || `the service answered with status ${response.status}`);
};

export const ask = async (path) => (await checked(await fetch(path, { headers: headers({}) }))).json();
export const send = async (method, path, body) => {
  const bytes = body instanceof Blob;
  const media = { "Content-Type": bytes ? "application/octet-stream" : "application/json" };
  const content = body === undefined || bytes ? body : JSON.stringify(body);
  return (await checked(await fetch(path, { method, headers: headers(content === undefined ? {} : media), body: content }))).json();
};
export const modelPath = (name, what) => `v1/models/${encodeURIComponent(name)}${what ? "/" + what : ""}`;

const pause = (milliseconds, signal) =>
  new Promise((done) => {
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener("abort", () => (clearTimeout(timer), done()), { once: true });
  });

// `EventSource` cannot send a token, so the stream is read by hand; like it, it continues after the last id it saw.
async function* events(path, lastId, signal, opened) {
  const lost = new AbortController();
  signal.addEventListener("abort", () => lost.abort(), { once: true });
  let alarm = setTimeout(() => lost.abort(), SILENCE);
  try {
    const more = { Accept: "text/event-stream", ...(lastId ? { "Last-Event-ID": lastId } : {}) };
    const response = await checked(await fetch(path, { headers: headers(more), signal: lost.signal, cache: "no-store" }));
    opened();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    let event = { kind: "message", data: [], id: lastId };
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      clearTimeout(alarm);
      alarm = setTimeout(() => lost.abort(), SILENCE);
      const lines = (rest + value).split(/\r?\n/);
      rest = lines.pop();
      for (const line of lines) {
        if (!line) {
          if (event.data.length) yield { kind: event.kind, id: event.id, data: JSON.parse(event.data.join("\n")) };
          event = { kind: "message", data: [], id: event.id };
          continue;
        }
        const colon = line.indexOf(":");
        const name = colon < 0 ? line : line.slice(0, colon);
        const text = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
        if (name === "data") event.data.push(text);
        else if (name === "event") event.kind = text;
        else if (name === "id") event.id = text;
      }
    }
  } finally {
    clearTimeout(alarm);
    lost.abort();
  }
}

// Follows the events of a path until `signal` ends it. `onEvent(event)` has each; `state(word, seconds)` how the connection
// is: "live" or "lost". A refusal that waiting cannot mend is thrown.
export const follow = async (path, lastId, signal, onEvent, state) => {
  let wait = FIRST_WAIT;
  while (!signal.aborted) {
    try {
      const opened = () => {
        wait = FIRST_WAIT;
        state("live");
      };
      for await (const event of events(path, lastId, signal, opened)) {
        lastId = event.id;
        onEvent(event);
      }
    } catch (error) {
      if (error instanceof Refused && error.status < 500 && error.status !== 429) throw error;
    }
    if (signal.aborted) return;
    state("lost", wait / 1000);
    await pause(wait * (0.75 + 0.5 * Math.random()), signal);
    wait = Math.min(2 * wait, LONGEST_WAIT);
  }
};

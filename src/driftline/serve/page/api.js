// Calls of the server, and events from it.

const RETRY_MS = 1000;
const MAX_RETRY_MS = 10_000;

/** A request that the server refused; `status` is that of HTTP. */
export class Refused extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

/** Return the JSON that the server answers; null if it answers with nothing. */
export async function call(method, path, body) {
  const options = { method, headers: {} };
  if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  const answer = await fetch(`v1/${path}`, options);
  const text = await answer.text();
  if (answer.ok) return text ? JSON.parse(text) : null;
  let detail = answer.statusText;
  try {
    detail = JSON.parse(text).detail;
  } catch {
    // A proxy in between may answer with something else than JSON.
  }
  throw new Refused(answer.status, detail);
}

export const streamPath = (name) => `streams/${encodeURIComponent(name)}`;

/**
 * Follow events until the function that is returned is called: again after the connection was lost, and not while the
 * page is hidden, because a browser has few connections to a server.
 *
 * `prepare` is called before each connection, and `onRefused` if it throws Refused: then nothing is followed any more.
 */
export function follow(path, { prepare, handlers, onConnected, onRefused }) {
  let source = null;
  let timer = 0;
  let wait = RETRY_MS;
  let last = 0;
  let attempt = 0;

  function disconnect() {
    attempt += 1;
    clearTimeout(timer);
    source?.close();
    source = null;
  }

  function retry() {
    disconnect();
    onConnected(false);
    timer = setTimeout(connect, wait);
    wait = Math.min(2 * wait, MAX_RETRY_MS);
  }

  async function connect() {
    disconnect();
    const mine = attempt;
    try {
      await prepare();
    } catch (error) {
      if (mine !== attempt) return;
      if (error instanceof Refused && error.status < 500 && error.status !== 429) onRefused(error);
      else retry();
      return;
    }
    if (mine !== attempt) return;
    source = new EventSource(`v1/${path}?after=${last}`);
    source.onopen = () => {
      wait = RETRY_MS;
      onConnected(true);
    };
    source.onerror = retry;
    for (const [kind, handle] of Object.entries(handlers)) {
      source.addEventListener(kind, (event) => {
        last = event.lastEventId || last;
        handle(JSON.parse(event.data));
      });
    }
  }

  const onVisibility = () => (document.hidden ? disconnect() : connect());
  document.addEventListener("visibilitychange", onVisibility);
  if (!document.hidden) connect();
  return () => {
    document.removeEventListener("visibilitychange", onVisibility);
    disconnect();
  };
}

/** A question goes out, events come in; read by hand, because EventSource cannot POST. */

const SILENCE_MS = 45_000; // three missed heartbeats of 15 s
const MAX_EVENT_CHARS = 1_000_000; // chosen, not measured: a whole answer is below 100,000

/** What went wrong: a stable `code`, and `detail`, `status`, `retryAfter` (seconds) where known. */
export class AskFault extends Error {
  constructor(code, more) {
    super(code);
    Object.assign(this, { code, ...more });
  }
}

/** Turns text, cut anywhere, into `{event, data}`; the WHATWG rules for event streams. */
export class EventStreamParser {
  #line = "";
  #afterCarriageReturn = false;
  #name = "";
  #data = [];
  #size = 0;

  *push(text) {
    if (text === "") return;
    const fresh = this.#afterCarriageReturn && text.startsWith("\n") ? text.slice(1) : text;
    this.#afterCarriageReturn = text.endsWith("\r");
    const lines = fresh.split(/\r\n|\n|\r/);
    lines[0] = this.#line + lines[0];
    this.#line = lines.pop();
    for (const line of lines) yield* this.#take(line);
    if (this.#line.length + this.#size > MAX_EVENT_CHARS) throw new AskFault("interrupted");
  }

  *#take(line) {
    const [, field, value] = /^([^:]*)(?:: ?(.*))?$/s.exec(line);
    if (field === "event") this.#name = value;
    if (field === "data") this.#data.push(value ?? "");
    this.#size += line.length;
    if (line !== "") return;
    if (this.#data.length) yield { event: this.#name || "message", data: this.#data.join("\n") };
    this.#name = "";
    this.#data = [];
    this.#size = 0;
  }
}

/** Errors before the stream: problem+json, or whatever a proxy in between has to say. */
async function faultOf(response) {
  const problem = await response.json().catch(() => null);
  return new AskFault(problem?.code ?? (response.status === 429 ? "rate_limited" : "internal"), {
    detail: problem?.detail,
    status: response.status,
    retryAfter: Number.parseInt(response.headers.get("Retry-After"), 10),
  });
}

const post = (url, body, { headers, ...options }) =>
  fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
    credentials: "omit",
    ...options,
  });

const unreachable = (error) => {
  throw error instanceof TypeError ? new AskFault("unreachable") : error;
};

/**
 * Yields `{event, data}`, data parsed, until the stream ends; whether `done` came is the caller's
 * to judge. The same `key` makes it the same request, which is not paid for twice.
 */
export async function* askEvents({ endpoint, question, key, controller }) {
  let timer = 0;
  const listen = () => {
    clearTimeout(timer);
    timer = setTimeout(() => controller.abort(new AskFault("interrupted")), SILENCE_MS);
  };
  try {
    listen();
    const headers = { Accept: "text/event-stream", "Idempotency-Key": key };
    const options = { headers, signal: controller.signal };
    const response = await post(`${endpoint}/v1/ask`, { question }, options).catch(unreachable);
    if (!response.ok) throw await faultOf(response);
    if (!response.headers.get("Content-Type")?.startsWith("text/event-stream")) {
      yield { event: "done", data: await response.json() };
      return;
    }
    const parser = new EventStreamParser();
    const decoder = new TextDecoder();
    const reader = response.body.getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      listen();
      for (const { event, data } of parser.push(decoder.decode(part.value, { stream: true }))) {
        yield { event, data: JSON.parse(data) };
      }
    }
  } finally {
    clearTimeout(timer);
    controller.abort();
  }
}

/** Sends `{id, vote: "up" | "down", reasons: string[], note}`. */
export async function sendFeedback(endpoint, feedback) {
  const response = await post(`${endpoint}/v1/feedback`, feedback, { keepalive: true });
  if (!response.ok) throw await faultOf(response);
}

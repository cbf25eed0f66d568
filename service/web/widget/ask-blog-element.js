/** <ask-blog>: attributes, states, runs. Emits `ask-blog-change`, which never holds the question. */
import { el, listOf, textOf } from "./ask-blog-dom.js";
import { QuestionForm, suggestionsView } from "./ask-blog-form.js";
import { ResultView, blank } from "./ask-blog-result.js";
import { AskFault, askEvents, sendFeedback } from "./ask-blog-stream.js";
import { sayIn } from "./ask-blog-strings.js";
import { STYLE } from "./ask-blog-style.js";

/** @typedef {"idle"|"asking"|"answered"|"abstained"|"refused"|"stopped"|"interrupted"|"failed"} State */

const HOME = new URL("..", import.meta.url).href; // the service that served this script
const STATE_BY_OUTCOME = new Map([
  ["answer", "answered"],
  ["abstention", "abstained"],
  ["refusal", "refused"],
]);

// crypto.randomUUID exists on secure pages only.
const newKey = () => crypto.getRandomValues(new Uint32Array(4)).join("-");

export class AskBlogElement extends HTMLElement {
  static observedAttributes = ["lang", "strings", "suggestions"];

  static define(tag = "ask-blog", registry = customElements) {
    registry.get(tag) ?? registry.define(tag, this);
  }

  #root = this.attachShadow({ mode: "open" });
  #panel = this.#root.appendChild(el("div.panel"));
  /** @type {State} */
  #state = "idle";
  #asked = blank();
  #runs = 0; // a reply that belongs to an older run is dropped
  #controller = new AbortController();
  #strings = {};
  #isUpdatePlanned = false;
  #say;
  #form;
  #result;

  get state() {
    return this.#state;
  }

  /** The page's own words by key of STRINGS; they go over those in the attribute. */
  set strings(words) {
    this.#strings = words;
    this.#planUpdate();
  }

  get strings() {
    try {
      return { ...JSON.parse(this.getAttribute("strings")), ...this.#strings };
    } catch {
      return this.#strings;
    }
  }

  /** Asks what is given, or what stands in the field. */
  ask(question = this.#form.value) {
    this.#form.value = question;
    this.#form.submit(question);
  }

  /** Ends the running question; what has arrived stays. */
  stop = () => {
    if (this.#state !== "asking") return;
    this.#runs += 1;
    this.#controller.abort();
    this.#enter("stopped");
  };

  connectedCallback() {
    if (Object.hasOwn(this, "strings")) {
      // Set before the element was defined, it would hide the accessor.
      this.#strings = Object.getOwnPropertyDescriptor(this, "strings").value;
      delete this.strings;
    }
    this.#root.adoptedStyleSheets = [STYLE];
    addEventListener("pagehide", this.stop);
    this.#build();
  }

  disconnectedCallback() {
    removeEventListener("pagehide", this.stop);
    this.stop();
  }

  attributeChangedCallback(_name, before, after) {
    if (before !== after) this.#planUpdate();
  }

  #planUpdate() {
    if (this.#isUpdatePlanned || !this.#form) return;
    this.#isUpdatePlanned = true;
    queueMicrotask(() => {
      this.#isUpdatePlanned = false;
      this.#build();
    });
  }

  get #endpoint() {
    return (this.getAttribute("endpoint") || HOME).replace(/\/+$/, "");
  }

  get #suggestions() {
    return (this.getAttribute("suggestions") ?? "").split("|").filter((question) => question.trim());
  }

  #build() {
    const text = this.#form?.value ?? "";
    this.#say = sayIn(this.lang || document.documentElement.lang, this.strings);
    this.#form = new QuestionForm(this.#say, {
      onAsk: (question) => this.#run(question, newKey()),
      onStop: this.stop,
      onEdit: () => this.#nameAnswer(),
    });
    this.#result = new ResultView(this.#say, {
      onRetry: () => this.#retry(),
      onRate: (vote, more) => this.#rate(vote, more),
    });
    const { status, root: result } = this.#result;
    const suggestions = suggestionsView(this.#suggestions, this.#say, (question) => {
      this.ask(question);
      result.focus();
    });
    this.#panel.replaceChildren(this.#form.root, status, result, suggestions);
    this.#form.value = text;
    this.#draw();
  }

  async #run(question, key) {
    this.#controller.abort();
    const controller = (this.#controller = new AbortController());
    const run = (this.#runs += 1);
    this.#asked = blank(question, key);
    this.#enter("asking");
    try {
      for await (const event of askEvents({ endpoint: this.#endpoint, question, key, controller })) {
        if (run !== this.#runs) return;
        // After the last event the service may still be writing its books: no hanging up on it.
        if (this.#state === "asking") this.#take(event);
      }
      throw new AskFault("interrupted");
    } catch (fault) {
      if (run !== this.#runs || this.#state !== "asking") return;
      this.#fail(fault instanceof AskFault ? fault : new AskFault("interrupted"));
    }
  }

  #retry() {
    const { question, key, fault } = this.#asked;
    // The same key again is not paid for twice; a key in conflict would only conflict again.
    this.#run(question, fault.status === 409 ? newKey() : key);
  }

  #take({ event, data }) {
    if (event === "stage") {
      this.#asked.stage = textOf(data.name);
      this.#result.drawStatus(this.#state, this.#asked);
    } else if (event === "statement") {
      this.#asked.statements.push(data);
      this.#result.addStatement(data);
    } else if (event === "error") {
      throw new AskFault(data.code, { detail: data.detail });
    } else if (event === "done") {
      this.#finish(data);
    }
  }

  #finish(outcome) {
    const state = STATE_BY_OUTCOME.get(outcome?.outcome);
    if (!state) throw new AskFault("interrupted");
    const statements = listOf(outcome.statements);
    // The last word counts; usually it is what was streamed, and the nodes stay as they are.
    const keepStatements = JSON.stringify(statements) === JSON.stringify(this.#asked.statements);
    Object.assign(this.#asked, { outcome, statements });
    this.#enter(state, keepStatements);
  }

  #fail(fault) {
    this.#asked.fault = fault;
    this.#enter(fault.code === "interrupted" ? "interrupted" : "failed");
  }

  #enter(state, keepStatements = state !== "asking") {
    this.#state = state;
    this.setAttribute("state", state);
    this.#draw(keepStatements);
    const { id = null, outcome = null, written_by: writtenBy = null } = this.#asked.outcome;
    const detail = { state, id, outcome, writtenBy };
    this.dispatchEvent(new CustomEvent("ask-blog-change", { bubbles: true, composed: true, detail }));
  }

  #draw(keepStatements) {
    this.#form.isRunning = this.#state === "asking";
    this.#result.draw(this.#state, this.#asked, keepStatements);
    this.#nameAnswer();
  }

  #nameAnswer() {
    this.#result.showTitleUnless(this.#form.value.trim() === this.#asked.question);
  }

  async #rate(vote, { reasons, note }) {
    const asked = this.#asked;
    await sendFeedback(this.#endpoint, { id: asked.outcome.id, vote, reasons, note });
    asked.isRated = true;
  }
}

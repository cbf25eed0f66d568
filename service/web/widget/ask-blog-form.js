/** The question form: field, counter, Ask, Stop; and the suggestions. Reports through callbacks. */
import { el } from "./ask-blog-dom.js";

const MAX_CHARS = 500; // the public contract of POST /v1/ask

/** Characters as the service counts them: code points, after the folding it does itself. */
function countChars(text) {
  const visible = text.normalize("NFKC").replace(/(?![\s\u200c\u200d])\p{C}/gu, "");
  return [...visible.replace(/\s+/gu, " ").trim()].length;
}

export class QuestionForm {
  #say;
  #onAsk;
  #counter = el("span.counter", { "aria-hidden": true });
  #problem = el("p.problem", { id: "problem", role: "status" });
  #ask;
  #stop;

  constructor(say, { onAsk, onStop, onEdit }) {
    this.#say = say;
    this.#onAsk = onAsk;
    this.#ask = el("button.ask", {}, say("ask"));
    this.#stop = el("button.stop", { type: "button", hidden: true, onclick: onStop }, say("stop"));
    this.field = el("textarea.field", {
      id: "question",
      rows: 2,
      dir: "auto",
      enterkeyhint: "send",
      placeholder: say("placeholder"),
      "aria-describedby": "hint problem",
      oninput: () => (this.#recount(), onEdit()),
      onkeydown: (event) => this.#askOnEnter(event),
    });
    const onsubmit = (event) => (event.preventDefault(), this.submit(this.value));
    this.root = el(
      "form.form",
      { onsubmit },
      el("label.label", { for: "question" }, say("label")),
      el("div.box", {}, this.field, el("div.bar", {}, this.#counter, this.#stop, this.#ask)),
      el("p", { id: "hint", hidden: true }, say("hint", { max: MAX_CHARS })),
      this.#problem,
    );
    this.#recount();
  }

  get value() {
    return this.field.value;
  }

  set value(text) {
    this.field.value = text;
    this.#recount();
  }

  /** Whether a question is on its way. A hidden button would take the focus with it. */
  set isRunning(running) {
    if (!running && this.#stop.matches(":focus")) this.#ask.focus({ preventScroll: true });
    this.#stop.hidden = !running;
  }

  /** Asks, or says in words why not and puts the reader back into the field. */
  submit(question) {
    const problem = this.#problemWith(question);
    this.#show(problem);
    if (problem) this.field.focus();
    else this.#onAsk(question.trim());
  }

  #problemWith(question) {
    const n = countChars(question);
    if (n === 0) return this.#say("empty");
    return n > MAX_CHARS ? this.#say("too_long", { n: n - MAX_CHARS, max: MAX_CHARS }) : "";
  }

  #show(problem) {
    this.#problem.textContent = problem;
    this.field.ariaInvalid = problem ? "true" : null;
  }

  #recount() {
    const n = countChars(this.value);
    this.#counter.textContent = this.#say("counter", { n, max: MAX_CHARS });
    this.#show(n > MAX_CHARS ? this.#problemWith(this.value) : "");
  }

  #askOnEnter(event) {
    // Enter that ends an input method's composition belongs to the composition.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.submit(this.value);
  }
}

export function suggestionsView(questions, say, onPick) {
  const rows = questions.map((question) =>
    el("li", {}, el("button.suggestion", { dir: "auto", onclick: () => onPick(question) }, question)),
  );
  return el("div.suggestions", { hidden: !rows.length }, el("h3", {}, say("suggestions")), el("ul", {}, ...rows));
}

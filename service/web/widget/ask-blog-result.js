/** What stands below the form: status line, statements, notices, sources, feedback. */
import { el, listOf } from "./ask-blog-dom.js";
import { feedbackView } from "./ask-blog-feedback.js";
import { addStatement, placesView, sentenceFor, sentenceForFault, sourcesOf } from "./ask-blog-view.js";

const BROKEN = ["stopped", "interrupted", "failed"];
const UNFIT = ["question_too_long", "malformed_body"]; // again would fail again

/** One question and what is known of its answer; the result can be drawn from it at any time. */
export const blank = (question = "", key = "") => ({
  question,
  key,
  stage: "",
  statements: [],
  outcome: {},
  fault: {},
  isRated: false,
});

export class ResultView {
  #say;
  #on;
  #title = el("h2.question", { id: "title", dir: "auto" });
  #quotes = el("p.quotes-label", { role: "status" });
  #statements = el("div.statements", { "aria-live": "polite" });
  #notice = el("div.notice", { role: "status" });
  #more = el("div.more");

  constructor(say, on) {
    this.#say = say;
    this.#on = on;
    this.status = el("p.status", { role: "status" });
    this.root = el(
      "section.answer",
      { tabindex: -1, "aria-labelledby": "title" },
      this.#title,
      this.#quotes,
      this.#statements,
      this.#notice,
      this.#more,
    );
  }

  /** Keeping the nodes of the statements keeps the reader's selection in them. */
  draw(state, asked, keepStatements) {
    this.root.hidden = state === "idle";
    this.#title.textContent = this.#say("answer", asked);
    if (!keepStatements) this.#statements.replaceChildren();
    if (!keepStatements) asked.statements.forEach((statement) => this.addStatement(statement));
    this.drawStatus(state, asked);
    this.#quotes.textContent = state === "answered" ? sentenceFor(asked.outcome, this.#say) : "";
    this.#drawNotice(state, asked);
    this.#more.replaceChildren(...(state === "asking" ? [] : this.#moreFor(asked)));
  }

  addStatement(statement) {
    addStatement(this.#statements, statement, this.#say);
  }

  drawStatus(state, { stage, statements, outcome }) {
    const isWritten = state === "answered" && outcome.written_by !== "quotes";
    const done = isWritten ? this.#say("answered", { n: sourcesOf(statements).length }) : "";
    this.status.textContent = state === "asking" ? this.#say(`stage_${stage}`) : done;
  }

  /** Once the field no longer says what was asked, the answer has to. */
  showTitleUnless(isInField) {
    this.#title.hidden = isInField;
  }

  #drawNotice(state, asked) {
    const words = this.#noticeFor(state, asked);
    const canRetry = BROKEN.includes(state) && !UNFIT.includes(asked.fault.code);
    const retry = canRetry && el("button.retry", { onclick: this.#on.onRetry }, this.#say("retry"));
    this.#notice.replaceChildren(...[words && el("p", { dir: "auto" }, words), retry].filter(Boolean));
  }

  #noticeFor(state, { outcome, fault, statements }) {
    if (state === "abstained" || state === "refused") return sentenceFor(outcome, this.#say);
    if (state === "failed") return sentenceForFault(fault, this.#say);
    return BROKEN.includes(state) && this.#say(state + (statements.length ? "_partly" : ""));
  }

  #moreFor({ outcome: { id, outcome, related }, statements, isRated }) {
    const canRate = id && outcome !== "refusal" && !isRated;
    return [
      placesView("sources", "ol", this.#say("sources"), sourcesOf(statements)),
      placesView("related", "ul", this.#say("related"), listOf(related)),
      canRate && feedbackView(this.#say, this.#on.onRate),
    ].filter(Boolean);
  }
}

/** Thumbs up or down for one answer; down asks, optionally, what was wrong. */
import { el } from "./ask-blog-dom.js";

const REASONS = ["wrong", "incomplete", "off_topic", "citation"];
const SVG = "http://www.w3.org/2000/svg";
const THUMB = "M7 21H3V11h4m0 10V11m0 10h9.5a2 2 0 0 0 2-1.6l1.5-7a2 2 0 0 0-2-2.4h-4V5a2.5 2.5 0 0 0-2.5-2.5L7 11";

function thumb(vote, say, onclick) {
  const svg = document.createElementNS(SVG, "svg");
  const path = svg.appendChild(document.createElementNS(SVG, "path"));
  svg.setAttribute("viewBox", "0 0 24 24");
  path.setAttribute("d", THUMB);
  return el(`button.${vote}`, { type: "button", "aria-label": say(vote), title: say(vote), onclick }, svg);
}

/** `send(vote, {reasons, note})` rejects when the vote did not arrive; it can then be cast again. */
export function feedbackView(say, send) {
  const status = el("span", { role: "status" });
  const root = el("div.feedback");

  const cast = async (vote, more) => {
    root.inert = true; // one vote: no second click while the first is on its way
    try {
      await send(vote, more);
      status.textContent = say("thanks");
      root.replaceChildren(status);
    } catch {
      status.textContent = say("not_sent");
    }
    root.inert = false;
  };
  const up = () => cast("up", { reasons: [], note: "" });
  const down = () => {
    root.replaceChildren(whyForm(say, (more) => cast("down", more)), status);
    root.querySelector("input").focus({ preventScroll: true });
  };

  root.append(say("helpful"), thumb("up", say, up), thumb("down", say, down), status);
  return root;
}

function whyForm(say, onSend) {
  const boxes = REASONS.map((value) => el("input", { type: "checkbox", value }));
  const labels = boxes.map((box) => el("label", {}, box, say(`reason_${box.value}`)));
  const words = say("note");
  const note = el("input.note", { maxlength: 500, dir: "auto", "aria-label": words, placeholder: words });
  const onsubmit = (event) => {
    event.preventDefault();
    const reasons = boxes.filter((box) => box.checked).map((box) => box.value);
    onSend({ reasons, note: note.value.trim() });
  };
  return el(
    "form.why",
    { onsubmit },
    el("fieldset", {}, el("legend", {}, say("what")), ...labels),
    el("div.bar", {}, note, el("button.send", {}, say("send"))),
  );
}

/** From the wire to nodes; keeps no state. What a model or an article wrote only becomes text. */
import { el, listOf, safeUrl, textOf } from "./ask-blog-dom.js";

/** `code` in backticks becomes <code>; everything else is text. */
const inline = (text) =>
  text.split(/`([^`\n]+)`/).map((piece, i) => (i % 2 ? el("code", {}, piece) : piece));

/** Code without its fence, and the language the fence named. */
function unfenced(text) {
  const [opening, fence, language] = /^\s*(```+|~~~+)[ \t]*([^\s`]*).*\n/.exec(text) ?? [""];
  const code = text.slice(opening.length).trimEnd();
  return { language, code: fence && code.endsWith(fence) ? code.slice(0, -fence.length).trimEnd() : code };
}

const place = ({ title, section }) =>
  [...new Set([textOf(title), textOf(section)])].filter(Boolean).join(" – ");

/** A link where the address is safe to follow, else the same words without one. */
function link(name, url, props, ...words) {
  const href = safeUrl(url);
  return el((href === undefined ? "span" : "a") + name, { href, ...props }, ...words);
}

function citationLinks(citations, say) {
  const byTarget = new Map(listOf(citations).map((citation) => [`${citation.n} ${citation.url}`, citation]));
  const links = [...byTarget.values()].map((citation) => {
    const n = Number(citation.n) || "?";
    const label = say("source", { n, place: place(citation) });
    return link(".citation", citation.url, { title: textOf(citation.quote), "aria-label": label }, `${n}`);
  });
  return el("span.citations", {}, ...links);
}

function codeBlock({ text, citations }, say) {
  const { language, code } = unfenced(textOf(text));
  const body = el("code", { dir: "ltr" }, code);
  const copy = async ({ target }) => {
    // Without permission or TLS: select, which leaves the reader one keystroke from copying.
    getSelection().selectAllChildren(body);
    await navigator.clipboard?.writeText(code).then(() => (target.textContent = say("copied")), () => {});
  };
  return el(
    "figure.code",
    {},
    el("figcaption", {}, language || say("code"), el("button.copy", { type: "button", onclick: copy }, say("copy"))),
    el("pre", { tabindex: 0, role: "group", "aria-label": say("code") }, body),
    citationLinks(citations, say),
  );
}

/** Adds a statement: sentences flow together, list items share a list. */
export function addStatement(parent, statement, say) {
  if (statement.kind === "code") return parent.append(codeBlock(statement, say));
  const [group, tag] = statement.kind === "list_item" ? ["ul", "li"] : ["p", "span"];
  const last = parent.lastElementChild;
  const home = last?.localName === group ? last : parent.appendChild(el(group));
  const words = el("span.words", { dir: "auto" }, ...inline(textOf(statement.text)));
  home.append(el(`${tag}.statement`, {}, words, citationLinks(statement.citations, say)), " ");
}

/** Distinct sources in the order of their numbers, each with the distinct words quoted from it. */
export function sourcesOf(statements) {
  const byNumber = new Map();
  for (const { quote, ...source } of statements.flatMap(({ citations }) => listOf(citations))) {
    if (!byNumber.has(source.n)) byNumber.set(source.n, { ...source, quotes: new Set() });
    byNumber.get(source.n).quotes.add(textOf(quote).trim());
  }
  return [...byNumber.values()].sort((a, b) => a.n - b.n);
}

/** A titled list of places to read on, or nothing. `list` is "ol" for sources, "ul" for related. */
export function placesView(name, list, title, places) {
  const rows = places.map(({ n, url, quotes = [], ...names }) => {
    const said = [...quotes].filter(Boolean).map((quote) => el("q.quote", { dir: "auto" }, quote));
    const value = Number(n) || undefined;
    return el("li", { value }, link("", url, { dir: "auto" }, place(names) || textOf(url)), ...said);
  });
  return rows.length > 0 && el(`div.${name}`, {}, el("h3", {}, title), el(list, {}, ...rows));
}

/** One honest sentence on an outcome that is not a written answer; "" for one that is. */
export function sentenceFor({ outcome, written_by, why, message }, say) {
  if (outcome === "abstention") return say(`abstained_${why}`);
  if (outcome === "refusal") return textOf(message) || say("refused");
  return written_by === "quotes" ? say(`quotes_${why}`) : "";
}

/** What went wrong, in plain words; an unknown code adds what the service said itself. */
export function sentenceForFault({ code, detail, retryAfter }, say) {
  if (code === "rate_limited" && retryAfter > 0) return say("error_rate_limited_for", { s: retryAfter });
  const plain = say(`error_${code}`);
  return plain === say("error_other") && textOf(detail) ? `${plain} (${textOf(detail)})` : plain;
}

/** The one way nodes come to be here. Nothing is ever parsed as HTML. */

/** `el("p.status", {role: "status", onclick}, "text", node)`; the name is both class and ::part. */
export function el(selector, props, ...children) {
  const [tag, name] = selector.split(".");
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries({ class: name, part: name, ...props })) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== false) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.filter(Boolean));
  return node;
}

/** Text off the wire. Direction controls go: one left open reaches past dir="auto". */
export const textOf = (value) =>
  typeof value === "string" ? value.replace(/[\u202a-\u202e\u2066-\u2069]/g, "") : "";

/** Objects off the wire. */
export const listOf = (value) => (Array.isArray(value) ? value : []).filter((item) => item instanceof Object);

/** The address as given if following it opens a page and runs nothing; otherwise undefined. */
export const safeUrl = (raw) =>
  raw && typeof raw === "string" && /^https?:$/.test(el("a", { href: raw }).protocol) ? raw : undefined;

/** The look, constructed: fine under a strict CSP. Pages set --ask-* on the element, or use ::part(). */
const LIGHT = `color-scheme: light;
  --ask-ink: #1f2421; --ask-muted: #5d645f; --ask-surface: #fff; --ask-raised: #f3f4f1;
  --ask-line: #d9ddd8; --ask-accent: #0b6a5c; --ask-on-accent: #fff; --ask-danger: #a3321f;`;
const DARK = `color-scheme: dark;
  --ask-ink: #e7eae6; --ask-muted: #a2aaa4; --ask-surface: #1a1e1c; --ask-raised: #252a27;
  --ask-line: #3a413d; --ask-accent: #7fd6c2; --ask-on-accent: #08201b; --ask-danger: #ff9e87;`;

const TEXT = `
:host { ${LIGHT}
  --ask-font: system-ui, sans-serif;
  --ask-font-mono: ui-monospace, Menlo, Consolas, monospace;
  --ask-radius: 12px;
  --_tint: color-mix(in srgb, var(--ask-accent) 12%, transparent);
  display: block; color: var(--ask-ink); font: 1rem/1.6 var(--ask-font); text-align: start; overflow-wrap: anywhere;
}
@media (prefers-color-scheme: dark) { :host(:not([theme="light"])) { ${DARK} } }
:host([theme="dark"]) { ${DARK} }
[hidden], .status:empty, .answer > :empty { display: none !important; }
* { box-sizing: border-box; margin: 0; padding: 0; }
:is(a, button, pre, section):focus-visible { outline: 2px solid var(--ask-accent); outline-offset: 2px; }
.panel, .answer, .statements, .more { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1rem; }
ul, ol { padding-inline-start: 1.5rem; }
li + li { margin-block-start: .5rem; }
.bar, .notice, .feedback, .why label, .suggestions ul, figcaption {
  display: flex; flex-wrap: wrap; align-items: center; gap: .5rem;
}
h2, h3, .status, .feedback, .counter, .quote, .problem, figcaption {
  color: var(--ask-muted); font-size: .875rem;
}
h3 { margin-block-end: .5rem; }
a { color: var(--ask-accent); text-underline-offset: .2em; }

.label { display: block; margin-block-end: .5rem; font-weight: 600; }
.box, .code {
  border: 1px solid var(--ask-line); border-radius: var(--ask-radius); background: var(--ask-surface);
}
.box:focus-within { border-color: var(--ask-accent); box-shadow: 0 0 0 3px var(--_tint); }
.field {
  display: block; inline-size: 100%; padding: .8rem 1rem 0; border: 0; outline: 0; resize: none;
  background: none; color: inherit; font: inherit; font-size: 1.0625rem;
  field-sizing: content; min-block-size: 3.6em; max-block-size: 14em;
}
::placeholder { color: var(--ask-muted); }
.bar { justify-content: end; padding: .5rem; }
.counter { margin-inline: .5rem auto; }
.problem:not(:empty) { margin-block-start: .5rem; color: var(--ask-danger); }

button, .note {
  min-block-size: 2.5rem; padding: .375rem 1rem; border: 1px solid var(--ask-line); border-radius: 8px;
  background: var(--ask-surface); color: inherit; font: inherit; font-size: .9375rem;
}
button { cursor: pointer; }
button:hover { border-color: var(--ask-accent); background: var(--_tint); }
.ask, .ask:hover, a.citation:hover {
  border-color: transparent; background: var(--ask-accent); color: var(--ask-on-accent); font-weight: 600;
}
.suggestions { margin-block-start: .5rem; }
.suggestions :is(ul, li) { margin: 0; padding: 0; list-style: none; }
.suggestion { border-radius: 1.25rem; text-align: start; line-height: 1.35; }
.copy, .up, .down {
  min-block-size: 2.25rem; padding: 0 .625rem; border-color: transparent; background: none;
  font-size: inherit;
}

:host([state="asking"]) .status::before {
  content: ""; display: inline-block; inline-size: .5rem; block-size: .5rem; margin-inline-end: .625rem;
  border-radius: 50%; background: var(--ask-accent); animation: pulse 1.2s infinite;
}
@media (prefers-reduced-motion: no-preference) { @keyframes pulse { 50% { opacity: .25; } } }
.statements { font-size: 1.0625rem; line-height: 1.65; }
.citation {
  display: inline-block; min-inline-size: 1.5rem; margin-inline-start: .25rem; border-radius: 6px;
  background: var(--_tint); font-size: .75rem; font-weight: 600; line-height: 1.5rem; text-align: center;
  text-decoration: none;
}
code { font-family: var(--ask-font-mono); font-size: .875em; }
.words code { padding: .1em .3em; border-radius: 4px; background: var(--ask-raised); }
.code, .quotes-label, .notice { background: var(--ask-raised); }
figcaption, .notice { justify-content: space-between; }
figcaption { padding: .25rem .375rem 0; padding-inline-start: 1rem; }
pre { padding: .25rem 1rem .875rem; overflow-x: auto; line-height: 1.55; }
.code .citations { display: block; padding: 0 .75rem .75rem; }

.quotes-label, .notice { padding: .75rem 1rem; border-radius: var(--ask-radius); }
:host(:is([state="failed"], [state="interrupted"])) .notice p { color: var(--ask-danger); }
.quotes-label:not(:empty) + .statements .statement {
  display: block; margin-block-end: 1rem; padding-inline-start: 1rem; border-inline-start: 3px solid var(--ask-line);
}
.more {
  gap: 1.25rem; padding-block-start: 1.25rem; border-block-start: 1px solid var(--ask-line);
  font-size: .9375rem; line-height: 1.5;
}
.quotes-label:empty ~ .more .quote { display: block; }
.quote { display: none; }

svg {
  display: block; inline-size: 1.25rem; fill: none; stroke: currentColor; stroke-width: 1.75;
  stroke-linejoin: round;
}
.down svg { rotate: 180deg; }
.why { flex: 1 1 100%; color: var(--ask-ink); }
.why .bar { padding-inline: 0; }
.why label { min-block-size: 2rem; }
fieldset { border: 0; }
.note { flex: 1; min-inline-size: 0; }
@media (pointer: coarse) { button { min-block-size: 2.75rem !important; } }
`;

export const STYLE = new CSSStyleSheet();
STYLE.replaceSync(TEXT);

"""Pages for people: an outcome without script, and the articles with the anchors we promise."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import groupby

from markdown_it import MarkdownIt

from service.types import Section
from service.web.schemas import CitationOut, OutcomeOut, StatementOut

_FENCE_LINE = re.compile(r"^\s*(?:`{3,}|~{3,}).*$", re.MULTILINE)
_CODE_SPAN = re.compile(r"`([^`]+)`")

_PAGE = """<!doctype html>
<html lang="{lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="stylesheet" href="/widget/demo.css">
</head>
<body>
<main class="page">
{body}
</main>
</body>
</html>
"""


def page(title: str, body: str, lang: str = "en") -> str:
    """A whole page; `body` is markup made here, never a reader's or a model's text."""
    return _PAGE.format(title=escape(title), body=body, lang=escape(lang))


def outcome_page(question: str, outcome: OutcomeOut) -> str:
    """The answer to a form post: the same statements and links as the JSON."""
    parts = [f"<h1>{escape(question)}</h1>"]
    if outcome.message:
        parts.append(f"<p>{escape(outcome.message)}</p>")
    parts += [
        f"<ul>{''.join(map(_statement, group))}</ul>" if kind == "list_item" else _joined(group)
        for kind, group in groupby(outcome.statements, key=lambda s: s.kind)
    ]
    if outcome.related:
        links = "".join(
            f'<li><a href="{escape(r.url)}">{escape(r.title)}: {escape(r.section)}</a></li>'
            for r in outcome.related
        )
        parts.append(f"<h2>Sections that may help</h2><ul>{links}</ul>")
    parts.append('<p><a href="/">Ask another question</a></p>')
    return page(question, "\n".join(parts))


def _statement(statement: StatementOut) -> str:
    links = " ".join(_citation(c) for c in statement.citations)
    if statement.kind == "code":
        code = _FENCE_LINE.sub("", statement.text).strip("\n")
        return f"<pre><code>{escape(code)}</code></pre><p>{links}</p>"
    tag = "li" if statement.kind == "list_item" else "p"
    text = _CODE_SPAN.sub(r"<code>\1</code>", escape(statement.text))
    return f"<{tag}>{text} {links}</{tag}>"


def _joined(statements: Iterable[StatementOut]) -> str:
    return "\n".join(map(_statement, statements))


def _citation(citation: CitationOut) -> str:
    name = escape(f"{citation.title}: {citation.section}")
    return f'<a href="{escape(citation.url)}" title="{name}">[{citation.n}] {name}</a>'


def article_page(title: str, text: str, sections: Sequence[Section], language: str = "en") -> str:
    """An article from its cleaned text, every heading with the id that citations link to."""
    renderer = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = renderer.parse(text)
    anchors = _anchors(sections)
    for token in tokens:
        if token.type == "heading_open":
            anchor = next(anchors, "")
            if anchor:
                token.attrSet("id", anchor)
    body = renderer.renderer.render(tokens, renderer.options, {})
    heading = "" if any(s.level == 1 for s in sections) else f"<h1>{escape(title)}</h1>"
    home = '<p><a href="/">Ask a question about these articles</a></p>'
    return page(title, f"{home}\n<article>\n{heading}\n{body}</article>", language)


def _anchors(sections: Sequence[Section]) -> Iterator[str]:
    return (s.anchor for s in sections if s.level > 0)

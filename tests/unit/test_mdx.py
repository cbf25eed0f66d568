"""Bodies with MDX, JSX and dialect syntax become Markdown; what readers see stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.ingest.lexer import PLACEHOLDER
from service.ingest.mdx import strip_mdx


def stripped(text: str, *, mdx: bool = True) -> str:
    """The Markdown without blank lines and placeholders, to compare what is left."""
    markdown = strip_mdx(text, mdx=mdx).markdown.replace(PLACEHOLDER, "")
    return "\n".join(line.rstrip() for line in markdown.split("\n") if line.strip())


SYNTAX = {
    "import": ("import A from 'a'\n\nText", "Text"),
    "import of several lines": (
        "import {\n  A,\n  B as C,\n} from 'a';\nimport 'b'\n\nText",
        "Text",
    ),
    "import of a type": ('import type { A } from "a"\nText', "Text"),
    "export of an object": ("export const a = {\n  b: `}\n\n# no`,\n}\n\nText", "Text"),
    "export of a component": (
        "export const A = () => (\n  <p>it's {1}</p>\n)\n\nText",
        "Text",
    ),
    "export of a function": ("export default function A() {\n\n  return 1\n}\n\nText", "Text"),
    "export up to a heading": ("export const a = 1\n# A", "# A"),
    "re-export": ("export { a } from 'a'\n\nText", "Text"),
    "expression comment": ("A {/* b */} c\n\n{/*\nlong\n\n# no\n*/}\n\nd", "A  c\nd"),
    "html comment": ("A <!-- b\n\nc --> d", "A  d"),
    "self-closing tag": ("A <B c={() => <i>x</i>} d='>' e={`}`}\n  f\n/> g", "A  g"),
    "fragment": ("<>\nText\n</>", "Text"),
    "member name": ("<A.B c>\nText\n</A.B>", "Text"),
    "string expression": ("A{' '}b{\"c\"}{`*d*`}", "A bc\\*d\\*"),
    "amounts of money": ("$5{1 + 1} or $6", "$5 or $6"),
    "number": ("Up to {Infinity} or {42}", "Up to Infinity or 42"),
    "other expression": ("A {b.map((c) => <d>{c}</d>)} e", "A  e"),
    "tags do not glue words": ("foo<Icon/>bar", "foo bar"),
    "inline elements do not split words": ("H<sub>2</sub>O", "H2O"),
    "line break": ("a<br/>b", "a b"),
    "block elements split": ("<p>a</p><p>b</p>", "a\nb"),
    "script": ("a\n\n<script>\nlet b = '</p>'\n</script>\n\nc", "a\nc"),
    "style": ("<style>{`a { b: c }`}</style>\n\nd", "d"),
    "details": ("<details><summary>a</summary>\nb\n</details>", "a\nb"),
    "empty anchor": ('## A <a name="b"></a>', "## A"),
}


@pytest.mark.parametrize(("text", "expected"), SYNTAX.values(), ids=SYNTAX.keys())
def test_syntax_goes_and_children_stay(text, expected):
    assert stripped(text) == expected


PROSE = {
    "import as a word": "import the module first.",
    "export as a word": "export default settings from the menu.",
    "import within a paragraph": "You can\nimport a from 'a'",
    "comparison": "a < b and c <= d, I <3 it",
    "generic": "An Array<string> or Map<K, V>",
    "not equal": "a <> b",
    "open brace": "a { b",
    "braces around words": "use {braces like this} here",
    "autolink": "see <https://example.com/a?b=c> or <me@example.com>",
    "placeholder": "run it <path> twice",
    "unclosed comment": "a {/* b",
    "unclosed tag": "a <b c=",
    "math": "$\\frac{a}{b}$\n$$\nx_{1}\n$$",
    "escapes": r"a \<b> and \{c}",
}


@pytest.mark.parametrize("text", PROSE.values(), ids=PROSE.keys())
def test_what_only_looks_like_syntax_stays(text):
    assert stripped(text) == text


CODE = {
    "fence": "```jsx\nimport A from 'a'\n\n<A>{b}</A>\n{/* c */}\n```",
    "tilde fence": "~~~\n```\n<A/>\n~~~",
    "longer fence": "````md\n```\n<A/>\n```\n````",
    "fence in a list": "- a\n\n  ```\n  <A/>\n\n  {b}\n  ```",
    "fence in a quote": "> ```\n> <A/>\n> ```",
    "unclosed fence": "```\n<A/>\n{b}",
    "span": "a `<A b={c}>` d",
    "double span": "a ``<A> ` {b}`` d",
    "span over a line end": "a `<A>\n{b}` c",
    "admonition in a fence": "```\n!!! note\n\n    a\n\n:::note\n```",
}


@pytest.mark.parametrize("text", CODE.values(), ids=CODE.keys())
@pytest.mark.parametrize("mdx", [True, False])
def test_nothing_inside_code_changes(text, mdx):
    assert strip_mdx(text, mdx=mdx).markdown == text


def test_a_span_that_its_paragraph_does_not_close_is_no_code():
    assert stripped("a ` b <A/>\n\nc ` d") == "a ` b\nc ` d"


def test_indented_code_in_markdown_stays_as_it_is():
    text = "Text\n\n    <A b={c}>\n\n    {d}\n\nText"
    assert strip_mdx(text, mdx=False).markdown == text


def test_braces_have_no_meaning_in_markdown():
    assert stripped("a {b} {1 + 1} {'c'}", mdx=False) == "a {b} {1 + 1} {'c'}"


DIALECTS = {
    "aside": (":::note\nBody\n:::", "Body"),
    "aside with title": (":::tip[Own **title**]\nBody\n:::", "Own **title**\nBody"),
    "aside with title behind a space": (":::warning Own title\nBody\n:::", "Own title\nBody"),
    "aside with space and attributes": ("::: details More {open}\nBody\n:::", "More\nBody"),
    "nested aside": ("::::note\n:::tip\nBody\n:::\nRest\n::::", "Body\nRest"),
    "colons in prose": (":::\na ::: b", ":::\na ::: b"),
    "admonition": (
        '!!! note "Title"\n\n    Body\n\n        code\n\nAfter',
        "Title\nBody\n    code\nAfter",
    ),
    "collapsible": ("??? note\n    Body", "Body"),
    "open collapsible": ('???+ tip "T"\n\n    Body', "T\nBody"),
    "tabs": ('=== "A"\n\n    a\n\n=== "B"\n\n    b', "A\na\nB\nb"),
    "nested tabs": ('!!! tip\n\n    === "A"\n\n        a\n\n    b\n\nc', "A\na\nb\nc"),
    "tab with a fence": ('=== "A"\n\n    ```sh\n      a\n    ```', "A\n```sh\n  a\n```"),
    "marks in prose": ("!!! really bad\n\ntext", "!!! really bad\ntext"),
    "alert": ("> [!NOTE]\n> Body", ">\n> Body"),
    "alert with title": ("> [!tip] Title\n> Body", ">\n> Title\n>\n> Body"),
    "shortcode": ('a {{< b c="d" >}} e {{% f %}}g{{% /f %}}', "a  e g"),
    "shortcode with visible text": ('{{< figure src="a" alt="A cat" >}}', "A cat"),
    "liquid": ("{% raw %}a{% endraw %}", "a"),
    "liquid highlight": ("{% highlight js %}\n<A/>\n{% endhighlight %}", "~~~~~~js\n<A/>\n~~~~~~"),
    "attribute list": ('![a](b){: style="c" } and [d](e){ .f }', "![a](b) and [d](e)"),
    "preformatted": ("<pre><code>a &lt; <b>b</b>\n  *c*</code></pre>", "```\na < b\n  *c*\n```"),
    "children are not code": ("<div>\n    <p>\n        Text\n    </p>\n</div>", "Text"),
    "children keep their own indentation": ("<A>\n    - a\n      - b\n</A>", "- a\n  - b"),
}


@pytest.mark.parametrize(("text", "expected"), DIALECTS.values(), ids=DIALECTS.keys())
def test_dialects_become_plain_markdown(text, expected):
    assert stripped(text, mdx=False) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('<Tab label="Linux">\na\n</Tab>', "Linux\na"),
        ('<Aside type="tip" title="Own_title">\na\n</Aside>', "Own\\_title\na"),
        ("<Card title={'A'} />", "A"),
        ("<Card title={a} />", ""),
        ('<Image alt="A cat" src={cat} />', "A cat"),
        ('see <img alt="a cat" title="hover" src="b"/> here', "see  a cat  here"),
        ('<abbr title="hover">a</abbr>', "a"),
    ],
)
def test_props_that_readers_see_stay(text, expected):
    assert stripped(text) == expected


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("I <3 it", "`<`"),
        ("a { b", "`{`"),
        ("Array<string>", "counterpart"),
        ("<!-- a -->", "comment"),
    ],
)
def test_what_strict_mdx_rejects_is_warned_of_once(text, word):
    warnings = strip_mdx(f"{text}\n\n{text}", mdx=True).warnings
    assert len(warnings) == 1
    assert word in warnings[0]
    assert strip_mdx(text, mdx=False).warnings == ()


@given(st.text(alphabet=st.sampled_from("<>{}/`'\"=:!?#*_[]()-~|\\ \n\tab1"), max_size=60))
def test_no_text_breaks_it(text):
    strip_mdx(text, mdx=True)
    strip_mdx(text, mdx=False)


@given(st.lists(st.text(alphabet="abcxyz019 ,.;", max_size=20), max_size=12))
def test_plain_prose_comes_back_as_it_is(lines):
    text = "\n".join(line.lstrip() for line in lines)
    assert strip_mdx(text, mdx=True).markdown == text

"""Built HTML becomes the articles that its Markdown sources would give."""

from __future__ import annotations

import html
import re
from collections import Counter
from difflib import SequenceMatcher
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from service.errors import ContentError
from service.ingest.articles import read_folder
from service.ingest.mdx import strip_mdx
from service.ingest.site import read_site
from service.types import Article, BlockKind

HANDBOOK = Path(__file__).parents[2] / "content" / "articles"


@pytest.fixture
def site(tmp_path):
    def write(pages: dict[str, str]) -> Path:
        for name, page in pages.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(page, "utf-8")
        return tmp_path

    return write


@pytest.fixture
def read(site):
    def one(page: str, **options: object) -> Article:
        found = read_site(site({"page.html": page}), **options)
        assert not found.failures
        assert not found.drafts
        return found.articles[0]

    return one


def anchors(article: Article) -> list[tuple[str, str, int]]:
    return [(s.anchor, s.heading, s.level) for s in article.sections]


# ---------------------------------------------------------------- the generators' dress

DOCUSAURUS = """<!doctype html><html lang=en class="docs-wrapper"><head>
<title>Caching | My Site</title><link rel=canonical href="https://a.example/docs/caching">
</head><body><nav class=navbar>My Site</nav><main><div><aside class="theme-doc-sidebar">Menu</aside>
<article><nav class="theme-doc-breadcrumbs">Home</nav><div class="tocCollapsible_x tableOfContents">
On this page</div><div class="theme-doc-markdown markdown"><header><h1>Caching</h1></header>
<p>How it <em>works</em>.</p>
<h2 class="anchor anchorWithStickyNavbar" id="use-it">Use <code>it</code><a href="#use-it"
 class="hash-link" aria-label="Direct link to Use it">&#8203;</a></h2>
<div class="tabs-container"><ul role="tablist"><li role="tab">npm</li><li role="tab">yarn</li></ul>
<div><div role="tabpanel"><p>Run npm.</p></div><div role="tabpanel" hidden><p>Run yarn.</p></div>
</div></div>
<div class="language-js codeBlockContainer_x theme-code-block"><div class="codeBlockTitle_x">a.js
</div><div class="codeBlockContent_x"><pre tabindex=0 class="prism-code language-js"><code><span
class="token-line"><span>let a</span><br></span><span class="token-line"><span>let b</span><br>
</span></code></pre><div class="buttonGroup_x"><button>Copy</button></div></div></div>
<div class="theme-admonition admonition_x"><div class="admonitionHeading_x"><svg><title>i</title>
</svg>tip</div><div><p>Be quick.</p></div></div></div>
<footer class="theme-doc-footer"><a class="theme-edit-this-page">Edit this page</a></footer>
</article><nav class="pagination-nav">Next</nav></div></main><footer>2026</footer></body></html>"""

STARLIGHT = """<!doctype html><html lang="en-GB"><head><title>Caching | Docs</title>
<meta property="og:title" content="Caching"></head><body><header><form role=search>Search</form>
</header><main><div class="content-panel"><h1 id="_top">Caching</h1></div>
<div class="content-panel"><div class="sl-markdown-content"><p>How it works.</p>
<div class="sl-heading-wrapper level-h2"><h2 id="use-it">Use <code>it</code></h2>
<a class="sl-anchor-link" href="#use-it"><span aria-hidden="true">#</span>
<span class="sr-only">Section titled “Use it”</span></a></div>
<starlight-tabs><div><ul role="tablist"><li role="presentation"><a role="tab">npm</a></li>
<li><a role="tab">yarn</a></li></ul></div><div role="tabpanel"><p>Run npm.</p></div>
<div role="tabpanel" hidden><p>Run yarn.</p></div></starlight-tabs>
<div class="expressive-code"><figure class="frame has-title"><figcaption class="header">
<span class="title">a.js</span></figcaption><pre data-language="js"><code><div class="ec-line">
<div class="gutter"><div class="ln" aria-hidden="true">1</div></div><div class="code">let a</div>
</div><div class="ec-line"><div class="code">let b</div></div></code></pre>
<div class="copy"><button>Copy</button></div></figure></div>
<aside aria-label="Tip" class="starlight-aside starlight-aside--tip"><p
class="starlight-aside__title" aria-hidden="true">tip</p><div><p>Be quick.</p></div></aside>
</div><footer>Last updated <time datetime="2026-01-02">2 Jan</time></footer></div></main>
<aside class="right-sidebar">On this page</aside></body></html>"""

MATERIAL = """<!doctype html><html lang="en"><head><title>Caching - Docs</title></head><body>
<div class="md-container"><main class="md-main"><div class="md-sidebar"><nav>Menu</nav></div>
<div class="md-content"><article class="md-content__inner md-typeset">
<a class="md-content__button md-icon" title="Edit this page" href="x"></a>
<h1>Caching<a class="headerlink" href="#caching" title="Permanent link">&para;</a></h1>
<p>How it works.</p>
<h2 id="use-it">Use <code>it</code><a class="headerlink" href="#use-it">&para;</a></h2>
<div class="tabbed-set tabbed-alternate"><input type=radio><div class="tabbed-labels">
<label>npm</label><label>yarn</label></div><div class="tabbed-content"><div class="tabbed-block">
<p>Run npm.</p></div><div class="tabbed-block"><p>Run yarn.</p></div></div></div>
<div class="language-js highlight"><table class="highlighttable"><tr><td class="linenos"><div
class="linenodiv"><pre><span></span><span class="normal">1</span></pre></div></td>
<td class="code"><div><span class="filename">a.js</span><pre><span></span><code><a
id="__codelineno-0-1" href="#__codelineno-0-1"></a>let a
let b
</code></pre></div></td></tr></table></div>
<div class="admonition tip"><p class="admonition-title">tip</p><p>Be quick.</p></div>
<aside class="md-source-file">Last update</aside></article></div></main></div></body></html>"""

HUGO = """<!doctype html><html lang=en><head><title>Caching</title><meta
property="article:published_time" content="2026-01-02T10:00:00Z"><body class=single><header>Blog
</header><main><article class=post-single><header><h1 class=post-title>Caching</h1><div>January 2
· 3 min</div></header><details class=toc><summary>Table of Contents</summary></details>
<div class=post-content><p>How it works.<h2 id=use-it>Use <code>it</code><a hidden class=anchor
aria-hidden=true href=#use-it>#</a></h2><p>npm<p>Run npm.<p>yarn<p>Run yarn.
<div class=highlight><figure><figcaption>a.js</figcaption><table class=lntable><tr><td class=lntd>
<pre class=chroma><code><span class=lnt>1
</span><span class=lnt>2
</span></code></pre><td class=lntd><pre class=chroma><code class=language-js data-lang=js><span
class=line><span class=cl>let a
</span></span><span class=line><span class=cl>let b
</span></span></code></pre></table></figure></div><blockquote><p>tip<p>Be quick.</blockquote></div>
<footer class=post-footer>Tags</footer></article></main></html>"""

JEKYLL = """<!doctype html><html lang="en"><head><title>Caching | Blog</title></head><body>
<main class="page-content"><div class="wrapper"><article class="post h-entry"><header
class="post-header"><h1 class="post-title p-name">Caching</h1><p class="post-meta"><time
class="dt-published" datetime="2026-01-02T00:00:00+00:00" itemprop="datePublished">Jan 2</time></p>
</header><div class="post-content e-content" itemprop="articleBody"><p>How it works.</p>
<h2 id="use-it">Use <code class="language-plaintext highlighter-rouge">it</code></h2>
<p>npm</p><p>Run npm.</p><p>yarn</p><p>Run yarn.</p>
<div class="language-js highlighter-rouge"><div class="highlight"><pre class="highlight"><code>
<table class="rouge-table"><tbody><tr><td class="rouge-gutter gl"><pre class="lineno">1
2
</pre></td><td class="rouge-code"><pre>let a
let b
</pre></td></tr></tbody></table></code></pre></div></div><p>tip</p><p>Be quick.</p></div>
<a class="u-url" href="/x" hidden></a></article></div></main></body></html>"""

PLAIN = """<html lang="en"><head><title>Caching</title></head><body><table><tr><td>
<a href="/">Home</a> <a href="/all">All articles of this site</a><td><h1>Caching</h1>
How it works.<a name="use-it"></a><h2>Use <code>it</code></h2><p>npm<p>Run npm.<p>yarn<p>Run yarn.
<pre class="lang-js">let a
let b</pre><dl><dt>tip<dd>Be quick.</dl></table></body></html>"""

TEXT = """How it works.

## Use `it`

npm

Run npm.

yarn

Run yarn.

```js
let a
let b
```

tip

Be quick."""

STYLES = {
    "docusaurus": (DOCUSAURUS, True),
    "starlight": (STARLIGHT, True),
    "material": (MATERIAL, True),
    "hugo": (HUGO, True),
    "jekyll": (JEKYLL, False),
    "plain": (PLAIN, False),
}


@pytest.mark.parametrize(("page", "titled"), STYLES.values(), ids=STYLES.keys())
def test_every_generator_gives_the_same_article(read, page, titled):
    article = read(page)
    assert article.text == (TEXT.replace("```js", '```js title="a.js"') if titled else TEXT)
    assert anchors(article) == [("", "Caching", 0), ("use-it", "Use it", 2)]
    assert (article.slug, article.title, article.language) == ("page", "Caching", "en")


@pytest.mark.parametrize(
    ("page", "published"),
    [(STARLIGHT, "2026-01-02"), (HUGO, "2026-01-02"), (JEKYLL, "2026-01-02"), (PLAIN, None)],
)
def test_the_date_is_that_of_the_head_or_of_the_first_time_element(read, page, published):
    assert read(page).published == published


def test_the_canonical_address_is_the_articles_url(read):
    assert read(DOCUSAURUS).url == "https://a.example/docs/caching"
    assert read(STARLIGHT).url is None


# ---------------------------------------------------------------- headings

HEADINGS = {
    "own id": ('<h2 id="a">T</h2>', "a"),
    "id of a link inside": ('<h2><a id="a"></a>T</h2>', "a"),
    "name of a link inside": ('<h2><a name="a">T</a></h2>', "a"),
    "id of the permalink": ('<h2><a id="a" class="anchor" href="#a">#</a>T</h2>', "a"),
    "link before": ('<a id="a"></a><h2>T</h2>', "a"),
    "link in a paragraph before": ('<p><a name="a"></a></p><h2>T</h2>', "a"),
    "section": ('<section id="a"><h2>T</h2><p>x</p></section>', "a"),
    "old section": ('<div class="section" id="a"><h2>T</h2><p>x</p></div>', "a"),
    "linked text": ('<h2 id="a"><a href="#a">T</a></h2>', "a"),
    "link beside": ('<h2 id="a">T</h2><a href="/page#a">#</a>', "a"),
    "hidden text": ('<h2 id="a"><span class="visually-hidden">Link to</span>T</h2>', "a"),
    "text that is hidden from readers of the screen": (
        '<h2 id="a"><span aria-hidden="true">T</span></h2>',
        "a",
    ),
    "not ascii": ('<h2 id="über-äpfel">T</h2>', "über-äpfel"),
    "markup in the id": ('<h2 id="a_b_*c*{d}`e">T</h2>', "a_b_*c*{d}`e"),
}


@pytest.mark.parametrize(("heading", "anchor"), HEADINGS.values(), ids=HEADINGS.keys())
def test_a_heading_keeps_its_id_and_loses_its_decoration(read, heading, anchor):
    article = read(f"<main><h1>Page</h1><p>Intro.</p>{heading}<p>More.</p></main>")
    assert anchors(article) == [("", "Page", 0), (anchor, "T", 2)]


def test_a_heading_without_an_id_is_opened_at_the_last_one_that_has_one(read):
    article = read("<main><h2>A</h2>a<h2 id=b>B</h2>b<h3>C</h3>c</main>")
    assert [(s.anchor, s.heading_path) for s in article.sections] == [
        ("", ("A",)),
        ("b", ("B",)),
        ("b", ("B", "C")),
    ]


def test_a_title_with_an_id_is_a_section_as_in_markdown(read):
    article = read('<main><h1 id="t">T</h1><p>a</p><h2 id="b">B</h2></main>')
    assert [(s.anchor, s.heading_path) for s in article.sections] == [("t", ("T",)), ("b", ("B",))]


@pytest.mark.parametrize(
    ("head", "body", "title"),
    [
        ("<title>T | Site</title>", "<h1>T</h1>", "T"),
        ("<title>T | Site</title><meta property=og:title content=O>", "<p>a", "O"),
        ("<title>T | Site</title><meta property=og:site_name content=Site>", "<p>a", "T"),
        ("<title>T | Site</title>", "<p>a", "T | Site"),
        ("", "<p>a", "page"),
    ],
)
def test_the_title_is_that_of_the_page_then_of_its_head_then_of_the_file(read, head, body, title):
    assert read(f"<head>{head}</head><main>{body}<p>b</main>").title == title


# ---------------------------------------------------------------- text

TEXTS = {
    "what looks like markup": (
        "<p>2*3*4 a_b_c &lt;T&gt; [x](y) `z` ~~s~~ &amp;amp; \\* # a | b {#c} [^1]: $x$</p>",
        "2*3*4 a_b_c <T> [x](y) `z` ~~s~~ &amp; \\* # a | b {#c} [^1]: $x$",
    ),
    "what looks like blocks": (
        "<p>1. a</p><p>- b</p><p># c</p><p>&gt; d</p><p>: e</p><p>===</p><p>f\n---</p><p>+ g</p>"
        "<p>```</p><p>1986) h</p>",
        "1. a\n\n- b\n\n# c\n\n> d\n\n: e\n\n===\n\nf\n---\n\n+ g\n\n```\n\n1986) h",
    ),
    "inline elements": ("<p>a<b>b</b><i>c</i> <a href=x>d</a> <kbd>e</kbd>", "abc d e"),
    "code beside code": ("<p><code>a</code><code>b`c</code></p>", "`a```b`c``"),
    "spaces in code": ("<p>a<code>b: </code>c</p>", "a`b: `c"),
    "breaks": ("<p>a<br>b</p>", "a\nb"),
    "a picture": ("<p>a <img src=b alt='c *d*'> e</p>", "a c *d* e"),
    "a list": (
        "<ol start=3><li>a<ul><li>b</ul>c</li><li><p>d</p><pre>e\n\n  f</pre></ol>",
        "3. a\n\n   - b\n\n   c\n\n4. d\n\n   ```\n   e\n\n     f\n   ```",
    ),
    "tasks": (
        "<ul><li><input type=checkbox checked> a<li><input type=checkbox>b</ul>",
        "- [x] a\n- [ ] b",
    ),
    "lists beside each other": ("<ol><li>a</ol><ol><li>b</ol>", "1. a\n\n1. b"),
    "a table": (
        "<table><caption>t</caption><thead><tr><th>a<tbody><tr><td>b|c<td><code>d|e</code>"
        "<tfoot><tr><td colspan=²>f</table>",
        "t\n\n| a |  |\n| --- | --- |\n| b|c | `d|e` |\n| f |  |",
    ),
    "a table for layout": ("<table><tr><td><pre>a</pre><td>b</table>", "```\na\n```\n\nb"),
    "details": ("<details><summary>a</summary>b</details>", "a\n\nb"),
    "a quote": ("<blockquote><p>a<footer>b</footer></blockquote>", "a\n\nb"),
    "a figure": ("<figure><img alt=a><figcaption>b</figcaption></figure>", "a\n\nb"),
    "a footnote": (
        '<p>a<sup><a href="#fn1">1</a></sup></p><ol><li id=fn1>b <a class=footnote-backref '
        "href=#r>↩</a></ol>",
        "a\n\n1. b",
    ),
    "math": (
        "<p>so <span class=katex><math><annotation encoding='application/x-tex'>a^2</annotation>"
        "</math><span aria-hidden=true>a2</span></span></p>",
        "so $a^2$",
    ),
    "code with fences": ("<pre><code>```\na\n```</code></pre>", "````\n```\na\n```\n````"),
    "what is no text": (
        "<script>a</script><style>b</style><noscript>c</noscript><template>d</template><!-- e -->"
        "<p>f</p><button>g</button><div hidden>h</div><form>i</form><nav>j</nav><div class=toc>k"
        "</div><div aria-hidden=true>l</div><div role=search>m</div>",
        "f",
    ),
    "a picked heading": ("<h2 class=toc id=toc>Toc</h2><p>a</p>", "## Toc\n\na"),
}


@pytest.mark.parametrize(("body", "text"), TEXTS.values(), ids=TEXTS.keys())
def test_the_text_is_what_readers_see(read, body, text):
    assert read(f"<main>{body}</main>").text == text


def test_the_main_element_and_what_is_dropped_can_be_chosen(read):
    page = "<main>a</main><div class=x>b<p class=promo>c</p></div>"
    assert read(page, main_selector=".x", drop_selectors=[".promo"]).text == "b"


def test_without_known_elements_the_densest_part_is_the_article(read):
    page = """<div><ul><li><a href=a>First page</a><li><a href=b>Second page</a></ul></div>
    <div><div><p>Some words that are the article of this page.</p>
    <p>And more of them.</p></div></div><div>Imprint</div>"""
    assert read(page).text == "Some words that are the article of this page.\n\nAnd more of them."


# ---------------------------------------------------------------- which pages

LISTING = (
    "<main><article><h2><a href=a>A</a></h2>a a a</article>"
    "<article><h2><a href=b>B</a></h2>b b b</article></main>"
)
LEFT_OUT = {
    "a redirect": ("a.html", '<meta http-equiv=refresh content="0; url=/b"><a href=/b>b</a>'),
    "noindex": ("a.html", "<meta name=robots content='noindex, follow'><main>a</main>"),
    "not found": ("404.html", "<main>Not found</main>"),
    "search": ("search/index.html", "<main>Type a word</main>"),
    "posts": ("index.html", LISTING),
    "links": (
        "all/index.html",
        "<main><h1>All</h1><ul><li><a href=a>A first title</a></ul></main>",
    ),
    "a tag": ("tags/a.html", "<main><h1>a</h1><a href=b>Title of b</a> some words</main>"),
    "posts of docusaurus": ("blog/index.html", "<html class=blog-list-page><main>a</main>"),
}


@pytest.mark.parametrize(("name", "page"), LEFT_OUT.values(), ids=LEFT_OUT.keys())
def test_pages_that_are_no_article_are_left_out(site, name, page):
    found = read_site(site({name: page, "z/index.html": "<main>words</main>"}))
    assert [article.slug for article in found.articles] == ["z/index"]
    assert [draft.path for draft in found.drafts] == [name]
    assert not found.failures


FAILED = {
    "not utf-8": (b"<main>\xff</main>", "byte 6 is not UTF-8"),
    "unknown encoding": (b"<meta charset=klingon><main>a</main>", "encoding 'klingon'"),
    "drawn by a script": (b"<body><div id=root></div><script>a</script>", "no text outside"),
    "too deep": (b"<main>" + b"<div>" * 3000 + b"a", "nested too deeply"),
}


@pytest.mark.parametrize(("raw", "message"), FAILED.values(), ids=FAILED.keys())
def test_a_page_that_cannot_be_read_is_a_failure_and_stops_no_other(tmp_path, raw, message):
    (tmp_path / "a.html").write_bytes(raw)
    (tmp_path / "b.html").write_text("<main>b</main>", "utf-8")
    found = read_site(tmp_path)
    assert [article.slug for article in found.articles] == ["b"]
    assert message in found.failures[0].message
    assert found.failures[0].message.startswith("a.html: ")


def test_a_declared_encoding_is_used(tmp_path):
    (tmp_path / "a.html").write_bytes("<meta charset=iso-8859-1><main>é</main>".encode("latin-1"))
    assert read_site(tmp_path).articles[0].text == "é"


def test_an_address_that_several_pages_claim_is_not_used(site):
    page = "<link rel=canonical href=https://a.example/><main>{}</main>"
    found = read_site(site({"a.html": page.format("a"), "b.html": page.format("b")}))
    assert [article.url for article in found.articles] == [None, None]
    assert all("canonical" in article.warnings[0] for article in found.articles)


@pytest.mark.parametrize(
    ("pages", "options", "message"),
    [
        ({"a.txt": ""}, {}, "no .html file"),
        ({"a.html": "<main>a"}, {"main_selector": "["}, "is not a CSS selector"),
        ({"a.html": "<main>a"}, {"drop_selectors": [">>"]}, "is not a CSS selector"),
        ({"a.html": "<main>a"}, {"main_selector": ".b"}, "no page of"),
        ({"404.html": "<main>a"}, {}, "no page of"),
    ],
)
def test_a_folder_without_articles_is_an_error(site, pages, options, message):
    with pytest.raises(ContentError, match=re.escape(message)):
        read_site(site(pages), **options)


def test_two_files_with_one_slug_are_a_failure_of_the_second(site):
    found = read_site(site({"a.htm": "<p>a", "a.html": "<p>b"}))
    assert [article.text for article in found.articles] == ["a"]
    assert "the slug `a`" in found.failures[0].message


def test_assets_and_hidden_folders_are_not_searched(site):
    found = read_site(site({"_astro/a.html": "<p>a", ".b/c.html": "<p>a", "d.htm": "<p>d"}))
    assert [article.slug for article in found.articles] == ["d"]


# ---------------------------------------------------------------- there and back


def rendered(source: str, article: Article) -> str:
    """The source as a generator would build it, with the ids of the article's sections."""
    body = strip_mdx(source.split("---\n", 2)[2], mdx=True).markdown
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    ids = iter([section.anchor for section in article.sections if section.level])
    out = re.sub(
        r"<(h[1-6])>(.*?)</h[1-6]>",
        lambda m: _heading(m[1], m[2], next(ids)),
        parser.disable("code").render(body),
    )
    title = html.escape(article.title)
    return f"""<!doctype html><html lang="en"><head><title>{title} – Blog</title></head><body>
    <nav><a href="/">Blog</a></nav><main><article><header><h1>{title}</h1>
    <time datetime="{article.published}">then</time></header>{out}<footer>Share</footer></article>
    </main><footer>Imprint</footer></body></html>"""


def _heading(tag: str, text: str, anchor: str) -> str:
    """With a permalink, and without an id that an author wrote into the text."""
    text = re.sub(r"\s*\{#[^}]*\}$", "", text)
    return f'<{tag} id="{anchor}">{text}<a class="headerlink" href="#{anchor}">¶</a></{tag}>'


def test_the_handbook_is_the_same_from_markdown_and_from_html(tmp_path):
    sources = {article.slug: article for article in read_folder(HANDBOOK).articles}
    for slug, article in sources.items():
        source = (HANDBOOK / f"{slug}.mdx").read_text("utf-8")
        (tmp_path / f"{slug}.html").write_text(rendered(source, article), "utf-8")
    built = {article.slug: article for article in read_site(tmp_path).articles}
    assert built.keys() == sources.keys()
    for slug, article in sources.items():
        assert _outline(built[slug]) == _outline(article)
        assert (built[slug].title, built[slug].published) == (article.title, article.published)
        assert _kinds(built[slug]) == _kinds(article)
        assert _alike(built[slug].text, article.text) >= 0.999


def _outline(article: Article) -> list[tuple[object, ...]]:
    return [(s.anchor, s.heading, s.level, s.heading_path) for s in article.sections]


def _kinds(article: Article) -> Counter[BlockKind]:
    return Counter(block.kind for block in article.blocks)


def _alike(one: str, other: str) -> float:
    words = re.findall(r"\S+", one), re.findall(r"\S+", other)
    blocks = SequenceMatcher(None, *words, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) / max(map(len, words))


# ---------------------------------------------------------------- whatever the page

TAGS = (
    "<main>|<article>|<div>|<p>|<h1>|<h2>|<h2 id=a>|<pre>|<code>|<table>|<tr>|<td>|<ul>|<ol>|<li>|"
    "<a>|<section>|<header>|<nav>|<aside>|<form>|<dl>|<dt>|<dd>|<br>|<hr>|<img>|<b>|<details>|"
    "<summary>|<blockquote>|<svg>|<math>|<template>|<select>|<label>|<figure>|<input>|</main>|"
    "</article>|</div>|</p>|</h2>|</pre>|</code>|</table>|</td>|</ul>|</li>|</a>|<td colspan=²>|"
    "<ol start=²>|<ol start=9999999999>|<ul role=tablist>|<li role=tab>|<div role=tabpanel>|"
    "<h2 id='a b'>|<a name=q>|<pre class=x>|<h3 hidden>|<div class=highlight>|<!--|-->|</"
)
WORDS = (
    "a|*b*|- c|1. d|# e|> f|```|g|---|===|: i|[j](k)|<|&|&amp;|\\|`l`|\n|\n\n|    m|{#n}|[^o]: p|~~"
    "|\0|\x1e|\x1f|&#x1DA8B;"
)
PIECES = [*TAGS.split("|"), *WORDS.split("|"), "| h |"]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=30))
def test_blocks_and_sections_fit_whatever_the_page(tmp_path_factory, pieces):
    path = tmp_path_factory.mktemp("site") / "page.html"
    path.write_text("".join(pieces), "utf-8")
    (path.parent / "other.html").write_text("<p>other", "utf-8")
    for article in read_site(path.parent).articles:
        end = 0
        for block in article.blocks:
            assert block.start >= end
            assert not article.text[end : block.start].strip()
            assert article.text[block.start : block.end].strip()
            end = block.end
        assert not article.text[end:].strip()
        assert "".join(article.text[s.start : s.end] for s in article.sections) == article.text
        starts = [block.start for block in article.blocks if block.kind is BlockKind.HEADING]
        assert [section.start for section in article.sections if section.level] == starts


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(alphabet="ab1 *_`~#>|-+=:.)([]{}<&\\!^$\n", max_size=12), max_size=6))
def test_prose_is_shown_as_it_is_whatever_it_looks_like(tmp_path_factory, paragraphs):
    path = tmp_path_factory.mktemp("site") / "page.html"
    body = "".join(f"<p>{html.escape(text)}</p>" for text in paragraphs)
    path.write_text(f"<main><p>start</p>{body}</main>", "utf-8")
    article = read_site(path).articles[0]
    assert article.text.split() == ["start", *" ".join(paragraphs).split()]
    assert {block.kind for block in article.blocks} == {BlockKind.PROSE}

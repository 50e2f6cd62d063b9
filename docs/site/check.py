"""Holds the built site against what it promises: links that lead somewhere, nothing fetched from elsewhere, a search index, a start page that is short."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[2]
FETCHED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}


class Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.names: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.names.update(values[name] for name in ("id", "name") if name in values)
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag in FETCHED and FETCHED[tag] in values and values.get("rel") != "canonical":
            self.fetched.append(values[FETCHED[tag]])


def main(site: Path) -> None:
    pages = {}
    for path in sorted(site.rglob("*.html")):
        pages[path] = Page()
        pages[path].feed(path.read_text())
    problems = []
    links = 0
    for path, page in pages.items():
        if path.name == "404.html":
            continue
        for link in page.links + page.fetched:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                # What lies in the page itself is fetched from nowhere.
                if link in page.fetched and parts.scheme != "data":
                    problems.append(f"{path}: fetches {link}")
                continue
            links += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.is_file():
                problems.append(f"{path}: {link} leads nowhere")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].names:
                problems.append(f"{path}: {link} has no such place")
    for style in site.rglob("*.css"):
        problems += [f"{style}: fetches {url}" for url in re.findall(r"url\(['\"]?(https?:[^)]*)\)", style.read_text())]
    words = len((ROOT / "docs/start.md").read_text().split())
    if words >= 900:
        problems.append(f"docs/start.md has {words} words; a start page has fewer than 900")
    if not list(site.rglob("search_index.js*")):
        problems.append("there is no search index")
    print("\n".join(problems))
    print(f"{len(pages)} pages, {links} links, {len(problems)} problems")
    sys.exit(bool(problems))


main(Path(sys.argv[1]).resolve())

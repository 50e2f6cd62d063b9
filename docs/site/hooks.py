"""What the site has beside the pages of docs/: pages of the project, the Python page, notebooks as they were last run, and a reference of the commands, made
of the program's own help.

A link to a file of the project that is no page of the site becomes the file's name: the site leads nowhere that it does not hold.
"""

from __future__ import annotations

import html
import json
import os
import posixpath
import re
import subprocess
from pathlib import Path

from mkdocs.structure.files import File, Files, InclusionLevel

ROOT = Path(__file__).resolve().parents[2]
# Pages that lie outside of docs/, and where the site has them.
PAGES = {
    "docs/start.md": "index.md",
    "ARCHITECTURE.md": "project/ARCHITECTURE.md",
    "CONTRIBUTING.md": "project/CONTRIBUTING.md",
    "CHANGELOG.md": "project/CHANGELOG.md",
    "ROADMAP.md": "project/ROADMAP.md",
    "SECURITY.md": "project/SECURITY.md",
    "CODE_OF_CONDUCT.md": "project/CODE_OF_CONDUCT.md",
    "python/README.md": "python.md",
    "docs/decisions/README.md": "decisions/index.md",
}
LINK = re.compile(r"\[([^\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")


def help_of(*words: str) -> str:
    program = os.environ["EQUIPOISE"]
    environment = {**os.environ, "COLUMNS": "100"}
    members = ROOT / "sql/target/debug/equipoise-sql"
    if members.exists():
        environment.setdefault("EQUIPOISE_SQL_PROGRAM", str(members))
    # The server and members of a cluster are programs of their own, which `equipoise` says where they are not built.
    apart = words in (("serve",), ("cluster",))
    done = subprocess.run([program, *words, "--help"], capture_output=True, text=True, check=not apart, env=environment)
    return done.stdout or done.stderr


def verbs() -> list[str]:
    """The commands that the program itself lists."""
    found = re.findall(r"^  ([a-z][a-z-]*)(?=\s)", help_of(), flags=re.MULTILINE)
    assert len(found) > 20, "the program lists its commands"
    return [verb for verb in dict.fromkeys(found) if verb != "help"]


def reference() -> dict[str, str]:
    pages = {}
    lines = []
    for verb in verbs():
        text = help_of(verb)
        first = text.splitlines()[0]
        lines.append(f"| [{verb}]({verb}.md) | {html.escape(first)} |")
        pages[f"reference/{verb}.md"] = f"# equipoise {verb}\n\n```text\n{text.rstrip()}\n```\n"
    table = "\n".join(["| command | what it does |", "|---|---|", *lines])
    pages["reference/index.md"] = f"# Commands\n\nMade of what `equipoise --help` prints.\n\n{table}\n"
    return pages


def notebook(path: Path) -> str:
    """A notebook as a page: its words, its code, and what it put out when it was last run."""
    parts = []
    for cell in json.loads(path.read_text())["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(text)
            continue
        parts.append(f"```python\n{text}\n```")
        parts += [shown for output in cell["outputs"] if (shown := shown_output(output))]
    where = f"`docs/notebooks/{path.name}`, run by the tests of the project with `examples/salaries.csv` beside it."
    return "\n\n".join([*parts, "---", where]) + "\n"


def shown_output(output: dict) -> str:
    data = output.get("data", {})
    text = "".join(output.get("text", data.get("text/plain", "")))
    if "image/png" in data:
        return f'<img alt="{html.escape(text)}" src="data:image/png;base64,{"".join(data["image/png"]).strip()}">'
    if "text/html" in data:
        # Markdown ends a block of HTML at an empty line.
        return "<div>\n" + re.sub(r"\n\s*\n", "\n", "".join(data["text/html"])) + "\n</div>"
    return f"```text\n{text.rstrip()}\n```" if text.strip() else ""


def on_files(files: Files, config: object) -> Files:
    for path in sorted((ROOT / "docs/notebooks").glob("*.ipynb")):
        files.remove(files.get_file_from_path(f"notebooks/{path.name}"))
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=notebook(path)))
    for place, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / place).read_text()))
    for page, text in reference().items():
        # Reached by the table of commands.
        level = InclusionLevel.INCLUDED if page.endswith("index.md") else InclusionLevel.NOT_IN_NAV
        files.append(File.generated(config, page, content=text, inclusion=level))
    for file in files.documentation_pages():
        if re.match(r"decisions/\d", file.src_uri):
            file.inclusion = InclusionLevel.NOT_IN_NAV
    return files


def formulas(markdown: str) -> str:
    """Formulas as MathML, which browsers draw themselves."""
    import latex2mathml.converter

    def drawn(found: re.Match[str]) -> str:
        display = "block" if found[1] else "inline"
        made = latex2mathml.converter.convert((found[1] or found[2]).strip(), display=display)
        return f"\n<div>{made}</div>\n" if found[1] else made

    parts = re.split(r"(^```.*?^```$|`[^`\n]*`)", markdown, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith("`") else re.sub(r"\$\$(.+?)\$\$|\$([^$\n]+?)\$", drawn, part, flags=re.DOTALL) for part in parts)


def on_page_markdown(markdown: str, page: object, config: object, files: Files) -> str:
    """Links as the repository has them, as the site has them."""
    here = page.file.src_uri
    places = {page: place for place, page in PAGES.items()}
    lies = places.get(here, f"docs/{here}")

    def moved(found: re.Match[str]) -> str:
        words, target, anchor = found[1], found[2], found[3] or ""
        if re.match(r"[a-z]+:", target):
            return found[0]
        place = posixpath.normpath(posixpath.join(posixpath.dirname(lies), target))
        page = PAGES.get(place) or (place.removeprefix("docs/") if place.startswith("docs/") else None)
        page = page and re.sub(r"\.ipynb$", ".md", page)
        if here.startswith("reference/"):
            return found[0]
        if page is None or files.get_file_from_path(page) is None:
            return words
        return f"[{words}]({posixpath.relpath(page, posixpath.dirname(here) or '.')}{anchor})"

    if here.startswith("theory/"):
        markdown = formulas(markdown)
    # What differs from run to run: the tests write it so.
    return LINK.sub(moved, markdown.replace("[..]", "…"))


def on_post_page(output: str, page: object, config: object) -> str:
    """What lets the search run without a server is on the site itself."""
    up = "../" * page.file.dest_uri.count("/")
    return output.replace("https://unpkg.com/iframe-worker/shim", f"{up}assets/iframe-worker.js")

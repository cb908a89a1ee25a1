"""From Markdown and from the program to pages of HTML."""

from __future__ import annotations

import html
import json
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import jinja2
from markdown_it import MarkdownIt
from markdown_it.token import Token

import floatgate
from docsite import reference
from docsite.moving import tables
from docsite.policies import policy_pages

ROOT = Path(__file__).resolve().parent.parent.parent


class Page(NamedTuple):
    """A page before it is rendered: its place in the site, and Markdown.

    `source` is the file that its links are seen from, in the repository. `figures` are pieces of
    HTML that stand in the text as `<!-- figure: NAME -->`.
    """

    place: str
    text: str
    source: str
    figures: Mapping[str, str] = {}

    @property
    def title(self) -> str:
        """The first heading."""
        found = re.search(r"^# (.+)$", self.text, re.MULTILINE)
        assert found is not None, f"{self.source} has no heading"
        return found[1].replace("`", "")


INDEX = "docs/README.md"
"""The page that lists all others by purpose; the menu follows it."""

PROJECT = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")


def build(folder: Path, *, figures: bool = True) -> list[str]:
    """Writes every page; the places of all in the site.

    Raises:
        ValueError: A page links to one that is not there; every such link is listed.
    """
    pages = collect(figures=figures)
    places = {page.source: page.place for page in pages if page.source}
    menu = _menu(pages)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    template = environment.get_template("page.html")
    mistakes: list[str] = []
    sections: list[dict[str, str]] = []
    for page in pages:
        up = "../" * page.place.count("/")
        body, headings = _render(page, places, mistakes)
        sections += _sections(page, body)
        path = folder / page.place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            template.render(
                title=page.title,
                body=body,
                menu=menu,
                headings=headings,
                here=page.place,
                up=up,
                version=floatgate.__version__,
            ),
            encoding="utf-8",
        )
    if mistakes:
        raise ValueError("\n".join(mistakes))
    index = json.dumps(sections, ensure_ascii=False, separators=(",", ":"))
    (folder / "search.js").write_text(f"window.sections = {index};\n", encoding="utf-8")
    return [page.place for page in pages]


def collect(*, figures: bool) -> list[Page]:
    """Every page of the site."""
    sources = [*PROJECT, *(str(p.relative_to(ROOT)) for p in sorted(ROOT.glob("docs/**/*.md")))]
    pages = []
    for source in sources:
        text = (ROOT / source).read_text(encoding="utf-8")
        pages.append(Page(_place(source), text, source, tables() if "moving" in source else {}))
    pages += [
        Page("reference/cli.html", reference.cli(), ""),
        Page("reference/python.html", reference.python(), ""),
        Page("reference/studies.html", reference.experiments(), ""),
    ]
    pages += [
        Page(f"policies/{name}.html", text, "", shown)
        for name, text, shown in policy_pages(figures=figures)
    ]
    return pages


def _place(source: str) -> str:
    path = PurePosixPath(source)
    if source == "README.md":
        return "index.html"
    if source == INDEX:
        return "pages.html"
    if path.parts[0] == "docs":
        return str(PurePosixPath(*path.parts[1:]).with_suffix(".html"))
    return f"project/{path.stem.lower()}.html"


def groups() -> dict[str, list[str]]:
    """The pages of each purpose, in the order of the index."""
    found: dict[str, list[str]] = {}
    for line in (ROOT / INDEX).read_text(encoding="utf-8").splitlines():
        if heading := re.match(r"## (.+)", line):
            found[heading[1]] = []
        elif entry := re.match(r"\* \[[^]]+\]\(([^)]+\.md)\)", line):
            list(found.values())[-1].append(f"docs/{entry[1]}")
    return found


def _menu(pages: Sequence[Page]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Groups of pages with their titles."""
    by_source = {page.source: page for page in pages if page.source}
    menu = {
        name: [(by_source[s].place, by_source[s].title) for s in group if s in by_source]
        for name, group in groups().items()
    }
    made = [(p.place, p.title) for p in pages if p.place.startswith("reference/") and not p.source]
    menu.setdefault("Reference", []).extend(made)
    menu.setdefault("Design", []).extend(
        (by_source[s].place, by_source[s].title) for s in PROJECT[1:] if s in by_source
    )
    menu["Policies"] = [(p.place, p.title) for p in pages if p.place.startswith("policies/")]
    return [(name, group) for name, group in menu.items() if group]


def _with_pictures(body: str, source: str) -> str:
    """Puts drawings into the page itself, which then needs no other file."""

    def embedded(found: re.Match[str]) -> str:
        drawing = (ROOT / source).parent / found[1]
        kind = {"svg": "svg+xml", "png": "png"}[found[2]]
        return f'src="data:image/{kind};base64,{b64encode(drawing.read_bytes()).decode()}"'

    return re.sub(r'src="([^":]+\.(svg|png))"', embedded, body)


def _render(
    page: Page, places: Mapping[str, str], mistakes: list[str]
) -> tuple[str, list[tuple[str, str]]]:
    """The page as HTML, and its headings of the second level with their anchors."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    tokens = markdown.parse(page.text)
    seen: dict[str, int] = {}
    headings = []
    for i, token in enumerate(tokens):
        if token.type == "heading_open":
            words = _plain(tokens[i + 1])
            anchor = slug(words)
            seen[anchor] = seen.get(anchor, -1) + 1
            anchor = f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor
            token.attrSet("id", anchor)
            if token.tag == "h2":
                headings.append((anchor, words))
        for child in token.children or []:
            if child.type == "link_open":
                _point(child, _link(str(child.attrGet("href")), page, places, mistakes))
    _mark_code(markdown)
    body = markdown.renderer.render(tokens, markdown.options, {})
    body = _with_pictures(body, page.source)
    for name, piece in page.figures.items():
        body = body.replace(html.escape(f"<!-- figure: {name} -->"), piece)
        body = body.replace(f"<p>{piece}</p>", piece)
    # The marks of parts that a script renews.
    body = re.sub(r"<p>&lt;!-- [^<]* --&gt;</p>\n?", "", body)
    body = body.replace("<table>", '<div class="table"><table>').replace(
        "</table>", "</table></div>"
    )
    return body, headings


def _sections(page: Page, body: str) -> Iterator[dict[str, str]]:
    """The words of a page by its headings, for the search."""
    parts = re.split(r'<h[1-4] id="([^"]+)">(.*?)</h[1-4]>', body)
    for anchor, heading, text in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        words = re.sub(r"<(style|script)[\s\S]*?</\1>|<[^>]+>", " ", text)
        yield {
            "place": f"{page.place}#{anchor}",
            "page": page.title,
            "heading": _bare(heading),
            "text": " ".join(_bare(words).split()),
        }


def _bare(markup: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", markup))


def slug(words: str) -> str:
    """The anchor of a heading, as code hosts make it.

    >>> slug("Who ages the drive?")
    'who-ages-the-drive'
    """
    kept = re.sub(r"[^\w\- ]", "", words.lower())
    return kept.replace(" ", "-")


def _plain(inline: Token) -> str:
    return "".join(child.content for child in inline.children or [])


def _mark_code(markdown: MarkdownIt) -> None:
    """Blocks of commands say whether the tests run them."""

    def fence(
        _renderer: object, tokens: Sequence[Token], index: int, _options: object, _env: object
    ) -> str:
        token = tokens[index]
        words = token.info.split()
        language = words[0] if words else ""
        checked = "run" in words
        label = ""
        if language in ("sh", "python"):
            kind, says = ("checked", "tested") if checked else ("shown", "example")
            label = f'<span class="{kind}">{says}</span>'
        name = next((word[5:] for word in words if word.startswith("file=")), "")
        if name:
            label = f'<span class="checked">{html.escape(name)}</span>'
        return (
            f'<div class="code">{label}<pre><code class="{html.escape(language)}">'
            f"{html.escape(token.content)}</code></pre></div>\n"
        )

    markdown.add_render_rule("fence", fence)


def _point(link: Token, href: str | None) -> None:
    if href is None:
        link.attrs = {"class": "file", "title": "a file of the project"}
    else:
        link.attrSet("href", href)


def _link(href: str, page: Page, places: Mapping[str, str], mistakes: list[str]) -> str | None:
    """The target of a link in the site; None for a file of the project that is not a page."""
    if re.match(r"[a-z]+:", href) or href.startswith("#"):
        return href
    target, _, anchor = href.partition("#")
    up = "../" * page.place.count("/")
    if not page.source:
        return href
    path = _normal(PurePosixPath(page.source).parent / target)
    if path in places:
        return up + places[path] + (f"#{anchor}" if anchor else "")
    if not (ROOT / path).exists():
        mistakes.append(f"{page.source}: there is no {path}")
    return None


def _normal(path: PurePosixPath) -> str:
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)

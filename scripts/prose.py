"""Checks the project's English: documents, pages, comments, docstrings, messages and help.

The rules are few, so that every finding is worth a rewrite:

* A sentence that is not a question does not begin with What, Where, Who, Which and their kin.
* `is no`, `are none`: say "is not a", "has no", "there is no".
* `so many`, `so much` or `so long` without a number to compare with: give the number.
* A metaphor that only this project understands.
* More than 30 words in a sentence.

Code, names in backquotes, paths and addresses do not count as words.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent

LONGEST = 30
"""Words of a sentence, at most."""

LEFT_OUT = (
    "CHANGELOG.md",
    "docs/history/0.1.md",
    "docs/ldpc/ldpc.md",
    "docs/papers.md",
    "docs/results.md",
    "tests/test_prose.py",
)
"""Pages that a program writes, the history, which keeps its words, and the planted sentences."""

OPENERS = "|".join(
    ["What", "Where", "Who", "Whom", "Whose", "Which", "Whoever", "Whatever", "Wherever",
     "Whichever", "That which", "Those who",
     r"(?:At|By|For|From|In|Of|On|To|Under|With|Without) (?:which|what|whom|whose)"]
)  # fmt: skip

METAPHORS = {
    r"\b[Dd]oors?\b": "interface, or the name of the function",
    r"\b[Rr]ims?\b": "binding or edge",
    r"\b[Rr]ooms\b|\b(?:[Aa]|[Tt]he) room\b": "module or part",
    r"\b[Hh]alls?\b": "module",
    r"\b[Tt]rays?\b": "program buffer",
    r"\b(?:[Tt]he|[Ii]ts) books\b": "accounts or checks",
    r"\b[Rr]eferees?\b": "the rules of the array",
    r"\b[Tt]ired\b": "near end of life",
    r"\b(?:come|comes|came|brings?) along\b": "is included",
    r"\b(?:made|make|makes|making) again\b": "reproduced or repeated",
    r"\b(?:stand|stands|stood) beside\b": "is compared with",
    r"\b[Ww]hoever\b": "the source",
    r"\b[Ss]tarv(?:e|es|ed|ing|ation)\b": "has no victim",
    r"\b[Cc]ondemn(?:s|ed|ing)?\b": "mark bad",
    r"\b[Ss]queez(?:e|es|ed|ing)\b": "reprogram in place",
    r"\bmeans? no harm\b": "the step that the user takes",
    r"\blaws? of errors\b": "error model",
    r"\b[Ii]t is young\b": "not yet validated, and against what",
}

RULES: tuple[tuple[str, re.Pattern[str], str], ...] = (
    (
        "opening",
        re.compile(rf"^(?:{OPENERS})\b(?!.*\?)", re.DOTALL),
        "name the subject first, or ask a question",
    ),
    (
        "negation",
        re.compile(r"(?<!there )(?<!There )\b(?:is|are|was|were) (?:no(?! longer\b)|none(?!,))\b"),
        'say "is not a", "has no" or "there is no"',
    ),
    (
        "so many",
        re.compile(r"\b[Ss]o (?:many|much|long)\b(?! as\b| (?:\w+ )*?that\b)"),
        'say "at most N", "this long", or the number',
    ),
    *(("metaphor", re.compile(words), f"say {instead}") for words, instead in METAPHORS.items()),
)


WORD = r"[a-z]{2,}(?=[ .,:;?!]|$)"


class Text(NamedTuple):
    """A paragraph, a cell, a comment or a message, and the line on which it begins."""

    line: int
    words: str


class Finding(NamedTuple):
    """A sentence that breaks a rule."""

    path: str
    line: int
    rule: str
    advice: str
    sentence: str

    def __str__(self) -> str:
        shown = self.sentence if len(self.sentence) <= 90 else f"{self.sentence[:87]}..."
        return f"{self.path}:{self.line}: {self.rule}: {self.advice}\n    {shown}"


# ── Sentences ────────────────────────────────────────────────────────────────────────────────────

_SHORT = re.compile(r"\b(?:e\.g|i\.e|etc|vs|al|cf|Fig|Figs|Eq|Eqs|Sec|No|approx|resp|[A-Z])\.$")


def sentences(words: str) -> Iterator[str]:
    """The sentences of a text; code in backquotes is one word in each."""
    plain = re.sub(r"``[^`]+``|`[^`]*`", "CODE", words)
    plain = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", plain)
    plain = re.sub(r"https?://\S+", "LINK", plain)
    plain = re.sub(r"(?<!\w)[*_]{1,2}(?=\S)|(?<=\S)[*_]{1,2}(?!\w)", "", plain)
    plain = " ".join(plain.split())
    begun = 0
    for end in re.finditer(r"[.!?][\"')\]]*(?= |$)", plain):
        if _SHORT.search(plain[begun : end.start() + 1]):
            continue
        yield plain[begun : end.end()].strip()
        begun = end.end()
    if rest := plain[begun:].strip():
        yield rest


def breaches(words: str) -> Iterator[tuple[str, str, str]]:
    """Rule, advice and sentence of each breach in a text."""
    for sentence in sentences(words):
        for rule, pattern, advice in RULES:
            if pattern.search(sentence):
                yield rule, advice, sentence
        count = len(re.findall(r"[^\W\d_][\w'-]*", sentence))
        if count > LONGEST:
            yield "length", f"{count} words, at most {LONGEST}", sentence


# ── What is read of each kind of file ────────────────────────────────────────────────────────────


def markdown(source: str) -> Iterator[Text]:
    """Paragraphs, items, headings and cells; no fenced code and no comments of HTML."""
    block: list[str] = []
    begun, fenced = 0, ""
    for number, line in enumerate([*source.splitlines(), ""], 1):
        mark = re.match(r"\s*(```+|~~~+)", line)
        if fenced:
            fenced = "" if mark and mark[1].startswith(fenced) else fenced
            continue
        item = re.match(r"\s*(?:[*+-]|\d+\.)\s+|\s*#+ |\s*> ?", line)
        if mark or item or not line.strip() or line.startswith(("|", "<!--", "    |")):
            if block:
                yield Text(begun, " ".join(block))
            block = []
        if mark:
            fenced = mark[1]
        elif line.startswith("|"):
            for cell in re.split(r"(?<!\\)\|", line.strip().strip("|")):
                yield Text(number, cell)
        elif line.strip() and not line.startswith("<!--"):
            if not block:
                begun = number
            block.append(line[item.end() :] if item else line)


def python(source: str) -> Iterator[Text]:
    """Comments, docstrings and messages: strings of some words."""
    tree = ast.parse(source)
    prose: list[tuple[int, str]] = []
    inside: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            inside |= {id(part) for part in node.values}
            parts = (
                p.value if isinstance(p, ast.Constant) else "X"
                for p in node.values
                if not isinstance(p, ast.Constant) or isinstance(p.value, str)
            )
            prose.append((node.lineno, "".join(map(str, parts))))
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in inside
        ):
            prose.append((node.lineno, node.value))
    for line, value in prose:
        yield from _paragraphs(line, value)
    yield from _comments(
        (token.start[0], token.start[1], token.string.lstrip("#:! "))
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    )


def rust(source: str) -> Iterator[Text]:
    """Comments, and messages: strings of some words."""
    lines = re.compile(r"^([ \t]*)//[/!]?(?!/) ?(.*)$")
    found = []
    for number, line in enumerate(source.splitlines(), 1):
        if comment := lines.match(line):
            found.append((number, len(comment[1]), comment[2]))
    yield from _comments(found)
    code = re.sub(r"(?m)^\s*//.*$", "", source)
    for text in re.finditer(r'"((?:[^"\\\n]|\\.|\\\n\s*)*)"', code):
        words = re.sub(r"\\\n\s*", "", text[1])
        yield from _paragraphs(code.count("\n", 0, text.start()) + 1, words)


def _paragraphs(line: int, value: str) -> Iterator[Text]:
    """Paragraphs and items of a string, if it is prose: some words with blanks between them."""
    if len(re.findall(WORD, value)) < 3 or _is_code(value):
        return
    for part in re.finditer(r"(?:[^\n]|\n(?!\s*\n))+", value):
        text = re.sub(r"\{[^{}]*\}", "X", part[0])
        if re.match(r"\s*(>>>|\.\.\.|```)", text):
            continue
        begin = line + value.count("\n", 0, part.start())
        for item in markdown(text):
            yield Text(begin + item.line - 1, item.words)


def _is_code(value: str) -> bool:
    """Whether a string of several lines is a program or a file: a sign of code every five words.

    In Rust a string with three escaped line ends is one.
    """
    plain = re.sub(r"`[^`]*`|\{[^{}\n]*\}", "X", value)
    plain = re.sub(r"(?m)^ *>>> (?:[^\n]|\n(?!\s*\n))+", "", plain)
    if plain.count("\\n") >= 3:
        return True
    if plain.count("\n") < 3:
        return False
    signs = re.findall(r"[=$<>{}\[\]]|;$|\w\(|\bimport\b", plain, re.MULTILINE)
    return 5 * len(signs) > len(re.findall(WORD, plain))


def _comments(found: Iterable[tuple[int, int, str]]) -> Iterator[Text]:
    """Comments on neighbouring lines at one column are one text."""
    block: list[str] = []
    begun = last = column = 0
    for number, at, words in [*found, (0, 0, "")]:
        if block and (number != last + 1 or at != column):
            for text in markdown("\n".join(block)):
                yield Text(begun + text.line - 1, text.words)
            block = []
        if not block:
            begun = number
        block.append(words)
        last, column = number, at


def hashed(source: str) -> Iterator[Text]:
    """Comments that begin with a number sign, and strings of TOML."""
    text = re.compile(r'"""((?:[^"]|"(?!""))*)"""|"((?:[^"\\\n]|\\.)*)"')
    for string in text.finditer(source):
        yield from _paragraphs(
            source.count("\n", 0, string.start()) + 1, string[1] or string[2] or ""
        )
    found = []
    for number, line in enumerate(text.sub(_blank, source).splitlines(), 1):
        if comment := re.match(r"(|.*\s)#[: ](.*)$", line):
            found.append((number, -number if comment[1].strip() else len(comment[1]), comment[2]))
    yield from _comments(found)


def slashed(source: str) -> Iterator[Text]:
    """Comments of C, CSS and JavaScript, and their strings."""
    for block in re.finditer(r"/\*(.*?)\*/", source, re.DOTALL):
        begun = source.count("\n", 0, block.start()) + 1
        for item in markdown(re.sub(r"(?m)^ *\*+ ?", "", block[1])):
            yield Text(begun + item.line - 1, item.words)
    plain = re.sub(r"/\*.*?\*/", _blank, source, flags=re.DOTALL)
    found = []
    for number, line in enumerate(plain.splitlines(), 1):
        if comment := re.match(r"(|.*\s)//[/!]? (.*)$", line):
            found.append((number, -number if comment[1].strip() else len(comment[1]), comment[2]))
    yield from _comments(found)
    code = re.sub(r"(?m)(^|\s)//.*$", "", plain)
    for text in re.finditer(r'"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`', code):
        words = re.sub(r"\$\{[^{}]*\}|%[a-z]", "X", text[1] or text[2] or "")
        yield from _paragraphs(code.count("\n", 0, text.start()) + 1, words)


def html(source: str) -> Iterator[Text]:
    """The text of a page, and the comments of its template."""
    plain = re.sub(r"<(script|style)\b.*?</\1>", _blank, source, flags=re.DOTALL)
    for note in re.finditer(r"\{#-?(.*?)-?#\}", plain, re.DOTALL):
        yield from _paragraphs(plain.count("\n", 0, note.start()) + 1, note[1])
    plain = re.sub(r"\{#.*?#\}|\{%.*?%\}", _blank, plain, flags=re.DOTALL)
    plain = re.sub(r"\{\{.*?\}\}", lambda it: "X" + _blank(it), plain, flags=re.DOTALL)
    plain = re.sub(r"</?(?:a|abbr|b|code|em|i|span|strong|time)\b[^<>]*>", "", plain)
    for text in re.finditer(
        r"[^<>]+(?=<|$)", re.sub(r"<[^<>]*>", lambda it: f"<{_blank(it)}>", plain)
    ):
        yield from _paragraphs(plain.count("\n", 0, text.start()) + 1, text[0])


def _blank(text: re.Match[str]) -> str:
    """The line ends of a text that is left out."""
    return "\n" * text[0].count("\n")


READERS = {
    **dict.fromkeys((".c", ".cpp", ".css", ".h", ".js"), slashed),
    **dict.fromkeys((".sh", ".toml", ".yml"), hashed),
    ".html": html,
    ".md": markdown,
    ".py": python,
    ".pyi": python,
    ".rs": rust,
}

FOLDERS = (
    ".github/", "crates/", "docs/", "examples/", "fuzz/", "include/", "presets/", "python/",
    "scripts/", "studies/", "tests/",
)  # fmt: skip


def read(path: str, source: str) -> list[Finding]:
    """The breaches in a file."""
    reader = READERS[Path(path).suffix]
    return [
        Finding(path, text.line, rule, advice, sentence)
        for text in reader(source)
        for rule, advice, sentence in breaches(text.words)
    ]


def files() -> list[str]:
    """The files of the project that hold prose."""
    if (ROOT / ".git").exists():
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True)
        names = done.stdout.split("\0")
    else:
        names = [p.name for p in ROOT.glob("*.md")]
        names += [str(p.relative_to(ROOT)) for f in FOLDERS for p in (ROOT / f).rglob("*.*")]
    return sorted(
        name
        for name in names
        if Path(name).suffix in READERS
        and (name.startswith(FOLDERS) or "/" not in name)
        and name not in LEFT_OUT
        and (ROOT / name).is_file()
    )


def main() -> int:
    """Prints every finding; 1 if there are some."""
    parser = argparse.ArgumentParser(prog="prose", description=__doc__)
    parser.add_argument("paths", nargs="*", help="look at these files alone")
    parser.add_argument("--count", action="store_true", help="count the findings by file")
    given = parser.parse_args()
    looked = given.paths or files()
    found = [finding for path in looked for finding in read(path, (ROOT / path).read_text("utf-8"))]
    if given.count:
        for path in looked:
            if count := sum(finding.path == path for finding in found):
                print(f"{count:5} {path}")
    else:
        print("\n".join(map(str, found)))
    print(f"{len(looked)} files, {len(found)} sentences to rewrite")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

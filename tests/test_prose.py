"""The check of how the project's English reads finds what it is for, and nothing else."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "scripts"))

import prose  # noqa: E402

A = "The drive keeps a page in its write buffer until the program is done, and a read of that"
B = "page takes no flash at all, because the controller answers it at once."
PLANTED = [
    ("opening", "a.md", "# Drive\n\nWhat is late goes in the order in which it came.\n"),
    ("opening", "a.md", "It runs. Where several wait, an arbiter chooses the next one.\n"),
    ("opening", "a.md", "* Which read interrupts what the order policy says.\n"),
    ("opening", "a.md", "| key | what |\n|---|---|\n| `a.b` | Whose requests are a flow. |\n"),
    ("opening", "a.md", "**What it sees** are read-only values.\n"),
    ("opening", "a.rs", "/// In which order messages go.\nfn f() {}\n"),
    ("negation", "a.md", "A file that is no store of floatgate is\nnever opened.\n"),
    ("negation", "a.rs", "fn f() {\n    // Those that are none are dropped.\n}\n"),
    ("so many", "a.rs", "// An answer may take so long.\n"),
    ("so many", "a.md", "It keeps so many of its requests in the drive.\n"),
    ("so many", "a.py", 'OPTION = "Let requests arrive so many times as fast."\n'),
    ("metaphor", "a.md", "Requests go through the door of a drive.\n"),
    ("metaphor", "a.md", "The run says whether the books balance.\n"),
    ("metaphor", "a.md", "Drives are fresh, aged or tired, and 2 more.\n"),
    ("metaphor", "a.rs", "//! The referee stops the run when a command breaks a rule.\n"),
    ("metaphor", "a.rs", 'const HELP: &str = "published results that \\\n    come along";\n'),
    ("metaphor", "a.py", 'def f() -> None:\n    """Seals the tray of a page of the host."""\n'),
    ("length", "a.md", f"{A} {B}\n"),
    ("length", "a.rs", f"/// {A}\n/// {B}\n"),
    ("length", "a.py", f'TEXT = (\n    "{A} "\n    "{B}"\n)\n'),
    ("opening", "a.py", "# Who asks for it first\n# goes first.\nx = 1\n"),
    ("opening", "a.pyi", 'class A:\n    """Drive.\n\n    Whoever calls it checks it.\n    """\n'),
    (
        "opening",
        "a.py",
        'class A:\n    def f(self):\n        """Ends.\n\n        What is in stays.\n        """\n',
    ),
    ("opening", "a.html", "<main>\n<h2>Where the <b>numbers</b> come from</h2>\n</main>\n"),
    ("so many", "a.html", "{# It has so many runs. #}\n<p>{{ text }}</p>\n"),
    ("opening", "a.toml", "[set]\na = 1  # What is set counts for all.\n"),
    ("opening", "a.toml", 'prose = """\nIt runs. What was \\\nset counts.\n"""\n'),
    ("negation", "a.yml", "# A fork that is no branch\n# is left out.\non: push\n"),
    ("opening", "a.js", "f();\n// What was sorted stays so.\nlet a = 1;\n"),
    ("metaphor", "a.js", "say(`${n} runs go through the door`);\n"),
    ("negation", "a.h", "/* A drive that is\n * none of these. */\nint f(void);\n"),
    ("opening", "a.py", 'def f(n: int) -> str:\n    return f"Where {n} wait the first goes."\n'),
]

GOOD = {
    "a.md": """# What does fsync cost?

What does a flush wait for? It waits for earlier writes, that is, for all of them that may be lost.
There is no limit. The drive is no longer full. So many writes waited that the queue was full.

```text
What is in a block of code is not read: the books, the door, a tray, and so many other things here.
```

* `what is late` is a name of a field, and [so is this](where-is-it.md).
""",
    "a.rs": """//! A page has an owner.

/// The slots of a block.
/// ```
/// let who = "Which";
/// ```
fn f() -> &'static str {
    "Who"
}
""",
    "a.html": """<style>what { is: none }</style>
<a href="what">{{ "Who asks" if several else "x" }}</a>
<p>There is no drive.</p>
""",
    "a.toml": """name = "what" # the drive
set = [1, 2] # its settings
""",
    "a.py": '''"""The drive over time."""

KEY = "what"
SQL = "SELECT a, b FROM runs WHERE a > 1 AND b < 2"
FILE = """schema = "floatgate.experiment/1"
name = "spare"
title = "what is in a file is no sentence at all"
"""
PROGRAM = """
import what
for who in range(3):
    what.asks(who, so="many words", that=they + would - be / a * sentence, of=more, than=thirty)
    what.else_(where, is_="no", full=stop, within="all of these words", so=it, would=be, a=finding)
"""
''',
}


@pytest.mark.parametrize(("rule", "name", "text"), PLANTED)
def test_a_planted_sentence_is_found(rule: str, name: str, text: str) -> None:
    found = prose.read(name, text)
    assert rule in [finding.rule for finding in found], found
    lines = text.splitlines()
    assert all(1 <= finding.line <= len(lines) for finding in found)


def test_twenty_sentences_of_every_rule_are_planted() -> None:
    assert len(PLANTED) >= 20
    assert {rule for rule, *_ in PLANTED} == {rule for rule, *_ in prose.RULES} | {"length"}


@pytest.mark.parametrize("name", GOOD)
def test_plain_text_passes(name: str) -> None:
    assert prose.read(name, GOOD[name]) == []


def test_the_check_reads_the_project() -> None:
    files = prose.files()
    assert len(files) > 500
    for must in (
        "README.md",
        "docs/model.md",
        "python/floatgate/cli/runs.py",
        "crates/ssd/src/lib.rs",
    ):
        assert must in files
    assert all((ROOT / each).is_file() for each in prose.LEFT_OUT)


@pytest.mark.verify  # `make lint` has read every file by then
def test_every_file_reads_well() -> None:
    found = [
        str(finding)
        for path in prose.files()
        for finding in prose.read(path, (ROOT / path).read_text("utf-8"))
    ]
    assert not found, "\n".join(found)

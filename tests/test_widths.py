"""Pages on terminals of several widths: no line is longer, and no word is cut."""

import io
import json
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import click
import pytest

import floatgate as fg
import sample
from floatgate import Comparison, Result, cli, words
from floatgate.experiments import errors as experiments
from floatgate.result import declared
from floatgate.text import comparison, explained, lists, result

WIDTHS = (60, 80, 100, 160)
SMALL = {
    "geometry.channels": 1, "geometry.chips-per-channel": 1, "geometry.blocks-per-plane": 64,
    "workload.requests": 2_000,
}  # fmt: skip


@pytest.fixture(scope="module")
def ran() -> list[Result]:
    """Runs with much to say: flows, a buffer, an energy model."""
    parts = fg.flows(["tenant-with-a-name=random-read", "log=sequential-write"])
    return [
        fg.run("agcr", "random-write", set=SMALL, seed=1),
        fg.run("agcr", parts, set=SMALL, seed=1),
        fg.run("modern-tlc-small", "jesd219-enterprise", set={"workload.requests": 2_000}),
    ]


def several() -> Comparison:
    runs = [Result(sample.result()) for _ in range(6)]
    named = [
        {"victim": v, "ftl.spare-factor": "0.1", "seed": s}
        for v in ("greedy", "py:a_long_module_of_somebody.AVictim:with=parameters:and=more")
        for s in "123"
    ]
    return Comparison(runs, named)


PAGES: dict[str, Callable[[], str]] = {
    "drives": lambda: lists.drives([fg.drive_facts(name) for name in fg.drives()]),
    "drive": lambda: lists.drive(fg.drive_facts("modern-tlc")),
    "chips": lambda: lists.chips(fg.chips()),
    "chip": lambda: lists.chip(fg.chips("c-mlc64")[0]),
    "policies": lambda: lists.policies(fg.policies("victim"), details=True),
    "explain": explained.page,
    "sample": lambda: result.page(Result(sample.result())),
    "comparison": lambda: comparison.page(several()),
}


def same_words(page: str, widest: str) -> set[str]:
    """Words of a page that are not in its widest form: the parts of words that were cut."""
    # A legend of runs or combinations stands where columns do not fit: `seed=1`, by numbers.
    legend = {"Runs", "Combinations", *"123456"}
    return {*page.replace("=", " ").split()} - {*widest.replace("=", " ").split()} - legend


def check(
    make: Callable[[], str],
    monkeypatch: pytest.MonkeyPatch,
    bars: bool = False,
    widths: Sequence[int] = WIDTHS,
) -> None:
    monkeypatch.setenv("COLUMNS", str(words.MOST_WIDTH))
    widest = make()
    for width in widths:
        monkeypatch.setenv("COLUMNS", str(width))
        page = make()
        lines = page.splitlines()
        # A word without a space cannot be wrapped: a path, or the name of a policy with parameters.
        room = width - 8
        long = [line for line in lines if len(line) > width and max(map(len, line.split())) < room]
        assert not long, (width, long)
        cut = same_words(page, widest)
        assert not {word for word in cut if not (bars and set(word) == {"#"})}, (width, cut)


@pytest.mark.parametrize("name", PAGES)
def test_pages_fit_the_terminal(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check(PAGES[name], monkeypatch, bars=name == "comparison")


def test_runs_fit_the_terminal(ran: list[Result], monkeypatch: pytest.MonkeyPatch) -> None:
    for run in ran:
        check(lambda run=run: result.page(run), monkeypatch)  # type: ignore[misc]


def headings(page: str) -> list[str]:
    return [part.split("\n", 1)[0] for part in page.split("\n\n") if part[:1].strip()]


def test_no_two_sections_of_a_page_have_one_heading(ran: list[Result]) -> None:
    pages = [result.page(run) for run in ran] + [comparison.page(Comparison(ran[:1] * 2, TWO))]
    for page in pages:
        assert len({*headings(page)}) == len(headings(page)) > 5, headings(page)


TWO = [{"victim": "greedy"}, {"victim": "fifo"}]


def test_every_energy_has_its_unit(ran: list[Result]) -> None:
    for run in ran:
        shown = " ".join(result.page(run).split())
        found = re.search(r"energy [\d.]+ J \(.*? for each byte of the host", shown)
        assert (found is None) == (run.energy_joules is None)
        for number in re.findall(r"\d[\d.,]* (\S+)", found[0] if found else ""):
            assert number.strip(",;)") in ("J", "nJ"), found


def test_a_page_is_as_wide_as_the_terminal_within_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    for columns, width in (("20", 60), ("60", 60), ("133", 133), ("200", 200), ("1000", 200)):
        monkeypatch.setenv("COLUMNS", columns)
        assert words.page_width() == width


def test_a_wide_table_goes_on_below(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    rows = [["", *(f"column {i}" for i in range(8))], ["row", *(f"{i}" * 8 for i in range(8))]]
    top, below = words.table(rows).split("\n\n")
    # 3 + 5 x 10 = 53 of 58 columns; a sixth does not fit.
    assert top.splitlines()[0] == "     " + "  ".join(f"column {i}" for i in range(5))
    assert below.splitlines()[1].split() == ["row", *(f"{i}" * 8 for i in range(5, 8))]


def test_a_number_stays_with_its_unit() -> None:
    text = "it took 12 ms for 4.00 KiB at 1.83 GiB/s and 5 % of 24 h, 250 k in all"
    for room in range(8, 40):
        lines = words.filled(text, room).splitlines()
        for kept in ("12 ms", "4.00 KiB", "5 %", "24 h,"):
            assert any(kept in line for line in lines), (room, kept)


def test_every_warning_of_the_engine_is_explained() -> None:
    told = {each.code for each in declared.warnings()}
    assert len(told) > 15
    assert told == {*explained.WARNINGS}


def codes_of_the_engine() -> set[str]:
    crates = Path(__file__).parent.parent / "crates"
    places = ("ssd/src/config/error.rs", "workload/src/error.rs", "python/src/error.rs")
    return {
        code
        for place in places
        for code in re.findall(r'= "([a-z]+::[a-z-]+)"|=> "([a-z]+::[a-z-]+)"',
                               (crates / place).read_text())
        for code in code if code
    }  # fmt: skip


def kinds_of(kind: type[fg.InputError]) -> set[type[fg.InputError]]:
    return {kind}.union(*(kinds_of(each) for each in kind.__subclasses__()))


def test_every_error_has_a_code_and_every_code_an_explanation() -> None:
    engine = codes_of_the_engine()
    assert len(engine) > 25
    ours = {kind.code for kind in kinds_of(fg.InputError)} | {experiments.CODE}
    assert len(ours) > 8
    assert engine | ours == {*explained.ERRORS}
    for code in explained.ERRORS:
        last = code.partition("::")[2]
        assert explained.page(code) in explained.page()
        assert explained.page(code) in explained.page(last)


def typed(line: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The words of a command on standard error before it ends."""
    monkeypatch.setattr(sys, "argv", shlex.split(line))
    out, err = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    with suppress(SystemExit):
        cli._answer()
    return err.getvalue()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def commands(group: click.Group, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield (*words, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*words, name))


TYPED = [
    *(" ".join((*words, "--help")) for words in commands(cli.app.group("floatgate"), ())),
    "--help", "drives", "drives modern-tlc", "policies", "policies victim", "chips",
    "chips c-mlc64", "explain", "explain input::unknown-name", "explain gc-never-ran", "init made",
    "config check agcr", "config check made/drive.toml", "sweep made/experiment.toml --dry-run",
    "drives agrc", "rum", "run", "run agcr", "run agcr nowl", "explain wrong",
    "run agcr zipf --seed x", "serve agcr --set precondition.fill=touched",
    "serve agcr --listen 1.2.3.4:1 --set precondition.fill=none", "top nowhere",
    "smart nowhere", "sweep nowhere.toml", "results 'X Y'", "report nowhere", "view nowhere",
    "chips --seed 1", "trace list mrs", "reproduce agrc",
    "compare agcr zipf --policy victim=x,y --seed 1,2 --bars waff", "fault nowhere",
]  # fmt: skip
"""Every command's help, and the output and errors of commands without a run."""


@pytest.mark.parametrize("line", TYPED)
def test_what_commands_say_fits_the_terminal(
    line: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)

    def page() -> str:
        if "made/" in line:
            typed("floatgate init made", monkeypatch)
        out, err = io.StringIO(), Terminal()
        monkeypatch.setattr(sys, "argv", shlex.split(f"floatgate {line}"))
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", err)
        with suppress(SystemExit):
            cli._answer()
        shutil.rmtree("made", ignore_errors=True)
        # Progress leaves its line empty.
        shown = (out.getvalue() + err.getvalue()).replace("\x1b[K", "")
        # An estimate of time is another one each time.
        return re.sub(r"about [\d.]+ m?s", "about 1 s", shown)

    check(page, monkeypatch, widths=(60, 100, 160))


@pytest.mark.parametrize("code", [code for code, each in explained.ERRORS.items() if each.wrong])
def test_an_example_of_an_error_is_wrong_and_then_right(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    mistake = explained.ERRORS[code]
    for text, wrong in ((mistake.wrong, True), (mistake.right, False)):
        if text.startswith("floatgate"):
            small = "--set workload.requests=100 --set geometry.blocks-per-plane=64"
            said = typed(f"{text} {small}" if " compare " in text else text, monkeypatch)
        elif text.startswith("--"):
            said = typed(f"floatgate config check agcr {text}", monkeypatch)
        elif code.startswith("experiment"):
            head = 'schema = "floatgate.experiment/1"\nname = "mine"\n'
            Path("mine.toml").write_text(f"{head}{text}\n")
            said = typed("floatgate sweep mine.toml --dry-run", monkeypatch)
        else:
            # Settings of the drive that the example leaves out are those that a drive file begins
            # with.
            inherits = wrong and code in ("config::missing", "config::inherit")
            base = "" if inherits or "base" in text else 'base = "agcr"\n'
            head = f'schema = "floatgate.drive/1"\nname = "mine"\n{base}'
            Path("drive.toml").write_text(f"{head}{text}\n")
            said = typed("floatgate config check drive.toml", monkeypatch)
        assert (f"error[{code}]" in said) if wrong else "error" not in said, (text, said)


def test_a_warning_of_a_new_drive_says_what_to_add_and_that_helps() -> None:
    new = fg.run("agcr", "random-write", set=SMALL, seed=1)
    assert "gc-never-ran" in {w["code"] for w in new.warnings}
    page = result.page(new)
    assert "Add --steady" in page
    assert page.index("gc-never-ran") < page.index("Host requests"), "next to the answer"
    steady = fg.run("agcr", "random-write", set=SMALL, seed=1, steady=True)
    assert steady.flash.erase.gc > 0
    assert "--steady" not in result.page(steady)
    by_hand = {"precondition.fill": "full", "precondition.age": "random", **SMALL}
    assert steady.run_id == fg.run("agcr", "random-write", set=by_hand, seed=1).run_id


def test_steady_is_the_same_word_everywhere() -> None:
    from floatgate.experiments.axes import axes_of

    block = {"drive": "agcr", "workload": "zipf", "steady": True, "set": {"precondition.fill": 0.5}}
    sets = {axis.name: axis.choices[0].label for axis in axes_of(block, Path())}
    assert sets["precondition.age"] == "random"
    assert sets["precondition.fill"] == "0.5", "what the user says goes first"
    both = fg.compare("agcr", "random-write", set=SMALL, steady=True, workers=1)
    config = both.runs[0].provenance.config
    assert (config.precondition["fill"], config.precondition["age"]) == ("full", "random")


def test_drives_say_what_they_are() -> None:
    facts = fg.drive_facts("modern-tlc")
    # 8 channels, 4 planes, 912 blocks, 1,152 pages of 16 KiB; 500,000,000 KiB are exported.
    assert facts["physical_bytes"] == 8 * 4 * 912 * 1152 * 16 * 1024
    assert facts["exported_bytes"] == 500_000_000 * 1024
    assert (facts["dies"], facts["bits_per_cell"], facts["page_bytes"]) == (8, 3, 16384)
    assert facts["settings"]["timing.read"]["source"].startswith("NVMeVirt")
    assert fg.drive_facts("samsung-970-pro")["link"] == "3360MB/s"
    with pytest.raises(fg.InputError, match=r"did you mean `modern-tlc`\?"):
        fg.drive_facts("modern-tcl")
    json.dumps(facts)

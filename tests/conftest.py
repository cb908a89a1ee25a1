"""Fixtures and settings that the Python tests share."""

import os
import resource
import signal
import subprocess
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

import hypothesis
import pytest

import sample
from browser import FONT_SETS, Browser, font_folders
from floatgate import Result
from forks import SPENT, Forks

# A shell has its background jobs ignore Ctrl-C; here it is tested all the same.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A busy machine does not count as a failure.
slow = [hypothesis.HealthCheck.too_slow]
hypothesis.settings.register_profile("floatgate", deadline=None, suppress_health_check=slow)
hypothesis.settings.load_profile("floatgate")

Floatgate = Callable[..., subprocess.CompletedProcess[str]]

_FIRST_FONTS, *_MORE_FONTS = FONT_SETS

both_fonts = pytest.mark.parametrize(
    "browser",
    [_FIRST_FONTS, *(pytest.param(fonts, marks=pytest.mark.verify) for fonts in _MORE_FONTS)],
    indirect=True,
)
"""For a test whose page may look wrong with one font and right with another; `make verify` tries
the further ones."""

# Narrow and light, wide and dark.
_OFTEN = [(_FIRST_FONTS, 400, False), (_FIRST_FONTS, 1900, True)]
_LOOKS = [(_FIRST_FONTS, width, dark) for width in (400, 1200, 1900) for dark in (False, True)]
_LOOKS += [(fonts, width, False) for fonts in _MORE_FONTS for width in (400, 1200)]

looks = pytest.mark.parametrize(
    ("browser", "width", "dark"),
    [
        pytest.param(
            *look,
            marks=() if look in _OFTEN else pytest.mark.verify,
            id=f"{look[0]}-{look[1]}-{'dark' if look[2] else 'light'}",
        )
        for look in _LOOKS
    ],
    indirect=["browser"],
)
"""For a test of the look of a page: narrow and wide, light and dark; tests that depend on fonts
also run with other fonts. `make test` tries two of them, `make verify` all."""


@pytest.fixture(scope="session")
def browsers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str | None], Browser]]:
    """Starts a browser for some fonts, or returns the one that is there: a start takes seconds."""
    started: dict[str | None, Browser] = {}
    with ExitStack() as all_of_them:

        def browser_of(fonts: str | None) -> Browser:
            if fonts not in started or not started[fonts].is_alive():
                folder = tmp_path_factory.mktemp("browser")
                started[fonts] = all_of_them.enter_context(Browser(folder, fonts))
            return started[fonts]

        yield browser_of


@pytest.fixture(scope="module")
def browser(
    request: pytest.FixtureRequest, browsers: Callable[[str | None], Browser]
) -> Iterator[Browser]:
    """A browser for the tests of a module, with the first fonts that are installed."""
    installed = (fonts for fonts in FONT_SETS if font_folders(fonts))
    opened = browsers(getattr(request, "param", None) or next(installed, None))
    yield opened
    opened.leave()


LONGEST = {
    "test_cache", "test_docs", "test_failing_calls", "test_live_page", "test_policy_families",
    "test_report", "test_reproduce", "test_reproduce_agcr", "test_reproduce_ready", "test_run",
    "test_sweep", "test_workflows",
}  # fmt: skip
"""The files that take longest, whose tests come first: a long file at the end would leave the other
workers idle."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests that need a browser, so that they can be chosen and are counted.

    Those of `make verify` have an hour, as other work may go on beside them. Long files come first.
    """
    items.sort(key=lambda item: item.path.stem not in LONGEST)
    for item in items:
        if item.get_closest_marker("verify") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(3600))
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("in_browser")


def processor_seconds() -> float:
    """Processor time of this process, of its children that have ended, and of commands."""
    used = [resource.getrusage(of) for of in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used) + SPENT[0]


BEGAN = pytest.StashKey[float]()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Notes when a test began, its fixtures included."""
    item.stash[BEGAN] = processor_seconds()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Sends the processor time of a test to the process that adds them up, from any worker."""
    report = yield
    if report.when == "teardown" and BEGAN in item.stash:
        report.user_properties.append(("processor", processor_seconds() - item.stash[BEGAN]))
    return report


def dearest(reports: Iterable[pytest.TestReport], most: int) -> list[tuple[str, float]]:
    """The files whose tests took most processor time, with their seconds."""
    files: dict[str, float] = {}
    for report in reports:
        for name, seconds in report.user_properties:
            if name == "processor" and isinstance(seconds, float):
                file = report.nodeid.partition("::")[0]
                files[file] = files.get(file, 0.0) + seconds
    return sorted(files.items(), key=lambda each: -each[1])[:most]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The files that took most processor time; how many tests a browser has run, or why it did
    not."""
    # A teardown that passed is among the reports of no outcome.
    files = dearest(terminalreporter.getreports(""), 10_000)
    total = sum(seconds for _, seconds in files)
    if total > _LONG:
        lines = [f"  {seconds:6.1f} s  {file}" for file, seconds in files[:12]]
        terminalreporter.write_line(f"Processor time: {total:.0f} s, most of it in")
        terminalreporter.write_line("\n".join(lines))
    reports = [
        (outcome, report)
        for outcome in ("passed", "failed", "error", "skipped")
        for report in terminalreporter.getreports(outcome)
        if "in_browser" in getattr(report, "keywords", ())  # a file that cannot be read has none
    ]
    if not reports:
        return
    why = Counter(
        str(report.longrepr[2]).removeprefix("Skipped: ")
        for outcome, report in reports
        if outcome == "skipped" and isinstance(report.longrepr, tuple)
    )
    skipped = sum(outcome == "skipped" for outcome, _ in reports)
    said = f"Browser tests: {len(reports) - skipped} ran, {skipped} skipped"
    reasons = ", ".join(f"{reason} ({n})" for reason, n in why.items())
    terminalreporter.write_line(f"{said}: {reasons}" if reasons else said)


_LONG = 10
"""Seconds of processor time from which on it is worth knowing where they went."""


@pytest.fixture(autouse=True, scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Tests keep preconditioned drives to themselves, and have a terminal of the usual width."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # All workers of a session have one: a drive is made once.
    os.environ["FLOATGATE_CACHE"] = str(folder / "states")
    os.environ["COLUMNS"] = "80"


@pytest.fixture
def result() -> Result:
    """A result with something in every part."""
    return Result(sample.result())


@pytest.fixture(scope="session")
def forks() -> Iterator[Forks]:
    """The process that carries out commands."""
    forks = Forks()
    yield forks
    forks.close()


@pytest.fixture
def floatgate(tmp_path: Path, forks: Forks) -> Floatgate:
    """Runs the command line in an empty folder, as a user would."""

    def run(*words: str, cwd: Path = tmp_path) -> subprocess.CompletedProcess[str]:
        done = forks.run(words, cwd, os.environ)
        assert done.code is not None, f"{words} did not end: {done.err}"
        # As a process whose output is read as text.
        out, err = (text.replace("\r\n", "\n").replace("\r", "\n") for text in done[1:3])
        return subprocess.CompletedProcess(["floatgate", *words], done.code, out, err)

    return run

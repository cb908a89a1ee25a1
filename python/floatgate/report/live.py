"""A page of stored results that follows new ones, from the parts of a report."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from floatgate import pages
from floatgate.engine import InputError
from floatgate.engine import version as engine_version
from floatgate.mistakes import FileError
from floatgate.pages.server import Answer, Server
from floatgate.report.chosen import chosen
from floatgate.report.model import Report
from floatgate.report.page import FIRST, html, parts, usual_title
from floatgate.result.comparison import Comparison
from floatgate.result.folder import RESULT
from floatgate.result.lists import LIST, named, read_list
from floatgate.result.load import differences
from floatgate.result.run import Result

SHAPES_RESULTS = False


class Standing(Protocol):
    """The progress of several runs, as `floatgate.runs.batch.Standing` has it."""

    @property
    def runs(self) -> int:
        """How many there are."""

    @property
    def finished(self) -> int:
        """How many have ended."""

    @property
    def failed(self) -> int:
        """How many of these gave no result."""

    @property
    def share(self) -> float:
        """The part of the work that is done, from 0 to 1."""


class _Found(NamedTuple):
    """The runs of one folder."""

    comparison: Comparison
    stamp: str
    """A value that changes whenever something has come or changed."""


class Live:
    """The content of the page: the runs in or below folders, whenever it asks.

    Attributes:
        standing: The progress of the running runs, if it is reported.
        ended: Whether these have ended.
    """

    def __init__(
        self,
        folders: Sequence[Path],
        *,
        title: str = "Stored results",
        only: Iterable[str] | None = None,
        measures: Sequence[str] = (),
    ) -> None:
        """Looks at folders, which need not be there yet.

        Args:
            folders: Where results lie.
            title: The title of the page.
            only: The names of the runs that it shows; by default all.
            measures: The measures to look at first.
        """
        self.standing: Standing | None = None
        self.ended = False
        self._folders, self._title, self._measures = list(folders), title, list(measures)
        self._only = None if only is None else {*only}
        self._lock = threading.Lock()
        self._read: dict[Path, tuple[tuple[int, int], Result]] = {}
        self._problems: list[str] = []
        self._kept: dict[str, dict[str, Any]] = {}

    def serve(self) -> Server:
        """Serves the page until the server is closed.

        Raises:
            InputError: The packages of the extra `report` are missing.
        """
        pages.need_packages("the live page")
        return Server(self.give)

    def give(self, path: str, question: Mapping[str, str], nonce: str) -> Answer | None:
        """The page (`""`), its news (`state`), or runs as a report (`report`)."""
        if path == "":
            return Answer(self._page(nonce))
        with self._lock:
            if path == "state":
                return Answer(json.dumps(self._state(question)), "application/json")
            if path == "report":
                return self._report(question, nonce)
        return None

    def _page(self, nonce: str) -> str:
        return pages.render(
            "report/live.html",
            title=self._title,
            specs=[],
            version=engine_version(),
            nonce=nonce,
        )

    def _state(self, question: Mapping[str, str]) -> dict[str, Any]:
        """Everything that the page shows, or only progress if the page has the rest already."""
        start = time.monotonic()
        found = self._sets()
        name = question.get("set", "")
        name = name if name in found else next(iter(found), "")
        state: dict[str, Any] = {
            "standing": self._standing(),
            "sets": [{"name": n, "runs": len(f.comparison.runs)} for n, f in found.items()],
            "set": name,
            "problems": self._problems,
        }
        asked = question.get("where", "")
        stamp = found[name].stamp if found else ""
        digest = hashlib.sha256(json.dumps([name, asked, stamp]).encode()).hexdigest()[:16]
        if digest == question.get("seen"):
            return state | {"digest": digest}
        if digest not in self._kept:
            try:
                shown = self._shown(found[name].comparison, asked) if found else _NOTHING
            except InputError as error:
                return state | {"wrong": str(error)}
            self._kept = {digest: shown}
        return state | self._kept[digest] | {"digest": digest, "seconds": time.monotonic() - start}

    def _shown(self, every: Comparison, asked: str) -> dict[str, Any]:
        some = chosen(every, asked)
        count = {"shown": len(some.runs), "of": len(every.runs)}
        if not some.runs:
            return _NOTHING | count
        report = Report(usual_title(some), some, measures=self._measures)
        values = parts(report) | {"live": True, "runs_first": True}
        content = pages.piece("report/live_parts.html", **values)
        specs = values["specs"][: FIRST["plots"]]
        return count | {"content": content, "specs": specs, "data": values["data"]}

    def _report(self, question: Mapping[str, str], nonce: str) -> Answer | None:
        """Some runs as a report: one by its name, or those of a folder that fulfil the words."""
        found = self._sets()
        if "run" in question:
            every = (run for f in found.values() for run in f.comparison.runs)
            runs = [run for run in every if run.run_id == question["run"]][:1]
            some = Comparison(runs, [{} for _ in runs])
        elif question.get("set") in found:
            try:
                some = chosen(found[question["set"]].comparison, question.get("where", ""))
            except InputError as error:
                return Answer(f"{error}\n", "text/plain")
        else:
            return None
        if not some.runs:
            return None
        report = Report(usual_title(some), some, measures=self._measures)
        return Answer(html(report, nonce=nonce))

    def _standing(self) -> dict[str, Any] | None:
        standing = self.standing
        if standing is None:
            return None
        keys = ("runs", "finished", "failed", "share")
        return {key: getattr(standing, key) for key in keys} | {"ended": self.ended}

    def _sets(self) -> dict[str, _Found]:
        """The runs by folder; all of them together come first if there are several."""
        self._problems = []
        there: dict[Path, list[Result]] = {}
        stamps: dict[Path, list[object]] = {}
        for path in sorted({path for folder in self._folders for path in _files(folder)}):
            if self._only is not None and path.parent.name not in self._only:
                continue
            try:
                stamp, run = self._result(path)
            except InputError as error:
                self._problems.append(str(error))
                continue
            there.setdefault(path.parent.parent, []).append(run)
            stamps.setdefault(path.parent.parent, []).append([path.parent.name, *stamp])
        sets = {
            str(folder): _Found(self._comparison(folder, runs), json.dumps(stamps[folder]))
            for folder, runs in there.items()
        }
        if len(sets) > 1:
            sets = {"all": _together(sets)} | sets
        return sets

    def _result(self, path: Path) -> tuple[tuple[int, int], Result]:
        """A run, read anew if its file has changed."""
        try:
            found = path.stat()
        except OSError as error:
            raise FileError(f"{path}: this cannot be read ({error.strerror})") from error
        stamp = found.st_mtime_ns, found.st_size
        if path not in self._read or self._read[path][0] != stamp:
            self._read[path] = stamp, Result.from_file(path)
        return self._read[path]

    def _comparison(self, folder: Path, runs: list[Result]) -> Comparison:
        """The runs of a folder, with the names and the order of its comparison or sweep."""
        failed: Sequence[Mapping[str, Any]] = []
        try:
            called = {path.name: variant for path, variant in named(folder)}
            if (folder / LIST).exists():
                failed = read_list(folder / LIST)["failed"]
        except InputError as error:
            self._problems.append(str(error))
            called = {}
        if not all(run.run_id in called for run in runs):
            return Comparison(runs, differences(runs), failed)
        order = {name: i for i, name in enumerate(called)}
        runs = sorted(runs, key=lambda run: order[run.run_id])
        return Comparison(runs, [called[run.run_id] for run in runs], failed)


_NOTHING: dict[str, Any] = {
    "content": "", "specs": [], "data": {"runs": []}, "shown": 0, "of": 0,
}  # fmt: skip


def _files(folder: Path) -> Iterator[Path]:
    """The results in or below a folder. Runs that are not complete have names with a dot."""
    for path in folder.rglob(RESULT):
        if not path.parent.name.startswith("."):
            yield path


def _together(sets: Mapping[str, _Found]) -> _Found:
    """The runs of several folders as one, each with the folder that it comes from."""
    names = dict.fromkeys(name for f in sets.values() for name in f.comparison.varied)
    folders = {name: Path(name).name for name in sets}
    if len({*folders.values()}) < len(folders):
        folders = {name: name for name in sets}
    runs, variants = [], []
    for name, found in sets.items():
        runs += found.comparison.runs
        variants += [
            {"results": folders[name], **{key: variant.get(key, "-") for key in names}}
            for variant in found.comparison.variants
        ]
    failed = [failure for f in sets.values() for failure in f.comparison.failed]
    return _Found(Comparison(runs, variants, failed), json.dumps([f.stamp for f in sets.values()]))

"""An experiment: its runs, its measures, and the published numbers."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from floatgate.experiments import check, toml
from floatgate.experiments.axes import Axis, Part, axes_of, merged
from floatgate.experiments.errors import Mistake, Text
from floatgate.hints import hint
from floatgate.report.model import Plot
from floatgate.result.folder import CHOICES
from floatgate.settings import same_value
from floatgate.workloads.catalogue import Folders
from floatgate.workloads.catalogue import traces as known_traces
from floatgate.workloads.reading import Reading

if TYPE_CHECKING:
    from floatgate.result.run import Result


class Published(NamedTuple):
    """A claim of a publication, and the numbers of runs that judge it.

    `measure` is a short name, the path of a number in the result, or a function of one. `where`
    selects runs by names, each with a value or a list of them. With `against`, each run is compared
    with the run that differs only in this. `form` is `value`, `change` (`-0.15` for 15 % less),
    `ratio` or `speed-up` (the other's over ours, less one). If there are several runs, `over` takes
    the `mean`, `median`, `least`, `most` or `sum`; real traces and stand-ins are never taken
    together. `least` has minimum values by path of the result; runs below one are left out. A
    number beyond `span` counts as missing. `value` may be a relation (`at most 0.01`). `tolerance`
    is the allowed difference, as a share of the value. `kind` is one of
    `floatgate.report.verdicts.KINDS`. Claims of one `fact` are readings of one number or relation,
    which counts once. A statement has a `text` and no `measure`.
    """

    what: str
    measure: str | Callable[[Result], float | None] = ""
    value: float | str | None = None
    where: Mapping[str, Any] = {}
    against: Mapping[str, Any] = {}
    unit: str = ""
    source: str = ""
    note: str = ""
    tolerance: float | None = None
    text: str = ""
    form: str = ""
    over: str = "mean"
    least: Mapping[str, float] = {}
    span: Sequence[float] = ()
    kind: str = "output"
    fact: str = ""


class Planned(NamedTuple):
    """One run of an experiment. `names` has all names of the experiment, by axis."""

    part: Part
    names: Mapping[str, str]
    reading: Reading


class Experiment:
    """An experiment file. `floatgate.Experiment` is one whose runs it makes itself.

    Raises:
        ConfigError: Every mistake in it, with lines if it comes from a file.
    """

    def __init__(
        self,
        name: str,
        *,
        folder: str | os.PathLike[str] = "",
        **keys: Any,
    ) -> None:
        data = {"schema": check.SCHEMA, "name": name} | {
            key.replace("_", "-"): value for key, value in keys.items()
        }
        self._take(check.plain(data), Text(), Path(folder))

    def _take(self, data: dict[str, Any], source: Text, folder: Path) -> None:
        self.data, self.source, self.folder = data, source, folder
        mistakes = list(check.mistakes(data))
        if not mistakes:
            mistakes = list(self._inner_mistakes())
        if mistakes:
            raise source.error(mistakes)

    @classmethod
    def parse(
        cls, text: str, name: str = "experiment", folder: str | os.PathLike[str] = ""
    ) -> Self:
        """An experiment from the text of a file, which messages call `name`."""
        self = cls.__new__(cls)
        data, source = check.parsed(text, name)
        self._take(data, source, Path(folder))
        return self

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Reads an experiment file."""
        return cls.parse(check.read(path), str(path), Path(path).parent)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Experiment) and self.data == other.data

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Experiment {self.name}: {len(self.planned())} runs>"

    def to_toml(self) -> str:
        """The experiment as a file."""
        return toml.written(self.data)

    @property
    def name(self) -> str:
        """The name, also used in the names of folders."""
        return str(self.data["name"])

    @property
    def title(self) -> str:
        """The title of its report."""
        return str(self.data.get("title", self.name))

    @property
    def prose(self) -> list[str]:
        """The paragraphs that its report begins with."""
        return [part.strip() for part in self.data.get("prose", "").split("\n\n") if part.strip()]

    @property
    def record(self) -> tuple[str, ...]:
        """The tables that are stored of each run."""
        return tuple(name for name in CHOICES if name in self.data.get("record", ()))

    @property
    def measures(self) -> list[str]:
        """The numbers to show first."""
        return list(self.data.get("measures", ()))

    @property
    def published(self) -> list[Published]:
        """The published numbers."""
        return [Published(**each) for each in self.data.get("published", ())]

    @property
    def plots(self) -> list[Plot]:
        """The plots of its report, without published points."""
        return [
            Plot(**{key: value for key, value in each.items() if key != "published"})
            for each in self.data.get("plots", ())
        ]

    def quick(self) -> Self:
        """The quick form: with the settings of `quick`, without the blocks that it omits."""
        short = type(self).__new__(type(self))
        data = {key: value for key, value in self.data.items() if key not in ("quick", "runs")}
        blocks = [block for _, block in self._blocks(quick=True)]
        own = [key for key in check.BLOCK if key in data]
        data = {key: value for key, value in data.items() if key not in own}
        data["runs"] = [{k: v for k, v in block.items() if k != "quick"} for block in blocks]
        short._take(data, Text(self.source.name), self.folder)
        return short

    def scaled(self, scale: str) -> Self:
        """The experiment with every drive scaled down (`"1/16"`), for any `scale` of its blocks."""
        other = type(self).__new__(type(self))
        blocks = [_unscaled(block) for block in self.data.get("runs", [])]
        data = _unscaled(self.data) | {"scale": scale} | ({"runs": blocks} if blocks else {})
        other._take(data, Text(self.source.name), self.folder)
        return other

    def with_other_traces(self, traces: Folders) -> Self:
        """The experiment with the traces at hand that have no name in the catalogue.

        They come first among the workloads of blocks with `other-traces`, under the names of their
        files.

        Raises:
            InputError: A folder does not exist or cannot be searched.
        """
        blocks = [self.data, *self.data.get("runs", ())]
        if not any(block.get("other-traces") for block in blocks):
            return self
        found = known_traces(traces)["also_there"]
        others = {os.path.basename(each["path"]): each["path"] for each in found}
        extended = type(self).__new__(type(self))
        data = dict(self.data)
        if "runs" in data:
            above = data.get("workload", [])
            data["runs"] = [_with_workloads(block, others, above) for block in data["runs"]]
        extended._take(_with_workloads(data, others), self.source, self.folder)
        return extended

    def _blocks(self, *, quick: bool = False) -> Iterator[tuple[check.Place, dict[str, Any]]]:
        """Each block with the settings that all have in common."""
        common = {key: self.data[key] for key in check.BLOCK if key in self.data}
        blocks = self.data.get("runs", [{}])
        for i, own in enumerate(blocks):
            place = check.Place(self.data, i if "runs" in self.data else None)
            block = merged(common, own)
            if not quick:
                yield place, block
            elif block.get("quick") is not False:
                short = merged(common.get("quick") or {}, own.get("quick") or {})
                yield place, merged(block, short)

    def _inner_mistakes(self) -> Iterator[Mistake]:
        """Mistakes that appear only when blocks are combined."""
        for quick in (False, True):
            found = False
            for place, block in self._blocks(quick=quick):
                try:
                    axes = axes_of(block, self.folder)
                except check.MistakeError as error:
                    yield error.mistake._replace(path=place.of(error.mistake.path))
                    found = True
                    continue
                for mistake in _excluded_mistakes(axes, block, quick):
                    yield mistake._replace(path=place.of(mistake.path))
                    found = True
            if found:
                return
        yield from self._published_mistakes()

    def _published_mistakes(self) -> Iterator[Mistake]:
        planned = self.planned()
        for i, published in enumerate(self.data.get("published", ())):
            for key in ("where", "against"):
                for name, values in published.get(key, {}).items():
                    path = ("published", i, key, name)
                    known = {run.names.get(name) for run in planned} - {None}
                    if not known:
                        yield Mistake(
                            path,
                            f"`{name}` is nothing that this experiment names",
                            hint(name, dict.fromkeys(n for r in planned for n in r.names)),
                        )
                        continue
                    for value in values if isinstance(values, list) else [values]:
                        if not any(same_value(str(k), value) for k in known):
                            yield Mistake(
                                path,
                                f"no run has `{name}` = {toml.inline(value)}",
                                f"there are {', '.join(sorted(map(str, known)))}",
                            )

    def planned(self) -> list[Planned]:
        """All runs, block by block; in each, the axis named first varies slowest."""
        runs = []
        for _, block in self._blocks():
            reading = check.reading(block.get("reading", {}), self.folder)
            axes = axes_of(block, self.folder)
            for choices in itertools.product(*(axis.choices for axis in axes)):
                names = {
                    axis.name: choice.label for axis, choice in zip(axes, choices, strict=True)
                }
                if any(_is_excluded(names, rule) for rule in block.get("exclude", ())):
                    continue
                part = Part()
                for choice in choices:
                    part = part.with_(choice.part)
                runs.append(Planned(part.of_flows(), names, reading))
        return runs


def _with_workloads(
    block: Mapping[str, Any], others: Mapping[str, str], above: Any = ()
) -> dict[str, Any]:
    """A block with further workloads ahead of its own, if it asks for them."""
    own = block.get("workload", above)
    if isinstance(own, str):
        own = [own]
    named = own if isinstance(own, Mapping) else {name: name for name in own}
    kept = {key: value for key, value in block.items() if key != "other-traces"}
    return kept | {"workload": {**others, **named}} if block.get("other-traces") else kept


def _is_excluded(names: Mapping[str, str], rule: Mapping[str, Any]) -> bool:
    return all(
        any(same_value(names[name], value) for value in _several(values))
        for name, values in rule.items()
        if name in names
    ) and all(name in names for name in rule)


def _unscaled(block: Mapping[str, Any]) -> dict[str, Any]:
    """A block of runs without its own scale."""
    own = {key: value for key, value in block.items() if key != "scale"}
    if isinstance(quick := own.get("quick"), Mapping):
        own["quick"] = {key: value for key, value in quick.items() if key != "scale"}
    return own


def _excluded_mistakes(
    axes: Sequence[Axis], block: Mapping[str, Any], quick: bool
) -> Iterator[Mistake]:
    by_name = {axis.name: axis for axis in axes}
    for i, rule in enumerate(block.get("exclude", ())):
        for name, values in rule.items():
            path = ("exclude", i, name)
            if name not in by_name:
                help = hint(name, by_name)
                yield Mistake(path, f"`{name}` is nothing that these runs name", help)
                continue
            labels = [choice.label for choice in by_name[name].choices]
            for value in _several(values):
                # The quick form may lack the runs that would be excluded.
                if not quick and not any(same_value(label, value) for label in labels):
                    message = f"no run has `{name}` = {toml.inline(value)}: nothing is excluded"
                    yield Mistake(path, message, f"there are {', '.join(labels)}")


def _several(values: Any) -> list[Any]:
    return values if isinstance(values, list) else [values]

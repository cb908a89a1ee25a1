"""The results of several runs, and the settings in which they differ."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from floatgate.mistakes import NoFileError
from floatgate.result.files import make_folder, replace
from floatgate.result.folder import RESULT
from floatgate.result.lists import LIST, SCHEMA, read_list
from floatgate.result.run import Result
from floatgate.result.shown import showing

if TYPE_CHECKING:
    import polars as pl


class Failure(NamedTuple):
    """Why a run gave no result.

    `kind` is `input` (the user's input, or no room to store the result), `internal` (a bug) or
    `died` (the process ended, killed or out of memory).
    """

    kind: str
    message: str


class Comparison:
    """Several runs side by side; `print(comparison)` is the page of the command line.

    Attributes:
        runs: The results, in the order in which the values were given.
        variants: For each of them, the settings of its own:
        `{"cost": "fixed:level=low", "seed": "1"}`.
        failed: The runs without a result: their `variant`, the `kind` of failure (`input`,
            `internal` or `died`) and a `message`.
        reused: The number of results that were stored before.
        remade: In words, the stored results that could not be used, and the reasons.
    """

    def __init__(
        self,
        runs: Sequence[Result],
        variants: Sequence[Mapping[str, str]],
        failed: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        self.runs = list(runs)
        self.variants = [dict(variant) for variant in variants]
        self.failed = [dict(failure) for failure in failed]
        self.reused = 0
        self.remade: Sequence[str] = ()

    @classmethod
    def of(
        cls, variants: Sequence[Mapping[str, str]], outcomes: Sequence[Result | Failure]
    ) -> Comparison:
        """Sorts the outcome of each variant into results and failures."""
        pairs = list(zip(variants, outcomes, strict=True))
        done = [(variant, o) for variant, o in pairs if isinstance(o, Result)]
        failed = [
            {"variant": dict(variant)} | o._asdict()
            for variant, o in pairs
            if not isinstance(o, Result)
        ]
        return cls([result for _, result in done], [variant for variant, _ in done], failed)

    def __str__(self) -> str:
        return showing().comparison(self)

    def _repr_html_(self) -> str:
        return showing().comparison_as_html(self)

    def __repr__(self) -> str:
        failed = f", {len(self.failed)} failed" if self.failed else ""
        return f"<Comparison of {len(self.runs)} runs by {', '.join(self.varied)}{failed}>"

    @property
    def varied(self) -> dict[str, list[str]]:
        """Varied names, each with its values in order: `{"ftl.spare-factor": ["0.07", "0.2"]}`."""
        values: dict[str, dict[str, None]] = {}
        for variant in [*self.variants, *(failure["variant"] for failure in self.failed)]:
            for name, value in variant.items():
                values.setdefault(name, {})[value] = None
        return {name: list(known) for name, known in values.items()}

    @property
    def exit_code(self) -> int:
        """The code of the worst run, for the command line: 0 done, 2 the user's input, 1 ours."""
        kinds = {failure["kind"] for failure in self.failed}
        return 0 if not kinds else 2 if kinds == {"input"} else 1

    @property
    def data(self) -> dict[str, Any]:
        """The whole as one value, as `floatgate compare --json` prints it."""
        return {
            "schema": "floatgate.compare/1",
            "variants": self.variants,
            "runs": [run.data for run in self.runs],
            "failed": self.failed,
        }

    def to_json(self) -> str:
        """The whole value as JSON, on lines of their own."""
        return json.dumps(self.data, indent=1)

    def frame(self, *, provenance: bool = False) -> pl.DataFrame:
        """One row per run: its varied settings, then its numbers as in `Result.frame`.

        `frame().to_pandas()`, `.write_csv(path)` and `.write_excel(path)` export it.

        Args:
            provenance: As for `Result.frame`.
        """
        import polars as pl

        if not self.runs:
            return pl.DataFrame()
        columns = [
            pl.Series(name, typed([variant[name] for variant in self.variants]))
            for name in self.varied
        ]
        # Policies have counters of their own. A column that a run lacks is null in its row.
        results = pl.concat(
            [run.frame(provenance=provenance) for run in self.runs], how="diagonal_relaxed"
        )
        return pl.DataFrame(columns).hstack(results) if columns else results

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Stores every result as `FOLDER/RUN-ID/result.json`, and the list of them."""
        for run in self.runs:
            run.save(folder)
        return self.write_list(folder)

    def save_report(self, path: str | os.PathLike[str], title: str | None = None) -> Path:
        """Writes a page with plots and tables of the runs, and returns its path.

        It is one HTML file that needs no network, as `floatgate report` writes it.
        `floatgate.report` adds text, tables and plots of your own.

        Raises:
            InputError: The packages of the extra `report` are missing, it cannot be written, or
                there is no run.
        """
        save = showing().report
        assert save is not None, "the package says it"
        return save(self, path, title)

    def write_list(self, folder: str | os.PathLike[str]) -> Path:
        """Writes `FOLDER/comparison.json`: the compared results, and their settings.

        The file appears whole or not at all. It marks a completed comparison.
        """
        path = Path(folder) / LIST
        make_folder(path.parent)
        value = self.data | {
            "schema": SCHEMA,
            "runs": [run.run_id for run in self.runs],
        }
        replace(path, json.dumps(value, indent=1) + "\n")
        return path

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Comparison:
        """Reads a stored comparison from the folder that holds it.

        Raises:
            InputError: There is none, or it cannot be read.
        """
        path = Path(folder) / LIST
        if not path.exists():
            raise NoFileError(f"{folder}: there is no `{LIST}` here; expected a stored comparison")
        value = read_list(path)
        runs = [Result.from_file(path.parent / run_id / RESULT) for run_id in value["runs"]]
        return cls(runs, value["variants"], value["failed"])


def typed(values: Sequence[str | None]) -> Sequence[str | float | None]:
    """As numbers if all values are numbers, so that they sort and plot as such."""
    for number in (int, float):
        try:
            return [None if value is None else number(value) for value in values]
        except ValueError:
            continue
    return values

"""Output of commands besides the text of their results."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from floatgate import terminal

if TYPE_CHECKING:
    from floatgate import Comparison, Result


def print_json(schema: str, **values: Any) -> None:
    """Prints the one object of `--json`."""
    print(json.dumps({"schema": schema, **values}))


def comma_separated(rows: Iterable[Sequence[object]]) -> str:
    """Rows as CSV; None is an empty cell."""
    import csv
    import io

    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerows(["" if cell is None else cell for cell in row] for row in rows)
    return text.getvalue().removesuffix("\n")


@contextmanager
def kept(where: Callable[[], str]) -> Iterator[None]:
    """Text printed inside is not lost if it cannot be printed: the message names its file.

    Args:
        where: Returns the name of the file; it is called only then.
    """
    try:
        yield
        sys.stdout.flush()
    except terminal.OutputError as error:
        if not error.nobody_reads:
            error.kept = where()
        raise


def place_of(result: Result) -> str:
    """A sentence with the place of a stored result, which may be in the cache."""
    from floatgate import InputError
    from floatgate.cache import cache

    if result.folder is not None:
        return f"the result is stored in {result.folder}"
    place = cache()
    if place is None:
        return "the result is lost: there is no cache to keep it in, and no --out"
    try:
        return f"the result is kept in {result.save(place.unprinted).parent}"
    except InputError as error:
        return f"the result is lost, it could not be kept either: {error}"


def several(
    comparison: Comparison, out: object, words: Callable[[], str], as_json: bool
) -> NoReturn:
    """Shows the results of several runs, and ends the command with the worst status of them.

    Args:
        comparison: The runs.
        out: Where they are stored.
        words: Returns the text for people; it is called only if there are results.
        as_json: Whether it is for a program.
    """
    from floatgate.text.comparison import failures

    failed = failures(comparison)
    if not comparison.runs:
        fail(failed, comparison.exit_code)
    with kept(lambda: f"the results are stored in {out}"):
        print(json.dumps(comparison.data) if as_json else words())
        if as_json and failed:
            print(failed, file=sys.stderr)
    sys.exit(comparison.exit_code)


def fail(message: str, code: int) -> NoReturn:
    """Ends the command with a message."""
    print(message, file=sys.stderr)
    sys.exit(code)

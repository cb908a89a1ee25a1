"""A choice among several runs, in a few words."""

from __future__ import annotations

import operator
import re
import shlex
from collections.abc import Callable

from floatgate.engine import InputError
from floatgate.report.names import as_number
from floatgate.result.comparison import Comparison
from floatgate.result.measures import find
from floatgate.result.names import brief, label

_TERM = re.compile(r"([^<>=!]+)(<=|>=|!=|=|<|>)(.+)")
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "!=": operator.ne,
}


def chosen(comparison: Comparison, asked: str) -> Comparison:
    """The runs for which every word holds.

    A word is a part of a run's name (`greedy`), or compares a varied setting or a measure with a
    value: `victim=greedy`, `spare-factor>0.1`, `waf<2`, `write.p99<=1ms`. Quotes hold words
    together.

    Raises:
        InputError: A word compares an unknown name, or compares with text that is not a number.
    """
    try:
        words = shlex.split(asked)
    except ValueError as error:
        raise InputError(f"`{asked}`: a quote is not closed") from error
    kept = range(len(comparison.runs))
    for word in words:
        holds = _holds(comparison, word)
        kept = [i for i in kept if holds(i)]  # type: ignore[assignment]
    return Comparison(
        [comparison.runs[i] for i in kept],
        [comparison.variants[i] for i in kept],
        comparison.failed,
    )


def _holds(comparison: Comparison, word: str) -> Callable[[int], bool]:
    """Whether the run with a number fulfils a word."""
    found = _TERM.fullmatch(word)
    if found is None:
        labels = [label(variant).lower() for variant in comparison.variants]
        return lambda i: word.lower() in labels[i]
    name, sign, text = (part.strip() for part in found.groups())
    compare, value = _COMPARE[sign], as_number(text)
    names = list(comparison.varied)
    known = {brief(each, names): each for each in names} | {each: each for each in names}
    if name in known:
        texts = [variant.get(known[name], "-") for variant in comparison.variants]
        if sign in ("=", "!="):
            return lambda i: (_same(texts[i], text)) == (sign == "=")
        numbers = [as_number(each) for each in texts]
    else:
        measure = find(name, comparison.runs)
        numbers = [measure.of(run) for run in comparison.runs]
    if value is None:
        raise InputError(f"`{word}`: `{text}` is not a number")
    return lambda i: (number := numbers[i]) is not None and compare(number, value)


def _same(given: str, asked: str) -> bool:
    number = as_number(given)
    return given.lower() == asked.lower() or (number is not None and number == as_number(asked))

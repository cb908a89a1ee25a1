"""The word that was probably meant, for an unknown one.

It uses the similarity of the standard library, not the distance of the engine. The command line
corrects its own words before the engine is loaded, and several words may be equally near.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


def hint(word: str, known: Iterable[str]) -> str:
    """The hint for an unknown word: a likely meaning, or the known words.

    >>> hint("strat", ["start", "stop"]), hint("end", ["start", "stop"])
    ('did you mean `start`?', 'there are start, stop')
    """
    names = list(known)
    near = nearest(word, names)
    return _meant(near) if near else f"there are {', '.join(names)}"


def file_hint(path: str | os.PathLike[str]) -> str:
    """The hint for a missing file: a similar name in its folder."""
    folder, name = Path(path).parent, Path(path).name
    try:
        near = nearest(name, sorted(each for each in os.listdir(folder) if each[0] != "."))
    except OSError:
        near = []
    return _meant([str(folder / each) for each in near]) if near else "check the path"


def nearest(word: str, known: Iterable[str]) -> list[str]:
    """The most likely words: none, or several that are equally near.

    >>> nearest("waff", ["waf", "end"]), nearest("AGCR", ["agcr"]), nearest("x", ["agcr"])
    (['waf'], ['agcr'], [])
    """
    import difflib

    lower = {name: name.lower() for name in known}
    word = word.lower()
    if not difflib.get_close_matches(word, lower.values(), 1):
        # A common beginning counts as much as a small typing error.
        return [name for name, low in lower.items() if len(word) > 2 and low.startswith(word)][:1]
    match = difflib.SequenceMatcher(b=word)
    likeness = {}
    for name, low in lower.items():
        match.set_seq1(low)
        likeness[name] = match.ratio()
    best = max(likeness.values())
    return [name for name in lower if likeness[name] == best][:3]


def _meant(names: Iterable[str]) -> str:
    return f"did you mean {' or '.join(f'`{name}`' for name in names)}?"

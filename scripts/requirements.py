"""Prints the requirements of pyproject.toml for runs and for the named extras, one a line."""

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]


def requirements(listed: Iterable[str]) -> Iterator[str]:
    """The requirements; an extra that stands for others names them as `floatgate[a,b]`."""
    for one in listed:
        if others := re.fullmatch(r"floatgate\[(.+)\]", one):
            for extra in others[1].split(","):
                yield from requirements(PROJECT["optional-dependencies"][extra])
        else:
            yield one


if __name__ == "__main__":
    print(*requirements(PROJECT["dependencies"]), sep="\n")
    for extra in sys.argv[1:]:
        print(*requirements([f"floatgate[{extra}]"]), sep="\n")

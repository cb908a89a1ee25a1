"""Whether files may run code: only with permission.

A drive file or an experiment may name policies written in Python. A user who types such a name, on
the command line or in a program, wants that code to run. A user who opens somebody else's file may
not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

SCHEME = "py:"
"""Names of policies written in Python begin with this."""

_allowed: ContextVar[bool] = ContextVar("floatgate_code_allowed", default=False)


@contextmanager
def allow_code(allowed: bool = True) -> Iterator[None]:
    """Lets drive files and experiment files name policies written in Python, which are then run.

    >>> import floatgate
    >>> with floatgate.allow_code():
    ...     config = floatgate.resolve("agcr")  # would import a `py:` policy of a drive file

    Args:
        allowed: False takes the permission back inside a block that gives it.
    """
    token = _allowed.set(allowed)
    try:
        yield
    finally:
        _allowed.reset(token)


def grant() -> None:
    """The same for the rest of this process: `--allow-code` of the command line."""
    _allowed.set(True)


def code_allowed() -> bool:
    """Whether files may run code now."""
    return _allowed.get()


def typed(words: Iterable[str]) -> frozenset[str]:
    """The Python policies in policies and settings that the user has typed.

    >>> typed(["cost=fixed:level=low", "victim=py:mine.Oldest:least=3"])
    frozenset({'py:mine.Oldest'})
    >>> typed(["policies.victim.name=py:mine.Oldest"])
    frozenset({'py:mine.Oldest'})
    """
    return frozenset(
        found for word in words if (found := named(word.partition("=")[2])) is not None
    )


def named(choice: str) -> str | None:
    """The name in the choice of a policy, if it is one written in Python.

    >>> named("py:mine.Oldest:least=3"), named("greedy")
    ('py:mine.Oldest', None)
    """
    choice = choice.strip().strip("\"'")
    if not choice.startswith(SCHEME):
        return None
    return SCHEME + choice.removeprefix(SCHEME).partition(":")[0]

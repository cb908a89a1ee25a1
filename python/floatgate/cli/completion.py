"""Completing `--policy FAMILY=NAME` in a shell."""

from __future__ import annotations

import os

from floatgate.lists import policies


def policy(incomplete: str) -> list[str]:
    """The ways in which a `--policy` argument can go on, in a comma list too.

    >>> policy("victim=f"), policy("victim=fifo,gr")
    (['victim=fifo'], ['victim=fifo,greedy'])
    """
    family, equals, names = incomplete.partition("=")
    listed = names[: names.rfind(",") + 1]
    words = [
        f"{known['family']}={listed}{known['name']}"
        for known in policies()
        if known["family"] == family or not equals
    ]
    return [word for word in words if word.startswith(incomplete)]


def bash_policy() -> list[str] | None:
    """The answers to bash where a `--policy` argument is completed behind its `=`, else None.

    Bash hands `victim=gr` over as three words, and puts the answer in the place of the last.
    """
    if os.environ.get("_FLOATGATE_COMPLETE") != "complete_bash":
        return None
    words = os.environ["COMP_WORDS"].split("\n")[: int(os.environ["COMP_CWORD"]) + 1]
    match words:
        case [*_, "--policy", family, "="]:
            names = ""
        case [*_, "--policy", family, "=", names]:
            pass
        case _:
            return None
    return [word.removeprefix(f"{family}=") for word in policy(f"{family}={names}")]

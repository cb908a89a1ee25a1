"""Completing commands, options and `--policy FAMILY=NAME` in a shell."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import click

from floatgate.mistakes import FileError, UnknownNameError


def policy(incomplete: str) -> list[str]:
    """The ways in which a `--policy` argument can go on, in a comma list too.

    >>> policy("victim=f"), policy("victim=fifo,gr")
    (['victim=fifo'], ['victim=fifo,greedy'])
    """
    from floatgate.lists import policies

    family, equals, names = incomplete.partition("=")
    listed = names[: names.rfind(",") + 1]
    words = [
        f"{known['family']}={listed}{known['name']}"
        for known in policies()
        if known["family"] == family or not equals
    ]
    return [word for word in words if word.startswith(incomplete)]


def _policy_of_bash() -> list[str] | None:
    """The answers to bash where a `--policy` argument is completed behind its `=`, else None.

    Bash hands `victim=gr` over as three words, and puts the answer in the place of the last.
    """
    words = os.environ["COMP_WORDS"].split("\n")[: int(os.environ["COMP_CWORD"]) + 1]
    match words:
        case [*_, "--policy", family, "="]:
            names = ""
        case [*_, "--policy", family, "=", names]:
            pass
        case _:
            return None
    return [word.removeprefix(f"{family}=") for word in policy(f"{family}={names}")]


def answer(root: click.Command) -> bool:
    """Answers a shell that asks how a command line can go on, if that is who called."""
    asked = os.environ.get(_ASKED)
    if not asked:
        return False
    if asked == "bash_complete" and (words := _policy_of_bash()) is not None:
        print("\n".join(f"plain,{word}" for word in words))
        return True
    from click.shell_completion import shell_complete

    sys.exit(shell_complete(root, {}, "floatgate", _ASKED, asked))


def options() -> list[click.Option]:
    """Ways to have completion in the shell that is used."""

    def way(name: str, help: str, act: Callable[[str], None]) -> click.Option:
        def called(context: click.Context, _of: click.Parameter, wanted: bool) -> None:
            if wanted and not context.resilient_parsing:
                act(_shell())
                context.exit()

        return click.Option(
            [name], is_flag=True, is_eager=True, expose_value=False, callback=called, help=help
        )

    return [
        way("--install-completion", "Install completion for the current shell.", _install),
        way(
            "--show-completion",
            "Show completion for the current shell, to copy it or customize the installation.",
            lambda shell: print(_SOURCES[shell][1]),
        ),
    ]


_ASKED = "_FLOATGATE_COMPLETE"

# Where a shell looks for what it does first, and what makes it ask.
_SOURCES = {
    "bash": (".bashrc", f'eval "$({_ASKED}=bash_source floatgate)"'),
    "zsh": (".zshrc", f'eval "$({_ASKED}=zsh_source floatgate)"'),
    "fish": (
        ".config/fish/completions/floatgate.fish",
        f"{_ASKED}=fish_source floatgate | source",
    ),
}


def _shell() -> str:
    """The shell that is used.

    Raises:
        InputError: It cannot be told, or completes nothing.
    """
    name = os.path.basename(os.environ.get("SHELL", ""))
    if name not in _SOURCES:
        known = ", ".join(_SOURCES)
        raise UnknownNameError(f"`SHELL` names `{name}`, and completion is there for {known}")
    return name


def _install(shell: str) -> None:
    """Adds the line to what the shell does first, once."""
    file, line = _SOURCES[shell]
    place = Path.home() / file
    try:
        there = place.read_text() if place.exists() else ""
        if line not in there.splitlines():
            place.parent.mkdir(parents=True, exist_ok=True)
            separated = "" if not there or there.endswith("\n") else "\n"
            with place.open("a") as out:
                out.write(f"{separated}{line}\n")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{place}: it cannot be added there ({error})") from error
    print(f"{place} asks floatgate now; a new {shell} completes its commands.")

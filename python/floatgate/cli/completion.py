"""Completing commands, options and their values in a shell."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from floatgate.mistakes import FileError, UnknownNameError


def policy(incomplete: str) -> list[str]:
    """The possible continuations of a `--policy` argument, in a comma list too.

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


def setting(incomplete: str) -> list[str]:
    """The possible continuations of a `--set` argument: keys, then values if a key lists them.

    >>> setting("ftl.spare"), setting("host.mode=t")
    (['ftl.spare-factor='], ['host.mode=timestamps', 'host.mode=think-time'])
    """
    key, equals, value = incomplete.partition("=")
    if not equals:
        return [f"{name}=" for name in settings() if name.startswith(key)]
    listed = value[: value.rfind(",") + 1]
    words = [f"{key}={listed}{one}" for one in settings().get(key, ())]
    return [word for word in words if word.startswith(incomplete)]


def settings() -> dict[str, list[str]]:
    """The keys of drive files, each with its values if they are few."""
    import json

    from floatgate import engine

    found: dict[str, list[str]] = {}

    def walk(above: str, schema: dict[str, Any]) -> None:
        for name, inner in schema.get("properties", {}).items():
            if "properties" in inner:
                walk(f"{above}{name}.", inner)
            elif above:
                found[f"{above}{name}"] = [str(value) for value in inner.get("enum", ())]

    walk("", json.loads(engine.schema()))
    return found


def drive(incomplete: str) -> list[str]:
    """The drives that begin with a word, or with the last of a list of words."""
    from floatgate.lists import drives

    return _listed(incomplete, drives())


def workload(incomplete: str) -> list[str]:
    """The generators that begin with a word, or with the last of a list of words."""
    from floatgate.lists import generators

    return _listed(incomplete, generators())


def chip(incomplete: str) -> list[str]:
    """The chips whose name begins with a word."""
    from floatgate.lists import chips

    return _listed(incomplete, [each["name"] for each in chips()])


def family(incomplete: str) -> list[str]:
    """The families of policies that begin with a word."""
    from floatgate.lists import policies

    return _listed(incomplete, dict.fromkeys(each["family"] for each in policies()))


def code(incomplete: str) -> list[str]:
    """The codes of warnings and errors that begin with a word."""
    from floatgate.text.explained import ERRORS, WARNINGS

    return _listed(incomplete, [*WARNINGS, *ERRORS])


def _listed(incomplete: str, names: Iterable[str]) -> list[str]:
    """The names that begin with the last of a comma list, after the list so far."""
    listed, comma, last = incomplete.rpartition(",")
    return [f"{listed}{comma}{name}" for name in names if name.startswith(last)]


_WITH_EQUALS = {"--policy": policy, "--set": setting}
"""Options whose values contain a `=`, at which bash cuts words."""


def _behind_equals() -> list[str] | None:
    """The answers to bash if such a value is completed after its `=`, otherwise None.

    Bash passes `victim=gr` as three words, and puts the answer in place of the last.
    """
    words = os.environ["COMP_WORDS"].split("\n")[: int(os.environ["COMP_CWORD"]) + 1]
    match words:
        case [*_, option, key, "="]:
            value = ""
        case [*_, option, key, "=", value]:
            pass
        case _:
            return None
    completes = _WITH_EQUALS.get(option)
    if completes is None:
        return None
    return [word.removeprefix(f"{key}=") for word in completes(f"{key}={value}")]


def answer(root: click.Command) -> bool:
    """Answers a shell that asks for the continuation of a command line, if the caller is one."""
    asked = os.environ.get(_ASKED)
    if not asked:
        return False
    if asked == "bash_complete" and (words := _behind_equals()) is not None:
        print("\n".join(f"plain,{word}" for word in words))
        return True
    from click.shell_completion import shell_complete

    sys.exit(shell_complete(root, {}, "floatgate", _ASKED, asked))


def options() -> list[click.Option]:
    """Options that turn completion on in the present shell."""

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

# The start file of a shell, and the line in it that turns completion on.
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
    """Adds the line to the shell's start-up file, once."""
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

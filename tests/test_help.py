"""Help shows how a command is called, and every example can be typed."""

import re
import shlex
from collections.abc import Iterator
from typing import Any

import click
import pytest

from floatgate.cli import app
from floatgate.cli.completion import settings


def commands(of: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command that is no group, by the words that call it."""
    if not isinstance(of, click.Group):
        yield path, of
        return
    for name in of.list_commands(click.Context(of)):
        yield from commands(of.get_command(click.Context(of), name), (*path, name))


EVERY = dict(commands(app.group("floatgate"), ("floatgate",)))
WITH_EXAMPLES = {path: command for path, command in EVERY.items() if command.examples}


def test_the_first_commands_of_a_newcomer_have_examples() -> None:
    assert len(EVERY) >= 20
    assert {("floatgate", "run"), ("floatgate", "compare")} <= WITH_EXAMPLES.keys()


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=" ".join)
def test_examples_parse_and_name_settings_that_are_there(path: tuple[str, ...]) -> None:
    command = WITH_EXAMPLES[path]
    text = "\n".join(command.examples).replace("\\\n", " ")
    for line in text.splitlines():
        words = shlex.split(line)
        assert tuple(words[: len(path)]) == path
        context = command.make_context(path[-1], words[len(path) :])
        for setting in context.params.get("set") or ():
            assert setting.partition("=")[0] in settings()
    help_text = command.get_help(click.Context(command, info_name=path[-1]))
    assert re.search(r"^Examples?:\n  floatgate ", help_text, re.MULTILINE)

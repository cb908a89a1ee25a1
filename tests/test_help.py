"""Help shows how a command is called; slips of newcomers get the answer."""

import re
import shlex
from collections.abc import Iterator
from typing import Any

import click
import pytest

import floatgate as fg
from conftest import Floatgate
from floatgate.cli import app
from floatgate.cli.completion import settings


def commands(of: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command that is not a group, by the words that call it."""
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


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("1k", "1000"),
        ("2M", "2000000"),
        ("1.5k", "1500"),
        ("1e6", "1000000"),
        ("10,000", "10000"),
        ("1G", "1000000000"),
    ],
)
def test_a_short_form_of_a_number_is_spelled_out(
    floatgate: Floatgate, typed: str, meant: str
) -> None:
    done = floatgate("run", "agcr", "random-write", "--first", typed)
    assert done.returncode == 2
    assert f"not `{typed}`; did you mean `{meant}`?" in done.stderr


@pytest.mark.parametrize("typed", ["k", "0.5", "many", "1e99", "-1k"])
def test_nothing_is_suggested_where_nothing_was_meant(floatgate: Floatgate, typed: str) -> None:
    done = floatgate("run", "agcr", "random-write", "--first", typed)
    assert done.returncode == 2
    assert "did you mean" not in done.stderr


def test_a_drive_in_the_place_of_a_workload_is_named(floatgate: Floatgate) -> None:
    for drive in fg.drives():
        done = floatgate("run", "modern-tlc", drive)
        assert done.returncode == 2
        assert f"`{drive}` is a drive" in done.stderr
        assert f"floatgate compare DRIVE,{drive} WORKLOAD" in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("sets", "set"), ("policies", "policy"), ("seeds", "seed"), ("firs", "first")],
)
def test_a_wrong_argument_of_python_names_the_right_one(wrong: str, right: str) -> None:
    for function in (fg.run, fg.compare, fg.lifetime):
        with pytest.raises(TypeError, match=f"`{wrong}`; did you mean .*`{right}`"):
            function("agcr", "random-write", **{wrong: 1})  # type: ignore[arg-type]

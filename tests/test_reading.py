"""How a trace is read: one list, from which functions, commands and experiments take theirs."""

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_type_hints

import click
import pytest

import floatgate as fg
from conftest import Floatgate
from floatgate import engine
from floatgate.cli import app
from floatgate.experiments.check import READING
from floatgate.workloads.reading import Reading, how_to_read

# Each key, a value that Python takes, and the value that the engine gets.
TOLD: dict[str, tuple[Any, tuple[str, Any]]] = {
    "format": ("msr", ("format", "msr")),
    "time_unit": ("us", ("time_unit", "us")),
    "columns": ("time=1:us", ("columns", "time=1:us")),
    "event": ("D", ("event", "D")),
    "device": ([3, "hm_0"], ("devices", ["3", "hm_0"])),
    "process": (17, ("process", "17")),
    "flow_by": ("device", ("flow_by", "device")),
    "skip_bad": (True, ("skip_bad", True)),
    "traces": (Path("there"), ("traces", ["there"])),
    "slice": ("1s..2s", ("slice", "1s..2s")),
    "first": (10, ("first", 10)),
    "footprint": (0.5, ("footprint", 0.5)),
    "speed": (2.0, ("speed", 2.0)),
    "repeat": (3, ("repeat", 3)),
}
COMMANDS = ["run", "compare", "lifetime", "trace describe", "trace convert", "trace fit"]
FUNCTIONS: dict[str, Callable[..., object]] = {
    "run": lambda **reading: fg.run("agcr", "none.csv", **reading),
    "compare": lambda **reading: fg.compare("agcr", "none.csv", **reading),
    "describe": lambda **reading: fg.describe("none.csv", **reading),
    "convert": lambda **reading: fg.convert("none.csv", "none.parquet", **reading),
    "fit": lambda **reading: fg.fit("none.csv", **reading),
    "lifetime": lambda **reading: fg.lifetime("c-mlc64", "none.csv", **reading),
    "fast_forward": lambda **reading: fg.fast_forward("ready-32g", "none.csv", **reading),
    "demand_per_second": lambda **reading: fg.demand_per_second("agcr", "none.csv", **reading),
}


def test_every_key_is_told_to_the_engine_and_nothing_else_is() -> None:
    assert list(TOLD) == list(Reading.__annotations__)
    plain = how_to_read(traces=())
    assert plain.keys() == engine.AS_IT_IS.keys()
    for key, (value, (name, said)) in TOLD.items():
        told = how_to_read(**{"traces": (), key: value})
        assert told[name] == said  # type: ignore[literal-required]
        assert {**told, name: 0} == {**plain, name: 0}, key


@pytest.mark.parametrize("path", COMMANDS)
def test_commands_have_an_option_for_each_key(path: str) -> None:
    command: Any = app.group("floatgate")
    for word in path.split():
        command = command.get_command(click.Context(command), word)
    options = {option.name: option for option in command.params}
    assert len(options) > len(TOLD)
    for key, hint in get_type_hints(Reading, include_extras=True).items():
        about = hint.__metadata__[0].help + (" Repeatable." if key == "traces" else "")
        assert options[key].help == about, key
        assert options[key].opts == [f"--{key.replace('_', '-')}"]
        assert options[key].secondary_opts == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_name_each_key_and_refuse_others(name: str) -> None:
    function = getattr(fg, name)
    assert set(TOLD) < set(inspect.signature(function).parameters)
    for key, hint in get_type_hints(Reading, include_extras=True).items():
        assert f"{key}: {hint.__metadata__[0].help}" in function.__doc__
    with pytest.raises(TypeError, match="`frist`; did you mean `first`"):
        FUNCTIONS[name](frist=3)
    assert FUNCTIONS.keys() | {"advise"} == {
        name for name in fg.__all__ if "skip_bad" in str(_signature(getattr(fg, name)))
    }


def _signature(value: object) -> inspect.Signature | None:
    return inspect.signature(value) if inspect.isfunction(value) else None


def test_experiments_have_the_same_keys() -> None:
    assert [key.replace("-", "_") for key in READING] == list(TOLD)


def test_every_command_does_what_it_is_told(floatgate: Floatgate, tmp_path: Path) -> None:
    rows = [f"{i * 10_000_000} 0 {8 * (i * 37 % 101)} 8 {i % 2}" for i in range(2000)]
    (tmp_path / "a.trace").write_text("\n".join(rows) + "\n")
    half = ("--slice", "..10s", "--speed", "2")

    def answer(*words: str) -> Any:
        done = floatgate(*words, "--json", "--quiet")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    read = ("trace", "describe", "a.trace")
    assert answer(*read)["requests"]["all"]["requests"] == 2000
    assert answer(*read, *half)["requests"]["all"]["requests"] == 1000
    fitted = [answer("trace", "fit", "a.trace", *more)["profile"] for more in ((), half)]
    assert [profile["reads"] + profile["writes"] for profile in fitted] == [2000, 1000]
    small = ("--set", "geometry.channels=1", "--set", "geometry.blocks-per-plane=64")
    life = answer("lifetime", "agcr", "a.trace", *small, *half, "--no-advice")
    assert life["provenance"]["workload"]["requests"] == 1000

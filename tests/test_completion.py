"""Completing commands, names and settings in a shell."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Floatgate
from floatgate import chips, drives, generators, policies
from floatgate.cli import completion
from floatgate.text import explained

BASH = """
eval "$(_FLOATGATE_COMPLETE=bash_source floatgate)"
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_floatgate_completion floatgate
printf '%s\\n' "${COMPREPLY[@]}"
"""
VICTIMS = [p["name"] for p in policies() if p["family"] == "victim"]


def test_a_family_goes_on_with_its_policies() -> None:
    assert len(VICTIMS) >= 4
    assert completion.policy("victim=") == [f"victim={name}" for name in VICTIMS]
    assert completion.policy("vic") == completion.policy("victim=")
    assert completion.policy("victim=fifo,") == [f"victim=fifo,{name}" for name in VICTIMS]
    assert completion.policy("victim=fifo:") == []
    assert {word.partition("=")[0] for word in completion.policy("")} == {
        p["family"] for p in policies()
    }


def test_every_list_of_names_is_known() -> None:
    cases = {
        completion.drive: drives(),
        completion.workload: [*generators()],
        completion.chip: [each["name"] for each in chips()],
        completion.family: [*dict.fromkeys(each["family"] for each in policies())],
        completion.code: [*explained.WARNINGS, *explained.ERRORS],
    }
    for complete, names in cases.items():
        assert len(names) >= 4
        assert complete("") == names
        assert complete(names[-1][:-1])[-1] == names[-1]
        assert complete("no-such-name") == []
    assert completion.drive("agcr,modern-q") == ["agcr,modern-qlc", "agcr,modern-qlc-coarse"]


def test_settings_are_those_that_config_show_prints(floatgate: Floatgate) -> None:
    shown = json.loads(floatgate("config", "show", "agcr", "--json").stdout)["config"]
    sections = {name: of for name, of in shown.items() if isinstance(of, dict)}
    known = completion.settings()
    printed = {f"{name}.{key}" for name, of in sections.items() for key in of}
    missing = {
        k for k in printed if k not in known and not any(n.startswith(f"{k}.") for n in known)
    }
    assert len(printed) > 40
    assert missing <= {k for k in printed if k.startswith(("workload.", "timing.levels"))}
    assert completion.setting("host.mode=think") == ["host.mode=think-time"]
    assert completion.setting("host.mode=shifted,th") == ["host.mode=shifted,think-time"]
    assert completion.setting("ftl.spare-factor=") == []


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")
@pytest.mark.parametrize("command", ["run", "compare"])
def test_bash_completes_on_both_sides_of_the_equals_sign(command: str, tmp_path: Path) -> None:
    floatgate = tmp_path / "floatgate"
    floatgate.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m floatgate "$@"\n')
    floatgate.chmod(0o755)
    environment = os.environ | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    # Bash cuts words at `=`, and the answer takes the place of the last piece.
    cases = {
        ("vic",): [f"victim={name}" for name in VICTIMS],
        ("victim", "="): VICTIMS,
        ("victim", "=", "gr"): ["greedy"],
        ("victim", "=", "greedy,fi"): ["greedy,fifo"],
        ("victim", "=", "no"): [""],
    }
    every = {("--policy", *typed): expected for typed, expected in cases.items()}
    every |= {
        ("--set", "ftl.spare"): ["ftl.spare-factor="],
        ("--set", "host.mode", "=", "th"): ["think-time"],
    }
    for typed, expected in every.items():
        words = ["floatgate", command, "agcr", "zipf", *typed]
        shell = ["bash", "-c", BASH, "bash", *words]
        done = subprocess.run(shell, capture_output=True, text=True, check=True, env=environment)
        assert done.stdout.splitlines() == expected, typed
    for asked, first in {
        ("run", "modern-t"): "modern-tlc",
        ("run", "agcr", "zip"): "zipf",
        ("drives", "c-m"): "c-mlc64",
        ("policies", "vic"): "victim",
    }.items():
        shell = ["bash", "-c", BASH, "bash", "floatgate", *asked]
        done = subprocess.run(shell, capture_output=True, text=True, check=True, env=environment)
        assert done.stdout.splitlines()[0] == first, asked

"""Completing policies in a shell."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from floatgate import policies
from floatgate.cli import completion

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
    for typed, expected in cases.items():
        words = ["floatgate", command, "agcr", "zipf", "--policy", *typed]
        shell = ["bash", "-c", BASH, "bash", *words]
        done = subprocess.run(shell, capture_output=True, text=True, check=True, env=environment)
        assert done.stdout.splitlines() == expected, typed

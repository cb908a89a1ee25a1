"""The baseline of instruction counts: which changes it lets pass, and which it does not."""

import json
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def script() -> Any:
    loader = SourceFileLoader("bench_count", str(ROOT / "scripts/bench-count"))
    spec = spec_from_loader(loader.name, loader)
    assert spec
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


BASELINE = {"1.95.0": {"builtin": 1000.0, "cells": 1400.0}}


@pytest.mark.parametrize(
    ("prices", "wrong"),
    [
        ({"builtin": 1010.0, "cells": 1414.0}, []),
        ({"builtin": 500.0, "cells": 1400.0}, []),
        ({"builtin": 1010.1, "cells": 1400.0}, ["builtin costs 1.01% more"]),
        ({"builtin": 1011.0, "cells": 1500.0}, ["builtin costs 1.10%", "cells costs 7.14%"]),
        ({"builtin": 1000.0}, ["cells is in the baseline only"]),
        ({"builtin": 1000.0, "cells": 1400.0, "new": 9.0}, ["new has no baseline"]),
    ],
)
def test_each_drive_may_cost_one_per_cent_more(
    script: Any, prices: dict[str, float], wrong: list[str]
) -> None:
    found = script.compared(prices, BASELINE, "1.95.0")
    assert len(found) == len(wrong)
    assert all(start in one for start, one in zip(wrong, found, strict=True))


def test_another_compiler_is_compared_with_nothing(
    script: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert script.compared({"builtin": 9999.0}, BASELINE, "1.96.0") == []
    assert "no baseline for rustc 1.96.0: there are 1.95.0" in capsys.readouterr().out


def test_the_committed_baseline_can_be_compared_with(script: Any) -> None:
    path = ROOT / script.BASELINE
    if not path.exists():
        pytest.skip("no prices are committed: `make bench-count STORE=1`")
    baseline = json.loads(path.read_text())
    assert baseline
    for prices in baseline.values():
        assert {"builtin", "recorded", "cells"} <= prices.keys()
        assert all(price > 100 for price in prices.values())

"""A short form of the long walk of `make fuzz`; its inputs are the same every time."""

import random
from pathlib import Path

import pytest

import floatgate
import fuzz


@pytest.mark.parametrize("reader", fuzz.READERS)
def test_damaged_input_is_refused_or_read(reader: str, tmp_path: Path) -> None:
    answers = []
    for seed in range(300):
        answer = fuzz.once(random.Random(seed), tmp_path, reader)
        assert isinstance(answer, str), f"seed {seed}: {answer!r}"
        answers.append(answer)
    assert answers.count("accepted") >= 10, "the damage is so great that nothing is tried"
    assert answers.count("refused") >= 30


def test_undamaged_traces_of_every_format_run(tmp_path: Path) -> None:
    path = tmp_path / "some.trace"
    for make in fuzz.FORMATS:
        path.write_bytes(b"".join(make(i) for i in range(200)))
        result = floatgate.run("agcr", path)
        assert result.host.all.requests == 200, make.__name__
        flushes = [i for i in range(200) if b" sync " in make(i)]
        assert result.host.flush.requests == len(flushes), make.__name__
        odd = sum(i % 2 for i in flushes)
        assert result.host.read.requests == 100 - odd, make.__name__

"""The results of the test bench for a chip, as text. `=` marks values that the model was given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from floatgate.words import BOLD, Style, number, section, table, wrapped


def page(found: Mapping[str, Any], *, colour: bool = False) -> str:
    """The output of `floatgate chips NAME --bench`."""
    style = Style(colour)
    plan = found["plan"]
    title = (
        f"{style(BOLD, found['chip'])} on the bench: samples {plan['chips']}, blocks of each "
        f"{plan['blocks']}, cycles {plan['cycles']}, seed {plan['seed']}"
    )
    sections = [
        wrapped(title),
        section("Operations", _operations(found["operations"]), style),
        section("Wear", _wear(found), style),
        section("Cells, each with a voltage of its own", _cells(found["cells"]), style),
        section("Program disturb", _programs(found), style),
        section("Read disturb", _reads(found["read_disturb"]), style),
        "= was given to the model, or is an identity of given values. The model makes\n"
        "the other numbers. docs/bench.md has the procedures and the sources.",
    ]
    return "\n\n".join(sections)


def _operations(found: Mapping[str, Any]) -> str:
    rows = [["", "mean", "deviation", "nJ/bit", "mW on average"]]
    for name, key in (("read", "read"), ("program", "program"), ("erase", "erase")):
        took = found[f"{key}_us"]
        rows.append(
            [
                f"{name}, us",
                f"{took['mean']:.1f} =",
                f"{took['deviation']:.1f}",
                _given(found[f"{key}_nj_per_bit"], ".3g"),
                _plain(found[f"average_{key}_mw"], ".1f"),
            ]
        )
    types = found["program_us_of_types"]
    lines = [table(rows)]
    if len(types) > 1:
        shown = ", ".join(f"{each['mean']:.0f}" for each in types)
        ratio = types[-1]["mean"] / types[0]["mean"]
        times = "" if ratio == 1 else f" (the last {ratio:.2f} times the first)"
        lines.append(f"program by page type, us: {shown} ={times}")
    lines.append(
        f"page after page on one plane: read {found['read_mb_per_s']:.2f} MB/s, program "
        f"{found['program_mb_per_s']:.2f} MB/s"
    )
    return "\n".join(lines)


def _wear(found: Mapping[str, Any]) -> str:
    wear, rated = found["wear"], found["rated_cycles"]
    samples = wear["rber_of_chips"]
    names = [f"sample {i + 1}" for i in range(len(samples))]
    rows = [["cycles", "program, us", *(f"RBER {name}" for name in names)]]
    for i in places(wear["cycles"], rated):
        rates = [_rate(each[i]) for each in samples]
        rows.append([number(wear["cycles"][i]), f"{wear['program_us'][i]:.0f} =", *rates])
    pages = [rate for of_sample in wear["rber_of_pages"] for rate in of_sample]
    return "\n".join(
        [
            table(rows),
            f"over {number(rated)} rated cycles, pages of the blocks: {_rate(min(pages))} to "
            f"{_rate(max(pages))}",
        ]
    )


def places(cycles: Sequence[int], rated: int) -> list[int]:
    """The shown points of the life: fresh, parts and multiples of the rating, its end.

    >>> places([0, 1000, 2000, 3000, 4000], 2000)
    [0, 1, 2, 4]
    """
    wanted = [0.0, 0.5, 1, 2, 3, 6, 10]
    found = {
        min(range(len(cycles)), key=lambda i: abs(cycles[i] - share * rated))
        for share in wanted
        if share * rated <= cycles[-1] * 1.001 + 1
    }
    return sorted(found | {len(cycles) - 1})


def _cells(states: Sequence[Mapping[str, Any]]) -> str:
    rows = [["cycles", "page type", "RBER of cells", "closed form"]]
    for state in states:
        pairs = zip(state["rber_of_types"], state["closed_form"], strict=True)
        rows += [
            [number(state["cycles"]), str(t), _rate(ours), _rate(closed)]
            for t, (ours, closed) in enumerate(pairs)
        ]
    return table(rows)


def _programs(found: Mapping[str, Any]) -> str:
    disturb = found["program_disturb"]
    disturbed = disturb["disturbed_pages"]
    onset = disturb["first_reprogram_with_errors"]
    if onset is None:
        return wrapped(
            "levels of cells: none within 100 reprograms, on any page; the model was given that "
            f"errors begin with reprogram {disturb['first_reprogram_given']} ="
        )
    harmless = [str(page) for page, others in enumerate(disturbed) if not others]
    some = [f"{p}: {', '.join(map(str, others))}" for p, others in enumerate(disturbed) if others]
    return "\n".join(
        map(
            wrapped,
            [
                f"first errors at reprogram {onset}; of a disturbed page "
                f"{100 * disturb['share_of_disturbed_page']:.0f} % of the bits, where half of the "
                "other was programmed",
                f"page: disturbed pages = {'; '.join(some[:6])}; ... {some[-1]}",
                f"disturb none: {len(harmless)} of {len(disturbed)} pages, "
                f"{', '.join(harmless[:8])} ...",
            ],
        )
    )


def _reads(found: Mapping[str, Any]) -> str:
    rows = [["block at cycles", "first error: least", "median", "most of all blocks"]]
    for state in found["states"]:
        first = state["first_error_after"]
        beyond = f"> {number(found['most_reads'])}"
        shown = [
            number(first[key]) if first[key] else beyond for key in ("least", "median", "most")
        ]
        rows.append([number(state["cycles"]), *shown])
    return table(rows)


def _rate(value: float) -> str:
    return f"{value:.1e}" if value else "0"


def _given(value: float | None, form: str) -> str:
    return "-" if value is None else f"{value:{form}} ="


def _plain(value: float | None, form: str) -> str:
    return "-" if value is None else f"{value:{form}}"

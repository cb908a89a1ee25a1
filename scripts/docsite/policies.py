"""A page for each policy, from the list of them, with a figure from short runs."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import floatgate
from floatgate import InputError, Result
from floatgate.words import duration

_SMALL: Mapping[str, object] = {
    "geometry.channels": 2,
    "geometry.chips-per-channel": 2,
    "geometry.blocks-per-plane": 64,
    "precondition.fill": "full",
    "workload.requests": 40_000,
}
_AGED = {**_SMALL, "ftl.spare-factor": 0.15, "precondition.age": "random"}


class Measure(NamedTuple):
    """A number of a result, its name, and its format."""

    title: str
    of: Callable[[Result], float | None]
    show: Callable[[float], str]


class Figure(NamedTuple):
    """The drive and the workload that compare the policies of a family."""

    drive: str
    workload: str | tuple[str, ...]
    """One, or flows side by side as on the command line."""
    set: Mapping[str, object]
    measures: tuple[Measure, ...]
    policy: Mapping[str, str] = {}
    params: tuple[str, ...] = ()
    """Parameters of every policy of the family that has them, as on the command line."""


def _time(title: str, path: str) -> Measure:
    return Measure(title, lambda run: _at(run, path), duration)


def _count(title: str, path: str) -> Measure:
    return Measure(title, lambda run: _at(run, path), lambda value: f"{value:,.4g}")


def _at(run: Result, path: str) -> float | None:
    value: Any = run.data
    for key in path.split("."):
        value = value[key]
    return None if value is None else float(value)


_WRITES = _time("mean write latency", "host.write.latency_ns.mean")
_READS = _time("mean read latency", "host.read.latency_ns.mean")
_WAF = _count("write amplification", "waf")

FIGURES: Mapping[str, Figure] = {
    "cost": Figure(
        "agcr", "zipf", {**_SMALL, "workload.read-share": 0.5}, (_READS, _WRITES)
    ),
    "throttle": Figure(
        "ready-32g", "random-write",
        {"workload.requests": 40_000, "workload.arrivals": "{ poisson = { iops = 3000 } }",
         "host.mode": "timestamps", "reliability.endurance": 3000},
        (_WRITES, _time("delay by the throttle, mean", "host.write.delay_ns_by_cause.throttle")),
    ),
    "read-disturb": Figure(
        "read-disturb", "zipf",
        {"geometry.chips-per-channel": 1, "geometry.blocks-per-plane": 96,
         "ftl.logical-capacity": "3GiB", "precondition.fill": "full", "workload.theta": 1.2,
         "workload.requests": 400_000, "workload.read-share": 0.98},
        (_count("pages moved by refreshes", "flash.program.refresh"),
         _time("read latency, p99.9", "host.read.latency_ns.p99_9")),
        params=("limit=500",),
    ),
    "page-choice": Figure(
        "c-mlc64", "random-write",
        {"geometry.blocks-per-plane": 64, "ftl.spare-factor": 0.2, "workload.requests": 20_000},
        (_WRITES, _WAF),
    ),
    "coding": Figure(
        "c-mlc64", "random-write",
        {"geometry.blocks-per-plane": 64, "ftl.spare-factor": 0.2, "workload.requests": 20_000},
        (_count("blocks erased", "flash.erase.total"), _WAF),
    ),
    "slc-cache": Figure(
        "agcr", "random-write",
        {"geometry.blocks-per-plane": 64, "geometry.bits-per-cell": 3, "ftl.spare-factor": 0.4,
         "slc.read": "25us", "slc.program": "200us", "workload.requests": 20_000},
        (_WRITES, _WAF),
    ),
    "victim": Figure("agcr", "zipf", _AGED, (_WAF, _WRITES)),
    "separation": Figure(
        "agcr", "zipf",
        {**_AGED, "geometry.chips-per-channel": 1, "ftl.spare-factor": 0.3, "workload.theta": 1.0},
        (_WAF, _WRITES),
    ),
    "placement": Figure(
        "agcr", "random-write", _AGED, (_WRITES, _count("free blocks left", "capacity.free_blocks"))
    ),
    "wear": Figure(
        "agcr", "hot-cold",
        {**_AGED, "workload.requests": 120_000, "reliability.endurance": 40},
        (_count("standard deviation of erases", "wear.erases.stddev"), _WAF),
        params=("threshold=3", "slack=1"),
    ),
    "order": Figure(
        "agcr", "zipf", {**_AGED, "workload.read-share": 0.5}, (_READS, _WRITES)
    ),
    "arbitration": Figure(
        "agcr",
        ("light=random-read:queue-depth=1:until=300ms",
         "heavy=random-read:queue-depth=128:until=300ms"),
        {**_SMALL, "host.queue-limit": 8},
        (_time("mean latency of a light tenant", "host.flows.light.all.latency_ns.mean"),
         _time("mean latency of a heavy one", "host.flows.heavy.all.latency_ns.mean")),
    ),
}  # fmt: skip


def policy_pages(*, figures: bool) -> Iterator[tuple[str, str, Mapping[str, str]]]:
    """Name, Markdown and pieces of HTML of each page: one for all, one for each policy."""
    known = floatgate.policies()
    families = list(dict.fromkeys(policy["family"] for policy in known))
    yield "index", _overview(known, families), {}
    for family in families:
        own = [policy for policy in known if policy["family"] == family]
        found = _measured(family, own) if figures and family in FIGURES else {}
        for policy in own:
            pieces = {"policy": _drawn(family, policy["name"], found)} if found else {}
            yield f"{family}-{policy['name']}", _page(policy, bool(found)), pieces


def _overview(known: list[dict[str, Any]], families: list[str]) -> str:
    lines = [
        "# Every policy",
        "",
        "A policy answers one question of the drive; `--policy FAMILY=NAME:KEY=VALUE` chooses it.",
        "`*` marks the default.",
    ]
    for family in families:
        own = [policy for policy in known if policy["family"] == family]
        lines += ["", f"## {family}", "", f"{own[0]['question'].capitalize()}", ""]
        lines += ["| policy | what it does |", "|---|---|"]
        for policy in own:
            mark = " *" if policy["default"] else ""
            link = f"[`{policy['name']}`]({family}-{policy['name']}.html){mark}"
            lines.append(f"| {link} | {_cell(policy['summary'])} |")
    return "\n".join(lines) + "\n"


def _page(policy: Mapping[str, Any], figure: bool) -> str:
    family, name = policy["family"], policy["name"]
    lines = [
        f"# {family}: {name}",
        "",
        policy["summary"],
        "",
        f"The family answers: {policy['question']}",
        "",
        "## Source",
        "",
        policy["paper"] or "Folklore.",
        "",
        "## Parameters",
        "",
    ]
    if policy["params"]:
        lines += ["| parameter | values | default | what |", "|---|---|---|---|"]
        lines += [
            f"| `{p['name']}` | {_cell(p['values'])} | `{p['default']}` | {_cell(p['summary'])} |"
            for p in policy["params"]
        ]
    else:
        lines.append("It has none.")
    for key, what in (("needs", "Needs"), ("forbids", "Does not go with")):
        if policy[key]:
            lines += ["", f"{what}: {', '.join(map(str, policy[key]))}."]
    if policy["aliases"]:
        lines += ["", f"Also called: {', '.join(policy['aliases'])}."]
    lines += ["", "## Use", "", "```sh", f"floatgate run DRIVE WORKLOAD --policy {family}={name}"]
    lines += ["```", ""]
    if figure:
        lines += ["## Beside the others", "", "<!-- figure: policy -->", ""]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return str(text).replace("|", "\\|")


def _measured(family: str, own: list[dict[str, Any]]) -> dict[str, Result | str]:
    """By policy its run, or why there is none."""
    figure = FIGURES[family]
    workload = figure.workload
    found: dict[str, Result | str] = {}
    for policy in own:
        word = policy["name"]
        has = {param["name"] for param in policy["params"]}
        word = ":".join([word, *(p for p in figure.params if p.partition("=")[0] in has)])
        try:
            found[policy["name"]] = floatgate.run(
                figure.drive,
                floatgate.flows(workload) if isinstance(workload, tuple) else workload,
                set=figure.set,
                policy={**figure.policy, family: word},
            )
        except InputError as error:
            found[policy["name"]] = str(error).splitlines()[0]
    return found


def _drawn(family: str, name: str, found: Mapping[str, Result | str]) -> str:
    """The measures of all as bars, this policy's marked."""
    figure = FIGURES[family]
    parts = []
    for measure in figure.measures:
        values = {n: measure.of(run) for n, run in found.items() if isinstance(run, Result)}
        most = max((v for v in values.values() if v is not None), default=0.0)
        rows = []
        for other, value in values.items():
            mark = ' class="this"' if other == name else ""
            share = 100 * value / most if value is not None and most > 0 else 0.0
            shown = "-" if value is None else html.escape(measure.show(value))
            rows.append(
                f"<span{mark}>{html.escape(other)}</span>"
                f'<i{mark} style="width:{share:.1f}%"></i><span{mark}>{shown}</span>'
            )
        parts.append(
            f'<h3>{html.escape(measure.title)}</h3><div class="bars">{"".join(rows)}</div>'
        )
    settings = " ".join(f"--set {key}='{value}'" for key, value in figure.set.items())
    params = f"[:{':'.join(figure.params)}]" if figure.params else ""
    own = figure.workload
    workload = " ".join(f"--flow {flow}" for flow in own) if isinstance(own, tuple) else own
    command = f"floatgate run {figure.drive} {workload} {settings} --policy {family}=NAME{params}"
    without = [f"{n}: {run}" for n, run in found.items() if isinstance(run, str)]
    says = f"A short run of each policy: <code>{html.escape(command)}</code>."
    if without:
        says += " Left out: " + html.escape("; ".join(without)) + "."
    return f"<figure>{''.join(parts)}<figcaption>{says}</figcaption></figure>"

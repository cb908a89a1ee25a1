"""A drive that is served, in words: its state and its health."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from floatgate.result.values import WITHOUT_DATA
from floatgate.words import duration, short

Status = Mapping[str, Any]

_HEALTH = {
    "critical_warning": "bits: 0 little spare left, 3 only reads",
    "avail_spare": "% of the spare space that is left",
    "spare_thresh": "% below which that is a warning",
    "percent_used": "% of the rated cycles, on average",
    "data_units_read": "of 512,000 bytes",
    "data_units_written": "of 512,000 bytes",
    "host_read_commands": "",
    "host_write_commands": "",
    "power_cycles": "",
    "power_on_hours": "simulated",
    "unsafe_shutdowns": "power cuts",
    "media_errors": "reads that failed",
    "num_err_log_entries": "",
    "warning_temp_time": "no temperatures are simulated",
    "critical_comp_time": "no temperatures are simulated",
}


def page(before: Status, now: Status) -> str:
    """The state of a drive, and its work since `before`."""
    passed = (now["now_ns"] - before["now_ns"]) * 1e-9
    state = "" if now["state"] == "serving" else f"  {now['state'].upper()}"
    lines = [
        f"{now['drive']}{state}  drive at {duration(now['now_ns'])}, "
        f"served for {duration(int(now['wall_seconds'] * 1e9))}, {now['clients']} clients",
        "",
        f"{'':8}{'requests/s':>12}{'MB/s':>9}{'mean':>11}{'p50':>11}{'p99':>11}{'p99.9':>11}",
    ]
    for name, counts in now["host"].items():
        if counts["requests"] == 0:
            continue
        old = before["host"][name]
        rates = ["-", "-"]
        if passed > 0:
            rates = [
                short(round((counts["requests"] - old["requests"]) / passed)),
                "-"
                if name in WITHOUT_DATA
                else f"{(counts['bytes'] - old['bytes']) / passed / 1e6:.1f}",
            ]
        latency = counts["latency_ns"]
        times = [duration(int(latency[key])) for key in ("mean", "p50", "p99", "p99_9")]
        lines.append(f"{name:8}{rates[0]:>12}{rates[1]:>9}" + "".join(f"{t:>11}" for t in times))
    busy = depth = "-"
    if passed > 0:
        share = (now["die_busy_ns"] - before["die_busy_ns"]) * 1e-9 / passed / now["dies"]
        busy = f"{100 * share:.0f} %"
        depth = f"{(now['inside_ns'] - before['inside_ns']) * 1e-9 / passed:.1f}"
    waf = "-" if now["waf"] is None else f"{now['waf']:.2f}"
    erases, endurance = now["erases"], now["endurance"]
    lines += [
        "",
        f"queue {depth}  dies busy {busy}  WAF {waf}  free blocks {short(now['free_blocks'])}",
        f"erases of a block {erases['min']} to {erases['max']}, {erases['mean']:.2f} on average, "
        f"of {short(endurance)}",
        f"not yet safe {short(now['unsafe_bytes'])} bytes  power cuts {now['power_cuts']}  "
        f"failed reads {now['media_errors']}  refused by the host's disk {now['host_full']}",
        "",
        "Rates, queue and load are per simulated second since the page before; latencies and WAF",
        "count from the start of the server.",
    ]
    return "\n".join(lines)


def health(values: Mapping[str, Any]) -> str:
    """The health of a drive, a line for each value.

    >>> print(health({"avail_spare": 100, "power_cycles": 2}))
    avail_spare                   100  % of the spare space that is left
    power_cycles                    2
    """
    lines = (f"{key:24}{value:>9}  {_HEALTH.get(key, '')}" for key, value in values.items())
    return "\n".join(line.rstrip() for line in lines)

"""Flows from the command line: their names, the service of each, and the losses to each other."""

import json
import re
from pathlib import Path
from typing import Unpack

import polars
import pytest

import floatgate as fg
from conftest import Floatgate
from floatgate import InputError
from floatgate.runs.alone import alone, compared
from floatgate.workloads.reading import Reading

ROOT = Path(__file__).parent.parent

SMALL = {
    "geometry.channels": 2,
    "geometry.chips-per-channel": 1,
    "geometry.blocks-per-plane": 64,
    "precondition.fill": "full",
    "workload.requests": 600,
}
SETTINGS = [f"--set={key}={value}" for key, value in SMALL.items()]
TWO = ("--flow=light=random-read:queue-depth=1", "--flow=heavy=random-read:queue-depth=32")


def test_flows_have_numbers_of_their_own(floatgate: Floatgate, tmp_path: Path) -> None:
    done = floatgate("run", "agcr", *TWO, *SETTINGS, "--policy=arbitration=fair",
                     "--set=host.queue-limit=4", "--alone", "--json", "--out=here")  # fmt: skip
    assert done.returncode == 0, done.stderr
    value = json.loads(done.stdout)
    flows = value["host"]["flows"]
    assert list(flows) == ["light", "heavy"]
    assert [flow["all"]["requests"] for flow in flows.values()] == [600, 600]
    assert value["host"]["all"]["requests"] == 1200
    # Each generator has half of the drive, in whole MiB.
    half = value["capacity"]["logical_bytes"] // 2 >> 20 << 20
    assert flows["heavy"]["region_bytes"] == [half, 2 * half]
    # Alone, one request at a time takes a read.
    alone = value["alone"]["flows"]
    assert alone["light"]["alone_mean_ns"] == pytest.approx(170_000)
    here = flows["light"]["all"]["latency_ns"]["mean"]
    assert alone["light"]["slowdown"] == here / alone["light"]["alone_mean_ns"] > 1
    slow = [flow["slowdown"] for flow in alone.values()]
    assert value["alone"]["fairness"] == min(slow) / max(slow)
    # The runs alone are stored, too, and the rows say whose they are.
    stored = {path.parent.name for path in tmp_path.glob("here/*/result.json")}
    assert {flow["run_id"] for flow in alone.values()} < stored
    assert len(stored) == 3
    for folder in tmp_path.glob("here/*"):
        rows = polars.read_parquet(folder / "requests.parquet")
        known = json.loads((folder / "result.json").read_text())["host"]["flows"]
        counted = dict(rows["flow"].cast(polars.String).value_counts().iter_rows())
        assert counted == {
            n: f["all"]["requests"] for n, f in known.items() if f["all"]["requests"]
        }


def test_pages_have_the_flows(floatgate: Floatgate) -> None:
    done = floatgate("run", "agcr", *TWO, *SETTINGS, "--alone", "-q")
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    flows, beside = done.stdout.partition("\nFlows\n")[2].partition("Beside the other flows")[::2]
    assert [line.split()[0] for line in flows.splitlines()[1:3]] == ["light", "heavy"]
    assert "slowdown" in beside
    assert "fairness" in beside
    done = floatgate("compare", "agcr", *TWO, *SETTINGS, "--policy=arbitration=merge,fair",
                     "--set=host.queue-limit=4", "-q")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "light mean" in done.stdout
    assert "heavy p99" in done.stdout


@pytest.mark.verify
def test_what_was_measured_comes_out_again() -> None:
    """Every number of docs/measured/flows.md about a heavy and a light tenant."""
    page = (ROOT / "docs" / "measured" / "flows.md").read_text()
    rows = re.findall(r"(?m)^\| (\d+) \| `(\w+)` \| (.+) \|$", page)
    bars = [len(bar) for bar in re.findall(r"(?m)^.*\d  (#+)$", page)]
    drive = {
        "host.queue-limit": 16,
        "workload.size": "16KiB",
        "workload.align": "16KiB",
        "geometry.blocks-per-plane": 40,
        "ftl.logical-capacity": "20GB",
    }
    seen, slow, both = [], {}, {}
    for depth, arbiter, numbers in rows:
        workload = fg.flows({
            "light": "random-read:queue-depth=1:until=200ms",
            "heavy": f"random-read:queue-depth={depth}:until=200ms",
        })  # fmt: skip
        policy = {"arbitration": arbiter}
        here = fg.run("modern-tlc", workload, policy=policy, set=drive)
        beside = compared(here, alone(here, "modern-tlc", workload, policy=policy, set=drive))
        flows, latency = beside["flows"], here.data["host"]["flows"]["light"]["all"]["latency_ns"]
        seen.append([
            f"{flows['light']['slowdown']:.2f}", f"{flows['heavy']['slowdown']:.2f}",
            f"{beside['fairness']:.2f}", f"{latency['mean'] / 1e3:.0f} us", brief(latency["p99"]),
        ])  # fmt: skip
        assert numbers.split(" | ") == seen[-1], (depth, arbiter)
        slow[depth, arbiter] = flows["light"]["slowdown"]
        both[depth, arbiter] = here.data["host"]["all"]["requests"] / here.data["simulated_seconds"]
    assert len(seen) == 6
    assert f"({flows['light']['alone_mean_ns'] / 1e3:.1f} us for `light`)" in page
    order = [(depth, arbiter) for arbiter in ("merge", "fair") for depth in ("16", "64", "256")]
    assert bars == [round(2 * slow[each]) for each in order]
    for arbiter in ("merge", "fair"):
        assert f"{round(both['256', arbiter], -3):,.0f} " in page


def brief(ns: float) -> str:
    return f"{ns / 1e6:.2f} ms" if ns >= 1e6 else f"{ns / 1e3:.0f} us"


def test_what_is_no_flow_is_said(floatgate: Floatgate) -> None:
    for arguments, said in [
        ((), "neither is given"),
        (("zipf", "--flow=a=zipf"), "both are given"),
        (("--flow=zipf",), "expected NAME=WORKLOAD"),
        (("--flow=a=zipf", "--flow=a=zipf"), "two flows are called `a`"),
        (("--flow=a=zipf:weigth=2",), "did you mean `weight`?"),
        (("--flow=a=zipf:weight=0",), "expected 1 to 256"),
        (("--flow=a=nothing", "--flow=b=zipf"), "`nothing` is neither a file nor a generator"),
        (("--flow=a=zipf", "--flow=b=zipf", "--format=msr"), "NAME=WORKLOAD:KEY=VALUE"),
        (("zipf", "--alone"), "this is one flow"),
        (("--flow=a=zipf", "--flow=b=zipf", "--set=host.only=c"), "`host.only` names the flow `c`"),
    ]:
        done = floatgate("run", "agcr", *arguments, *SETTINGS, "--json", "-q")
        assert (done.returncode, done.stdout) == (2, ""), (arguments, done.stderr)
        assert said in done.stderr.replace("\n", " "), (arguments, done.stderr)
        assert "Traceback" not in done.stderr


def test_a_flow_may_have_a_depth_in_the_drive(floatgate: Floatgate) -> None:
    two = ("--flow=a=random-read:queue-depth=32:depth=1", "--flow=b=random-read:queue-depth=1")
    done = floatgate("run", "agcr", *two, *SETTINGS, "--policy=arbitration=fair", "--json", "-q")
    assert done.returncode == 0, done.stderr
    flows = json.loads(done.stdout)["host"]["flows"]
    assert [flow["queue_depth"] for flow in flows.values()] == [1, None]
    # One of `a` in the drive: 32 take turns, so a request waits for 31 others, which take a read
    # each or wait for one of `b`.
    read = 170_000
    assert 32 * read <= flows["a"]["all"]["latency_ns"]["p50"] <= 2 * 32 * read
    assert flows["b"]["all"]["latency_ns"]["max"] <= 2 * read
    done = floatgate("run", "agcr", *two, *SETTINGS, "--json", "-q")
    assert (done.returncode, done.stdout) == (2, "")
    assert "`arbitration=merge` has no queues" in " ".join(done.stderr.split())


def test_parts_of_a_file_are_flows(tmp_path: Path) -> None:
    workload = tmp_path / "two.toml"
    workload.write_text(
        'schema = "floatgate.workload/1"\n[[part]]\nworkload = "random-read"\nqueue-depth = 2\n'
        'flow = "db"\nweight = 3\nwrap = "4MiB"\n[[part]]\nworkload = "zipf"\nqueue-depth = 1\n'
        'wrap = "4MiB"\n'
    )
    own = SMALL | {"host.flow": '[{ name = "zipf", priority = "high" }]'}
    result = fg.run("agcr", workload, set=own)
    flows = result.data["host"]["flows"]
    assert {name: flow["weight"] for name, flow in flows.items()} == {"db": 3, "zipf": 1}
    assert result.data["host"]["high"]["all"]["requests"] == flows["zipf"]["all"]["requests"] == 600
    runs = alone(result, "agcr", workload, set=own)
    assert runs["db"].data["host"]["flows"]["zipf"]["all"]["requests"] == 0
    assert compared(result, runs)["flows"]["db"]["slowdown"] >= 1


@pytest.mark.parametrize("alike", ["flows", "parts", "parts of parts"])
def test_parts_of_the_same_settings_are_not_the_same_requests(tmp_path: Path, alike: str) -> None:
    """Reads of several Poisson streams on one die that is busy half of the time: M/D/1.

    They wait for half a service on average, 25 us. Copies come at one instant, and wait longer.
    """
    (tmp_path / "reads.toml").write_text(
        'pattern = "random-read"\nrequests = 20000\nrate = 2500\nspan = "1MiB"\n'
    )
    part = '[[part]]\nworkload = "{}.toml"\n'
    head = 'schema = "floatgate.workload/1"\n'
    (tmp_path / "two.toml").write_text(head + 2 * part.format("reads"))
    (tmp_path / "four.toml").write_text(head + 4 * part.format("reads"))
    (tmp_path / "nested.toml").write_text(head + 2 * part.format("two"))
    reads = str(tmp_path / "reads.toml")
    workload = {
        "flows": fg.flows(dict.fromkeys("abcd", reads)),
        "parts": str(tmp_path / "four.toml"),
        "parts of parts": str(tmp_path / "nested.toml"),
    }[alike]
    one_die = SMALL | {"geometry.channels": 1, "workload.requests": 20_000}
    read_us = {"timing.levels": '{ medium = { read = "50us", program = "600us" } }'}
    result = fg.run("agcr", workload, set=one_die | read_us)
    assert result.host.read.requests == 80_000
    assert result.host.read.latency_ns.mean == pytest.approx(75_000, rel=0.02)


def test_devices_and_processes_of_a_trace_are_flows(floatgate: Floatgate, tmp_path: Path) -> None:
    """A trace, the same with its processes, the table that it is converted into: the same flows."""
    # A read of 4 KiB every 10 us: two of three from `db`, the others to another device.
    rows = [
        (i * 10, 4096 * (i % 64), i % 3 // 2, "log" if i % 3 == 2 else "db") for i in range(300)
    ]
    place = tmp_path / "t.csv"
    place.write_text("".join(f"{t},r,{at},4096,{disk},{who}\n" for t, at, disk, who in rows))
    columns = "time=1:us,op=2,offset=3,size=4,device=5,process=6"
    plain = floatgate_run(place, columns=columns)
    assert plain.data["host"]["flows"] is None
    for by, names in [("device", ["0", "1"]), ("process", ["db", "log"])]:
        told = floatgate_run(place, flow_by=by, columns=columns)
        flows = told.data["host"]["flows"]
        assert list(flows) == names
        assert [flow["all"]["requests"] for flow in flows.values()] == [200, 100]
        # With one line for all, whose request it is changes nothing.
        assert told.data["host"]["all"] == plain.data["host"]["all"]
        regions = [[0, 64 * 4096], [1 << 20, (1 << 20) + 64 * 4096]]
        assert [flow["region_bytes"] for flow in flows.values()] == regions
        # Record and replay.
        said = fg.convert(place, tmp_path / f"{by}.parquet", flow_by=by, columns=columns)
        assert [flow["name"] for flow in said["flows"]] == names
        again = floatgate_run(tmp_path / f"{by}.parquet")
        assert again.data["host"] == told.data["host"]
        # A foreign table with such columns.
        frame = polars.DataFrame(
            rows, schema=["time", "offset", "device", "process"], orient="row"
        ).with_columns(op=polars.lit("r"), size=4096)
        frame.write_parquet(tmp_path / "foreign.parquet")
        named = "time=time:us,op=op,offset=offset,size=size,device=device,process=process"
        foreign = floatgate_run(tmp_path / "foreign.parquet", columns=named, flow_by=by)
        assert foreign.data["host"] == told.data["host"]
    # A drive's settings of flows hold for them; so does a part of a file.
    fair = SMALL | {"host.flow": '[{ name = "log", weight = 4 }]'}
    workload = tmp_path / "two.toml"
    workload.write_text(
        'schema = "floatgate.workload/1"\n[[part]]\nworkload = "t.csv"\nflow-by = "process"\n'
        f'columns = "{columns}"\n[[part]]\nworkload = "t.csv"\nflow = "db"\n'
        f'columns = "{columns}"\n'
    )
    flows = fg.run("agcr", workload, set=fair).data["host"]["flows"]
    assert {name: (f["weight"], f["all"]["requests"]) for name, f in flows.items()} == {
        "db": (1, 500),
        "log": (4, 100),
    }
    # A file without such a column names its columns.
    place.write_text("0 0 16 8 1\n")
    done = floatgate("run", "agcr", "t.csv", "--flow-by=process", "--json", "-q")
    assert (done.returncode, done.stdout) == (2, "")
    assert "which names no processes" in done.stderr.replace("\n", " ")
    assert "it names devices: `--flow-by device`" in " ".join(done.stderr.split())
    named = "time=time:us,op=op,offset=offset,size=size,process=process"
    with pytest.raises(InputError, match=r"no device; they name the process; .*device=NAME"):
        floatgate_run(tmp_path / "foreign.parquet", columns=named, flow_by="device")
    # A table that no longer has the flows that it states is refused.
    table = tmp_path / "process.parquet"
    metadata = polars.read_parquet_metadata(table)["floatgate"]
    polars.read_parquet(table).drop("flow").write_parquet(table, metadata={"floatgate": metadata})
    with pytest.raises(InputError, match=r"damaged .*the column `flow` has other flows"):
        floatgate_run(table)


def floatgate_run(place: Path, **reading: Unpack[Reading]) -> fg.Result:
    return fg.run("agcr", place, set=SMALL, **reading)


def test_a_workload_of_one_has_no_flows() -> None:
    result = fg.run("agcr", "random-read", set=SMALL)
    assert result.data["host"]["flows"] is None
    with pytest.raises(InputError, match="this is one flow"):
        alone(result, "agcr", "random-read", set=SMALL)


def test_a_file_that_says_no_span_has_a_share_of_the_addresses(tmp_path: Path) -> None:
    file = tmp_path / "reads.toml"
    file.write_text('pattern = "random-read"\n')
    named = {"a": "random-read:queue-depth=1", "b": "random-read:queue-depth=2"}
    filed = {"a": f"{file}:queue-depth=1", "b": f"{file}:queue-depth=2"}
    runs = [fg.run("agcr", fg.flows(flows), set=SMALL) for flows in (named, filed)]
    assert runs[0].data["host"] == runs[1].data["host"]

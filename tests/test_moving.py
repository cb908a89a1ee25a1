"""Files of other simulators: the settings made of their parameters, and the behaviour of these
drives."""

import json
import random
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import floatgate
from conftest import Floatgate
from floatgate import InputError, Result
from floatgate.migrate.convert import check, convert
from floatgate.migrate.rules import Converted, Fate

sys.path.append(str(Path(__file__).parent.parent / "scripts"))
from docsite.examples import EXAMPLES

MIB = 1 << 20

# A small drive, and flows on it, on top of the examples of the documentation.
SMALL: dict[str, object] = {
    "Flash_Channel_Count": 4, "Chip_No_Per_Channel": 1, "Die_No_Per_Chip": 1, "Plane_No_Per_Die": 1,
    "Block_No_Per_Plane": 256, "Page_No_Per_Block": 32, "Page_Capacity": 4096,
    "Overprovisioning_Ratio": 0.125, "GC_Block_Selection_Policy": "GREEDY",
    "Enabled_Preconditioning": "false", "Static_Wearleveling_Enabled": "false",
    "Preemptible_GC_Enabled": "false", "Ideal_Mapping_Table": "true",
    "Transaction_Scheduling_Policy": "PRIORITY_OUT_OF_ORDER",
}  # fmt: skip
WHOLE: dict[str, object] = {
    "Channel_IDs": "0,1,2,3", "Chip_IDs": 0, "Die_IDs": 0, "Plane_IDs": 0,
    "Device_Level_Data_Caching_Mode": "TURNED_OFF", "Address_Distribution": "RANDOM_UNIFORM",
    "Working_Set_Percentage": 100, "Read_Percentage": 0, "Address_Alignment_Unit": 8,
}  # fmt: skip
# 4 planes of 256 blocks of 32 pages, 12.5 % of them spare.
LOGICAL = 4 * 256 * 32 * 7 // 8


def changed(text: str, values: Mapping[str, object]) -> str:
    """The text with other values of some of its parameters."""
    for name, value in values.items():
        if f"<{name}>" in text:
            text = re.sub(f"<{name}>[^<]*<", f"<{name}>{value}<", text)
    return text


def flow(kind: str, **values: object) -> str:
    """A flow of the examples, on the whole small drive, with other values."""
    tag = f"IO_Flow_Parameter_Set_{kind}"
    found = re.search(f"<{tag}>.*?</{tag}>", EXAMPLES["workload.xml"], re.DOTALL)
    assert found is not None
    assert all(f"<{key}>" in found[0] for key in values), values
    return changed(found[0], WHOLE | values)


def synthetic(**values: object) -> str:
    return flow("Synthetic", **values)


def theirs(
    folder: Path, *scenarios: Sequence[str], drive: Mapping[str, object] | None = None
) -> list[Path]:
    """MQSim's files: the small drive, and a workload of these flows."""
    folder.mkdir(exist_ok=True)
    ssd, workload = folder / "ssdconfig.xml", folder / "workload.xml"
    ssd.write_text(changed(EXAMPLES["ssdconfig.xml"], SMALL | dict(drive or {})))
    body = "".join(f"<IO_Scenario>{''.join(flows)}</IO_Scenario>" for flows in scenarios)
    workload.write_text(f"<MQSim_IO_Scenarios>{body}</MQSim_IO_Scenarios>")
    return [ssd, workload]


def made(folder: Path, paths: Sequence[Path]) -> list[tuple[Path, Path]]:
    """Writes the converted files. Returns the drive and the workload of each scenario."""
    ours = folder / "ours"
    ours.mkdir(exist_ok=True)
    converted = convert(*paths, out=ours)
    for each in converted:
        check(each)
        for name, text in each.files.items():
            (ours / name).write_text(text)
    return [(ours / drive, ours / work) for each in converted for drive, work in each.runs]


def fates(converted: Converted) -> dict[str, Fate]:
    return {fate.name.rpartition(": ")[2]: fate for fate in converted.fates}


def parts(workload: Path) -> list[dict[str, Any]]:
    import tomllib

    return list(tomllib.loads(workload.read_text())["part"])


# ── Parameters ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("names", [*([name] for name in EXAMPLES), list(EXAMPLES)], ids=str)
def test_every_parameter_of_another_simulator_is_accounted_for(
    names: list[str], tmp_path: Path
) -> None:
    for name in names:
        (tmp_path / name).write_text(EXAMPLES[name])
    for name, converted in zip(names, convert(*(tmp_path / n for n in names)), strict=True):
        written = re.findall(
            r"<(\w+)>[^<\s]" if name.endswith("xml") else r"^([^#\n][^=\n]*?)\s*=",
            EXAMPLES[name],
            re.MULTILINE,
        )
        assert len(written) > 30
        named = [fate.name.rpartition(": ")[2] for fate in converted.fates]
        # One that differs between the drives of several scenarios is listed for each.
        assert sorted({*named}) == sorted({*written})
        assert len(named) >= len(written)
        for fate in converted.fates:
            assert fate.ours or fate.note, f"{fate.name}: neither carried over nor explained"
            assert "unknown" not in fate.note
            assert not (fate.ours and fate.settled)
        check(converted)


def test_mqsim_becomes_the_drive_that_it_describes(tmp_path: Path) -> None:
    path = tmp_path / "ssdconfig.xml"
    path.write_text(EXAMPLES["ssdconfig.xml"])
    (converted,) = convert(path)
    (file,) = converted.files.values()
    drive = tmp_path / "drive.toml"
    drive.write_text(file)
    config = floatgate.resolve(drive)
    geometry = config["geometry"]
    # 8 channels, 4 chips, 2 dies, 2 planes, 2048 blocks, 256 pages of 8 KiB; 7 % of it spare.
    units = [geometry[key] for key in ("channels", "chips-per-channel", "dies-per-chip")]
    # A chip has one command at a time: its two dies are one, with the blocks of both.
    assert units == [8, 4, 1]
    assert (geometry["planes-per-die"], geometry["blocks-per-plane"]) == (2, 2 * 2048)
    assert config["ftl"]["multi-plane"] == "aligned"
    pages = 8 * 4 * 2 * 2 * 2048 * 256
    logical = int(pages * (1 - 0.07))
    result = floatgate.run(drive, "random-read", set={
        "workload.requests": 10, "precondition.fill": "none", "precondition.age": "none",
    })  # fmt: skip
    assert result.capacity.physical_bytes == pages * 8192
    assert result.capacity.logical_bytes == pytest.approx(logical * 8192, abs=8192)
    assert config["timing"]["program"] == "750us"
    assert config["timing"]["bus"]["rate"] == "333MT/s"
    assert config["timing"]["bus"]["first"] == "data"
    assert config["policies"]["victim"] == {"name": "d-choices", "d": 11}
    assert config["policies"]["wear"]["threshold"] == 100
    assert config["host"]["out-of-range"] == "wrap"
    wear = fates(converted)["Dynamic_Wearleveling_Enabled"]
    assert (wear.word, wear.note) == ("lost", "a frontier takes the block free longest")


@pytest.mark.parametrize(
    ("share", "blocks", "start"),
    [(0.05, 2048, 102), (0.05, 256, 12), (0.04, 256, 10), (0.02, 256, 10)],
)
@pytest.mark.parametrize("dies", [1, 2])
def test_the_threshold_is_cut_and_has_a_floor(
    share: float, blocks: int, start: int, dies: int, tmp_path: Path
) -> None:
    """As in MQSim: a whole number of blocks, rounded down; at least the ten that it empties.

    Planes of two dies are one here, which has the free blocks of both.
    """
    change = {"GC_Exec_Threshold": share, "Block_No_Per_Plane": blocks, "Die_No_Per_Chip": dies}
    start *= dies
    (drive, _), *_ = made(tmp_path, theirs(tmp_path, [synthetic()], drive=change))
    marks = floatgate.resolve(drive)["ftl"]["gc"]
    assert (marks["start"], marks["stop"]) == (start, start)


@pytest.mark.parametrize(
    ("policy", "preempts", "order"),
    [
        ("OUT_OF_ORDER", "false", "collection-first"),
        ("PRIORITY_OUT_OF_ORDER", "false", "collection-first"),
        ("OUT_OF_ORDER", "true", "read-first"),
        ("PRIORITY_OUT_OF_ORDER", "true", "priority"),
    ],
)
def test_what_collection_goes_before(
    policy: str, preempts: str, order: str, tmp_path: Path
) -> None:
    change = {"Transaction_Scheduling_Policy": policy, "Preemptible_GC_Enabled": preempts}
    flows = [synthetic(Priority_Class=word) for word in ("URGENT", "HIGH", "LOW")]
    ((drive, work),) = made(tmp_path, theirs(tmp_path, flows, drive=change))
    assert floatgate.resolve(drive)["policies"]["order"]["name"] == order
    ranks = [part.get("priority") for part in parts(work)]
    heeds = policy == "PRIORITY_OUT_OF_ORDER"
    assert ranks == (["high", "normal", "normal"] if heeds else [None] * 3)


@pytest.mark.parametrize("support", ["NONE", "PROGRAM", "ERASE", "PROGRAM_ERASE"])
def test_a_drive_suspends_nothing_as_mqsim_does_not(support: str, tmp_path: Path) -> None:
    paths = theirs(tmp_path, [synthetic()], drive={"CMD_Suspension_Support": support})
    converted = fates(convert(*paths)[0])
    names = [name for name in converted if "uspen" in name]
    assert len(names) == 6
    assert {converted[name].word for name in names} == {"settled"}
    ((drive, _),) = made(tmp_path, paths)
    assert "suspend" not in floatgate.resolve(drive)["timing"]


def test_collected_pages_stay_in_their_planes_as_in_mqsim(tmp_path: Path) -> None:
    for copies in ("true", "false"):
        folder = tmp_path / copies
        paths = theirs(folder, [synthetic()], drive={"Use_Copyback_for_GC": copies})
        ((drive, _),) = made(folder, paths)
        config = floatgate.resolve(drive)
        assert config["ftl"].get("copyback") == (255 if copies == "true" else None)
        settings = {"workload.requests": 20_000, "precondition.fill": "full"}
        flash = floatgate.run(drive, "random-write", set=settings).data["flash"]
        moved = flash["program"]["gc"]
        assert moved > 1000
        # As often as MQSim likes: no page is moved so often in a run like this.
        assert (flash["copybacks"] or {"gc": 0})["gc"] == (moved if copies == "true" else 0)


def test_a_drive_has_the_buffer_that_its_flows_use(tmp_path: Path) -> None:
    cached, off = (
        synthetic(Device_Level_Data_Caching_Mode=mode) for mode in ("WRITE_CACHE", "TURNED_OFF")
    )
    read = synthetic(Device_Level_Data_Caching_Mode="READ_CACHE")
    scenarios = [[cached], [off, read], [cached, off], [read]]
    paths = theirs(tmp_path, *scenarios)
    runs = made(tmp_path, paths)
    sizes = [floatgate.resolve(drive)["buffer"]["size"] for drive, _ in runs]
    # A page of each of the four planes may be on its way to flash.
    assert sizes == ["16KiB", "0B", "16KiB", "0B"]
    assert [drive.name for drive, _ in runs] == [
        "ssdconfig.toml",
        "ssdconfig-for-workload-2.toml",
        "ssdconfig.toml",
        "ssdconfig-for-workload-2.toml",
    ]
    drive, workload = convert(*paths)
    lost = [f for f in workload.lost if f.name.endswith("Caching_Mode")]
    assert [fate.name.partition(": ")[0] for fate in lost] == ["scenario 3, flow 2"]
    named = [fate.name for fate in drive.fates]
    assert "ssdconfig-for-workload-2: Data_Cache_Capacity" in named
    assert "ssdconfig-for-workload-2: Seed" not in named, "only what differs is said again"
    # Of flows that are not known it is not known which parts of pages they write.
    (alone,) = convert(paths[0])
    assert fates(alone)["Data_Cache_Capacity"].ours == {"buffer.size": "16KiB"}


# ── The cache ───────────────────────────────────────────────────────────────────────────────────

CACHED = {"Device_Level_Data_Caching_Mode": "WRITE_CACHE"}


def dram_ns(
    size: int, row: int, burst: int, mhz: int, reach: int, column: int, close: int
) -> float:
    """The time of one access of MQSim's cache, by the words of its parameters.

    A row is opened (tRCD) and a column reached (tCL); a period of the data rate has two bursts.
    """
    period = 1000 / mhz
    if size <= row:
        return reach + column + size / (2 * burst) * period
    # Beyond a row it takes half of the rows, and the rest at a burst in each nanosecond for each
    # nanosecond of the period.
    rows = (reach + column + row / (2 * burst) * period + close) * (size // row // 2)
    return rows + reach + column + size % row / (burst * period)


@pytest.mark.parametrize(
    ("page", "row", "burst", "mhz", "times"),
    [
        (4096, 8192, 1, 100, (13, 13, 13)),
        (4096, 8192, 1, 100, (400, 700, 13)),
        (8192, 8192, 8, 800, (20, 30, 40)),
        (16384, 8192, 2, 100, (50, 60, 70)),
        (16384, 4096, 4, 133, (50, 60, 2000)),
    ],
)
def test_the_buffers_port_takes_what_mqsims_dram_takes(
    page: int, row: int, burst: int, mhz: int, times: tuple[int, int, int], tmp_path: Path
) -> None:
    """Flash that is quicker than the port: whole pages come as fast as accesses to the DRAM."""
    change = {
        "Page_Capacity": page, "Data_Cache_DRAM_Row_Size": row, "Data_Cache_DRAM_Data_Rate": mhz,
        "Data_Cache_DRAM_Data_Busrt_Size": burst, "Channel_Transfer_Rate": 100_000,
        "Page_Program_Latency_LSB": 10, "Page_Program_Latency_MSB": 10, "PCIe_Lane_Count": 900,
        "Data_Cache_Capacity": 64 * MIB,
    }  # fmt: skip
    names = ("Data_Cache_DRAM_tRCD", "Data_Cache_DRAM_tCL", "Data_Cache_DRAM_tRP")
    change |= dict(zip(names, times, strict=True))
    deep = synthetic(
        **CACHED, Average_Request_Size=page // 512, Address_Alignment_Unit=page // 512,
        Average_No_of_Reqs_in_Queue=64, Stop_Time=0, Total_Requests_To_Generate=20_000,
    )  # fmt: skip
    ((drive, work),) = made(tmp_path, theirs(tmp_path, [deep], drive=change))
    result = floatgate.run(drive, work, set={"timing.bus.command": "0ns"})
    written = result.host.write
    rate = 64 / written.latency_ns.mean
    assert 1 / rate == pytest.approx(dram_ns(page, row, burst, mhz, *times), rel=0.02)


def test_the_buffer_has_the_places_of_what_mqsim_lets_be_on_its_way(tmp_path: Path) -> None:
    """A page of each plane, in sectors that were written; each part of a page has its own place."""
    change = {"Page_Capacity": 8192, "Plane_No_Per_Die": 2, "Data_Cache_Capacity": 64 * MIB}
    planes = {"Plane_IDs": "0,1"}
    pages = 8

    def places(*flows: str, **more: object) -> int:
        folder = tmp_path / "one"
        ((drive, _), *_) = made(folder, theirs(folder, list(flows), drive=change | more))
        size = str(floatgate.resolve(drive)["buffer"]["size"])
        units = {"KiB": 1024, "MiB": MIB, "B": 1}
        unit = next(unit for unit in units if size.endswith(unit))
        return int(size.removesuffix(unit)) * units[unit] // 8192

    def of(sectors: int, unit: int, **more: object) -> str:
        return synthetic(
            **(CACHED | planes | {"Average_Request_Size": sectors, "Address_Alignment_Unit": unit}),
            **more,
        )

    assert places(of(16, 16)) == pages
    assert places(of(8, 16)) == 2 * pages
    assert places(of(64, 16)) == pages
    # From a multiple of 8 sectors on, 16 sectors are one page or the halves of two.
    assert places(of(16, 8)) == round(1.5 * pages)
    # From anywhere on: 15 of 16 starts are in two pages.
    assert places(of(16, 1)) == round((1 + 15 / 16) * pages)
    # Of two flows the mean; one that only reads counts for nothing.
    assert places(of(16, 16), of(8, 16)) == round(1.5 * pages)
    assert places(of(8, 16), of(16, 16, Read_Percentage=100)) == 2 * pages
    # Each flow its own, or all together; never more than the cache.
    apart = {"Data_Cache_Sharing_Mode": "EQUAL_PARTITIONING"}
    assert places(of(16, 16), of(16, 16), **apart) == 2 * pages
    assert places(of(8, 16), Data_Cache_Capacity=5 * 8192) == 5
    # A trace: two writes of a page each that lie on two, one that lies on one, reads apart.
    folder = tmp_path / "one" / "traces"
    folder.mkdir()
    lines = ["1 0 8 16 0", "2 0 40 16 0", "3 0 64 16 0", "4 0 1 1 1"]
    (folder / "tpcc-small.trace").write_text("\n".join(lines))
    assert places(flow("Trace_Based", **CACHED, **planes)) == round(5 / 3 * pages)


def test_a_chip_has_one_command_at_a_time(tmp_path: Path) -> None:
    """However many dies it has: reads of one chip take their turns, each with its transfer."""
    stop = {"Stop_Time": 0, "Total_Requests_To_Generate": 4_000, "Read_Percentage": 100}
    for dies in (1, 2, 4):
        change = {"Flash_Channel_Count": 1, "Die_No_Per_Chip": dies, "Block_No_Per_Plane": 128}
        only = synthetic(**stop, Channel_IDs=0, Die_IDs=",".join(map(str, range(dies))),
                         Average_No_of_Reqs_in_Queue=16)  # fmt: skip
        folder = tmp_path / str(dies)
        ((drive, work),) = made(folder, theirs(folder, [only], drive=change))
        result = floatgate.run(drive, work)
        # 75 us, 4096 bytes at 333 MB/s, and a command.
        each = 75e-6 + 4096 / 333e6 + 300e-9
        assert result.simulated_seconds / 4_000 == pytest.approx(each, rel=0.002)


def test_reads_send_what_was_asked_for_where_nothing_is_written(tmp_path: Path) -> None:
    """As in MQSim; with writes a page is a page, as there each write programs one."""
    stop = {"Stop_Time": 0, "Total_Requests_To_Generate": 4_000, "Average_No_of_Reqs_in_Queue": 1}
    change = {"Page_Capacity": 16384, "Channel_Transfer_Rate": 100}
    for number, (reads, sectors, unit, sent) in enumerate(
        [(100, 8, 32, 4096), (100, 16, 32, 8192), (100, 8, 1, 16384), (90, 8, 32, 16384)]
    ):
        some = synthetic(**stop, Read_Percentage=reads, Average_Request_Size=sectors,
                         Address_Alignment_Unit=unit)  # fmt: skip
        folder = tmp_path / str(number)
        ((drive, work),) = made(folder, theirs(folder, [some], drive=change))
        least = floatgate.run(drive, work).host.read.latency_ns.min
        link = sectors * 512 / 4
        assert least == pytest.approx(75_000 + 300 + sent * 10 + link, rel=0.01)


# ── Flows ───────────────────────────────────────────────────────────────────────────────────────


def test_flows_share_the_drive_as_mqsim_divides_it(tmp_path: Path) -> None:
    """A plane is divided among the flows that may use it; a working set is a part of the share."""
    flows = [
        synthetic(Channel_IDs="0,1", Working_Set_Percentage=50),
        synthetic(Channel_IDs="0,1,2,3", Working_Set_Percentage=100),
    ]
    paths = theirs(tmp_path, flows)
    ((_, work),) = made(tmp_path, paths)
    plane = LOGICAL // 4 * 4096
    shares = [2 * (plane / 2) * 0.5, 2 * (plane / 2) + 2 * plane]
    import tomllib

    spans = [
        tomllib.loads((work.parent / part["workload"]).read_text())["span"] for part in parts(work)
    ]
    # Beside another, a flow has whole MiB: the next one begins at a multiple of that.
    assert spans == [f"{int(share // MIB)}MiB" for share in shares]
    (_, workload) = convert(*paths)
    words = {f.name: f.word for f in workload.fates if f.name.endswith("Channel_IDs")}
    assert words == {"scenario 1, flow 1: Channel_IDs": "lost",
                     "scenario 1, flow 2: Channel_IDs": "settled"}  # fmt: skip
    with pytest.raises(InputError, match="flow 1: Channel_IDs: the drive has no 4"):
        convert(*theirs(tmp_path, [synthetic(Channel_IDs="0,4")]))


def test_each_flow_keeps_its_own_queue_full_until_it_stops(tmp_path: Path) -> None:
    stop = 100_000_000
    flows = [
        synthetic(Average_No_of_Reqs_in_Queue=depth, Stop_Time=stop, Total_Requests_To_Generate=0,
                  Read_Percentage=reads)
        for depth, reads in ((16, 0), (2, 100))
    ]  # fmt: skip
    ((drive, work),) = made(tmp_path, theirs(tmp_path, flows))
    result = floatgate.run(drive, work)
    assert stop / 1e9 <= result.simulated_seconds < stop / 1e9 + 0.02
    for side, depth in ((result.host.write, 16), (result.host.read, 2)):
        # Little's law, of each flow alone: a constant number until it stops, and no more until the
        # end.
        inside = side.requests * side.latency_ns.mean / stop
        assert depth * (1 - 1e-9) <= inside <= depth * result.simulated_seconds * 1e9 / stop


def test_what_would_lose_a_queue_depth_is_refused(floatgate: Floatgate, tmp_path: Path) -> None:
    values = {"Stop_Time": 10**7, "Total_Requests_To_Generate": 0}
    ((drive, work),) = made(tmp_path, theirs(tmp_path, [synthetic(**values)]))
    for words in (
        ("trace", "convert", str(work), "-o", "some.parquet"),
        ("run", str(drive), str(work), "--first", "5"),
    ):
        done = floatgate(*words, "--json")
        assert (done.returncode, done.stdout) == (2, ""), words
        assert "queue depths" in done.stderr
    assert not (tmp_path / "some.parquet").exists()


def test_a_number_of_requests_ends_a_flow_that_has_no_stop_time(tmp_path: Path) -> None:
    flows = [
        synthetic(Stop_Time=0, Total_Requests_To_Generate=700),
        synthetic(Stop_Time=0, Total_Requests_To_Generate=300, Read_Percentage=100),
    ]
    ((drive, work),) = made(tmp_path, theirs(tmp_path, flows))
    result = floatgate.run(drive, work)
    assert (result.host.write.requests, result.host.read.requests) == (700, 300)
    with pytest.raises(InputError, match="no request would come"):
        convert(*theirs(tmp_path, [synthetic(Stop_Time=0, Total_Requests_To_Generate=0)]))


def test_a_rate_goes_on_until_it_stops(tmp_path: Path) -> None:
    # 8 sectors a request, 4096 bytes: 64 MiB/s are 16,384 a second.
    values = {"Synthetic_Generator_Type": "BANDWIDTH", "Bandwidth": 64 * MIB,
              "Stop_Time": 2 * 10**9, "Total_Requests_To_Generate": 5}  # fmt: skip
    ((drive, work),) = made(tmp_path, theirs(tmp_path, [synthetic(Read_Percentage=100, **values)]))
    result = floatgate.run(drive, work)
    # A Poisson process: three deviations.
    assert result.host.all.requests == pytest.approx(32_768, abs=3 * 32_768**0.5)


# Three devices by turns, three writes and three reads by turns, one sector beyond the drive.
TRACE = "".join(
    f"{i * 10**6} {i % 3} {sector} 8 {i // 3 % 2}\n"
    for i, sector in enumerate([0, 0, 0, 0, 0, 0, 8, LOGICAL * 8 + 15, 64, 72])
)


def test_a_trace_is_read_as_mqsim_reads_it(tmp_path: Path) -> None:
    """From beside the parameters, all devices in one address space, modulo the flow's."""
    folder = tmp_path / "their files"
    (folder / "traces").mkdir(parents=True)
    (folder / "traces" / "tpcc-small.trace").write_text(TRACE)
    ((drive, work),) = made(tmp_path, theirs(folder, [flow("Trace_Based")]))
    result = floatgate.run(drive, work)
    assert (result.host.read.requests, result.host.write.requests) == (4, 6)
    floatgate.convert(work, tmp_path / "all.parquet")
    offsets = pl.read_parquet(tmp_path / "all.parquet")["offset"].to_list()
    # The modulus is the last sector of the flow: 15 beyond the end come to lie on 16.
    assert offsets == [512 * sector for sector in (0, 0, 0, 0, 0, 0, 8, 16, 64, 72)]
    (part,) = parts(work)
    assert part["wrap"] == f"{(LOGICAL * 8 - 1) * 512}B"
    half = flow("Trace_Based", Percentage_To_Be_Executed=50)
    ((drive, work),) = made(tmp_path, theirs(folder, [half]))
    assert floatgate.run(drive, work).host.all.requests == 5
    thrice = flow("Trace_Based", Percentage_To_Be_Executed=50, Relay_Count=3)
    ((drive, work),) = made(tmp_path, theirs(folder, [thrice]))
    assert floatgate.run(drive, work).host.all.requests == 30


def test_a_trace_that_is_not_there_is_named(floatgate: Floatgate, tmp_path: Path) -> None:
    theirs(tmp_path, [flow("Trace_Based", Percentage_To_Be_Executed=50)])
    done = floatgate("config", "convert", "ssdconfig.xml", "workload.xml", "-o", "ours")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Still missing:\n  ours/traces/tpcc-small.trace" in done.stdout
    assert "Percentage_To_Be_Executed: the trace is not there" in done.stdout


def test_a_workload_without_its_drive_says_what_it_lacks(tmp_path: Path) -> None:
    _, path = theirs(tmp_path, [synthetic()])
    (converted,) = convert(path)
    alone = [fate.name for fate in converted.lost if "together with ssdconfig.xml" in fate.note]
    assert {name.rpartition(": ")[2] for name in alone} == {
        "Working_Set_Percentage", "Device_Level_Data_Caching_Mode", "Initial_Occupancy_Percentage",
    }  # fmt: skip
    assert not converted.runs


# ── Behaviour of the drives ─────────────────────────────────────────────────────────────────────


def alone(
    planes: int, blocks: int, pages: int, start: int, writes: Sequence[int], seed: int
) -> float:
    """Pages programmed for each write of the last two fifths, by a loop that knows nothing of ours.

    Every plane has its pages by their number, an open block for writes and one for collection.
    When an open block is full and fewer than `start` are free, the block with the fewest valid
    pages is emptied.
    """
    draw = random.Random(seed)
    logical = planes * blocks * pages * 7 // 8
    place: list[tuple[int, int] | None] = [None] * logical
    held = [[[-1] * pages for _ in range(blocks)] for _ in range(planes)]
    valid = [[0] * blocks for _ in range(planes)]
    free = [list(range(2, blocks)) for _ in range(planes)]
    opened = [[0, 1] for _ in range(planes)]
    used = [[0, 0] for _ in range(planes)]
    full: list[set[int]] = [set() for _ in range(planes)]
    programs = 0

    def put(plane: int, which: int, page: int) -> bool:
        """Writes a page to one of the open blocks; whether that is full then."""
        nonlocal programs
        programs += 1
        if (old := place[page]) is not None:
            held[plane][old[0]][old[1]] = -1
            valid[plane][old[0]] -= 1
        block, at = opened[plane][which], used[plane][which]
        place[page] = (block, at)
        held[plane][block][at] = page
        valid[plane][block] += 1
        used[plane][which] += 1
        if used[plane][which] < pages:
            return False
        full[plane].add(block)
        opened[plane][which], used[plane][which] = free[plane].pop(0), 0
        return True

    first, last = writes
    marked = 0
    for number in range(last):
        if number == first:
            marked = programs
        page = draw.randrange(logical)
        plane = page % planes
        if not put(plane, 0, page):
            continue
        while len(free[plane]) < start:
            victim = min(full[plane], key=lambda block: valid[plane][block])
            full[plane].remove(victim)
            for moved in [page for page in held[plane][victim] if page >= 0]:
                put(plane, 1, moved)
            free[plane].append(victim)
    return (programs - marked) / (last - first)


def amplification(folder: Path, drive: Mapping[str, object], writes: Sequence[int]) -> float:
    """The same of a converted drive, by two runs of which one is the beginning of the other."""
    programs = []
    for count in writes:
        values = {"Total_Requests_To_Generate": count, "Stop_Time": 0,
                  "Average_No_of_Reqs_in_Queue": 32}  # fmt: skip
        whole = {"Chip_IDs": ",".join(map(str, range(int(str(drive["Chip_No_Per_Channel"])))))}
        for unit, key in (("Die_IDs", "Die_No_Per_Chip"), ("Plane_IDs", "Plane_No_Per_Die")):
            whole[unit] = ",".join(map(str, range(int(str(drive[key])))))
        one = synthetic(**values, **whole, Priority_Class="HIGH")
        ((ours, work),) = made(folder, theirs(folder, [one], drive=drive))
        programs.append(floatgate.run(ours, work).flash.program.total)
    return float(programs[1] - programs[0]) / (writes[1] - writes[0])


def device(channels: int, chips: int, dies: int, planes: int, pages: int) -> dict[str, object]:
    return {"Flash_Channel_Count": channels, "Chip_No_Per_Channel": chips, "Die_No_Per_Chip": dies,
            "Plane_No_Per_Die": planes, "Page_No_Per_Block": pages}  # fmt: skip


def test_a_converted_drive_amplifies_as_an_independent_loop(tmp_path: Path) -> None:
    """256 blocks in a plane, 12 of them kept free, an eighth of all spare: a 64th of the device."""
    logical = 4 * 256 * 32 * 7 // 8
    writes = [round(logical * count / 1_835_008) for count in (3_000_000, 5_000_000)]
    theory = sum(alone(4, 256, 32, 12, writes, seed) for seed in (1, 2, 3)) / 3
    ours = amplification(tmp_path, device(4, 1, 1, 1, 32), writes)
    assert ours == pytest.approx(theory, rel=0.02)


@pytest.mark.verify
def test_the_common_device_amplifies_as_an_independent_loop(tmp_path: Path) -> None:
    """8 GiB in 32 planes, 5 million random writes, of which the last two are looked at."""
    writes = [3_000_000, 5_000_000]
    theory = alone(32, 256, 256, 12, writes, 1)
    ours = amplification(tmp_path, device(4, 2, 2, 2, 256), writes)
    assert ours == pytest.approx(theory, rel=0.01)


def test_an_urgent_flow_does_not_overtake_collection(tmp_path: Path) -> None:
    """Urgent writes that do are served from blocks that were free, and amplify less."""
    values = {"Total_Requests_To_Generate": 80_000, "Stop_Time": 0,
              "Average_No_of_Reqs_in_Queue": 32}  # fmt: skip
    ((drive, work),) = made(tmp_path, theirs(tmp_path, [synthetic(**values)]))
    urgent = work.with_name("urgent.toml")
    urgent.write_text(f'{work.read_text()}priority = "high"\n')

    def programs(workload: Path, **order: str) -> int:
        return int(floatgate.run(drive, workload, policy=order).flash.program.total)

    equal = programs(work)
    assert programs(urgent) == pytest.approx(equal, rel=0.01)
    assert programs(urgent, order="priority") < 0.95 * equal


# ── The command ─────────────────────────────────────────────────────────────────────────────────


def test_every_scenario_runs_by_the_printed_commands(floatgate: Floatgate, tmp_path: Path) -> None:
    """As those that come with MQSim: flows that write, flows that read, and a trace."""
    stop = {"Stop_Time": 20_000_000, "Total_Requests_To_Generate": 0, "Working_Set_Percentage": 50}
    cached = {"Device_Level_Data_Caching_Mode": "WRITE_CACHE"} | stop
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "tpcc-small.trace").write_text(TRACE)
    theirs(
        tmp_path,
        [synthetic(**cached), synthetic(**cached, Average_No_of_Reqs_in_Queue=2, Seed=6533)],
        [
            synthetic(**cached, Read_Percentage=100, Priority_Class="URGENT"),
            synthetic(**cached, Read_Percentage=100, Priority_Class="HIGH"),
        ],
        [flow("Trace_Based", Device_Level_Data_Caching_Mode="WRITE_CACHE")],
        drive={"Data_Cache_Capacity": 1 << 20},
    )
    words = ("config", "convert", "ssdconfig.xml", "workload.xml", "-o", "some/where")
    done = floatgate(*words)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert len(lines) <= 40, "one screen"
    assert max(map(len, lines)) <= 80
    whole = done.stdout.replace("\\\n", "").splitlines()
    commands = [line.split()[1:] for line in whole if line.startswith("  floatgate run ")]
    assert [command[-1] for command in commands] == [
        f"some/where/workload-{number}.toml" for number in (1, 2, 3)
    ]
    served, kept = [], []
    for command in commands:
        ran = floatgate(*command, "--json")
        assert (ran.returncode, ran.stderr) == (0, ""), command
        result = Result(json.loads(ran.stdout))
        served.append(result.host.all.requests)
        flows = result.data["host"]["flows"]
        kept.append({name: flow["queue_depth"] for name, flow in flows.items()})
        assert all(flow["all"]["requests"] > 0 for flow in flows.values())
    # Four dies program for 750 us each; a write that nothing waits behind is done in the cache.
    assert 2 * 20_000 / 750 < served[0] <= 4 * 20_000 / 750 + 18
    # Four dies, each of which senses for 75 us and then sends.
    assert 500 < served[1] <= 4 * 20_000 / 75 + 32
    assert served[2] == 10
    two = {"flow-1": 512, "flow-2": 512}
    assert kept == [two, two, {"flow-1": 512}]


def test_a_flow_has_as_many_requests_inside_as_the_drive_fetches(tmp_path: Path) -> None:
    """Four dies sense 75 us and send 4 KiB: of eight requests of one flow, four are at work."""
    stop = {"Stop_Time": 20_000_000, "Total_Requests_To_Generate": 0, "Working_Set_Percentage": 50}
    deep = synthetic(**stop, Read_Percentage=100, Average_No_of_Reqs_in_Queue=8)
    answered = {}
    for size in (1, 512):
        paths = theirs(tmp_path / str(size), [deep], drive={"Queue_Fetch_Size": size})
        [(drive, workload)] = made(tmp_path / str(size), paths)
        host = floatgate.run(drive, workload).data["host"]
        answered[size] = host["all"]["requests"]
        mean = host["all"]["latency_ns"]["mean"]
        if size == 1:
            # One at a time: each takes the eighth part of its whole wait.
            one = 20e6 / answered[size]
            assert one > 75_000
            assert mean == pytest.approx(8 * one, rel=0.05)
    assert answered[512] > 2.5 * answered[1]
    # Without the flows the owner of a queue is unknown; one of SATA's does not count.
    alone = convert(paths[0], out=tmp_path)[0]
    assert "convert workload.xml with it" in fates(alone)["Queue_Fetch_Size"].note
    sata = theirs(tmp_path / "sata", [deep], drive={"HostInterface_Type": "SATA"})
    both = convert(*sata, out=tmp_path)
    assert fates(both[0])["Queue_Fetch_Size"].settled
    assert "\ndepth" not in both[1].files["workload.toml"]


def test_the_command_says_what_is_lost_and_lists_all_of_it(
    floatgate: Floatgate, tmp_path: Path
) -> None:
    for name, text in EXAMPLES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "ours").mkdir()
    done = floatgate("config", "convert", *EXAMPLES, "-o", "ours", "--list")
    assert (done.returncode, done.stderr) == (0, "")
    assert max(map(len, done.stdout.splitlines())) <= 80
    short, rule, listed = done.stdout.partition("`--list` gives the outcome for each parameter.")
    assert rule
    assert "PCIe" not in short, "the link is modelled"
    flat = " ".join(listed.split())
    assert "ftl.spare-factor = 0.07" in flat
    everything = convert(*(tmp_path / name for name in EXAMPLES), out=tmp_path / "ours")
    for each in everything:
        kinds = [("carried over", "carried"), ("with nothing to set", "settled"),
                 ("not carried over", "lost")]  # fmt: skip
        for head, word in kinds:
            count = sum(fate.word == word for fate in each.fates)
            if count:
                assert f"{Path(each.source).name}: {head} ({count} of {len(each.fates)}):" in flat
                assert f"{count} {head}" in " ".join(short.split())
    assert "CMT_Capacity = 2097152 the whole map is in DRAM" in flat
    files = {"page.toml", "ssdconfig.toml", "workload-1.toml", "workload-2.toml"}
    assert files <= {path.name for path in (tmp_path / "ours").iterdir()}
    assert floatgate("config", "check", "ours/page.toml").returncode == 0
    again = floatgate("config", "convert", "page.parameters", "-o", "ours")
    assert (again.returncode, again.stdout) == (2, "")
    assert "page.toml: this exists already; --force replaces it" in again.stderr
    words = ("config", "convert", "page.parameters", "-o", "ours", "--force", "--json")
    (file,) = json.loads(floatgate(*words).stdout)["files"]
    assert (file["simulator"], len(file["parameters"])) == ("SSDSim", 71)
    assert {parameter["fate"] for parameter in file["parameters"]} <= {"carried", "settled", "lost"}
    # A folder is made, unless something else has its name.
    (tmp_path / "taken").write_text("")
    done = floatgate("config", "convert", "page.parameters", "-o", "taken/deeper")
    assert (done.returncode, done.stdout) == (2, "")
    assert "taken/deeper: this folder cannot be made" in done.stderr


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("ssdconfig.xml", "<Seed>321<", "<Seed>x<", "Seed: expected a whole number, found `x`"),
        ("ssdconfig.xml", "CWDP", "CWDX", "this drive cannot run here"),
        ("ssdconfig.xml", "Data_Rate>800<", "Data_Rate>0<", "Data_Rate: expected a whole number"),
        ("ssdconfig.xml", "Busrt_Size>4<", "Busrt_Size>0<", "a whole number from 1 on, found"),
        ("ssdconfig.xml", "y>8192<", "y>1000<", "Page_Capacity: expected a multiple of 512"),
        ("ssdconfig.xml", "Chip>2<", "Chip>0<", "Die_No_Per_Chip: expected a whole number"),
        ("ssdconfig.xml", ">RGA<", ">BEST<", "GC_Block_Selection_Policy: expected one of GREEDY, "),
        ("ssdconfig.xml", "OUT_OF_ORDER", "IN_ORDER", "expected one of OUT_OF_ORDER, "),
        ("ssdconfig.xml", "</Execution_Parameter_Set>", "", "Parameter_Set> is never closed"),
        ("workload.xml", "RANDOM_HOTCOLD", "MIXED_STREAMING_RANDOM", "and its code refuses it"),
        ("ssdconfig.xml", "PAGE_LEVEL", "ZONE_LEVEL", r"Address_Mapping: .*\(ZNS\)"),
        ("ssdconfig.xml", "OUT_OF_ORDER", "FLIN", "Transaction_Scheduling_Policy: .*FLIN"),
        ("page.parameters", "overprovide=", "overprovide=x", "overprovide: expected a number"),
        ("workload.xml", "RANDOM_HOTCOLD", "SPIRAL", "scenario 1, flow 1: Address_Distribution: "),
        ("workload.xml", ">HIGH<", ">HIGHEST<", "flow 1: Priority_Class: expected one of URGENT, "),
        ("page.parameters", "chip number[1] = 2", "chip number[1] = 3", "every channel must have"),
        ("page.parameters", "channel number", "channels", "this is not a parameter file that can"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_file_is_said(
    tmp_path: Path, name: str, old: str, new: str, message: str
) -> None:
    assert old in EXAMPLES[name]
    path = tmp_path / name
    path.write_text(EXAMPLES[name].replace(old, new, 1))
    with pytest.raises(InputError, match=message):
        check(convert(path)[0])


def test_two_drives_for_one_workload_are_one_too_many(tmp_path: Path) -> None:
    paths = theirs(tmp_path, [synthetic()])
    other = tmp_path / "other.xml"
    other.write_text(paths[0].read_text())
    with pytest.raises(InputError, match="several drives for one set of workloads"):
        convert(*paths, other)
    assert len(convert(paths[0], other)) == 2


# ── Files of MQSim and SSDSim, and files that only resemble them ────────────────────────────────

STRANGE = "<Switch_Of_A_Fork />", "<Old_Set><Seed>7</Seed></Old_Set>", "<Trace>t</Trace>"


@pytest.mark.parametrize("strange", STRANGE)
@pytest.mark.parametrize(
    "before",
    ["<IO_Scenario>", "<MQSim_IO_Scenarios>", "<Execution_Parameter_Set>", "<Flash_Parameter_Set>",
     "<Device_Parameter_Set>", "<IO_Flow_Parameter_Set_Synthetic>",
     "<IO_Flow_Parameter_Set_Trace_Based>"],
)  # fmt: skip
def test_an_element_that_is_not_known_is_named_and_changes_nothing(
    before: str, strange: str, tmp_path: Path
) -> None:
    """At any place in the file: it is not a flow, a scenario or a set, and nothing in it counts."""
    (file,) = (name for name in ("ssdconfig.xml", "workload.xml") if before in EXAMPLES[name])
    path = tmp_path / file
    path.write_text(EXAMPLES[file])
    (plain,) = convert(path)
    path.write_text(EXAMPLES[file].replace(before, before + strange, 1))
    (converted,) = convert(path)
    assert converted.files == plain.files
    name = re.findall(r"\w+", strange)[0]
    (fate,) = (each for each in converted.fates if each not in plain.fates)
    assert (fate.name.rpartition(": ")[2], fate.word) == (name, "lost")
    assert fate.note.startswith("unknown: ")


def test_a_slip_in_a_name_is_pointed_out(tmp_path: Path) -> None:
    path = tmp_path / "ssdconfig.xml"
    path.write_text(EXAMPLES["ssdconfig.xml"].replace("Page_Capacity>", "Page_Capcity>"))
    (converted,) = convert(path)
    assert "did you mean Page_Capacity?" in fates(converted)["Page_Capcity"].note
    # MQSim goes on with its own value, and so does the drive.
    assert fates(converted)["Page_Capacity"].note.startswith("not given, and this is MQSim's own")


def as_lenient(text: str) -> dict[str, str]:
    """The same parameters as MQSim reads them too: its parser passes over all of this."""
    return {
        "a `<` too many in a closing tag": text.replace("</Seed>", "</<Seed>"),
        "another name in a closing tag": text.replace("</Seed>", "</Sead>"),
        "no name in a closing tag": text.replace("</Seed>", "</>"),
        "blanks in a closing tag": text.replace("</Seed>", "</Seed  >"),
        "blank lines before the declaration": f"\n\n{text}",
        "no declaration": text.partition("?>")[2],
        "text between elements": text.replace("</Seed>", "</Seed> the seed "),
        "comments anywhere": f"<!-- a -->{text.replace('<Seed>', '<!-- <Seed> --><Seed>')}",
        "attributes": text.replace("<Seed>", "<Seed unit='none' of=\"all\">"),
        "a document type": f"<!DOCTYPE x [<!ENTITY y 'z'>]>{text}",
        "an instruction": text.replace("<Seed>", "<?do this?><Seed>"),
        "marked text": re.sub(r"<Seed>(\w+)<", r"<Seed><![CDATA[\1]]><", text),
        "a byte order mark": f"\ufeff{text}",
        "CRLF": text.replace("\n", "\r\n"),
        "one line": re.sub(r">\s+<", "><", text),
        "a fraction": re.sub(r"<Seed>(\w+)<", r"<Seed> \1.7 <", text),
        "an entity": re.sub(r"<Seed>(\w+)<", r"<Seed>&#32;\1<", text),
    }


@pytest.mark.parametrize("file", ["ssdconfig.xml", "workload.xml"])
@pytest.mark.parametrize("how", as_lenient(""))
def test_xml_is_read_as_leniently_as_mqsim_reads_it(file: str, how: str, tmp_path: Path) -> None:
    path = tmp_path / file
    path.write_text(EXAMPLES[file])
    (plain,) = convert(path)
    text = as_lenient(EXAMPLES[file])[how]
    path.write_bytes(text.encode())
    (converted,) = convert(path)
    assert converted.files == plain.files
    if "closing tag" in how and "blanks" not in how:
        assert re.search(rf"{file}:[0-9]+: </.*> closes <Seed>", converted.notes[0])
        assert len(converted.notes) == EXAMPLES[file].count("</Seed>")
    else:
        assert not [note for note in converted.notes if "declaration" not in note]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("</Seed>", "", "is never closed"),
        ("<Seed>", "<<<<<<< HEAD", "begins no element"),
        ("</Execution_Parameter_Set>", "</Execution_Parameter_Set> more", "`more` stands outside"),
        ("<Seed>", "<a>" * 200, "more than 100 elements within each other"),
        ("</Execution_Parameter_Set>", "</Execution_Parameter_Set></b>", "</b> closes nothing"),
    ],
)
def test_xml_that_mqsim_cannot_read_is_refused_with_its_line(
    old: str, new: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "ssdconfig.xml"
    path.write_text(EXAMPLES["ssdconfig.xml"].replace(old, new, 1))
    with pytest.raises(InputError, match=rf"ssdconfig\.xml:[0-9]+: .*{said}"):
        convert(path)


def test_entities_are_not_expanded(tmp_path: Path) -> None:
    """A file of a few hundred bytes that would become gigabytes."""
    laughs = "".join(f"<!ENTITY l{i + 1} '{f'&l{i};' * 10}'>" for i in range(10))
    path = tmp_path / "ssdconfig.xml"
    text = EXAMPLES["ssdconfig.xml"].replace("<Seed>", "<Seed>&l10;", 1)
    path.write_text(f"<!DOCTYPE lolz [<!ENTITY l0 'lol'>{laughs}]>{text}")
    with pytest.raises(InputError, match="Seed: expected a whole number, found `&l10;"):
        convert(path)


FORK = {
    "Execution_Parameter_Set": "ExecParameterSet", "Host_Parameter_Set": "HostParameterSet",
    "Device_Parameter_Set": "DeviceParameterSet", "Flash_Parameter_Set": "FlashParameterSet",
    "IO_Flow_Parameter_Set_Synthetic": "SyntheticFlowParamSet",
    "IO_Flow_Parameter_Set_Trace_Based": "TraceFlowParameterSet", "Relay_Count": "Replay_Count",
    "Page_Metadat_Capacity": "Page_Metadata_Capacity",
    "ResponseTime_Logging_Period_Length": "ResponseTime_Logging_Period",
}  # fmt: skip


@pytest.mark.parametrize("file", ["ssdconfig.xml", "workload.xml"])
def test_the_names_of_a_fork_are_those_of_mqsim(file: str, tmp_path: Path) -> None:
    path = tmp_path / file
    path.write_text(EXAMPLES[file])
    (plain,) = convert(path)
    text = EXAMPLES[file]
    for ours, theirs_ in FORK.items():
        text = re.sub(rf"\b{ours}>", f"{theirs_}>", text)
    assert text != EXAMPLES[file]
    path.write_text(text)
    (converted,) = convert(path)
    assert converted.files == plain.files
    assert [fate[1:] for fate in converted.fates] == [fate[1:] for fate in plain.fates]


def test_xml_of_others_is_called_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "some.xml"
    for text, said in [
        ("<MQSim_Results><Host /></MQSim_Results>", "`<MQSim_Results>` is the results of a run"),
        ("<html></html>", "`<html>` is not a file of MQSim"),
        ("<!-- nothing -->", "has no element"),
        ("<MQSim_IO_Scenarios></MQSim_IO_Scenarios>", "there is no <IO_Scenario>"),
        ("<MQSim_IO_Scenarios><IO_Scenario><A/></IO_Scenario></MQSim_IO_Scenarios>",
         "scenario 1 has no flow that is known here; .*found <A>"),
    ]:  # fmt: skip
        path.write_text(text)
        with pytest.raises(InputError, match=rf"some\.xml.*{said}"):
            convert(path)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("Time_Unit", ["PICOSECOND", "NANOSECOND", "MICROSECOND", "nanosecond"]),
        ("Priority_Class", ["URGENT", "HIGH", "MEDIUM", "LOW"]),
        ("Device_Level_Data_Caching_Mode",
         ["WRITE_CACHE", "READ_CACHE", "WRITE_READ_CACHE", "TURNED_OFF"]),
        ("Request_Size_Distribution", ["FIXED", "NORMAL"]),
        ("Synthetic_Generator_Type", ["BANDWIDTH", "QUEUE_DEPTH"]),
        ("Address_Distribution", ["STREAMING", "RANDOM_UNIFORM", "RANDOM_HOTCOLD"]),
        ("Read_Percentage", range(0, 101, 10)),
        ("Percentage_of_Hot_Region", range(0, 101, 10)),
        ("Working_Set_Percentage", [1, 50, 100]),
        ("Percentage_To_Be_Executed", [1, 50, 100]),
        ("Initial_Occupancy_Percentage", [1, 50, 100]),
    ],
)  # fmt: skip
def test_every_documented_value_of_a_flow_is_read(
    name: str, values: Sequence[object], tmp_path: Path
) -> None:
    """The ranges are those of MQSim's README."""
    ssd, workload = theirs(tmp_path, [synthetic(), flow("Trace_Based")])
    before = workload.read_text()
    assert f"<{name}>" in before
    for value in values:
        workload.write_text(re.sub(f"<{name}>[^<]*<", f"<{name}>{value}<", before))
        for paths in ([ssd, workload], [workload]):
            every = [fate for each in convert(*paths) for fate in each.fates]
            found = [fate for fate in every if fate.name.endswith(f": {name}")]
            assert found
            assert all(fate.ours or fate.note for fate in found)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("HostInterface_Type", ["NVME", "SATA"]),
        ("Caching_Mechanism", ["SIMPLE", "ADVANCED"]),
        ("Data_Cache_Sharing_Mode", ["SHARED", "EQUAL_PARTITIONING"]),
        ("Plane_Allocation_Scheme", ["CWDP", "CWPD", "CDWP", "CDPW", "CPWD", "CPDW", "WCDP", "WCPD",
         "WDCP", "WDPC", "WPCD", "WPDC", "DCWP", "DCPW", "DWCP", "DWPC", "DPCW", "DPWC", "PCWD",
         "PCDW", "PWCD", "PWDC", "PDCW", "PDWC"]),
        ("Transaction_Scheduling_Policy", ["OUT_OF_ORDER", "PRIORITY_OUT_OF_ORDER"]),
        ("GC_Block_Selection_Policy",
         ["GREEDY", "RGA", "RANDOM", "RANDOM_P", "RANDOM_PP", "FIFO"]),
        ("Flash_Technology", ["SLC", "MLC", "TLC", "QLC"]),
        ("CMD_Suspension_Support", ["NONE", "PROGRAM", "PROGRAM_ERASE", "ERASE"]),
        *((name, ["true", "false", "TRUE"]) for name in (
            "Enabled_Preconditioning", "Ideal_Mapping_Table", "Use_Copyback_for_GC",
            "Preemptible_GC_Enabled", "Dynamic_Wearleveling_Enabled",
            "Static_Wearleveling_Enabled")),
    ],
)  # fmt: skip
def test_every_documented_value_of_a_drive_is_read_and_can_run(
    name: str, values: Sequence[object], tmp_path: Path
) -> None:
    path = tmp_path / "ssdconfig.xml"
    for value in values:
        path.write_text(changed(EXAMPLES["ssdconfig.xml"], {name: value}))
        (converted,) = convert(path)
        check(converted)
        assert fates(converted)[name].value == value


@pytest.mark.parametrize(
    ("values", "named", "least"),
    [
        # MQSim keeps at least ten blocks free in each of the two dies of a chip, which are one die
        # here, and two are open: 22 of 128 blocks.
        ({"Block_No_Per_Plane": 64, "Overprovisioning_Ratio": "0.10"},
         ["Overprovisioning_Ratio", "GC_Exec_Threshold", "Block_No_Per_Plane"], 22 / 128),
        ({"Block_No_Per_Plane": 32, "Overprovisioning_Ratio": "0.127"},
         ["Overprovisioning_Ratio", "GC_Exec_Threshold", "Block_No_Per_Plane"], 22 / 64),
        # A fifth of 2,048 blocks, rounded down.
        ({"GC_Exec_Threshold": 0.2, "Overprovisioning_Ratio": "0.07"},
         ["Overprovisioning_Ratio", "GC_Exec_Threshold"], (2 * 409 + 2) / 4096),
        ({"Plane_Allocation_Scheme": "CWDX"}, ["Plane_Allocation_Scheme"], None),
    ],
)  # fmt: skip
def test_a_drive_that_cannot_run_is_explained_by_the_parameters_of_the_file(
    values: Mapping[str, object], named: Sequence[str], least: float | None, tmp_path: Path
) -> None:
    path = tmp_path / "ssdconfig.xml"
    path.write_text(changed(EXAMPLES["ssdconfig.xml"], values))
    (converted,) = convert(path)
    with pytest.raises(InputError) as refused:
        check(converted)
    said = str(refused.value)
    assert f"{path}: this drive cannot run here: " in said
    for name in named:
        (line,) = (
            number
            for number, text in enumerate(path.read_text().splitlines(), 1)
            if f"<{name}>" in text
        )
        assert f"{path}:{line}: {name} = " in said
    assert "floatgate-" not in said.replace(str(path), ""), "no temporary file is named"
    assert "-->" not in said
    if least is None:
        return
    (ratio,) = map(float, re.findall(r"`Overprovisioning_Ratio` = ([0-9.]+) or more", said))
    assert least <= ratio < least + 1e-3
    path.write_text(changed(path.read_text(), {"Overprovisioning_Ratio": ratio}))
    check(convert(path)[0])


@pytest.mark.parametrize("values", [{"Page_Capacity": 1000}, {"Flash_Channel_Count": 0}])
def test_a_value_that_no_drive_has_is_placed(values: Mapping[str, object], tmp_path: Path) -> None:
    path = tmp_path / "ssdconfig.xml"
    path.write_text(changed(EXAMPLES["ssdconfig.xml"], values))
    (name,) = values
    lines = path.read_text().splitlines()
    line = next(n for n, text in enumerate(lines, 1) if f"<{name}>" in text)
    with pytest.raises(InputError, match=f"{re.escape(str(path))}:{line}: {name}: expected"):
        convert(path)


def test_every_wrong_value_is_listed(tmp_path: Path) -> None:
    path = tmp_path / "ssdconfig.xml"
    path.write_text(changed(EXAMPLES["ssdconfig.xml"], {"Seed": "x", "Page_Capacity": "y"}))
    with pytest.raises(InputError) as refused:
        convert(path)
    assert [line.partition(": ")[2] for line in str(refused.value).splitlines()] == [
        "Seed: expected a whole number, found `x`",
        "Page_Capacity: expected a whole number, found `y`",
    ]


@pytest.mark.parametrize(
    "values",
    [
        {"Overprovisioning_Ratio": "nan"}, {"Overprovisioning_Ratio": "inf"},
        {"Overprovisioning_Ratio": "-1"}, {"GC_Exec_Threshold": "1e999"},
        {"Block_No_Per_Plane": 0}, {"Block_No_Per_Plane": "9" * 5000}, {"Page_Capacity": "-5"},
        {"Flash_Channel_Count": 10**9}, {"Chip_No_Per_Channel": 10**15},
    ],
    ids=lambda values: str(values)[:40],
)  # fmt: skip
def test_numbers_that_no_drive_has_are_messages(
    values: Mapping[str, object], tmp_path: Path
) -> None:
    paths = theirs(tmp_path, [synthetic()], drive=values)
    for some in (paths, paths[:1]):
        with pytest.raises(InputError):
            check(next(iter(convert(*some))))


def test_a_parameter_that_is_given_again_is_told(tmp_path: Path) -> None:
    path = tmp_path / "ssdconfig.xml"
    path.write_text(EXAMPLES["ssdconfig.xml"].replace("<Seed>", "<Seed>1</Seed><Seed>", 1))
    (converted,) = convert(path)
    by_value = {fate.value: fate for fate in converted.fates if fate.name == "Seed"}
    assert "gives it again" in by_value.pop("1").note
    (last,) = by_value.values()
    assert last.ours == {"run.seed": int(last.value)}


def test_ssdsim_passes_over_lines_and_so_do_we(tmp_path: Path) -> None:
    path = tmp_path / "page.parameters"
    path.write_text(EXAMPLES["page.parameters"])
    (plain,) = convert(path)
    path.write_text("gc 1;\n  t_PROG = 5;\n" + EXAMPLES["page.parameters"])
    (converted,) = convert(path)
    assert converted.files == plain.files
    assert [note.partition(": ")[0] for note in converted.notes] == [f"{path}:1", f"{path}:2"]
    assert all("SSDSim passes over" in note for note in converted.notes)


def test_a_trace_in_picoseconds_is_that_in_nanoseconds(tmp_path: Path) -> None:
    results = []
    for unit, factor in (("NANOSECOND", 1), ("PICOSECOND", 1000)):
        folder = tmp_path / unit
        (folder / "traces").mkdir(parents=True)
        lines = "".join(f"{i * 10**5 * factor} 0 {i * 8} 8 {i % 2}\n" for i in range(100))
        (folder / "traces" / "tpcc-small.trace").write_text(lines)
        ((drive, work),) = made(folder, theirs(folder, [flow("Trace_Based", Time_Unit=unit)]))
        results.append(floatgate.run(drive, work))
    one, other = results
    assert one.simulated_seconds == other.simulated_seconds
    assert one.data["host"] == other.data["host"]
    # The last arrives after 99 times 100 us.
    assert one.simulated_seconds >= 99e-4


NEEDED = ["die number", "plane number", "block number", "page number", "page capacity", "t_R",
          "t_BERS", "overprovide"]  # fmt: skip


@pytest.mark.parametrize("name", NEEDED)
def test_what_ssdsim_needs_is_named_by_its_own_name(name: str, tmp_path: Path) -> None:
    path = tmp_path / "page.parameters"
    text, count = re.subn(rf"^{name}\s*=.*\n", "", EXAMPLES["page.parameters"], flags=re.MULTILINE)
    assert count == 1
    path.write_text(text)
    with pytest.raises(InputError, match=rf"page\.parameters: without {name} there is no drive"):
        convert(path)

"""Inputs of the other simulators: their files for our drive, and traces that all three read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

DRIVE = """\
schema = "floatgate.drive/1"
name = "common"
summary = "what floatgate, MQSim and SSDSim can all express"

[geometry]
channels = 8
chips-per-channel = 4
dies-per-chip = 1
planes-per-die = 1
blocks-per-plane = {blocks}
pages-per-block = {pages}
page-size = "4KiB"
bits-per-cell = 2

[timing]
read = "75us"
program = "750us"
erase = "3800us"
bus = {{ rate = "333MT/s", width-bits = 8, command = "0ns" }}

[ftl]
spare-factor = 0.125
gc.start = {start}
gc.stop = {stop}

[host]
mode = "timestamps"

[precondition]
fill = "touched"

[policies]
victim = "greedy"
"""


def drive(blocks: int, pages: int) -> str:
    """Our drive file: 32 dies, blocks of a die, pages of a block; it collects below 5 %."""
    start = blocks // 20
    return DRIVE.format(blocks=blocks, pages=pages, start=start, stop=start + 1)


def sectors(config: Mapping[str, Any]) -> int:
    """The sectors of 512 bytes that a resolved drive exports."""
    return _in_units(config["ftl"]["logical-capacity"], _SIZES) // 512


def spare(config: Mapping[str, Any]) -> float:
    """The share of the flash that a resolved drive keeps for itself."""
    shape = config["geometry"]
    blocks = dies(config) * shape["planes-per-die"] * shape["blocks-per-plane"]
    return 1 - sectors(config) * 512 / int(blocks * shape["pages-per-block"] * page_bytes(config))


def dies(config: Mapping[str, Any]) -> int:
    """How many there are."""
    shape = config["geometry"]
    return int(shape["channels"] * shape["chips-per-channel"] * shape["dies-per-chip"])


def page_bytes(config: Mapping[str, Any]) -> int:
    """The bytes of a page."""
    return _in_units(config["geometry"]["page-size"], _SIZES)


def nanoseconds(text: str) -> int:
    """A time of a drive file.

    >>> nanoseconds("75us"), nanoseconds("3.8ms")
    (75000, 3800000)
    """
    return _in_units(text, {"ns": 1, "us": 1000, "ms": 1_000_000, "s": 1_000_000_000})


_SIZES = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "B": 1}


def _in_units(text: str, units: Mapping[str, int]) -> int:
    for unit, size in units.items():
        number = text.removesuffix(unit)
        if number != text and number.replace(".", "", 1).isdigit():
            return round(float(number) * size)
    raise ValueError(f"`{text}`: expected a number and one of {', '.join(units)}")


def _megatransfers(config: Mapping[str, Any]) -> int:
    return _in_units(config["timing"]["bus"]["rate"], {"MT/s": 1})


def mqsim(config: Mapping[str, Any], trace: str) -> dict[str, str]:
    """MQSim's two files for a resolved drive and the file of a trace, by name.

    The map is in memory, nothing is cached or suspended, collection is greedy, wear is left alone.
    """
    shape, times = config["geometry"], config["timing"]
    read, program = nanoseconds(times["read"]), nanoseconds(times["program"])
    by_type = [("LSB", read, program), ("CSB", read, program), ("MSB", read, program)]
    flash: dict[str, object] = {
        "Flash_Technology": "MLC",
        "CMD_Suspension_Support": "NONE",
        **{f"Page_Read_Latency_{bit}": time for bit, time, _ in by_type},
        **{f"Page_Program_Latency_{bit}": time for bit, _, time in by_type},
        "Block_Erase_Latency": nanoseconds(times["erase"]),
        "Block_PE_Cycles_Limit": 1_000_000,
        "Suspend_Erase_Time": 700_000,
        "Suspend_Program_Time": 100_000,
        "Die_No_Per_Chip": shape["dies-per-chip"],
        "Plane_No_Per_Die": shape["planes-per-die"],
        "Block_No_Per_Plane": shape["blocks-per-plane"],
        "Page_No_Per_Block": shape["pages-per-block"],
        "Page_Capacity": page_bytes(config),
        "Page_Metadat_Capacity": 448,
    }
    device: dict[str, object] = {
        "Seed": 1,
        "Enabled_Preconditioning": "false",
        "Memory_Type": "FLASH",
        "HostInterface_Type": "NVME",
        "IO_Queue_Depth": 65535,
        "Queue_Fetch_Size": 512,
        "Caching_Mechanism": "ADVANCED",
        "Data_Cache_Sharing_Mode": "SHARED",
        "Data_Cache_Capacity": 1 << 28,
        "Data_Cache_DRAM_Row_Size": 8192,
        "Data_Cache_DRAM_Data_Rate": 800,
        "Data_Cache_DRAM_Data_Busrt_Size": 4,
        "Data_Cache_DRAM_tRCD": 13,
        "Data_Cache_DRAM_tCL": 13,
        "Data_Cache_DRAM_tRP": 13,
        "Address_Mapping": "PAGE_LEVEL",
        "Ideal_Mapping_Table": "true",
        "CMT_Capacity": 1 << 21,
        "CMT_Sharing_Mode": "SHARED",
        "Plane_Allocation_Scheme": "CWDP",
        "Transaction_Scheduling_Policy": "PRIORITY_OUT_OF_ORDER",
        "Overprovisioning_Ratio": spare(config),
        "GC_Exec_Threshold": config["ftl"]["gc"]["start"] / shape["blocks-per-plane"],
        "GC_Block_Selection_Policy": "GREEDY",
        "Use_Copyback_for_GC": "false",
        "Preemptible_GC_Enabled": "false",
        "GC_Hard_Threshold": 0.005,
        "Dynamic_Wearleveling_Enabled": "false",
        "Static_Wearleveling_Enabled": "false",
        "Static_Wearleveling_Threshold": 100,
        "Preferred_suspend_erase_time_for_read": 700_000,
        "Preferred_suspend_erase_time_for_write": 700_000,
        "Preferred_suspend_write_time_for_read": 100_000,
        "Flash_Channel_Count": shape["channels"],
        "Flash_Channel_Width": times["bus"]["width-bits"] // 8,
        "Channel_Transfer_Rate": _megatransfers(config),
        "Chip_No_Per_Channel": shape["chips-per-channel"],
        "Flash_Comm_Protocol": "NVDDR2",
    }
    host: dict[str, object] = {
        "PCIe_Lane_Bandwidth": 1.0,
        "PCIe_Lane_Count": 4,
        "SATA_Processing_Delay": 400_000,
        "Enable_ResponseTime_Logging": "false",
        "ResponseTime_Logging_Period_Length": 1_000_000,
    }
    flow: dict[str, object] = {
        "Priority_Class": "HIGH",
        "Device_Level_Data_Caching_Mode": "TURNED_OFF",
        "Channel_IDs": _ids(shape["channels"]),
        "Chip_IDs": _ids(shape["chips-per-channel"]),
        "Die_IDs": _ids(shape["dies-per-chip"]),
        "Plane_IDs": _ids(shape["planes-per-die"]),
        "Initial_Occupancy_Percentage": 0,
        "File_Path": trace,
        "Percentage_To_Be_Executed": 100,
        "Relay_Count": 1,
        "Time_Unit": "NANOSECOND",
    }
    inside = _tags(device) + _within("Flash_Parameter_Set", _tags(flash))
    both = _within("Host_Parameter_Set", _tags(host)) + _within("Device_Parameter_Set", inside)
    scenario = _within("IO_Scenario", _within("IO_Flow_Parameter_Set_Trace_Based", _tags(flow)))
    return {
        "ssdconfig.xml": _HEAD + _within("Execution_Parameter_Set", both),
        "workload.xml": _HEAD + _within("MQSim_IO_Scenarios", scenario),
    }


_HEAD = '<?xml version="1.0" encoding="us-ascii"?>\n'


def _within(tag: str, text: str) -> str:
    return f"<{tag}>\n{text}</{tag}>\n"


def _tags(values: Mapping[str, object]) -> str:
    return "".join(f"<{name}>{value}</{name}>\n" for name, value in values.items())


def _ids(count: int) -> str:
    return ",".join(map(str, range(count)))


def ssdsim(config: Mapping[str, Any]) -> dict[str, str]:
    """SSDSim's file for a resolved drive, by name: no buffer, no advanced commands."""
    shape, times = config["geometry"], config["timing"]
    chips = shape["chips-per-channel"]
    cycle = max(1, round(8000 / (_megatransfers(config) * times["bus"]["width-bits"])))
    values: dict[str, object] = {
        "dram capacity": 0,
        **{f"chip number[{channel}]": chips for channel in range(shape["channels"])},
        "channel number": shape["channels"],
        "chip number": shape["channels"] * chips,
        "die number": shape["dies-per-chip"],
        "plane number": shape["planes-per-die"],
        "block number": shape["blocks-per-plane"],
        "page number": shape["pages-per-block"],
        "subpage page": page_bytes(config) // 512,
        "page capacity": page_bytes(config),
        "subpage capacity": 512,
        "t_PROG": nanoseconds(times["program"]),
        "t_BERS": nanoseconds(times["erase"]),
        "t_R": nanoseconds(times["read"]),
        "t_WC": cycle,
        "t_RC": cycle,
        "erase limit": 1_000_000,
        "address mapping": 1,
        "overprovide": spare(config),
        "gc hard threshold": config["ftl"]["gc"]["start"] / shape["blocks-per-plane"],
        "scheduling algorithm": 1,
        "allocation": 0,
        "dynamic_allocation": 0,
        "advanced command": 0,
        "aged": 0,
        "queue_length": 4096,
    }
    return {"page.parameters": "".join(f"{name} = {value};\n" for name, value in values.items())}


def requests(
    count: int, gap_ns: int, write: bool, pages: int, seed: int, page_sectors: int = 8
) -> pl.DataFrame:
    """Single pages at random, evenly in time."""
    random = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "time_ns": np.arange(1, count + 1, dtype=np.int64) * gap_ns,
            "device": np.zeros(count, dtype=np.int64),
            "sector": random.integers(0, pages, count, dtype=np.int64) * page_sectors,
            "sectors": np.full(count, page_sectors, dtype=np.int64),
            "read": np.full(count, 0 if write else 1, dtype=np.int64),
        }
    )


def folded(frame: pl.DataFrame, capacity: int) -> pl.DataFrame:
    """Reads and writes of a converted trace, in sectors, on a drive of `capacity` sectors.

    Requests outside the capacity are folded into it, by whole pages and as a whole, so that no
    simulator has to fold.
    """
    kept = frame.with_columns(pl.col("op").cast(pl.String).str.strip_suffix("-fua"))
    kept = kept.filter(pl.col("op").is_in(["read", "write"]))
    size = ((kept["size"].cast(pl.Int64) + 511) // 512).alias("sectors")
    longest = size.max() if len(size) else 0
    assert isinstance(longest, int)
    room = (capacity - longest) // 8 * 8
    return kept.select(
        (pl.col("time_ns").cast(pl.Int64) + 1).alias("time_ns"),
        pl.lit(0, dtype=pl.Int64).alias("device"),
        ((pl.col("offset") // 512).cast(pl.Int64) % room).alias("sector"),
        size,
        (pl.col("op") == "read").cast(pl.Int64).alias("read"),
    ).filter(pl.col("sectors") > 0)


def ascii_lines(frame: pl.DataFrame) -> bytes:
    """The trace as all three read it."""
    return frame.write_csv(include_header=False, separator=" ").encode()


def for_ssdsim(trace: bytes) -> bytes:
    """The trace with the additions that SSDSim needs to come to its end.

    It divides by the number of reads and by that of writes, so there is one more of each before the
    first. Its clock stands still after the last line, which it does not serve: that comes a second
    later, and has no line end.
    """
    last = int(trace.rstrip().rpartition(b"\n")[2].split()[0])
    return b"0 0 0 8 0\n0 0 0 8 1\n" + trace + f"{last + 1_000_000_000} 0 0 8 1".encode()

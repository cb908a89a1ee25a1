"""MQSim's ssdconfig.xml and workload.xml.

What each parameter means is taken from the README of MQSim and from its source: how logical
capacity follows from `Overprovisioning_Ratio`, the size of RGA's sample, the form of the
synthetic flows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

from floatgate.engine import InputError
from floatgate.moving import (
    Converted,
    Fate,
    Rule,
    applied,
    drive_file,
    fraction,
    lost,
    one_of,
    whole,
    written,
)

LEVELS = {"SLC": 1, "MLC": 2, "TLC": 3}
TYPES = {1: ["LSB"], 2: ["LSB", "MSB"], 3: ["LSB", "CSB", "MSB"]}

_LINK = "the link to the host is not modelled"
_DRAM = "the drive's DRAM answers at once"
_CMT = "the whole map is in DRAM"
_SUSPEND = "operations are not suspended"
_LATENCY = "one value for each type of page that the cells have"


def _key(path: str, note: str = "") -> Rule:
    return Rule(lambda text: {path: whole(text)}, note)


DRIVE: dict[str, Rule] = {
    "PCIe_Lane_Bandwidth": lost(_LINK),
    "PCIe_Lane_Count": lost(_LINK),
    "SATA_Processing_Delay": lost(_LINK),
    "Enable_ResponseTime_Logging": lost("with `--out`, every request and a series are stored"),
    "ResponseTime_Logging_Period_Length": Rule(
        lambda text: {"run.series-interval": f"{whole(text)}ns"}
    ),
    "Seed": _key("run.seed"),
    "Enabled_Preconditioning": Rule(
        lambda text: one_of(
            text,
            {"TRUE": {"precondition.fill": "full", "precondition.age": "random"},
             "FALSE": {"precondition.fill": "none"}},
        ),
        "MQSim guesses a steady state by a model; here the drive is written until it is in one",
    ),
    "Memory_Type": Rule(lambda text: one_of(text, {"FLASH": {"ftl.mapping": "page"}})),
    "HostInterface_Type": lost(_LINK),
    "IO_Queue_Depth": Rule(
        lambda text: {"host.queue-limit": whole(text)}, "of all queues together"
    ),
    "Queue_Fetch_Size": lost("the drive sees all that lies in its queues"),
    "Caching_Mechanism": lost("there is one write buffer"),
    "Data_Cache_Sharing_Mode": lost("there is one write buffer, which all share"),
    "Data_Cache_Capacity": Rule(
        lambda text: {"buffer.size": f"{whole(text)}B"},
        "MQSim's cache holds reads too; here a buffer of writes, from which reads are served",
    ),
    "Data_Cache_DRAM_Row_Size": lost(_DRAM),
    "Data_Cache_DRAM_Data_Rate": lost(_DRAM),
    "Data_Cache_DRAM_Data_Busrt_Size": lost(_DRAM),
    "Data_Cache_DRAM_Data_Burst_Size": lost(_DRAM),
    "Data_Cache_DRAM_tRCD": lost(_DRAM),
    "Data_Cache_DRAM_tCL": lost(_DRAM),
    "Data_Cache_DRAM_tRP": lost(_DRAM),
    "Address_Mapping": Rule(
        lambda text: one_of(text, {"PAGE_LEVEL": {"ftl.mapping": "page"}}),
    ),
    "Ideal_Mapping_Table": lost(_CMT + ", as with `true`"),
    "CMT_Capacity": lost(_CMT),
    "CMT_Sharing_Mode": lost(_CMT),
    "Plane_Allocation_Scheme": Rule(
        lambda text: {"policies.placement": {"name": "static", "order": text.lower()}},
        "the engine checks the order",
    ),
    "Transaction_Scheduling_Policy": Rule(
        lambda text: one_of(
            text,
            {"OUT_OF_ORDER": {"policies.order": "read-first"},
             "PRIORITY_OUT_OF_ORDER": {"policies.order": "priority"}},
        ),
        "reads of the host first, as Sprinkler has them; the rest in the order of arrival",
    ),
    "Overprovisioning_Ratio": Rule(
        lambda text: {"ftl.spare-factor": fraction(text)},
        "MQSim takes it of the physical capacity: the spare factor here",
    ),
    "GC_Exec_Threshold": Rule(None),
    "GC_Exect_Threshold": Rule(None),
    "GC_Block_Selection_Policy": Rule(None),
    "Use_Copyback_for_GC": lost("collected pages go over the channel"),
    "Preemptible_GC_Enabled": lost("a job gives way between two operations, never within one"),
    "GC_Hard_Threshold": lost("a job gives way between two operations, never within one"),
    "Dynamic_Wearleveling_Enabled": lost("a frontier always takes the least worn free block"),
    "Static_Wearleveling_Enabled": Rule(None),
    "Static_Wearleveling_Threshold": Rule(None),
    "Preferred_suspend_erase_time_for_read": lost(_SUSPEND),
    "Preferred_suspend_erase_time_for_write": lost(_SUSPEND),
    "Preferred_suspend_write_time_for_read": lost(_SUSPEND),
    "Flash_Channel_Count": _key("geometry.channels"),
    "Flash_Channel_Width": Rule(None),
    "Channel_Transfer_Rate": Rule(None),
    "Chip_No_Per_Channel": _key("geometry.chips-per-channel"),
    "Flash_Comm_Protocol": lost("a channel has a rate, a width and a time for each command"),
    "Flash_Technology": Rule(
        lambda text: {"geometry.bits-per-cell": _bits(text)},
    ),
    "CMD_Suspension_Support": lost(_SUSPEND),
    **{f"Page_{what}_Latency_{kind}": Rule(None)
       for what in ("Read", "Program") for kind in ("LSB", "CSB", "MSB")},
    "Block_Erase_Latency": Rule(lambda text: {"timing.erase": f"{whole(text)}ns"}),
    "Block_PE_Cycles_Limit": _key("reliability.endurance"),
    "Suspend_Erase_Time": lost(_SUSPEND),
    "Suspend_Program_Time": lost(_SUSPEND),
    "Die_No_Per_Chip": _key("geometry.dies-per-chip"),
    "Plane_No_Per_Die": _key("geometry.planes-per-die"),
    "Block_No_Per_Plane": _key("geometry.blocks-per-plane"),
    "Page_No_Per_Block": _key("geometry.pages-per-block"),
    "Page_Capacity": Rule(lambda text: {"geometry.page-size": f"{whole(text)}B"}),
    "Page_Metadat_Capacity": lost("only the data of a page are counted"),
}  # fmt: skip


def _bits(text: str) -> int:
    if text.upper() not in LEVELS:
        raise ValueError(f"expected one of {', '.join(LEVELS)}, found `{text}`")
    return LEVELS[text.upper()]


def is_ours(text: str) -> bool:
    """Whether a text is a file of MQSim."""
    head = text[:4096]
    return "<Execution_Parameter_Set" in head or "<MQSim_IO_Scenarios" in head


def convert(text: str, path: Path) -> Converted:
    """The drive, or a workload for each scenario."""
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise InputError(f"{path}: this is no XML: {error}") from None
    if root.tag == "MQSim_IO_Scenarios":
        return _workloads(root, path)
    values = {each.tag: (each.text or "").strip() for each in root.iter() if not len(each)}
    return _drive(values, path)


def _drive(values: Mapping[str, str], path: Path) -> Converted:
    several = _several(values, str(path))
    fates = []
    for fate in applied(DRIVE, values, str(path)):
        ours, note = several.get(fate.name, (fate.ours, fate.note))
        fates.append(Fate(fate.name, fate.value, ours, note))
    settings: dict[str, object] = {}
    for fate in fates:
        settings |= fate.ours
    name = path.stem
    file = drive_file(name, f"converted from MQSim's {path.name}", settings)
    return Converted("MQSim", str(path), {f"{name}.toml": file}, fates)


def _several(values: Mapping[str, str], source: str) -> dict[str, tuple[Mapping[str, object], str]]:
    """What depends on more than one parameter."""
    try:
        return dict(_joint(values))
    except ValueError as error:
        raise InputError(f"{source}: {error}") from None


def _joint(values: Mapping[str, str]) -> dict[str, tuple[Mapping[str, object], str]]:
    found: dict[str, tuple[Mapping[str, object], str]] = {}
    blocks = whole(values.get("Block_No_Per_Plane", "2048"))
    for key in ("GC_Exec_Threshold", "GC_Exect_Threshold"):
        if key in values:
            start = max(2, round(fraction(values[key]) * blocks))
            found[key] = (
                {"ftl.gc.start": start, "ftl.gc.stop": start + 1},
                f"{values[key]} of {blocks} blocks in a plane; collected until one more is free",
            )
    if "GC_Block_Selection_Policy" in values:
        d = max(1, int(math.log2(blocks)))
        known: dict[str, tuple[Mapping[str, object], str]] = {
            "GREEDY": ({"policies.victim": "greedy"}, ""),
            "RGA": (
                {"policies.victim": {"name": "d-choices", "d": d}},
                f"the fewest valid pages among log2({blocks}) = {d} blocks drawn at random",
            ),
            "RANDOM": ({"policies.victim": "random"}, ""),
            "RANDOM_P": ({"policies.victim": "random"}, "only full blocks are ever victims here"),
            "RANDOM_PP": (
                {"policies.victim": "random"},
                "a threshold of invalid pages has no counterpart",
            ),
            "FIFO": ({"policies.victim": "fifo"}, ""),
        }
        policy = values["GC_Block_Selection_Policy"].upper()
        if policy not in known:
            raise ValueError(
                f"GC_Block_Selection_Policy: expected one of {', '.join(known)}, found `{policy}`"
            )
        found["GC_Block_Selection_Policy"] = known[policy]
    if "Static_Wearleveling_Enabled" in values:
        on = values["Static_Wearleveling_Enabled"].lower() == "true"
        threshold = whole(values.get("Static_Wearleveling_Threshold", "100"))
        policy_of: object = {"name": "static", "threshold": threshold} if on else "none"
        found["Static_Wearleveling_Enabled"] = ({"policies.wear": policy_of}, "")
        found["Static_Wearleveling_Threshold"] = (
            ({"policies.wear": policy_of}, "the spread of cycles in a plane")
            if on
            else ({}, "static wear levelling is off")
        )
    if "Channel_Transfer_Rate" in values:
        rate, width = whole(values["Channel_Transfer_Rate"]), values.get("Flash_Channel_Width", "1")
        bus = {"rate": f"{rate}MT/s", "width-bits": 8 * whole(width), "command": "300ns"}
        note = "the time of a command, 300 ns, is assumed: MQSim derives it in its code"
        found["Channel_Transfer_Rate"] = found["Flash_Channel_Width"] = ({"timing.bus": bus}, note)
    bits = _bits(values.get("Flash_Technology", "MLC"))
    for what, key in (("Read", "timing.read"), ("Program", "timing.program")):
        names = [f"Page_{what}_Latency_{kind}" for kind in TYPES[bits]]
        if not all(name in values for name in names):
            continue
        times = [f"{whole(values[name])}ns" for name in names]
        for kind in ("LSB", "CSB", "MSB"):
            used = kind in TYPES[bits]
            found[f"Page_{what}_Latency_{kind}"] = (
                ({key: times if len({*times}) > 1 else times[0]}, _LATENCY)
                if used
                else ({}, f"cells of {bits} bits have no such pages")
            )
    return found


_PARTITION = "flows share the whole drive"

TRACE: dict[str, Rule] = {
    "File_Path": Rule(lambda text: {"workload": text.replace("\\", "/")}),
    "Percentage_To_Be_Executed": lost("say `first = N` in the part"),
    "Relay_Count": Rule(lambda text: {"repeat": whole(text)}),
    "Time_Unit": Rule(
        lambda text: one_of(
            text,
            {"NANOSECOND": {"time-unit": "ns"}, "MICROSECOND": {"time-unit": "us"}},
        )
    ),
}

FLOW: dict[str, Rule] = {
    "Priority_Class": Rule(
        lambda text: one_of(
            text,
            {"URGENT": {"priority": "high"}, "HIGH": {"priority": "high"},
             "MEDIUM": {"priority": "normal"}, "LOW": {"priority": "normal"}},
        ),
        "two classes instead of four; `--policy order=priority` uses them",
    ),
    "Device_Level_Data_Caching_Mode": lost("the drive's buffer serves all flows: `buffer.size`"),
    "Channel_IDs": lost(_PARTITION),
    "Chip_IDs": lost(_PARTITION),
    "Die_IDs": lost(_PARTITION),
    "Plane_IDs": lost(_PARTITION),
    "Initial_Occupancy_Percentage": lost(
        "of a flow's addresses; here it is a share of the drive: say `precondition.fill`"
    ),
}  # fmt: skip

SYNTHETIC: dict[str, Rule] = {
    "Working_Set_Percentage": lost("depends on the drive: say `workload.span`"),
    "Synthetic_Generator_Type": Rule(None),
    "Read_Percentage": Rule(lambda text: {"read-share": whole(text) / 100}),
    "Address_Distribution": Rule(None),
    "Percentage_of_Hot_Region": Rule(None),
    "Generated_Aligned_Addresses": lost("the alignment below says it"),
    "Address_Alignment_Unit": Rule(lambda text: {"align": f"{whole(text) * 512}B"}),
    "Request_Size_Distribution": Rule(None),
    "Average_Request_Size": Rule(lambda text: {"size": f"{whole(text) * 512}B"}),
    "Variance_Request_Size": lost("sizes are fixed, or a list of sizes and shares"),
    "Seed": Rule(lambda text: {"seed": whole(text)}),
    "Average_No_of_Reqs_in_Queue": Rule(None),
    "Intensity": Rule(None),
    "Bandwidth": Rule(None),
    "Stop_Time": lost("a generator makes a number of requests: say `requests`"),
    "Total_Requests_To_Generate": Rule(None),
}

_PATTERNS = {
    "STREAMING": "sequential",
    "UNIFORM_RANDOM": "random",
    "RANDOM_UNIFORM": "random",
    "RANDOM_HOTCOLD": "hot-cold",
}


def _workloads(root: ElementTree.Element, path: Path) -> Converted:
    files: dict[str, str] = {}
    fates: list[Fate] = []
    scenarios = root.findall("IO_Scenario")
    for number, scenario in enumerate(scenarios, 1):
        name = f"{path.stem}-{number}" if len(scenarios) > 1 else path.stem
        parts = ['schema = "floatgate.workload/1"']
        for index, flow in enumerate(scenario, 1):
            values = {each.tag: (each.text or "").strip() for each in flow}
            where = f"scenario {number}, flow {index}"
            synthetic = flow.tag.endswith("Synthetic")
            own = _flow(values, synthetic, f"{path}: {where}")
            fates += [fate._replace(name=f"{where}: {fate.name}") for fate in own]
            settings: dict[str, object] = {}
            for fate in own:
                settings |= fate.ours
            part: dict[str, object] = {
                k: settings.pop(k) for k in ("priority", "repeat", "time-unit") if k in settings
            }
            if synthetic:
                settings.pop("host.queue-depth", None)
                file = f"{name}-flow-{index}.toml"
                files[file] = "".join(f"{k} = {written(v)}\n" for k, v in settings.items())
                part = {"workload": file} | part
            else:
                part = {"workload": settings["workload"], "format": "ssdsim-ascii"} | part
            parts += ["", "[[part]]", *(f"{k} = {written(v)}" for k, v in part.items())]
        files[f"{name}.toml"] = "\n".join(parts) + "\n"
    return Converted("MQSim", str(path), files, fates)


def _flow(values: Mapping[str, str], synthetic: bool, source: str) -> list[Fate]:
    try:
        joint = _synthetic(values) if synthetic else {}
    except ValueError as error:
        raise InputError(f"{source}: {error}") from None
    fates = []
    for fate in applied(FLOW | (SYNTHETIC if synthetic else TRACE), values, source):
        settings, note = joint.get(fate.name, (fate.ours, fate.note))
        fates.append(Fate(fate.name, fate.value, settings, note))
    if not synthetic and not any("workload" in fate.ours for fate in fates):
        raise InputError(f"{source}: File_Path is missing: a flow of a trace needs its file")
    return fates


def _synthetic(values: Mapping[str, str]) -> dict[str, tuple[Mapping[str, object], str]]:
    found: dict[str, tuple[Mapping[str, object], str]] = {}
    distribution = values.get("Address_Distribution", "UNIFORM_RANDOM").upper()
    if distribution not in _PATTERNS:
        raise ValueError(
            f"Address_Distribution: expected one of {', '.join(_PATTERNS)}, found `{distribution}`"
        )
    pattern = _PATTERNS[distribution]
    if pattern != "hot-cold":
        reads = whole(values.get("Read_Percentage", "0"))
        pattern += "-read" if reads == 100 else "-write"
    found["Address_Distribution"] = ({"pattern": pattern}, "")
    hot = whole(values.get("Percentage_of_Hot_Region", "0"))
    if pattern == "hot-cold" and 0 < hot < 100:
        found["Percentage_of_Hot_Region"] = (
            {"hot-data": hot / 100, "hot-writes": 1 - hot / 100},
            "MQSim sends the rest of 100 % of the requests there",
        )
    else:
        found["Percentage_of_Hot_Region"] = ({}, "there is no hot region")
    sizes = values.get("Request_Size_Distribution", "FIXED").upper()
    found["Request_Size_Distribution"] = (
        ({"size": f"{whole(values.get('Average_Request_Size', '8')) * 512}B"}, "")
        if sizes == "FIXED"
        else ({}, "sizes are fixed at the mean, or a list of sizes and shares")
    )
    kind = values.get("Synthetic_Generator_Type", "QUEUE_DEPTH").upper()
    if kind not in ("QUEUE_DEPTH", "BANDWIDTH"):
        raise ValueError(
            f"Synthetic_Generator_Type: expected QUEUE_DEPTH or BANDWIDTH, found `{kind}`"
        )
    depth = values.get("Average_No_of_Reqs_in_Queue")
    if kind == "QUEUE_DEPTH":
        closed = {"arrivals": "as-fast-as-possible"}
        found["Synthetic_Generator_Type"] = (closed, "and `host.mode=queue-depth` of the drive")
        if depth is not None:
            found["Average_No_of_Reqs_in_Queue"] = (
                {"host.queue-depth": whole(depth)},
                f"of the drive: --set host.mode=queue-depth --set host.queue-depth={depth}",
            )
        for key in ("Intensity", "Bandwidth"):
            found[key] = ({}, "is not used with QUEUE_DEPTH")
    else:
        found["Average_No_of_Reqs_in_Queue"] = ({}, "is not used with BANDWIDTH")
        size = 512 * whole(values.get("Average_Request_Size", "8"))
        for key in ("Intensity", "Bandwidth"):
            if key in values:
                iops = max(1, round(whole(values[key]) / size))
                arrivals = {"arrivals": {"poisson": {"iops": iops}}}
                found[key] = (arrivals, f"bytes a second over {size} bytes a request")
                found["Synthetic_Generator_Type"] = (arrivals, "")
    total = whole(values.get("Total_Requests_To_Generate", "0"))
    found["Total_Requests_To_Generate"] = (
        ({"requests": total}, "") if total else ({}, "0: MQSim stops by time; say `requests`")
    )
    return found

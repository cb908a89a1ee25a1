"""MQSim's ssdconfig.xml and workload.xml.

The meaning of each parameter is taken from the README of MQSim and from its source. It includes the
logical capacity from `Overprovisioning_Ratio` and its division among flows, the begin and priority
of collection, the size of RGA's sample, and the form of the synthetic flows.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

from floatgate.engine import InputError
from floatgate.experiments.toml import inline
from floatgate.migrate import elements
from floatgate.migrate.rules import (
    Converted,
    Fate,
    Rule,
    Value,
    ValueRefusedError,
    applied,
    drive_file,
    fraction,
    lost,
    one_of,
    percent,
    placed,
    settled,
    size_of,
    time_of,
    unknown,
    whole,
)
from floatgate.mistakes import ConflictError, IncompleteError

LEVELS = {"SLC": 1, "MLC": 2, "TLC": 3, "QLC": 4}
# The fourth kind of page is that of a fork with QLC (BiuXWT/MQSim_QLC), in the order of its code.
TYPES = {
    1: ["LSB"], 2: ["LSB", "MSB"], 3: ["LSB", "CSB", "MSB"], 4: ["LSB", "CSB", "MSB", "WSB"],
}  # fmt: skip
SECTOR = 512
MIB = 1 << 20
# MQSim empties at most this number of blocks of a plane at once, and begins at the latest with this
# number of free ones.
VICTIMS = 10

_SATA = "of a link of SATA only the rate of PCIe lanes is known here"
_PORT = "one access to MQSim's DRAM at a time: tRCD + tCL, then the data of a page"
_CHIP = (
    "MQSim gives a chip no command before the last is done, for any of its dies: a chip is one"
    " die here, with the blocks of all"
)
# Below this a map of parts of pages needs more memory than a run of MQSim's drives is worth.
LEAST_PART = 4096
_CMT = "the whole map is in DRAM"
# Its schedulers go from each branch that would suspend into the one that refuses
# (`service_read_transaction` in TSU_OutofOrder.cpp and TSU_Priority_OutOfOrder.cpp).
_SUSPEND = "MQSim reads it and never suspends; `[timing.suspend]` is its meaning"
_LATENCY = "one value for each type of page that the cells have"
_PREEMPT = "a job gives way between two operations, never within one"
_ALONE = "depends on the drive: convert it together with ssdconfig.xml"
_DRAM_KEYS = (
    "Data_Cache_DRAM_Row_Size", "Data_Cache_DRAM_Data_Rate", "Data_Cache_DRAM_Data_Busrt_Size",
    "Data_Cache_DRAM_Data_Burst_Size", "Data_Cache_DRAM_tRCD", "Data_Cache_DRAM_tCL",
    "Data_Cache_DRAM_tRP",
)  # fmt: skip
_BURST_KEYS = ("Data_Cache_DRAM_Data_Busrt_Size", "Data_Cache_DRAM_Data_Burst_Size")
_SUSPENSION_KEYS = (
    "CMD_Suspension_Support", "Preferred_suspend_erase_time_for_read",
    "Prefered_suspend_erase_time_for_read", "Preferred_suspend_erase_time_for_write",
    "Preferred_suspend_write_time_for_read",
    "Suspend_Erase_Time", "Suspend_Program_Time",
)  # fmt: skip

Said = tuple[Mapping[str, object], str, bool]
"""Settings, a note, and whether nothing need be set."""


def _became(ours: Mapping[str, object], note: str = "") -> Said:
    return ours, note, False


def _settled(note: str) -> Said:
    return {}, note, True


def _lost(note: str) -> Said:
    return {}, note, False


def _key(path: str, note: str = "") -> Rule:
    return Rule(lambda text: {path: whole(text)}, note)


JOINT = Rule(None)
"""Depends on more than this parameter."""

DRIVE: dict[str, Rule] = {
    "PCIe_Lane_Bandwidth": JOINT,
    "PCIe_Lane_Count": JOINT,
    "SATA_Processing_Delay": JOINT,
    "Enable_ResponseTime_Logging": settled("with `--out`, every request and a series are stored"),
    **{
        # The second name is that of a fork (Sungup/MQSim).
        name: Rule(lambda text: {"run.series-interval": time_of(whole(text))})
        for name in ("ResponseTime_Logging_Period_Length", "ResponseTime_Logging_Period")
    },
    "Seed": _key("run.seed"),
    "Enabled_Preconditioning": JOINT,
    "Memory_Type": Rule(lambda text: one_of(text, {"FLASH": {"ftl.mapping": "page"}})),
    "HostInterface_Type": JOINT,
    "IO_Queue_Depth": Rule(
        lambda text: {"host.queue-limit": whole(text)}, "of all queues together"
    ),
    "Queue_Fetch_Size": JOINT,
    "Caching_Mechanism": JOINT,
    "Data_Cache_Sharing_Mode": JOINT,
    "Data_Cache_Capacity": JOINT,
    **dict.fromkeys(_DRAM_KEYS, JOINT),
    "Address_Mapping": Rule(
        lambda text: one_of(
            text,
            {"PAGE_LEVEL": {"ftl.mapping": "page"}},
            {
                "HYBRID": "MQSim names it and has no such mapping",
                "ZONE_LEVEL": "drives of zones (ZNS) are not simulated here",
            },
        ),
    ),
    "Ideal_Mapping_Table": JOINT,
    "CMT_Capacity": JOINT,
    "CMT_Sharing_Mode": JOINT,
    "Plane_Allocation_Scheme": Rule(
        lambda text: {"policies.placement": {"name": "static", "order": text.lower()}},
        "the engine checks the order",
    ),
    "Transaction_Scheduling_Policy": JOINT,
    "Overprovisioning_Ratio": Rule(
        lambda text: {"ftl.spare-factor": fraction(text)},
        "MQSim takes it of the physical capacity: the spare factor here",
    ),
    "GC_Exec_Threshold": JOINT,
    "GC_Exect_Threshold": JOINT,
    "GC_Block_Selection_Policy": JOINT,
    "Use_Copyback_for_GC": JOINT,
    "Preemptible_GC_Enabled": JOINT,
    "GC_Hard_Threshold": JOINT,
    "Dynamic_Wearleveling_Enabled": JOINT,
    "Static_Wearleveling_Enabled": JOINT,
    "Static_Wearleveling_Threshold": JOINT,
    "Flash_Channel_Count": _key("geometry.channels"),
    "Flash_Channel_Width": JOINT,
    "Channel_Transfer_Rate": JOINT,
    "Chip_No_Per_Channel": _key("geometry.chips-per-channel"),
    "Flash_Comm_Protocol": lost("a channel has a rate, a width and a time for each command"),
    "Flash_Technology": Rule(
        lambda text: {"geometry.bits-per-cell": _bits(text)},
    ),
    **dict.fromkeys(_SUSPENSION_KEYS, JOINT),
    **{f"Page_{what}_Latency_{kind}": JOINT
       for what in ("Read", "Program") for kind in TYPES[4]},
    "Block_Erase_Latency": Rule(lambda text: {"timing.erase": time_of(whole(text))}),
    "Block_PE_Cycles_Limit": _key("reliability.endurance"),
    "Die_No_Per_Chip": _key("geometry.dies-per-chip"),
    "Plane_No_Per_Die": _key("geometry.planes-per-die"),
    "Block_No_Per_Plane": _key("geometry.blocks-per-plane"),
    "Page_No_Per_Block": _key("geometry.pages-per-block"),
    "Page_Capacity": Rule(lambda text: {"geometry.page-size": size_of(whole(text))}),
    # MQSim's own name has a slip; a fork (Sungup/MQSim) has mended it.
    "Page_Metadat_Capacity": lost("only the data of a page are counted"),
    "Page_Metadata_Capacity": lost("only the data of a page are counted"),
}  # fmt: skip

# MQSim's values for parameters that a file does not give, as far as a drive here needs them
# (`Device_Parameter_Set.cpp`, `Flash_Parameter_Set.cpp`).
DEFAULTS = {
    "Flash_Channel_Count": "8", "Chip_No_Per_Channel": "4", "Die_No_Per_Chip": "2",
    "Plane_No_Per_Die": "2", "Block_No_Per_Plane": "2048", "Page_No_Per_Block": "256",
    "Page_Capacity": "8192", "Flash_Technology": "MLC", "Overprovisioning_Ratio": "0.07",
    "Flash_Channel_Width": "1", "Channel_Transfer_Rate": "300", "Block_Erase_Latency": "3800000",
    **{f"Page_Read_Latency_{kind}": "75000" for kind in TYPES[4]},
    **{f"Page_Program_Latency_{kind}": "750000" for kind in TYPES[4]},
}  # fmt: skip


def _bits(text: str) -> int:
    one_of(text, {word: {} for word in LEVELS})
    return LEVELS[text.strip().upper()]


def _is(values: Mapping[str, str], name: str, word: str) -> bool:
    return values.get(name, "").strip().upper() == word


def _on(values: Mapping[str, str], name: str) -> bool:
    """Whether a switch is on; to MQSim every word but FALSE means so."""
    return name in values and not _is(values, name, "FALSE")


def is_ours(text: str) -> bool:
    """Whether a text is XML, as the files of MQSim are."""
    return text.lstrip().startswith("<")


# ── The content of the files ─────────────────────────────────────────────────────────────────────


class Flow(NamedTuple):
    """One flow of a scenario; `where` names it."""

    where: str
    synthetic: bool
    values: Mapping[str, Value]
    folder: Path

    @property
    def trace(self) -> tuple[Path, Path | None]:
        """The trace as the flow names it, and the file, if there is one.

        MQSim looks from where it is started, mostly the folder of its files.
        """
        path = Path(self.values.get("File_Path", "").replace("\\", "/"))
        return path, next((p for p in (self.folder / path, path) if p.is_file()), None)

    @property
    def only_reads(self) -> bool:
        """Whether it is known to write nothing."""
        return self.synthetic and whole(self.values.get("Read_Percentage", "0")) == 100

    @property
    def is_buffered(self) -> bool:
        """Whether its writes go to the drive's cache."""
        mode = self.values.get("Device_Level_Data_Caching_Mode", "WRITE_CACHE").strip().upper()
        return mode in ("WRITE_CACHE", "WRITE_READ_CACHE")


class Scenario(NamedTuple):
    """Flows that run together, under the name of our file; other elements are `strange`."""

    name: str
    flows: Sequence[Flow]
    strange: Sequence[Fate] = ()

    @property
    def is_buffered(self) -> bool:
        """Whether any of its flows is."""
        return any(flow.is_buffered for flow in self.flows)


class Parsed(NamedTuple):
    """A file of MQSim: the values of a drive, or scenarios.

    `strange` are elements that are neither; `notes` list the differences to XML.
    """

    path: Path
    drive: Mapping[str, str] | None
    scenarios: Sequence[Scenario]
    strange: Sequence[Fate]
    notes: Sequence[str]


# The names of MQSim, and those of a fork (Sungup/MQSim).
_DRIVES = ("Execution_Parameter_Set", "ExecParameterSet")
_SETS = (
    "Host_Parameter_Set", "Device_Parameter_Set", "Flash_Parameter_Set",
    "HostParameterSet", "DeviceParameterSet", "FlashParameterSet",
)  # fmt: skip
_WORKLOADS = "MQSim_IO_Scenarios"
_FLOWS = {
    "IO_Flow_Parameter_Set_Synthetic": True, "SyntheticFlowParamSet": True,
    "IO_Flow_Parameter_Set_Trace_Based": False, "TraceFlowParameterSet": False,
}  # fmt: skip


def parsed(text: str, path: Path) -> Parsed:
    """The content of a file.

    Raises:
        InputError: MQSim could not read it either, or it is not a file of parameters.
    """
    try:
        every, found = elements.read(text)
    except elements.XmlError as error:
        message = f"{placed(error, path)}; MQSim cannot read this XML either"
        raise InputError(message) from None
    notes = [f"{path}:{line}: {what}" for line, what in found]
    root = next((each for each in every if each.name in (*_DRIVES, _WORKLOADS)), None)
    if root is None:
        raise InputError(_foreign(every, path))
    if root.name == _WORKLOADS:
        return _scenarios(root, path, notes)
    values, strange = _values(root, DRIVE, _SETS)
    return Parsed(path, values, [], strange, notes)


def _foreign(every: Sequence[elements.Element], path: Path) -> str:
    """The message about XML without parameters of MQSim."""
    expected = f"expected <{_DRIVES[0]}> (a drive) or <{_WORKLOADS}> (workloads)"
    if not every:
        return f"{path}: this XML has no element; {expected}"
    first = every[0]
    kind = "the results of a run" if first.name == "MQSim_Results" else "not a file of MQSim"
    return f"{path}:{first.line}: `<{first.name}>` is {kind}; {expected}"


def _values(
    element: elements.Element, rules: Mapping[str, Rule], sets: Sequence[str] = ()
) -> tuple[dict[str, Value], list[Fate]]:
    """The parameters in an element and in the sets within it; other elements, as not known.

    As in MQSim, the last of several values of a parameter counts.
    """
    values: dict[str, Value] = {}
    strange: list[Fate] = []
    todo = [*reversed(element.children)]
    while todo:
        each = todo.pop()
        if each.name in sets:
            todo += reversed(each.children)
        elif not each.is_value:
            many = len(each.children)
            strange.append(unknown(each.name, f"({many} element{'s' * (many > 1)})", sets))
        else:
            before = values.pop(each.name, None)
            if before is not None:
                note = f"line {each.line} gives it again, and the last value counts"
                strange.append(Fate(each.name, before, {}, note, settled=True))
            values[each.name] = Value(each.text, each.name, each.line)
    return values, strange


def _scenarios(root: elements.Element, path: Path, notes: Sequence[str]) -> Parsed:
    """The scenarios of a file of workloads."""
    found = [each for each in root.children if each.name == "IO_Scenario"]
    strange = [
        unknown(each.name, each.text, ["IO_Scenario"])
        for each in root.children
        if each.name != "IO_Scenario"
    ]
    if not found:
        raise InputError(
            f"{path}:{root.line}: there is no <IO_Scenario> in <{root.name}>, and MQSim would run"
            " workloads of its own; expected at least one"
        )
    scenarios = []
    for number, scenario in enumerate(found, 1):
        where = f"scenario {number}"
        flows: list[Flow] = []
        others: list[Fate] = []
        for each in scenario.children:
            if each.name not in _FLOWS:
                other = unknown(each.name, each.text, _FLOWS)
                others.append(other._replace(name=f"{where}: {each.name}"))
                continue
            synthetic = _FLOWS[each.name]
            own = f"{where}, flow {len(flows) + 1}"
            values, more = _values(each, FLOW | (SYNTHETIC if synthetic else TRACE))
            others += [fate._replace(name=f"{own}: {fate.name}") for fate in more]
            flows.append(Flow(own, synthetic, values, path.parent))
        if not flows:
            names = ", ".join(f"<{each.name}>" for each in scenario.children[:3]) or "nothing"
            raise InputError(
                f"{path}:{scenario.line}: {where} has no flow that is known here; expected"
                f" {' or '.join(f'<{name}>' for name in _FLOWS)}, found {names}"
            )
        name = f"{path.stem}-{number}" if len(found) > 1 else path.stem
        scenarios.append(Scenario(name, flows, others))
    return Parsed(path, None, scenarios, strange, notes)


def convert(files: Sequence[Parsed], out: Path) -> list[Converted]:
    """Drives, and a workload for each scenario, in the order of the files.

    Raises:
        InputError: A parameter has a value that it cannot have, or the drive of the workloads is
            not clear.
    """
    drives = [file for file in files if file.drive is not None]
    scenarios = [scenario for file in files for scenario in file.scenarios]
    if len(drives) > 1 and scenarios:
        raise ConflictError(
            f"{', '.join(str(file.path) for file in drives)}: these are several drives for one"
            " set of workloads; convert each drive with its workloads"
        )
    drive = drives[0] if scenarios and drives else None
    made = {file.path: _drive(file, scenarios) for file in drives}
    names = made[drive.path][1] if drive else {}
    return [
        made[file.path][0] if file.drive is not None else _workloads(file, drive, names, out)
        for file in files
    ]


# ── The drive ───────────────────────────────────────────────────────────────────────────────────


def _drive(file: Parsed, scenarios: Sequence[Scenario]) -> tuple[Converted, Mapping[str, str]]:
    """The drive, and which of its files is for which scenario: a setting may follow from flows."""
    path, given = file.path, file.drive or {}
    values = {**given, **{name: own for name, own in DEFAULTS.items() if name not in given}}
    kinds: list[tuple[str, list[Fate]]] = []
    files: dict[str, str] = {}
    names: dict[str, str] = {}
    for scenario in scenarios or [Scenario(path.stem, [])]:
        fates = [
            fate if fate.name in given else _by_default(fate)
            for fate in _drive_fates(values, scenario, path)
        ]
        name = next((name for name, known in kinds if known == fates), None)
        if name is None:
            name = f"{path.stem}.toml" if not kinds else f"{path.stem}-for-{scenario.name}.toml"
            kinds.append((name, fates))
            settings: dict[str, object] = {"host.out-of-range": "wrap"}
            for fate in fates:
                settings |= fate.ours
            summary = f"converted from MQSim's {path.name}"
            files[name] = drive_file(name.removesuffix(".toml"), summary, settings)
        names[scenario.name] = name
    # A difference between the files is reported once, with the name of its file.
    first, *others = kinds
    fates = first[1] + [
        fate._replace(name=f"{name.removesuffix('.toml')}: {fate.name}")
        for name, all_of in others
        for fate in all_of
        if fate not in first[1]
    ]
    # Optional values that a file does not give are left out.
    fates = [fate for fate in fates if fate.name in given or fate.ours]
    return Converted("MQSim", str(path), files, [*fates, *file.strange], notes=file.notes), names


def _by_default(fate: Fate) -> Fate:
    """The fate of a value that the file does not give."""
    note = f"; {fate.note}" if fate.note else ""
    return fate._replace(note=f"not given, and this is MQSim's own value{note}")


def _drive_fates(values: Mapping[str, str], scenario: Scenario, path: Path) -> list[Fate]:
    own = applied(DRIVE, values, path)
    try:
        joint = dict(_joint(values, scenario))
    except ValueError as error:
        raise InputError(placed(error, path)) from None
    return [
        fate._replace(ours=ours, note=note, settled=is_settled)
        for fate in own
        for ours, note, is_settled in [joint.get(fate.name, (fate.ours, fate.note, fate.settled))]
    ]


def _joint(values: Mapping[str, str], scenario: Scenario) -> Iterator[tuple[str, Said]]:
    """Settings that depend on more than one parameter."""
    yield from _link(values)
    if "Queue_Fetch_Size" in values:
        yield "Queue_Fetch_Size", _queues(values, scenario)
    yield from _collection(values)
    yield from _cache(values, scenario)
    yield from _cells(values, scenario)
    blocks = whole(values.get("Block_No_Per_Plane", "2048"))
    if "Enabled_Preconditioning" in values:
        yield (
            "Enabled_Preconditioning",
            (
                _became(
                    {"precondition.fill": "full", "precondition.age": "random"},
                    "MQSim guesses a steady state by a model; here the drive is written until it is"
                    " in one",
                )
                if _on(values, "Enabled_Preconditioning")
                else _became({"precondition.fill": "none"})
            ),
        )
    ideal = _on(values, "Ideal_Mapping_Table")
    for key in ("Ideal_Mapping_Table", "CMT_Capacity", "CMT_Sharing_Mode"):
        yield key, _settled(_CMT) if ideal else _lost(_CMT)
    for key in _SUSPENSION_KEYS:
        yield key, _settled(_SUSPEND)
    yield (
        "Dynamic_Wearleveling_Enabled",
        (
            _lost("a frontier takes the block free longest")
            if _on(values, "Dynamic_Wearleveling_Enabled")
            else _settled("a frontier takes the block free longest")
        ),
    )
    if "Static_Wearleveling_Enabled" in values:
        on = _on(values, "Static_Wearleveling_Enabled")
        threshold = whole(values.get("Static_Wearleveling_Threshold", "100"))
        policy_of: object = {"name": "static", "threshold": threshold} if on else "none"
        yield "Static_Wearleveling_Enabled", _became({"policies.wear": policy_of})
        yield (
            "Static_Wearleveling_Threshold",
            (
                _became({"policies.wear": policy_of}, "the spread of cycles in a plane")
                if on
                else _settled("static wear levelling is off")
            ),
        )
    if "GC_Block_Selection_Policy" in values:
        yield "GC_Block_Selection_Policy", _victims(values["GC_Block_Selection_Policy"], blocks)
    if "Channel_Transfer_Rate" in values:
        rate, width = whole(values["Channel_Transfer_Rate"]), values.get("Flash_Channel_Width", "1")
        bus = {
            "rate": f"{rate}MT/s",
            "width-bits": 8 * whole(width),
            "command": "300ns",
            "first": "data",
        }
        note = (
            "the time of a command, 300 ns, is assumed: MQSim derives it in its code; "
            "data that was sensed goes before commands, as there"
        )
        for key in ("Channel_Transfer_Rate", "Flash_Channel_Width"):
            yield key, _became({"timing.bus": bus}, note)
    bits = _bits(values.get("Flash_Technology", "MLC"))
    for what, setting in (("Read", "timing.read"), ("Program", "timing.program")):
        names = [f"Page_{what}_Latency_{kind}" for kind in TYPES[bits]]
        if not all(name in values for name in names):
            continue
        times = [time_of(whole(values[name])) for name in names]
        for kind in TYPES[4]:
            yield (
                f"Page_{what}_Latency_{kind}",
                (
                    _became({setting: times if len({*times}) > 1 else times[0]}, _LATENCY)
                    if kind in TYPES[bits]
                    else _settled(f"cells of {bits} bits have no such pages")
                ),
            )


def _link(values: Mapping[str, str]) -> Iterator[tuple[str, Said]]:
    """The link between the host and the drive."""
    kind = values.get("HostInterface_Type", "NVME")
    one_of(kind, {"NVME": {}, "SATA": {}})
    lanes = ("PCIe_Lane_Bandwidth", "PCIe_Lane_Count")
    if kind.upper() == "SATA":
        yield "HostInterface_Type", _lost(_SATA)
        yield "SATA_Processing_Delay", _lost(_SATA)
        yield from ((key, _settled("is not used with SATA")) for key in lanes)
        return
    yield "HostInterface_Type", _settled("NVME: flows have queues of their own, and a link")
    yield "SATA_Processing_Delay", _settled("is used with SATA alone")
    rate = fraction(values.get(lanes[0], "1")) * whole(values.get(lanes[1], "4"))
    together = {"link.rate": f"{max(1, round(rate * 1000))}MB/s"}
    note = "all lanes together, each way; MQSim adds the headers of packets"
    yield from ((key, _became(together, note)) for key in lanes)


def _queues(values: Mapping[str, str], scenario: Scenario) -> Said:
    """How many requests of a flow the drive works on."""
    if _is(values, "HostInterface_Type", "SATA"):
        return _settled("is used with NVME alone")
    if not scenario.flows:
        return _lost("it is the depth of each flow: convert workload.xml with it")
    depth = _depth(values)
    note = (
        f"each flow has {depth} requests in the drive at most, its `depth`; the rest wait outside"
    )
    return _became({"policies.arbitration": "round-robin"}, note)


def _depth(values: Mapping[str, str] | None) -> int | None:
    """Requests of a flow in the drive at most, where that is known."""
    if not values or "Queue_Fetch_Size" not in values or _is(values, "HostInterface_Type", "SATA"):
        return None
    return max(1, whole(values["Queue_Fetch_Size"]))


def _collection(values: Mapping[str, str]) -> Iterator[tuple[str, Said]]:
    """When collection begins, and the operations that it precedes."""
    blocks = whole(values.get("Block_No_Per_Plane", "2048"))
    dies = whole(values.get("Die_No_Per_Chip", "1"))
    for key in ("GC_Exec_Threshold", "GC_Exect_Threshold"):
        if key in values:
            share = fraction(values[key])
            start = max(int(share * blocks), VICTIMS)
            note = f"{values[key]} of {blocks} blocks in a plane, rounded down"
            if start > int(share * blocks):
                note += f"; MQSim takes at least {VICTIMS}"
            if dies > 1:
                note += f"; of {dies} dies"
            start *= dies
            yield (
                key,
                _became(
                    {"ftl.gc.start": start, "ftl.gc.stop": start},
                    f"{note}; MQSim empties up to {VICTIMS} blocks at once, here it is one by one",
                ),
            )
    preempts = _on(values, "Preemptible_GC_Enabled")
    order = values.get("Transaction_Scheduling_Policy", "PRIORITY_OUT_OF_ORDER")
    known = {"OUT_OF_ORDER": "read-first", "PRIORITY_OUT_OF_ORDER": "priority"}
    forks = "an order of a fork, among flows; see `floatgate policies order` and `arbitration`"
    refused = dict.fromkeys(("FLIN", "SL_FLIN", "SIMPLE_FLIN"), forks)
    orders = {word: {"order": ours} for word, ours in known.items()}
    named = str(one_of(order, orders, refused)["order"])
    if not preempts:
        named = "collection-first"
    chosen = {"policies.order": named}
    classes = {
        "collection-first": "collection before the host, reads before writes, URGENT before others",
        "read-first": "reads of the host first; collection goes on among writes, where MQSim lets"
        " them pass",
        "priority": "URGENT first; collection goes on among the others, where MQSim lets them pass",
    }[named]
    yield "Transaction_Scheduling_Policy", _became(chosen, classes)
    yield (
        "Preemptible_GC_Enabled",
        _became(
            chosen, _PREEMPT if preempts else "with FALSE, nothing of the host passes collection"
        ),
    )
    yield (
        "GC_Hard_Threshold",
        (_lost(_PREEMPT) if preempts else _settled("is used with Preemptible_GC_Enabled alone")),
    )
    copies = _on(values, "Use_Copyback_for_GC")
    yield (
        "Use_Copyback_for_GC",
        (
            _became({"ftl.copyback": 255}, "in a row at most; MQSim has no limit")
            if copies
            else _settled("collected pages go over the channel")
        ),
    )


def _victims(policy: str, blocks: int) -> Said:
    d = max(1, int(math.log2(max(blocks, 1))))
    known: dict[str, Said] = {
        "GREEDY": _became({"policies.victim": "greedy"}),
        "RGA": _became(
            {"policies.victim": {"name": "d-choices", "d": d}},
            f"the fewest valid pages among log2({blocks}) = {d} blocks drawn at random",
        ),
        "RANDOM": _became({"policies.victim": "random"}),
        "RANDOM_P": _became(
            {"policies.victim": "random"}, "only full blocks are ever victims here"
        ),
        "RANDOM_PP": _became(
            {"policies.victim": "random"}, "a threshold of invalid pages has no counterpart"
        ),
        "FIFO": _became({"policies.victim": "fifo"}),
    }
    one_of(policy, {word: {} for word in known})
    return known[policy.strip().upper()]


def _cells(values: Mapping[str, str], scenario: Scenario) -> Iterator[tuple[str, Said]]:
    """Dies, planes, blocks and pages: units that work at once, and the bytes of a read."""
    dies = whole(values.get("Die_No_Per_Chip", "1"), 1)
    planes = whole(values.get("Plane_No_Per_Die", "1"), 1)
    blocks = whole(values.get("Block_No_Per_Plane", "2048"), 1)
    chip = {"geometry.dies-per-chip": 1, "geometry.blocks-per-plane": blocks * dies}
    together: dict[str, object] = {"ftl.multi-plane": "aligned"} if planes > 1 else {}
    note = _CHIP if dies > 1 else ""
    if "Die_No_Per_Chip" in values:
        yield "Die_No_Per_Chip", _became(chip, note)
    if "Block_No_Per_Plane" in values:
        yield "Block_No_Per_Plane", _became(chip, note)
    if "Plane_No_Per_Die" in values:
        yield (
            "Plane_No_Per_Die",
            _became(
                {"geometry.planes-per-die": planes} | together,
                "planes at the same page share a command" if together else "",
            ),
        )
    if "Page_Capacity" in values:
        page = _page(values)
        size: dict[str, object] = {"geometry.page-size": size_of(page)}
        part = _part_read(scenario, page)
        yield (
            "Page_Capacity",
            _became(size | {"ftl.mapping-unit": size_of(part)}, "reads send the requested bytes")
            if part < page
            else _became(size, "a page is sent whole; MQSim sends the requested bytes"),
        )


def _page(values: Mapping[str, str]) -> int:
    """Bytes of a page: whole sectors."""
    text = values.get("Page_Capacity", "8192")
    page = whole(text, 1)
    if page % SECTOR:
        raise ValueRefusedError(text, f"expected a multiple of {SECTOR}, found `{page}`")
    return page


def _part_read(scenario: Scenario, page: int) -> int:
    """The part of a page that every request of the scenario asks for whole: a page, if any writes.

    MQSim programs a page for each write, also of a part: here parts would share programs.
    """
    flows = [flow.values for flow in scenario.flows]
    if not flows or not all(flow.only_reads for flow in scenario.flows):
        return page
    sizes = (whole(flow.get("Average_Request_Size", "8")) * SECTOR for flow in flows)
    part = math.gcd(page, *sizes, *(_alignment(flow) * SECTOR for flow in flows))
    return part if part >= LEAST_PART else page


def _alignment(values: Mapping[str, str]) -> int:
    """Sectors of which a flow's addresses are multiples."""
    aligned = not _is(values, "Generated_Aligned_Addresses", "FALSE")
    return whole(values.get("Address_Alignment_Unit", "1"), 1) if aligned else 1


def _parts_per_sector(flow: Flow, sectors: int) -> float:
    """Pages that a flow's writes touch, for each sector that they write; `sectors` are a page's."""
    if flow.synthetic:
        size = max(whole(flow.values.get("Average_Request_Size", "8")), 1)
        streams = _is(flow.values, "Address_Distribution", "STREAMING")
        step = math.gcd(sectors, size if streams else _alignment(flow.values))
        starts = range(0, sectors, step)
        return sum((start + size - 1) // sectors + 1 for start in starts) / (size * len(starts))
    parts = asked = 0
    if there := flow.trace[1]:
        with there.open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                match line.split():
                    case [_, _, start, length, "0", *_] if start.isdecimal() and length.isdecimal():
                        first, last = int(start), int(start) + int(length) - 1
                        parts += last // sectors - first // sectors + 1
                        asked += int(length)
    return parts / asked if asked else 1 / sectors


def _window(values: Mapping[str, str], scenario: Scenario) -> int:
    """Bytes of the buffer: those that MQSim's cache allows on their way to flash.

    A page that was not written lately goes to flash at once. More enters as long as the sectors on
    their way are less than a page of each plane. A place of the buffer here is a page, even if only
    a part of it was written.
    """
    page = _page(values)
    sectors = page // SECTOR
    planes = math.prod(whole(values.get(of, "1"), 1) for of in _IDS.values())
    writing = [flow for flow in scenario.flows if flow.is_buffered and not flow.only_reads]
    parts = [_parts_per_sector(flow, sectors) for flow in writing] or [1 / sectors]
    places = max(1, round(planes * sectors * sum(parts) / len(parts)))
    if _is(values, "Data_Cache_Sharing_Mode", "EQUAL_PARTITIONING"):
        places *= max(1, len(scenario.flows))
    if "Data_Cache_Capacity" in values:
        places = min(places, max(1, whole(values["Data_Cache_Capacity"]) // page))
    return places * page


def _cache(values: Mapping[str, str], scenario: Scenario) -> Iterator[tuple[str, Said]]:
    """The write buffer: that of the flows, where there are any."""
    off = bool(scenario.flows) and not scenario.is_buffered
    unused = "no flow writes to the cache"
    if "Data_Cache_Capacity" in values:
        yield (
            "Data_Cache_Capacity",
            (
                _became({"buffer.size": "0B"}, unused)
                if off
                else _became(
                    {"buffer.size": size_of(_window(values, scenario))},
                    "MQSim sends a page to flash at its first write, with at most a page of each"
                    " plane on the way. It keeps pages that are written again, but this drive sends"
                    " them",
                )
            ),
        )
    yield "Caching_Mechanism", _settled(unused if off else "both send pages to flash alike")
    shared = _is(values, "Data_Cache_Sharing_Mode", "SHARED")
    yield (
        "Data_Cache_Sharing_Mode",
        (
            _settled(unused)
            if off
            else _settled("there is one write buffer, which all share")
            if shared
            else _lost("there is one write buffer, which all share")
        ),
    )
    if off:
        yield from ((key, _settled(unused)) for key in _DRAM_KEYS)
        return
    yield from _dram(values)


def _dram(values: Mapping[str, str]) -> Iterator[tuple[str, Said]]:
    """The buffer's port: the time of an access as MQSim estimates it.

    An access is tRCD + tCL and its data, two bursts in each period of the data rate, which is in
    MHz. For an access to more than a row, MQSim counts half of the rows, each with its tRP.
    """
    burst = next((key for key in _BURST_KEYS if key in values), None)
    timed = {"Data_Cache_DRAM_tRCD": "13", "Data_Cache_DRAM_tCL": "13", "Data_Cache_DRAM_tRP": "13"}
    reach, column, close = (whole(values.get(key, usual)) for key, usual in timed.items())
    open_row = reach + column
    ours: dict[str, object] = {"buffer.access": f"{open_row}ns"}
    page, row = _page(values), whole(values.get("Data_Cache_DRAM_Row_Size", "8192"), 1)
    if burst and "Data_Cache_DRAM_Data_Rate" in values:
        size = whole(values.get(burst, "1"), 1)
        period = 1000 / whole(values.get("Data_Cache_DRAM_Data_Rate", "1"), 1)
        moves = page / size / 2 * period
        if page > row:
            rows = page // row // 2
            moves = rows * (open_row + row // size // 2 * period + close)
            moves += page % row / (size * period)
        if moves > 0:
            ours["buffer.rate"] = f"{round(page / moves * 1e6)}kB/s"
    beyond = f"; a page is more than a row of {row}, of which MQSim counts half" * (page > row)
    for key in _DRAM_KEYS:
        if key not in values:
            continue
        if key in ("Data_Cache_DRAM_Row_Size", "Data_Cache_DRAM_tRP") and page <= row:
            yield key, _settled("a page lies in one row of the DRAM")
        else:
            yield key, _became(ours, _PORT + beyond)


# ── Flows ───────────────────────────────────────────────────────────────────────────────────────

TRACE: dict[str, Rule] = {
    "File_Path": JOINT,
    "Percentage_To_Be_Executed": JOINT,
    # The second name is that of a fork (Sungup/MQSim).
    **{
        name: Rule(lambda text: {"repeat": whole(text, 1)})
        for name in ("Relay_Count", "Replay_Count")
    },
    "Time_Unit": JOINT,
}

FLOW: dict[str, Rule] = {
    "Priority_Class": JOINT,
    "Device_Level_Data_Caching_Mode": JOINT,
    "Channel_IDs": JOINT,
    "Chip_IDs": JOINT,
    "Die_IDs": JOINT,
    "Plane_IDs": JOINT,
    "Initial_Occupancy_Percentage": JOINT,
}

SYNTHETIC: dict[str, Rule] = {
    "Working_Set_Percentage": JOINT,
    "Synthetic_Generator_Type": JOINT,
    "Read_Percentage": Rule(lambda text: {"read-share": percent(text) / 100}),
    "Address_Distribution": JOINT,
    "Percentage_of_Hot_Region": JOINT,
    "Generated_Aligned_Addresses": JOINT,
    "Address_Alignment_Unit": JOINT,
    "Request_Size_Distribution": JOINT,
    "Average_Request_Size": Rule(lambda text: {"size": size_of(whole(text, 1) * SECTOR)}),
    "Variance_Request_Size": JOINT,
    "Seed": Rule(lambda text: {"seed": whole(text)}),
    "Average_No_of_Reqs_in_Queue": JOINT,
    "Intensity": JOINT,
    "Bandwidth": JOINT,
    "Stop_Time": JOINT,
    "Total_Requests_To_Generate": JOINT,
}

_PATTERNS = {
    "STREAMING": "sequential",
    "UNIFORM_RANDOM": "random",
    "RANDOM_UNIFORM": "random",
    "RANDOM_HOTCOLD": "hot-cold",
}

# The parts of a drive that a flow may be confined to, and how many of each there are.
_IDS = {
    "Channel_IDs": "Flash_Channel_Count",
    "Chip_IDs": "Chip_No_Per_Channel",
    "Die_IDs": "Die_No_Per_Chip",
    "Plane_IDs": "Plane_No_Per_Die",
}

_UNITS = 4096
"""Units of one kind within another, at most: no drive has more channels, chips, dies or planes."""

_PLANES = 1 << 20
"""Planes of a drive, at most, that are divided among flows."""

# Keys of a part; the others are those of a generator.
_OF_PART = (
    "columns", "format", "slice", "first", "repeat", "wrap", "queue-depth", "until", "priority",
    "speed",
)  # fmt: skip


def _ids(flow: Flow, key: str, drive: Mapping[str, str]) -> set[int]:
    """The units of one kind that a flow may use."""
    every = range(whole(drive.get(_IDS[key], DEFAULTS[_IDS[key]]), 1, _UNITS))
    if key not in flow.values:
        return set(every)
    # MQSim passes over a comma too many.
    text = flow.values[key]
    try:
        numbers = [Value(each, key, text.line) for each in text.split(",") if each.strip()]
        named = {whole(number) for number in numbers}
        if beyond := sorted(named - set(every)):
            has = f"the drive has {len(every)}, numbered from 0 on"
            raise ValueRefusedError(text, f"the drive has no {beyond[0]} ({has})")
    except ValueRefusedError as error:
        error.where = flow.where
        raise
    return named


def _spaces(flows: Sequence[Flow], drive: Mapping[str, str]) -> list[int]:
    """How many sectors each flow has: those of its planes, in equal parts with who shares them."""
    every = [whole(drive.get(of, DEFAULTS[of]), 1, _UNITS) for of in _IDS.values()]
    if math.prod(every) > _PLANES:
        raise ValueError(
            f"{', '.join(_IDS.values())}: {math.prod(every):,} planes are more than"
            f" {_PLANES:,}, the most whose flows are told apart"
        )
    own = [list(product(*(sorted(_ids(flow, key, drive)) for key in _IDS))) for flow in flows]
    if _is(drive, "HostInterface_Type", "SATA"):
        own = [list(product(*map(range, every)))] * len(flows)
    sharing: dict[tuple[int, ...], int] = {}
    for planes in own:
        for plane in planes:
            sharing[plane] = sharing.get(plane, 0) + 1
    physical = (
        whole(drive.get("Block_No_Per_Plane", "2048"))
        * whole(drive.get("Page_No_Per_Block", "256"))
        * (whole(drive.get("Page_Capacity", "8192")) // SECTOR)
    )
    exported = physical * (1 - fraction(drive.get("Overprovisioning_Ratio", "0.07")))
    return [sum(int(exported / sharing[plane]) for plane in planes) for planes in own]


def _workloads(
    file: Parsed, drive: Parsed | None, drives: Mapping[str, str], out: Path
) -> Converted:
    files: dict[str, str] = {}
    fates: list[Fate] = []
    runs: list[tuple[str, str]] = []
    missing: list[str] = []
    for scenario in file.scenarios:
        try:
            spaces: Sequence[int | None] = (
                _spaces(scenario.flows, drive.drive)
                if drive is not None and drive.drive is not None
                else [None] * len(scenario.flows)
            )
        except ValueError as error:
            raise InputError(placed(error, file.path)) from None
        parts = ['schema = "floatgate.workload/1"']
        for index, (flow, space) in enumerate(zip(scenario.flows, spaces, strict=True), 1):
            given = _Given(drive.drive if drive else None, scenario, space, file.path, out)
            own = _flow(flow, given)
            fates += [fate._replace(name=f"{flow.where}: {fate.name}") for fate in own]
            settings: dict[str, object] = {}
            for fate in own:
                # Settings of the drive in a flow go to the drive's file.
                settings |= {key: value for key, value in fate.ours.items() if "." not in key}
            part = {key: settings.pop(key) for key in _OF_PART if key in settings}
            if flow.synthetic:
                name = f"{scenario.name}-flow-{index}.toml"
                files[name] = "".join(f"{k} = {inline(v)}\n" for k, v in settings.items())
                part = {"workload": name} | part
            else:
                part = {"workload": settings["workload"]} | part
                there = os.path.normpath(out / str(settings["workload"]))
                if not os.path.exists(there):
                    missing.append(there)
            depth = _depth(drive.drive if drive else None)
            if depth is not None:
                part["depth"] = depth
            if len(scenario.flows) > 1 or depth is not None:
                part = {"flow": f"flow-{index}"} | part
            parts += ["", "[[part]]", *(f"{k} = {inline(v)}" for k, v in part.items())]
        fates += scenario.strange
        files[f"{scenario.name}.toml"] = "\n".join(parts) + "\n"
        if scenario.name in drives:
            runs.append((drives[scenario.name], f"{scenario.name}.toml"))
    fates += file.strange
    return Converted("MQSim", str(file.path), files, fates, runs, missing, file.notes)


class _Given(NamedTuple):
    """The facts about a flow outside its file: `space` are the sectors that it has on the drive."""

    drive: Mapping[str, str] | None
    scenario: Scenario
    space: int | None
    path: Path
    out: Path


def _flow(flow: Flow, given: _Given) -> list[Fate]:
    if not flow.synthetic and not flow.values.get("File_Path"):
        raise IncompleteError(
            f"{given.path}: {flow.where}: File_Path is missing: a flow of a trace needs its file"
        )
    rules = FLOW | (SYNTHETIC if flow.synthetic else TRACE)
    own = applied(rules, flow.values, given.path, flow.where)
    try:
        joint = dict(_of_any(flow, given))
        joint |= dict(_synthetic(flow.values, given) if flow.synthetic else _trace(flow, given))
    except ValueError as error:
        raise InputError(placed(error, given.path, flow.where)) from None
    return [
        fate._replace(ours=ours, note=note, settled=is_settled)
        for fate in own
        for ours, note, is_settled in [joint.get(fate.name, (fate.ours, fate.note, fate.settled))]
    ]


def _of_any(flow: Flow, given: _Given) -> Iterator[tuple[str, Said]]:
    """The settings that synthetic flows and traces share."""
    values, drive = flow.values, given.drive
    classes = ("URGENT", "HIGH", "MEDIUM", "LOW")
    own = values.get("Priority_Class", "HIGH").strip().upper()
    one_of(values.get("Priority_Class", "HIGH"), {word: {} for word in classes})
    others = {
        each.values.get("Priority_Class", "HIGH").strip().upper() for each in given.scenario.flows
    }
    if drive is not None and _is(drive, "Transaction_Scheduling_Policy", "OUT_OF_ORDER"):
        yield "Priority_Class", _settled("OUT_OF_ORDER takes no notice of it")
    elif len(others) == 1:
        yield "Priority_Class", _settled("all flows have the same: none goes before another")
    else:
        rank = "high" if own == "URGENT" else "normal"
        among = others - {"URGENT"}
        yield (
            "Priority_Class",
            _became(
                {"priority": rank},
                "URGENT goes before the others"
                + (
                    f"; {', '.join(sorted(among))} share by weights in MQSim"
                    if len(among) > 1
                    else ""
                ),
            ),
        )
    mode = values.get("Device_Level_Data_Caching_Mode", "WRITE_CACHE").strip().upper()
    modes = ("WRITE_CACHE", "WRITE_READ_CACHE", "READ_CACHE", "TURNED_OFF")
    one_of(values.get("Device_Level_Data_Caching_Mode", mode), {word: {} for word in modes})
    key = "Device_Level_Data_Caching_Mode"
    if drive is None:
        yield key, _lost(_ALONE)
    elif flow.is_buffered:
        size = size_of(_window(drive, given.scenario))
        read = "; reads are not kept" if mode == "WRITE_READ_CACHE" else ""
        yield key, _became({"buffer.size": size}, "of the drive" + read)
    elif given.scenario.is_buffered:
        yield key, _lost("another flow is cached, and the drive's buffer serves all")
    else:
        read = "; reads are not kept" if mode == "READ_CACHE" else ""
        yield key, _became({"buffer.size": "0B"}, "of the drive" + read)
    for key in _IDS:
        if drive is None:
            yield key, _lost("flows share the whole drive")
        elif len(_ids(flow, key, drive)) == whole(drive.get(_IDS[key], DEFAULTS[_IDS[key]])):
            yield key, _settled("all of them: flows share the whole drive")
        else:
            yield key, _lost("flows share the whole drive")
    share = percent(values.get("Initial_Occupancy_Percentage", "100"))
    key = "Initial_Occupancy_Percentage"
    if drive is None:
        yield key, _lost(_ALONE)
    elif not _on(drive, "Enabled_Preconditioning"):
        yield key, _settled("preconditioning is off")
    elif share == 100:
        yield key, _became({"precondition.fill": "full"}, "of the drive")
    else:
        yield (
            key,
            _lost(
                "of a flow's addresses, drawn at random; "
                f"`precondition.fill = {share / 100}` fills the first addresses of the drive"
            ),
        )


def _trace(flow: Flow, given: _Given) -> Iterator[tuple[str, Said]]:
    values = flow.values
    path, there = flow.trace
    seen = path if there is None else Path(os.path.relpath(there, given.out))
    units: dict[str, dict[str, object]] = {
        "PICOSECOND": {"unit": "ns", "speed": 1000.0},
        "NANOSECOND": {"unit": "ns"},
        "MICROSECOND": {"unit": "us"},
    }
    unit = dict(one_of(values.get("Time_Unit", "NANOSECOND"), units))
    columns: dict[str, object] = {
        "format": "csv",
        "columns": f"time=1:{unit.pop('unit')},op=5:1/0,offset=3:sectors,size=4:sectors",
        **unit,
    }
    ours: dict[str, object] = {"workload": str(seen), **columns}
    note = "the device in each line says nothing in MQSim"
    if given.space is not None:
        # The modulus of MQSim is the last address of the flow.
        ours["wrap"] = size_of(_within(given, given.space - 1))
        note += "; addresses are taken modulo the flow's share of the drive"
    if there is None:
        note += "; there is no such file, put it there"
    yield "File_Path", _became(ours, note)
    yield "Time_Unit", _became(columns)
    share = percent(values.get("Percentage_To_Be_Executed", "100"))
    key = "Percentage_To_Be_Executed"
    if share >= 100:
        yield key, _settled("all of it")
    elif whole(values.get("Relay_Count", "1")) != 1:
        yield key, _settled("is not used with a Relay_Count above 1")
    elif there is None:
        yield key, _lost("the trace is not there to be counted: say `first` in the part")
    else:
        with there.open("rb") as lines:
            count = sum(1 for line in lines if line.strip())
        yield key, _became({"first": max(1, share * count // 100)}, f"of {count} requests")


def _within(given: _Given, sectors: int) -> int:
    """The bytes of a flow's addresses: whole pages or, beside other flows, whole MiB."""
    if len(given.scenario.flows) > 1:
        return max(sectors * SECTOR // MIB, 1) * MIB
    return sectors * SECTOR


def _synthetic(values: Mapping[str, str], given: _Given) -> Iterator[tuple[str, Said]]:
    said = values.get("Address_Distribution", "RANDOM_UNIFORM")
    distribution = said.strip().upper()
    mixed = "MQSim's README names it, and its code refuses it"
    one_of(said, {word: {} for word in _PATTERNS}, {"MIXED_STREAMING_RANDOM": mixed})
    pattern = _PATTERNS[distribution]
    if pattern != "hot-cold":
        reads = percent(values.get("Read_Percentage", "0"))
        pattern += "-read" if reads == 100 else "-write"
    yield (
        "Address_Distribution",
        _became(
            {"pattern": pattern},
            "from the first address on; MQSim begins anywhere"
            if distribution == "STREAMING"
            else "",
        ),
    )
    hot = percent(values.get("Percentage_of_Hot_Region", "0"))
    if pattern == "hot-cold" and 0 < hot < 100:
        yield (
            "Percentage_of_Hot_Region",
            _became(
                {"hot-data": hot / 100, "hot-writes": 1 - hot / 100},
                "MQSim sends the rest of 100 % of the requests there",
            ),
        )
    else:
        yield "Percentage_of_Hot_Region", _settled("there is no hot region")
    share = max(percent(values.get("Working_Set_Percentage", "100")), 1)
    if given.space is None:
        yield "Working_Set_Percentage", _lost(_ALONE)
    elif share == 100 and len(given.scenario.flows) == 1:
        yield "Working_Set_Percentage", _settled("the whole drive")
    else:
        yield (
            "Working_Set_Percentage",
            _became(
                {"span": size_of(_within(given, given.space * share // 100))},
                f"{share} % of the {given.space} sectors that the flow has on the drive",
            ),
        )
    aligned = not _is(values, "Generated_Aligned_Addresses", "FALSE")
    align = {"align": size_of(_alignment(values) * SECTOR)}
    yield "Generated_Aligned_Addresses", _became(align)
    yield (
        "Address_Alignment_Unit",
        (_became(align) if aligned else _settled("addresses are not aligned")),
    )
    sizes = values.get("Request_Size_Distribution", "FIXED")
    one_of(sizes, {"FIXED": {}, "NORMAL": {}})
    fixed = sizes.strip().upper() == "FIXED"
    yield (
        "Request_Size_Distribution",
        (
            _became({"size": size_of(whole(values.get("Average_Request_Size", "8")) * SECTOR)})
            if fixed
            else _lost("sizes are fixed at the mean, or a list of sizes and shares")
        ),
    )
    yield (
        "Variance_Request_Size",
        (
            _settled("sizes are fixed")
            if fixed
            else _lost("sizes are fixed at the mean, or a list of sizes and shares")
        ),
    )
    yield from _arrivals(values)


def _arrivals(values: Mapping[str, str]) -> Iterator[tuple[str, Said]]:
    """When requests come, and how many."""
    said = values.get("Synthetic_Generator_Type", "QUEUE_DEPTH")
    kind = said.strip().upper()
    one_of(said, {"QUEUE_DEPTH": {}, "BANDWIDTH": {}})
    stop = whole(values.get("Stop_Time", "0"))
    total = whole(values.get("Total_Requests_To_Generate", "0"))
    if kind == "QUEUE_DEPTH":
        depth = whole(values.get("Average_No_of_Reqs_in_Queue", "1"), 1)
        closed = {"queue-depth": depth}
        yield (
            "Synthetic_Generator_Type",
            _became(
                {"arrivals": "as-fast-as-possible", **closed}, "each flow asks as it is answered"
            ),
        )
        yield "Average_No_of_Reqs_in_Queue", _became(closed)
        for key in ("Intensity", "Bandwidth"):
            yield key, _settled("is not used with QUEUE_DEPTH")
        ends: dict[str, object] = {"until": time_of(stop)}
        # Nobody knows how many that will be; no drive answers faster than this.
        most, until = max(1, depth * stop // 1000), "the time decides: `requests` is never reached"
    else:
        yield "Average_No_of_Reqs_in_Queue", _settled("is not used with BANDWIDTH")
        size = SECTOR * whole(values.get("Average_Request_Size", "8"), 1)
        rate = values.get("Bandwidth", values.get("Intensity", "262144"))
        iops = max(1, round(whole(rate) / size))
        arrivals = {"arrivals": {"poisson": {"iops": iops}}}
        note = f"bytes a second over {size} bytes a request"
        yield "Synthetic_Generator_Type", _became(arrivals)
        yield "Bandwidth", _became(arrivals, note)
        yield (
            "Intensity",
            (_settled("Bandwidth says it") if "Bandwidth" in values else _became(arrivals, note)),
        )
        ends = {"slice": f"..{time_of(stop)}"}
        # The count of a Poisson process is this sure to stay below twice its mean and some.
        most, until = max(1, 2 * iops * stop // 10**9 + 100), "the time decides"
    if stop > 0:
        yield "Stop_Time", _became({**ends, "requests": most}, until)
        yield "Total_Requests_To_Generate", _settled("is not used with a Stop_Time")
    elif total > 0:
        yield "Stop_Time", _settled("0: the number of requests decides")
        yield "Total_Requests_To_Generate", _became({"requests": total})
    else:
        raise ValueError("Stop_Time and Total_Requests_To_Generate are 0: no request would come")

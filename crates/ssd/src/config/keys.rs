//! The drive file as written: every key, with its unit and range.
//!
//! These declarations are the single source of truth: the reader, the resolved drive, the echo, the
//! suggestions for misspelt keys, the documentation and `schema/drive.json` all come from them.
//!
//! A state before the run is stored under all settings, except those that declare a different reach
//! here (`=> Run`, see [`Reach`](super::field::Reach)). A key without a declaration is part of the
//! name.

use super::drive::{
    Age, BufferKind, Cache, ChannelFirst, Duplex, Fill, Foreground, FreeBlock, GcPacing, GcTrigger,
    HostMode, Interruptible, Isolation, Mapping, Model, MultiPlane, OffloadEviction, PendingRead,
    PermutationOrder, Program, ProgramSpeed, ReadStart, RecoveryConstants, SHORTEST, Superblock,
    Uncorrectable, UnmappedRead,
};
use super::error::{ConfigError, ConfigErrorKind, Log};
use super::field::{Any, At, ByPageType, Field, SettingKey, Word, all, settings, values};
use super::node::{KeyEntry, TomlTable, Value, join};
use ftl::HandleSpec;
use kernel::{Bandwidth, Bytes, Dur, Energy, Hint, Power, Prio, QuantityError, Rate};
use nand::PageOrder;
use policies::Family;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::num::{NonZeroU32, NonZeroU64};
use workload::{Flow, OutOfRange};

/// The longest operation of the flash. A longer time is probably a mistake in its unit.
pub(crate) const OPERATION_LIMIT: Dur = Dur::secs(60);
/// The longest time for which the equations of the cells are used; beyond it, nothing is known.
const LONGEST: Dur = Dur::secs(100 * 365 * 86_400);
/// The greatest divisor of a scaled drive.
const SMALLEST_SCALE: u32 = 1 << 20;
/// The greatest share below all.
const BELOW_ONE: f64 = 1.0_f64.next_down();

/// Keys of a drive that a chip does not have.
pub(crate) const NOT_OF_A_CHIP: [&str; 13] = [
    "chip",
    "scale",
    "geometry.channels",
    "geometry.chips-per-channel",
    "ftl",
    "host",
    "link",
    "controller",
    "buffer",
    "workload",
    "precondition",
    "policies",
    "run",
];

settings! {
    /// A drive file: a simulated SSD and how it is used. Times, sizes and rates are text with a
    /// unit; a bare number there is an error.
    pub(crate) struct File {
        /// The format of this file: "floatgate.drive/1".
        schema: Option<String> => Run,
        /// The name of the drive in results. By default the name of its file.
        name: Option<String> => Run,
        /// The drive in one line.
        summary: Option<String> => Run,
        /// A drive to inherit from, by name. This file's keys override it.
        base: Option<String>,
        /// A chip to take geometry below the chip, the order of pages, timing, energy and
        /// reliability from, by name. Keys of the same file override it.
        chip: Option<String>,
        /// A drive that is too large, scaled down, such as "1/16". All dies have a sixteenth of
        /// their blocks, of the capacity, and of the writes that the buffer retains.
        /// `workload.span` and `workload.requests` shrink alike. The load of a die and the share of
        /// spare are those of the whole drive. Free and open blocks do not shrink. "1/1" to
        /// "1/1048576"; by default "1/1".
        scale: Option<Fraction>,
        /// The array, top down.
        geometry: GeometrySettings,
        /// How pages lie in a block.
        pages: PagesSettings,
        /// How long the operations of the flash take.
        timing: TimingSettings => Policies,
        /// Blocks of the SLC cache, whose cells hold one bit.
        slc: Option<SlcSettings> => Run,
        /// Energy of the operations. Without it `energy_joules` in the results is null.
        energy: Option<EnergySettings> => Run,
        /// Endurance and the model of the cells.
        reliability: Reliability => Policies,
        /// Mapping, capacity and garbage collection.
        ftl: FtlSettings,
        /// How the host sends requests.
        host: Host,
        /// The link between the host and the drive.
        link: LinkSettings => Run,
        /// The controller, whose cores take commands.
        controller: Controller => Run,
        /// The write buffer.
        buffer: BufferSettings => Run,
        /// Settings of a generated workload, and changes to the addresses of any workload.
        workload: WorkloadSettings => Requests,
        /// The state of the drive before the run.
        precondition: Precondition,
        /// One policy for each family: "name" or { name = "agcr", window = 2 }.
        policies: Choices => Policies,
        /// The run.
        run: RunSettings,
        /// Sources of numbers: a key, or the beginning of some, and its source.
        sources: Option<Sources>,
    }

    /// Keys of a chip file that a drive file does not have. Its other keys are those of a drive.
    pub(crate) struct ChipFile {
        /// Measurements of the chip, if they are published. Runs do not use them: the other
        /// sections have the settings of runs.
        measured: Option<ChipMeasurements>,
    }

    /// The array, top down. All sizes together may have up to 2^32 - 2 pages.
    pub(crate) struct GeometrySettings {
        /// Channels of the drive, 1 to 4096.
        channels: u32 [1, 4096],
        /// Chips on each channel, 1 to 4096.
        chips_per_channel: u32 [1, 4096],
        /// Dies in each chip, 1 to 64.
        dies_per_chip: u32 [1, 64],
        /// Planes in each die, 1 to 16.
        planes_per_die: u32 [1, 16],
        /// Good blocks in each plane, 1 to 2^24.
        blocks_per_plane: u32 [1, 1 << 24],
        /// Pages in each block, 1 to 16383.
        pages_per_block: u32 [1, 16_383],
        /// Bytes of data in a page, up to 1 GiB and a multiple of `host.sector`. The spare bytes
        /// of a page do not count.
        page_size: Bytes [Bytes::new(1), Bytes::gib(1)],
        /// Bits in a cell, 1 (SLC) to 4 (QLC).
        bits_per_cell: u32 [1, 4],
    }

    /// How pages lie in a block.
    pub(crate) struct PagesSettings {
        /// The bits that each page holds. "cyclic": page i has type i modulo bits-per-cell.
        /// "shadow", two bits: 0, 1, 3, 5 and so on are first bits, the others second bits.
        /// "shadow-pairs": the same with pairs of pages.
        order: Option<PageOrder>,
        /// The pages of a block that one command programs: "page", one; "wordline", all of a
        /// wordline; "two-step", half of a wordline's, for cells of two bits or four. It takes as
        /// long as these pages one after the other, by `timing.program`. By default "page".
        program: Option<Program>,
    }

    /// How long the operations of the flash take: either `read` and `program`, or `levels`. No
    /// operation takes longer than a minute.
    pub(crate) struct TimingSettings {
        /// "included", if the array times contain the transfer and the channel is never busy, or
        /// { rate = "333MT/s", width-bits = 8, command = "300ns" }.
        bus: BusField,
        /// Time to erase a block, up to a minute.
        erase: OperationTime,
        /// How a program or an erase makes way for a read of the host, where the order policy asks for
        /// it. Not given: it does not.
        suspend: Option<Suspend> => Run,
        /// Use of the cache register, if the bus is modelled. "reads": a die senses one page while
        /// it sends another. "programs": it takes in one while it programs another. "all": both.
        /// Not given: none.
        cache: Option<Cache> => Run,
        /// Array time of a page read, up to a minute. One value, or a list of one for each page
        /// type, least significant bit first.
        read: Option<ByPageType<OperationTime>>,
        /// Array time of a read that asks for fewer mapping units than a page has, up to a minute.
        /// One value, or a list of one for each page type. By default that of the whole page. The
        /// channel carries only the requested units, with either time. Not together with `levels`,
        /// `physics` and the model of the cells.
        read_partial: Option<ByPageType<OperationTime>>,
        /// Array time of a page program, up to a minute. One value, or a list of one for each
        /// page type, least significant bit first.
        program: Option<ByPageType<OperationTime>>,
        /// Times by the cost level at which a page was written, instead of `read` and `program`.
        levels: Option<LevelsSettings>,
        /// The same from the physics of the cells, instead of `levels`.
        physics: Option<Physics>,
    }

    /// How a program or an erase makes way for a read of the host.
    pub struct Suspend: Copy {
        /// Operations that can be suspended: "all", "programs", "erases" or "none", as without this
        /// section. By default "all".
        operations: Interruptible = (Interruptible::All),
        /// From the end of the array's work until the die takes reads, up to a minute.
        pause: OperationTime,
        /// Time until the array goes on, up to a minute. It includes the progress that cells lose.
        resume: OperationTime,
        /// How often one command is interrupted, at least 1. By default 16.
        limit: u32 = 16 [1, u32::MAX],
        /// How long the array is at work from one time to the next, up to a minute. By default "0ns".
        min_progress: OperationTime = (Dur::ZERO),
        /// Loops of an erase, all as long, which are not interrupted within, at least 1. By default an
        /// erase can be interrupted at any time.
        erase_loops: Option<NonZeroU32>,
    }

    /// Times by cost level from AGCR's Eq. 1 and 2. Programming takes longer with finer steps.
    /// Reading takes the sensings that data need which were written with this step at the end of
    /// the block's endurance and kept for `retention`. The bus is "included".
    pub(crate) struct Physics {
        /// Time to program a page with the traditional step, the middle one of `steps`.
        program: OperationTime,
        /// The steps of high-cost, traditional and low-cost writes in proportion to each other:
        /// three whole numbers that rise, such as [9, 12, 16].
        steps: Three<NonZeroU32>,
        /// Sensing against one reference voltage: AGCR's α.
        sense: OperationTime,
        /// The transfer of one bit plane: AGCR's β.
        transfer: OperationTime,
        /// How long data must keep.
        retention: Dur,
    }

    /// Times by the cost level at which a page was written. All three are given.
    pub(crate) struct LevelsSettings {
        /// High-cost writes: fine steps, slow to write and quick to read.
        high: LevelTimesSettings,
        /// The traditional cost.
        medium: LevelTimesSettings,
        /// Low-cost writes: coarse steps, quick to write and slow to read.
        low: LevelTimesSettings,
    }

    /// The times of one cost level.
    pub(crate) struct LevelTimesSettings {
        /// Array time of programming a page at this level, up to a minute. One value, or a list
        /// of one for each page type.
        program: ByPageType<OperationTime>,
        /// Array time of reading a page written at this level, up to a minute. One value, or a
        /// list of one for each page type.
        read: ByPageType<OperationTime>,
    }

    /// Blocks whose cells hold one bit (SLC mode), on flash that can hold more. The SLC cache has such
    /// blocks; a drive without one does not use these settings.
    pub(crate) struct SlcSettings {
        /// Array time of a page read, up to a minute.
        read: OperationTime,
        /// Array time of a page program, up to a minute.
        program: OperationTime,
        /// Time to erase such a block, up to a minute. By default that of `timing.erase`.
        erase: Option<OperationTime>,
        /// Program/erase cycles that a block endures with one bit in a cell, at least 1. By default
        /// those of `reliability.endurance`. A cycle then wears a block by the quotient of the two.
        endurance: Option<NonZeroU32>,
        /// Energy of the operations; a drive with `energy` and an SLC cache has it.
        energy: Option<SlcEnergySettings>,
    }

    /// Energy of the operations on blocks whose cells hold one bit. Transfers are those of `energy`.
    pub(crate) struct SlcEnergySettings {
        /// Sensing a page.
        read: Energy,
        /// Programming a page.
        program: Energy,
        /// Erasing a block.
        erase: Energy,
    }

    /// Energy of the operations. A section without keys says nothing; one with keys has `read`,
    /// `program` and `erase`.
    pub(crate) struct EnergySettings {
        /// Sensing a page, such as "12.5uJ". One value, or a list of one for each page type. At a
        /// cost level other than medium it is in proportion to the time.
        read: ByPageType<Energy>,
        /// Programming a page. One value, or a list of one for each page type. At a cost level
        /// other than medium it is in proportion to the time.
        program: ByPageType<Energy>,
        /// Erasing a block.
        erase: Energy,
        /// Sending a page over the channel. Not counted if not given.
        transfer_out: Option<Energy>,
        /// Taking a page in over the channel. Not counted if not given.
        transfer_in: Option<Energy>,
        /// The power of an idle chip, such as "27.3mW". Not counted if not given.
        idle_power: Option<Power>,
    }

    /// Measurements of a chip.
    pub(crate) struct ChipMeasurements {
        /// Its manufacturer, if published.
        manufacturer: Option<String>,
        /// How many chips were measured.
        chips: Option<u32>,
        /// The technology, such as "50nm".
        node: Option<String>,
        /// Bytes of data in all.
        capacity: Option<Bytes>,
        /// Spare bytes of a page.
        spare: Option<Bytes>,
        /// Power while a page is sensed: energy over time.
        read_power: Option<Power>,
        /// Power while a page is sent.
        read_transfer_power: Option<Power>,
        /// Power while a page is programmed: energy over time.
        program_power: Option<Power>,
        /// Power while a page is taken in.
        program_transfer_power: Option<Power>,
        /// Power while a block is erased: energy over time.
        erase_power: Option<Power>,
        /// Power over many reads, as fast as the tester went.
        average_read_power: Option<Power>,
        /// Power over many programs, as fast as the tester went.
        average_program_power: Option<Power>,
        /// Power over many erases, as fast as the tester went.
        average_erase_power: Option<Power>,
        /// Energy of sensing a bit.
        read_per_bit: Option<Energy>,
        /// Energy of programming a bit. One value, or a list of one for each page type.
        program_per_bit: Option<ByPageType<Energy>>,
        /// Energy of erasing a bit.
        erase_per_bit: Option<Energy>,
    }

    /// A bus that commands and data occupy. A page takes page-size * 8 / (rate * width-bits).
    pub(crate) struct BusSettings: Copy {
        /// Transfers per second, such as "333MT/s".
        rate: Rate,
        /// Bits in a transfer, 1 to 64. By default 8.
        width_bits: NonZeroU32 = 8 [1, 64, "must be at most 64", ""],
        /// Command and address cycles before each operation, up to a minute.
        command: OperationTime,
        /// The first traffic on a channel that becomes free: "commands" of new operations, so dies
        /// sense while others send; or "data" that dies have sensed. By default "commands".
        first: ChannelFirst = (ChannelFirst::Commands),
    }

    /// Endurance and the model of the cells.
    pub struct Reliability: Copy {
        /// The physics of the cells. "on": the raw bit errors of each page decide how finely it is
        /// sensed, how long that takes, and whether it can be read at all.
        model: Model,
        /// Program/erase cycles a block endures, at least 1.
        endurance: NonZeroU32,
        /// Constants of the self-recovery equations: "printed" as READY prints them, "fitted" to
        /// READY's Table 2. The fit holds for 2.8 to 25 hours between cycles.
        recovery: RecoveryConstants,
        /// The raw bit error rates up to which 1, 3 and 7 sensings at each boundary between levels
        /// read a page: three numbers that rise, above 0 and below 0.5.
        correctable: Three<f64>,
        /// Data in a codeword, 64B to 64KiB; a smaller page is one codeword.
        codeword: Bytes [Bytes::new(64), Bytes::kib(64)],
        /// The share of a codeword that is data, 0.5 to 1.
        code_rate: f64 [0.5, 1.0],
        /// Uncorrectable errors for each bit read that the drive promises up to the rates of
        /// `correctable`, 1e-30 to 1e-3.
        uber: f64 [1e-30, 1e-3],
        /// With how many sensings a read begins: "lowest", one; "last", as many as the block's last
        /// read of this page type took; "needed", as many as it takes. Each that is too few costs
        /// its time.
        read_start: ReadStart,
        /// How long a program takes. "fresh": as in `timing`; "wear": less as its block wears, by
        /// half of it (one bit in a cell) or an eighth at `endurance`.
        program_speed: ProgramSpeed,
        /// The fate of a block with a page that cannot be read. "retire": its other pages are moved
        /// and it is taken out of service. "keep": nothing.
        uncorrectable: Uncorrectable,
        /// Program/erase cycles of every block before the run, below `endurance`.
        initial_cycles: u32,
        /// Mean time between those cycles, in which cells recover.
        initial_rest: Dur [Dur::ZERO, LONGEST],
        /// How long the data that are there before the run have been kept.
        initial_retention: Dur [Dur::ZERO, LONGEST],
        /// How long the drive is to last: the warranty that drive writes per day count over. At
        /// least a day.
        target: Dur [Dur::secs(86_400), LONGEST],
    }

    /// Mapping, capacity and garbage collection. Exactly one of `over-provisioning`,
    /// `spare-factor` and `logical-capacity` is given.
    pub struct FtlSettings: Copy {
        /// The unit of mapping: "page".
        mapping: Mapping,
        /// Bytes that one map entry covers, such as "4KiB": a page, an equal part of one (at least
        /// a 64th), or a page of each of several planes. The number of these planes divides
        /// `program-planes`. A multiple of `host.sector`. By default a page. Writes of less read
        /// the rest first.
        mapping_unit: Option<Bytes>,
        /// Planes of a die that one command programs: planes-per-die is a multiple of it. Their blocks
        /// of the same index are opened, programmed and erased together. By default 1.
        program_planes: Option<NonZeroU32>,
        /// The blocks that are opened, filled, collected and erased as one. "plane-group": those of one
        /// index in the planes that one command programs. "die": in all planes of a die. "drive": in
        /// all planes of all dies. A number N: in all planes of N dies; N divides the number of dies.
        /// They are filled in stripes: a program unit of each die in turn. Free blocks that keys count,
        /// such as `ftl.gc.start`, are then such superblocks. By default "plane-group".
        superblock: Option<Superblock>,
        /// N: one program unit in N holds parity, and no data; 0: none does. N divides the number
        /// of blocks in a superblock. If that is 1, a stripe is N units of a block, and N divides
        /// the number of units in a block. By default 0.
        parity: Option<u32>,
        /// How long a write waits for others to be programmed with. It matters if a program takes
        /// several mapping units and the host is not answered before. The missing units are then
        /// padding. Up to a minute. By default "0ns": until all that comes at the same time is
        /// there.
        program_wait: Option<OperationTime> => Run,
        /// (P - L) / L, where P is the flash without parity and L the exported capacity; above 0. A
        /// fraction, not a percentage. Exports whole pages, rounded down.
        over_provisioning: Option<f64>
            [f64::MIN_POSITIVE, f64::MAX, "is {}, and it must be above 0", "(P - L) / L"],
        /// (P - L) / P, where P is the flash without parity and L the exported capacity; 0 < x < 1.
        /// A fraction, not a percentage. Exports whole pages, rounded down.
        spare_factor: Option<f64>
            [f64::MIN_POSITIVE, BELOW_ONE, "is {}, and it must lie between 0 and 1", "a fraction: 7 % is 0.07"],
        /// The exported capacity, such as "512GB", rounded up to whole pages.
        logical_capacity: Option<Bytes>,
        /// The cost of a read of an empty page: "flash" like any other, "zero" nothing.
        unmapped_read: UnmappedRead,
        /// The cost of a read whose page is on its way to flash. "wait": for its program, and then
        /// a read. "memory": the controller still has the data, and flash is not used.
        pending_read: PendingRead => Run,
        /// Operations that use several planes of a die at once; with `program-planes` above 1 reads
        /// only.
        multi_plane: MultiPlane,
        /// How often in a row collection moves a page inside its plane without its data leaving the die,
        /// 1 to 255: the channel carries nothing, and nobody corrects its errors. Not given: never.
        copyback: Option<NonZeroU32> [1, 255] => Run,
        /// The free block that a write opens. "oldest": the one that has been free longest, so blocks
        /// take turns. "least-worn": the one with the fewest cycles. By default "oldest".
        free_block: Option<FreeBlock>,
        /// Flexible data placement (NVMe): the placement handles of the drive. A write's hint is its
        /// handle. Its separation policy is then `fdp`. Not given: none.
        fdp: Option<FdpSettings>,
        /// When garbage collection runs.
        gc: GcSettings,
    }

    /// Flexible data placement: handles, and the reclaim units that their data lie in.
    pub struct FdpSettings: Copy {
        /// Placement handles, 1 to 32. A write without a hint, and one whose hint is not below this
        /// number, goes to handle 0.
        handles: u32 [1, policies::separation::fdp::MOST],
        /// Superblocks of a reclaim unit, at least 1. It is opened, filled, collected and erased as one, so
        /// free blocks that keys count are such units. Their number divides `blocks-per-plane`. By
        /// default 1.
        reclaim_unit: NonZeroU32 = 1,
        /// The destination of moved data. "initial": to units of their own, which all handles share.
        /// "persistent": to units of their handle. By default "initial".
        isolation: Isolation = (Isolation::Initial),
        /// Moved data go to the open unit of handle 0, behind new writes: firmware without a unit for
        /// them. Not with "persistent". By default false.
        spill: bool = false,
        /// Collection leaves units with valid data alone if their handle is written in sequence, as long as
        /// others gain. By default false.
        keep_sequential: bool = false,
    }

    /// When garbage collection runs, in free blocks of a plane.
    pub struct GcSettings: Copy {
        /// Collect before a write when a plane has fewer free blocks than this, at least 2.
        start: u32 [2, u32::MAX, "is {}, and the least is 2", "one free block to collect into, one to go on writing"],
        /// Once started, collect until a plane has this many free blocks, at least `start`.
        stop: u32,
        /// In idle time, collect until a plane has this many free blocks, at least `stop`. 0: no
        /// background collection.
        background_stop: u32,
        /// The condition at which collection begins. "free-blocks": too few free blocks, see `start`.
        /// { garbage = 0.15 }: beside that, with each write request a plane in which this share of the
        /// written pages is garbage in complete blocks collects one block. A share above 0, below 1. By
        /// default "free-blocks".
        trigger: Option<TriggerField>,
        /// How much is collected at once. "all": until `stop`; "one": a block, the rest in idle
        /// time, as long as `start` are free. With `pace` "per-write" both are the same.
        foreground: Foreground,
        /// How fast collection goes for the host. "burst": as fast as it can. "per-write": as the
        /// host writes, so a block is free in time, and as fast as it can while a write waits for
        /// space. "per-write" needs a `start` or `background-stop` of at least 3.
        pace: GcPacing => Run,
    }

    /// Collection by the share of garbage.
    pub(crate) struct GarbageSettings: Copy {
        /// Of the written pages of a plane, the share that is invalid above which it collects.
        garbage: f64 [f64::MIN_POSITIVE, BELOW_ONE, "is {}, and it must lie between 0 and 1", "a fraction: 15 % is 0.15"],
    }

    /// How the host sends requests.
    pub struct Host {
        /// The unit of addresses, such as "512B"; page-size is a multiple of it.
        sector: Bytes => Requests,
        /// When requests arrive.
        mode: HostMode => Policies,
        /// Recorded times are divided by this, 0.001 to 1000000.
        speed: f64 [0.001, 1e6, "is {}, not a speed-up factor", ""] => Run,
        /// Requests outstanding in mode "queue-depth", at least 1.
        queue_depth: NonZeroU32 => Run,
        /// Requests inside the drive at once in the open-loop modes, at least 1. Later ones wait.
        queue_limit: NonZeroU32 => Run,
        /// The fate of requests beyond the drive's capacity.
        out_of_range: OutOfRange => Requests,
        /// Settings of flows of the workload: a list of { name = "db", weight = 4, priority =
        /// "high", hint = 3, queue-depth = 8 }. A weight is 1 to 256. A priority, "normal" or "high",
        /// is that of every request of the flow. A hint, 0 to 255, is that of its requests without
        /// one. The queue depth is the most of its requests in the drive.
        flow: FlowList => Requests,
        /// Only the requests of this flow are sent, as if the others were silent.
        only: Option<String> => Run,
    }

    /// The settings of a flow of the workload.
    pub struct FlowSettings {
        /// The flow.
        name: String,
        /// Its share beside others, for an arbiter that goes by that, 1 to 256.
        weight: Option<u32> [1, Flow::HEAVIEST],
        /// The priority of its requests.
        priority: Option<Prio>,
        /// The hint about their data of its requests that have none, 0 (none) to 255.
        hint: Option<u32> [0, u32::from(Hint::MAX)],
        /// Its requests in the drive at most, at least 1. The next one waits outside, in its queue.
        queue_depth: Option<NonZeroU32>,
    }

    /// The link between the host and the drive. It carries data of one page after the other, those
    /// of writes to the drive and those of reads to the host; a trim or a flush is 64 bytes.
    pub struct LinkSettings: Copy {
        /// How fast it carries data, each way. Not given: in no time.
        rate: Option<Bandwidth>,
        /// How long data are on their way, up to a minute. Others follow meanwhile.
        latency: OperationTime,
        /// "full": data to the host and data to the drive do not wait for each other; "half": they
        /// take turns, in the order in which they came.
        duplex: Duplex,
    }

    /// The controller. A command keeps a core busy before anything else is done for it; which comes
    /// first goes first.
    pub struct Controller: Copy {
        /// How long a core is busy with a read, up to a minute.
        read: OperationTime,
        /// How long a core is busy with a write, a trim or a flush, up to a minute.
        write: OperationTime,
        /// How fast a core handles the data of reads and writes, on top. Not given: in no time.
        rate: Option<Bandwidth>,
        /// Cores, 1 to 1024.
        cores: u32 [1, 1024],
        /// How long a read takes beside, up to a minute; no core is busy with it.
        read_latency: OperationTime,
        /// A time that differs from read to read, on top of all others; no core is busy with it.
        /// Not given: none.
        read_jitter: Option<Jitter>,
        /// The same for a write, a trim or a flush.
        write_jitter: Option<Jitter>,
    }

    /// A random time, log-normal, with two of its percentiles. Its mean is above the first one, and
    /// adds to the time of a command.
    pub struct Jitter: Copy {
        /// Its median, 1 ns to a minute.
        p50: OperationTime [Dur::ns(1), OPERATION_LIMIT],
        /// Its 99th percentile, at least the median, up to a minute.
        p99: OperationTime [Dur::ns(1), OPERATION_LIMIT],
    }

    /// The write buffer: memory of the drive through which writes go to flash.
    pub struct BufferSettings: Copy {
        /// The instant at which a write is done for the host. "write-back": when it is in the
        /// buffer (with force unit access: when it survives a loss of power). "write-through": when
        /// it survives a loss of power. "none": there is no buffer, for any `size`.
        kind: BufferKind,
        /// How much it holds, in whole pages; "0B": there is none, and a write is done when it is
        /// in flash.
        size: Option<Bytes>,
        /// Instead of `size`: the buffer as a multiple of the data that all dies program at once, 1
        /// to 1024. With 1 they are all busy, with less they are not.
        units_per_die: Option<NonZeroU32> [1, 1024],
        /// Whether the data in it survives a loss of power. If not, a flush sends it to flash and
        /// waits for that.
        power_loss_protected: bool,
        /// How long the drive takes to answer once data are in the buffer, or out of it, up to a
        /// minute. Others are taken in meanwhile.
        latency: OperationTime,
        /// How fast data go in and out, one after the other. Not given: in no time.
        rate: Option<Bandwidth>,
        /// How long the buffer's memory takes to reach a place before the data of a transfer move, up to
        /// a minute. Other transfers wait. Not given: no time.
        access: Option<OperationTime>,
        /// Pages are sent to flash, the least recently written first, while more than this share
        /// of the buffer waits to be sent, 0 to 1. 0: at once. Until then a page that is written
        /// over costs nothing.
        flush_above: f64 [0.0, 1.0, "is {}, not a share", ""],
    }

    /// Settings of a generated workload, and changes to the addresses of any workload.
    pub(crate) struct WorkloadSettings {
        /// Moves every address by this, forward or backward, such as "-31.5KiB".
        shift: Option<Offset>,
        /// Generators and stand-ins: how many requests, at least 1. Flushes are not among them.
        requests: Option<NonZeroU64>,
        /// Stand-ins: only requests before this, such as "1h".
        duration: Option<Dur>,
        /// Stand-ins: the share of the reads that go to read-only pages which the stand-in itself has
        /// written before, 0 to 1.
        created_reads: Option<f64>,
        /// Generators: the size of a request, such as "4KiB", or a list of { size, share }.
        size: Option<Any>,
        /// Generators: random addresses are multiples of this.
        align: Option<Bytes>,
        /// Generators: addresses run from 0 to this.
        span: Option<Bytes>,
        /// Generators: the share of reads, 0 to 1.
        read_share: Option<f64>,
        /// Generators: the share of trims, 0 to 1.
        trim_share: Option<f64>,
        /// Generators: a flush after this number of writes, at least 1, at the time of the last of
        /// them. Flushes come on top of `requests`.
        flush_every: Option<NonZeroU64>,
        /// Generators: the share of the writes that bypass volatile memory (FUA), 0 to 1.
        fua_share: Option<f64>,
        /// Generators: when requests arrive. "as-fast-as-possible", { constant = { iops = 1000 } }
        /// or { poisson = { iops = 1000 } }.
        arrivals: Option<Any>,
        /// Generators: requests a second, above 0 and at most 1e9, at random times (Poisson).
        /// Instead of `arrivals`.
        rate: Option<f64>
            [f64::MIN_POSITIVE, 1e9, "is {}, not requests a second", "above 0 and at most 1e9"],
        /// Generator `zipf`: the exponent, 0 < x <= 10.
        theta: Option<f64>,
        /// Generator `hot-cold`: the share of the data that is hot, 0 < x < 1.
        hot_data: Option<f64>,
        /// Generator `hot-cold`: the share of the requests that go to hot data, 0 to 1.
        hot_writes: Option<f64>,
        /// Generator `permutation`: "redrawn", each pass over the addresses draws a new order (fio
        /// with `randrepeat=0`), or "repeated", all have the order of the first (fio without).
        order: Option<PermutationOrder>,
        /// Generator `kv-offload`: conversations at a time, at least 1. By default 16, or as many as
        /// there is room for.
        sessions: Option<NonZeroU64>,
        /// Generator `kv-offload`: the data that are looked up, read and written as a whole, 1 B to
        /// 1 GiB; 2 MiB by default.
        object_size: Option<Bytes>,
        /// Generator `kv-offload`: the share of the lookups whose object is on the drive and is read,
        /// 0 to 1. The other objects are written. 0.9947 by default, the measured share.
        prefix_hits: Option<f64>,
        /// Generator `kv-offload`: the data of an ended conversation are written over ("overwrite",
        /// the default) or trimmed before the next one begins ("trim").
        eviction: Option<OffloadEviction>,
        /// Generator `kv-offload`: the number of tenants, at most 255. Sessions belong to them in turn,
        /// and requests have the hints 1, 2, … of their tenants. 0, the default: no hints.
        tenants: Option<u32> [0, u32::from(Hint::MAX)],
        /// Generators and stand-ins: the seed. By default that of the run.
        seed: Option<u64>,
    }

    /// The state of the drive before the run.
    pub struct Precondition: Copy {
        /// Pages written beforehand: "none"; "touched", the pages that the workload reads before it
        /// writes them; "full"; or a share of all pages, 0 < x <= 1, from the first one on.
        fill: Fill,
        /// How a filled drive is worn in.
        age: Age,
    }

    /// The run, and the parts of its results that are stored.
    pub(crate) struct RunSettings {
        /// The seed of all random streams, 0 to 2^63 - 1.
        seed: u64,
        /// Whether a stored run has a row for each request.
        keep_requests: bool => Run,
        /// How much time a row of a stored run's series covers, such as "1s", at least 1us;
        /// "auto": as much as makes 1024 to 2048 rows.
        series_interval: Interval [SHORTEST, Dur::ns(u64::MAX), "is {}", "at least 1us"] => Run,
    }
}

impl FdpSettings {
    /// The handles as the FTL knows them.
    pub(crate) fn spec(&self) -> HandleSpec {
        HandleSpec {
            count: self.handles as u8,
            persistent: self.isolation == Isolation::Persistent,
            spill: self.spill,
            keep_sequential: self.keep_sequential,
        }
    }
}

/// A time of the flash, within reason.
pub(crate) struct OperationTime;

/// `scale`: the divisor of "1/N".
pub(crate) struct Fraction;

/// `host.flow`: settings of some flows.
pub(crate) struct FlowList;

impl Host {
    /// The hint that requests without one get, for each flow of a workload.
    pub(crate) fn hints_of(&self, flows: &[Flow]) -> Vec<Hint> {
        let hint = |flow: &Flow| {
            let settings = self.flow.iter().find(|settings| settings.name == flow.name);
            settings.and_then(|settings| settings.hint).unwrap_or(0) as Hint
        };
        flows.iter().map(hint).collect()
    }
}

impl Field for FlowList {
    type Plain = Vec<FlowSettings>;

    fn read(at: At<'_>) -> Option<Self::Plain> {
        let Value::List(nodes) = &at.node.value else {
            return at.wrong_type("a list such as [{ name = \"db\", weight = 4 }]");
        };
        let all: Vec<_> = nodes.iter().map(|node| FlowSettings::read(At { node, ..at })).collect();
        let all: Vec<FlowSettings> = all.into_iter().collect::<Option<_>>()?;
        let twice =
            all.iter().enumerate().find(|(i, flow)| all[..*i].iter().any(|f| f.name == flow.name));
        match twice {
            Some((_, flow)) => at.wrong_value(format!("has `{}` twice", flow.name), ""),
            None => Some(all),
        }
    }

    fn absent(_: &str, _: &Log) -> Option<Self::Plain> {
        Some(Vec::new())
    }

    fn schema() -> Json {
        json!({ "type": "array", "items": FlowSettings::schema() })
    }

    fn emit(plain: &Self::Plain) -> Option<Json> {
        let all: Vec<Json> = plain.iter().map(|flow| flow.echo().into()).collect();
        (!all.is_empty()).then(|| all.into())
    }
}

impl Word for Prio {
    const WORDS: &'static [(&'static str, Self)] =
        &[("normal", Self::Normal), ("high", Self::High)];
}

/// `run.series-interval`: nothing for "auto".
pub(crate) struct Interval;

/// `timing.bus`: nothing if the array times contain the transfer.
pub(crate) struct BusField;

/// The condition at which collection begins: a word, or a table.
pub(crate) struct TriggerField;

/// Bytes to move by, forward or (with a minus sign) backward: `"-31.5KiB"`.
pub(crate) struct Offset;

values! {
    OperationTime => Dur, Dur::schema(), |time| json!(Dur::emit(time)), |at| {
        let time = Dur::read(at)?;
        if time <= OPERATION_LIMIT {
            return Some(time);
        }
        at.wrong_value(format!("is {time}, longer than any flash takes"), "at most a minute")
    };
    Fraction => u32, json!({ "type": "string", "pattern": r"^\s*1\s*/\s*[0-9]+\s*$" }),
        |of| format!("1/{of}").into(),
        |at| {
            const FORM: &str = "a fraction such as \"1/16\"";
            let Value::Text(text) = &at.node.value else { return at.wrong_type(FORM) };
            let parts = text.split_once('/').filter(|(one, _)| one.trim() == "1");
            match parts.and_then(|(_, of)| of.trim().parse::<u32>().ok()) {
                Some(of @ 1..=SMALLEST_SCALE) => Some(of),
                _ => at.wrong_value(format!("is \"{text}\""), format!("{FORM}, at least 1/{SMALLEST_SCALE}")),
            }
        };
    Interval => Option<Dur>, json!({ "anyOf": [{ "const": "auto" }, Dur::schema()] }),
        |length| length.map_or("auto".into(), |length| length.to_string().into()),
        |at| match &at.node.value {
            Value::Text(text) if text.parse::<Dur>().is_err() => {
                at.word(&[("auto", None)], "a time")
            }
            _ => Dur::read(at).map(Some),
        };
    Fill => Self, json!({ "anyOf": [
            { "enum": Self::WORDS.map(|(word, _)| word) },
            { "type": "number", "exclusiveMinimum": 0, "maximum": 1 },
        ] }),
        |fill| match fill {
            Self::Share(share) => json!(share),
            _ => Self::WORDS.iter().find(|(_, word)| word == fill).map(|(word, _)| *word).into(),
        },
        |at| {
            let (Value::Int(_) | Value::Float(_)) = at.node.value else {
                return at.word(&Self::WORDS, "a share");
            };
            let share = f64::read(at)?;
            let label = match share {
                1.0 => return Some(Self::Full),
                0.0 => "\"none\" leaves the drive empty",
                _ if share > 0.0 && share < 1.0 => return Some(Self::Share(share)),
                _ if share > 1.0 && share <= 100.0 => "above 0, at most 1: 90 % is 0.9",
                _ => "above 0, at most 1",
            };
            at.wrong_value(format!("is {share}, not a share"), label)
        };
    Superblock => Self, json!({ "anyOf": [
            { "enum": Self::WORDS.map(|(word, _)| word) },
            { "type": "integer", "minimum": 1, "maximum": u32::MAX },
        ] }),
        |superblock| {
            if let Self::Dies(dies) = superblock {
                return json!(dies);
            }
            let found = Self::WORDS.iter().find(|(_, word)| word == superblock);
            found.map(|(word, _)| *word).into()
        },
        |at| match at.node.value {
            Value::Int(_) | Value::Float(_) => NonZeroU32::read(at).map(Self::Dies),
            _ => at.word(&Self::WORDS, "a number of dies"),
        };
    BusField [BusSettings::KEYS] => Option<BusSettings>,
        json!({ "anyOf": [{ "const": "included" }, BusSettings::schema()] }),
        |bus| bus.map_or("included".into(), |bus| {
            let mut echo = bus.echo();
            // Not the default: drives keep the names that they had before there was a choice.
            echo.retain(|key, _| key != "first" || bus.first != ChannelFirst::Commands);
            echo.into()
        }),
        |at| {
            let or = "a table such as { rate = \"333MT/s\", width-bits = 8, command = \"300ns\" }";
            match at.node.value {
                Value::Table(_) => BusSettings::read(at).map(Some),
                _ => at.word(&[("included", None)], or),
            }
        };
    TriggerField [GarbageSettings::KEYS] => GcTrigger,
        json!({ "anyOf": [{ "const": "free-blocks" }, GarbageSettings::schema()] }),
        |trigger| match *trigger {
            GcTrigger::FreeBlocks => "free-blocks".into(),
            GcTrigger::Garbage(garbage) => GarbageSettings { garbage }.echo().into(),
        },
        |at| match at.node.value {
            Value::Table(_) => {
                GarbageSettings::read(at).map(|settings| GcTrigger::Garbage(settings.garbage))
            }
            _ => at.word(&[("free-blocks", GcTrigger::FreeBlocks)], "a table such as { garbage = 0.15 }"),
        };
    Offset => i64,
        json!({ "type": "string", "pattern": r"^\s*[+-]?[0-9._]+\s*([KMGT]iB|[kKMGT]B|B)\s*$" }),
        |bytes| {
            let sign = if *bytes < 0 { "-" } else { "" };
            format!("{sign}{}", Bytes::new(bytes.unsigned_abs())).into()
        },
        |at| at.quantity("an offset", "B", |text| {
            let text = text.trim();
            let size: Result<Bytes, _> = text.strip_prefix(['+', '-']).unwrap_or(text).parse();
            let size = size.map_err(|error: QuantityError| error.to_string())?.get();
            let size = i64::try_from(size).map_err(|_| "at most 8 EiB".to_owned())?;
            Ok::<_, String>(if text.starts_with('-') { -size } else { size })
        });
}

impl Word for PageOrder {
    const WORDS: &'static [(&'static str, Self)] =
        &[("cyclic", Self::Cyclic), ("shadow", Self::Shadow), ("shadow-pairs", Self::ShadowPairs)];
}

impl Word for OutOfRange {
    const WORDS: &'static [(&'static str, Self)] =
        &[("refuse", Self::Refuse), ("wrap", Self::Wrap), ("compact", Self::Compact)];
}

/// Three numbers.
pub(crate) struct Three<T>(PhantomData<T>);

impl<T: Field> Field for Three<T> {
    type Plain = [T::Plain; 3];

    fn read(at: At<'_>) -> Option<Self::Plain> {
        match &at.node.value {
            Value::List(nodes) if nodes.len() == 3 => at.each::<T>(nodes)?.try_into().ok(),
            _ => at.wrong_type("three numbers"),
        }
    }

    fn schema() -> Json {
        json!({ "type": "array", "items": T::schema(), "minItems": 3, "maxItems": 3 })
    }

    fn emit(plain: &Self::Plain) -> Option<Json> {
        Some(plain.iter().filter_map(T::emit).collect())
    }
}

/// `[policies]`: for each family that is given the name of its policy, empty if it is not given,
/// and the policy's parameters.
pub(crate) struct Choices;

impl Field for Choices {
    type Plain = Vec<(String, String, Map<String, Json>)>;

    fn read(at: At<'_>) -> Option<Self::Plain> {
        let choice = |(family, KeyEntry { node, .. }): (&String, &KeyEntry)| {
            let path = join(at.path, family);
            let Value::Table(table) = &node.value else {
                return At { node, path: &path, ..at }.wrong_type("a policy's name or a table");
            };
            let (mut name, mut params) = (String::new(), Map::new());
            for (key, KeyEntry { node, .. }) in &table.0 {
                let at = At { node, path: &join(&path, key), ..at };
                if key == "name" {
                    name = String::read(at)?;
                } else {
                    params.insert(key.clone(), Any::read(at)?);
                }
            }
            Some((family.clone(), name, params))
        };
        Some(at.table()?.0.iter().filter_map(choice).collect())
    }

    fn absent(_: &str, _: &Log) -> Option<Self::Plain> {
        Some(Vec::new())
    }

    fn schema() -> Json {
        let mut families = Map::new();
        for family in Family::ALL {
            let names: Vec<&str> = family
                .policies()
                .iter()
                .flat_map(|p| [p.name].into_iter().chain(p.aliases.iter().copied()))
                .collect();
            // A name with a colon is that of a policy from outside.
            let outside = json!({ "type": "string", "pattern": "^[a-z]+:." });
            let word = json!({ "anyOf": [{ "enum": names }, outside] });
            let named = json!({ "type": "object", "properties": { "name": word } });
            let entry = json!({
                "description": family.question(),
                "default": family.default(),
                "anyOf": [word, named],
            });
            families.insert(family.name().to_owned(), entry);
        }
        json!({ "type": "object", "additionalProperties": false, "properties": families })
    }
}

/// `[sources]`: the beginning of a key, and where the numbers under it come from.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct Sources(pub(crate) BTreeMap<String, String>);

impl Sources {
    /// One source for all.
    pub(crate) fn all(source: &str) -> Self {
        Self([(String::new(), source.to_owned())].into())
    }

    /// The source of the setting at `path`: the longest entry that covers it.
    pub(crate) fn of(&self, path: &str) -> &str {
        let covers = |prefix: &str| {
            let rest = path.strip_prefix(prefix);
            prefix.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let found = self.0.iter().filter(|(prefix, _)| covers(prefix));
        found.max_by_key(|(prefix, _)| prefix.len()).map_or("", |(_, source)| source)
    }
}

impl Field for Sources {
    type Plain = Self;

    fn read(at: At<'_>) -> Option<Self> {
        // `timing.erase` has quotes, or is a key in a table of its own.
        let entries = at.table()?.leaves();
        let families = Family::ALL.iter().map(|family| format!("policies.{}", family.name()));
        let keys = [File::KEYS, ChipFile::KEYS].into_iter().flat_map(all).map(|(path, _)| path);
        let known: Vec<String> = keys.chain(families).collect();
        let mut sources = BTreeMap::new();
        for (key, KeyEntry { key: place, node }) in entries {
            let path = &*join(at.path, &key);
            if known.contains(&key) {
                let source = String::read(At { node, path, ..at });
                sources.extend(source.map(|source| (key, source)));
                continue;
            }
            let near = kernel::nearest(&key, known.iter().map(String::as_str));
            let label = near.map_or(String::new(), |near| format!("did you mean \"{near}\"?"));
            let message = format!("`[sources]` speaks of \"{key}\", which is not a setting");
            at.log.fail(path, ConfigError::new(ConfigErrorKind::UnknownKey, message, place, label));
        }
        Some(Self(sources))
    }

    fn schema() -> Json {
        json!({ "type": "object" })
    }
}

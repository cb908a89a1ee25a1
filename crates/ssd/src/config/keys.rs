//! The drive file as written: every key, with its unit and range.
//!
//! These declarations are the single source of truth: the reader, the suggestions for misspelt
//! keys, the documentation and `schema/drive.json` all come from them.
//!
//! A state before the run is kept under all settings but those that say here what else they change
//! (`=> Run`, see [`Reach`](super::field::Reach)): a key that says nothing is part of the name.

use super::drive::{
    Age, Fill, FillWord, Foreground, HostMode, Mapping, Model, MultiPlane, Order, OutOfRange,
    ProgramSpeed, ReadStart, Recovery, Uncorrectable, UnmappedRead,
};
use super::error::{ConfigError, Kind, Log};
use super::field::{
    Any, At, ByPageType, Field, Offset, always, brief, section_schema, sections, settings, table,
    unknown_key, wrong_type, wrong_value,
};
use super::node::{Entry, Node, Table, Value, join};
use super::rate::Rate;
use super::text::Place;
use kernel::{Bytes, Dur, Energy, ParseDurError, Power};
use policies::Family;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroU64};

/// An operation of the flash takes at most this long: more is a slip of the unit.
pub(crate) const OPERATION_LIMIT: Dur = Dur::secs(60);
/// Times up to which the equations of the cells are asked: beyond, nothing is known.
const LONGEST: Dur = Dur::secs(100 * 365 * 86_400);

sections! {
    /// A drive file: a simulated SSD and how it is used. Times, sizes and rates are text with a
    /// unit; a bare number there is an error.
    struct DriveFile {
        /// The format of this file: "floatgate.drive/1".
        schema: String => Run,
        /// What results call the drive. By default the name of its file.
        name: String => Run,
        /// The drive in one line.
        summary: String => Run,
        /// A drive to inherit from, by name. This file's keys override it.
        base: String,
        /// A chip to take geometry below the chip, the order of pages, timing, energy and
        /// reliability from, by name. Keys of the same file override it.
        chip: String,
        /// The array, top down.
        geometry: GeometryKeys,
        /// How pages lie in a block.
        pages: PagesKeys,
        /// How long the operations of the flash take.
        timing: TimingKeys => Policies,
        /// Energy of the operations. Without it `energy_joules` in the results is null.
        energy: EnergyKeys => Run,
        /// Endurance and the model of the cells.
        reliability: ReliabilityKeys => Policies,
        /// Mapping, capacity and garbage collection.
        ftl: FtlKeys,
        /// How the host sends requests.
        host: HostKeys,
        /// The write buffer.
        buffer: BufferKeys => Run,
        /// Settings of a generated workload, and changes to the addresses of any workload.
        workload: WorkloadKeys => Requests,
        /// The state of the drive before the run.
        precondition: PreconditionKeys,
        /// One policy for each family: "name" or { name = "agcr", window = 2 }.
        policies: Choices => Policies,
        /// The run.
        run: RunKeys,
        /// Where numbers come from: a key, or the beginning of some, and its source.
        sources: Sources,
    }

    /// A chip file: what the chip brings to a drive.
    struct ChipFile {
        /// The format of this file: "floatgate.chip/1".
        schema: String,
        /// The chip's name.
        name: String,
        /// The chip in one line.
        summary: String,
        /// A chip to inherit from, by name. This file's keys override it.
        base: String,
        /// The array within the chip.
        geometry: ChipGeometryKeys,
        /// How pages lie in a block.
        pages: PagesKeys,
        /// How long the operations of the flash take.
        timing: TimingKeys,
        /// Energy of the operations.
        energy: EnergyKeys,
        /// Endurance and the model of the cells.
        reliability: ReliabilityKeys,
        /// What was measured on the chip, where that is published. Runs do not use it: what they
        /// need stands in the other sections.
        measured: MeasuredKeys,
        /// Where numbers come from: a key, or the beginning of some, and its source.
        sources: Sources,
    }

    /// The array, top down. All sizes together may have up to 2^32 - 2 pages.
    struct GeometryKeys {
        /// Channels of the drive, 1 to 4096.
        channels: u32,
        /// Chips on each channel, 1 to 4096.
        chips_per_channel: u32,
        /// Dies in each chip, 1 to 64.
        dies_per_chip: u32,
        /// Planes in each die, 1 to 16.
        planes_per_die: u32,
        /// Good blocks in each plane, 1 to 2^24.
        blocks_per_plane: u32,
        /// Pages in each block, 1 to 16383.
        pages_per_block: u32,
        /// Bytes of data in a page, up to 1 GiB and a multiple of `host.sector`. The spare bytes
        /// of a page do not count.
        page_size: Bytes,
        /// Bits in a cell, 1 (SLC) to 4 (QLC).
        bits_per_cell: u32,
    }

    /// The array within a chip.
    struct ChipGeometryKeys {
        /// Dies in each chip, 1 to 64.
        dies_per_chip: u32,
        /// Planes in each die, 1 to 16.
        planes_per_die: u32,
        /// Good blocks in each plane, 1 to 2^24.
        blocks_per_plane: u32,
        /// Pages in each block, 1 to 16383.
        pages_per_block: u32,
        /// Bytes of data in a page, up to 1 GiB. The spare bytes of a page do not count.
        page_size: Bytes,
        /// Bits in a cell, 1 (SLC) to 4 (QLC).
        bits_per_cell: u32,
    }

    /// How pages lie in a block.
    struct PagesKeys {
        /// Which pages hold which bits. "cyclic": page i has type i modulo bits-per-cell; "shadow",
        /// two bits: 0, 1, 3, 5 and so on are first bits, 2, 4, 6 and so on and the last are second
        /// bits; "shadow-pairs": the same with pairs of pages.
        order: Order,
    }

    /// How long the operations of the flash take: either `read` and `program`, or `levels`. No
    /// operation takes longer than a minute.
    struct TimingKeys {
        /// "included", if the array times contain the transfer and the channel is never busy, or
        /// { rate = "333MT/s", width-bits = 8, command = "300ns" }.
        bus: Bus,
        /// Time to erase a block, up to a minute.
        erase: Dur,
        /// Array time of a page read, up to a minute. One value, or a list of one for each page
        /// type, least significant bit first.
        read: ByPageType,
        /// Array time of a page program, up to a minute. One value, or a list of one for each
        /// page type, least significant bit first.
        program: ByPageType,
        /// Times by the cost level at which a page was written, instead of `read` and `program`.
        levels: LevelsKeys,
        /// The same from the physics of the cells, instead of `levels`.
        physics: PhysicsKeys,
    }

    /// Times by cost level from AGCR's Eq. 1 and 2: programming takes longer the finer the step,
    /// and reading as many sensings as data need that were written with this step at the end of
    /// the block's endurance and kept for `retention`. The bus is "included".
    struct PhysicsKeys {
        /// Time to program a page with the traditional step, the middle one of `steps`.
        program: Dur,
        /// The steps of high-cost, traditional and low-cost writes in proportion to each other:
        /// three whole numbers that rise, such as [9, 12, 16].
        steps: Steps,
        /// Sensing against one reference voltage: AGCR's α.
        sense: Dur,
        /// The transfer of one bit plane: AGCR's β.
        transfer: Dur,
        /// How long data must keep.
        retention: Dur,
    }

    /// Times by the cost level at which a page was written. All three are given.
    struct LevelsKeys {
        /// High-cost writes: fine steps, slow to write and quick to read.
        high: LevelKeys,
        /// The traditional cost.
        medium: LevelKeys,
        /// Low-cost writes: coarse steps, quick to write and slow to read.
        low: LevelKeys,
    }

    /// The times of one cost level.
    struct LevelKeys {
        /// Array time of programming a page at this level, up to a minute. One value, or a list
        /// of one for each page type.
        program: ByPageType,
        /// Array time of reading a page written at this level, up to a minute. One value, or a
        /// list of one for each page type.
        read: ByPageType,
    }

    /// Energy of the operations. A section without keys says nothing; one with keys has `read`,
    /// `program` and `erase`.
    struct EnergyKeys {
        /// Sensing a page, such as "12.5uJ". One value, or a list of one for each page type. At a
        /// cost level other than medium it is in proportion to the time.
        read: ByPageType<Energy>,
        /// Programming a page. One value, or a list of one for each page type. At a cost level
        /// other than medium it is in proportion to the time.
        program: ByPageType<Energy>,
        /// Erasing a block.
        erase: Energy,
        /// Sending a page over the channel. Not counted if not given.
        transfer_out: Energy,
        /// Taking a page in over the channel. Not counted if not given.
        transfer_in: Energy,
        /// What a chip takes while it does nothing, such as "27.3mW". Not counted if not given.
        idle_power: Power,
    }

    /// What was measured on a chip.
    struct MeasuredKeys {
        /// Who made it, as far as is published.
        manufacturer: String,
        /// How many chips were measured.
        chips: u32,
        /// The technology, such as "50nm".
        node: String,
        /// Bytes of data in all.
        capacity: Bytes,
        /// Spare bytes of a page.
        spare: Bytes,
        /// Power while a page is sensed: energy over time.
        read_power: Power,
        /// Power while a page is sent.
        read_transfer_power: Power,
        /// Power while a page is programmed: energy over time.
        program_power: Power,
        /// Power while a page is taken in.
        program_transfer_power: Power,
        /// Power while a block is erased: energy over time.
        erase_power: Power,
        /// Power over many reads, as fast as the tester went.
        average_read_power: Power,
        /// Power over many programs, as fast as the tester went.
        average_program_power: Power,
        /// Power over many erases, as fast as the tester went.
        average_erase_power: Power,
        /// Energy of sensing a bit.
        read_per_bit: Energy,
        /// Energy of programming a bit. One value, or a list of one for each page type.
        program_per_bit: ByPageType<Energy>,
        /// Energy of erasing a bit.
        erase_per_bit: Energy,
    }

}

settings! {
    /// A bus that commands and data occupy. A page takes page-size * 8 / (rate * width-bits).
    struct BusKeys => pub(crate) BusSettings {
        /// Transfers per second, such as "333MT/s".
        rate: Rate,
        /// Bits in a transfer, 1 to 64. By default 8.
        width_bits: NonZeroU32 = 8 [1, 64, "must be at most 64"],
        /// Command and address cycles before each operation, up to a minute.
        command: Dur [Dur::ZERO, OPERATION_LIMIT, "is {}, longer than any flash takes", "at most a minute"],
    }

    /// Endurance and the model of the cells.
    struct ReliabilityKeys => pub Reliability {
        /// The physics of the cells. "on": the raw bit errors of each page decide how finely it is
        /// sensed, how long that takes, and whether it can be read at all.
        model: Model,
        /// Program/erase cycles a block endures, at least 1.
        endurance: NonZeroU32,
        /// Constants of the self-recovery equations: "printed" as READY prints them, "fitted" to
        /// READY's Table 2. The fit holds for 2.8 to 25 hours between cycles.
        recovery: Recovery,
        /// The raw bit error rates up to which 1, 3 and 7 sensings at each boundary between levels
        /// read a page: three numbers that rise, above 0 and below 0.5.
        correctable: Limits,
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
        /// How long a program takes. "fresh": what `timing` says; "wear": less as its block wears,
        /// by half of it (one bit in a cell) or an eighth at `endurance`.
        program_speed: ProgramSpeed,
        /// What becomes of a block with a page that cannot be read: "retire", its other pages are
        /// moved and it is taken out of service; "keep", nothing.
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
    struct FtlKeys => pub Ftl {
        /// The unit of mapping: "page".
        mapping: Mapping,
        /// (P - L) / L, where P is the flash and L what the drive exports; above 0. A fraction,
        /// not a percentage. Exports whole pages, rounded down.
        over_provisioning: Option<f64>,
        /// (P - L) / P, where P is the flash and L what the drive exports; 0 < x < 1. A fraction,
        /// not a percentage. Exports whole pages, rounded down.
        spare_factor: Option<f64>,
        /// What the drive exports, such as "512GB", rounded up to whole pages.
        logical_capacity: Option<Bytes>,
        /// What a read of a page that holds nothing costs: "flash" like any other, "zero" nothing.
        unmapped_read: UnmappedRead,
        /// Which programs go to several planes of a die at once.
        multi_plane: MultiPlane,
        /// When garbage collection runs.
        gc: GcKeys,
    }

    /// When garbage collection runs, in free blocks of a plane.
    struct GcKeys => pub GcMarks {
        /// Collect before a write when a plane has fewer free blocks than this, at least 2.
        start: u32 [2, u32::MAX, "is {}, and the least is 2", "one free block to collect into, one to go on writing"],
        /// Once started, collect until a plane has this many free blocks, at least `start`.
        stop: u32,
        /// In idle time, collect until a plane has this many free blocks, at least `stop`. 0: no
        /// background collection.
        background_stop: u32,
        /// How much is collected at once. "all": until `stop`; "one": a block, the rest in idle
        /// time, as long as `start` are free.
        foreground: Foreground,
    }

    /// How the host sends requests.
    struct HostKeys => pub Host {
        /// The unit of addresses, such as "512B"; page-size is a multiple of it.
        sector: Bytes => Requests,
        /// When requests arrive.
        mode: HostMode => Policies,
        /// Recorded times are divided by this, 0.001 to 1000000.
        speed: f64 [0.001, 1e6, "is {}, not a speed-up factor"] => Run,
        /// Requests outstanding in mode "queue-depth", at least 1.
        queue_depth: NonZeroU32 => Run,
        /// Requests inside the drive at once in the open-loop modes, at least 1. Later ones wait.
        queue_limit: NonZeroU32 => Run,
        /// What becomes of requests beyond the drive's capacity.
        out_of_range: OutOfRange => Requests,
    }

    /// The write buffer: memory of the drive in which a write is done for the host before it is
    /// in flash. It survives a loss of power.
    struct BufferKeys => pub Buffer {
        /// How much it holds, in whole pages; "0B": there is none, and a write is done when it is
        /// in flash.
        size: Bytes,
        /// Pages are sent to flash, the least recently written first, while more than this share
        /// of the buffer waits to be sent, 0 to 1. 0: at once. Until then a page that is written
        /// over costs nothing.
        flush_above: f64 [0.0, 1.0, "is {}, not a share"],
    }

    /// Settings of a generated workload, and changes to the addresses of any workload.
    struct WorkloadKeys => pub(crate) WorkloadSettings {
        /// Moves every address by this, forward or backward, such as "-31.5KiB".
        shift: Option<Offset>,
        /// Generators and stand-ins: how many requests, at least 1.
        requests: Option<NonZeroU64>,
        /// Stand-ins: only requests before this, such as "1h".
        duration: Option<Dur>,
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
        /// Generators: when requests arrive. "as-fast-as-possible", { constant = { iops = 1000 } }
        /// or { poisson = { iops = 1000 } }.
        arrivals: Option<Any>,
        /// Generators: requests a second, above 0 and at most 1e9, at random times (Poisson).
        /// Instead of `arrivals`.
        rate: Option<f64>,
        /// Generator `zipf`: the exponent, 0 < x <= 10.
        theta: Option<f64>,
        /// Generator `hot-cold`: the share of the data that is hot, 0 < x < 1.
        hot_data: Option<f64>,
        /// Generator `hot-cold`: the share of the requests that go to hot data, 0 to 1.
        hot_writes: Option<f64>,
        /// Generators and stand-ins: the seed. By default that of the run.
        seed: Option<u64>,
    }

    /// The state of the drive before the run.
    struct PreconditionKeys => pub Precondition {
        /// What is written beforehand: "none"; "touched", the pages that the workload reads before
        /// it writes them; "full"; or a share of all pages, 0 < x <= 1, from the first one on.
        fill: Fill,
        /// How a filled drive is worn in.
        age: Age,
    }

    /// The run, and what is kept of it where it is stored.
    struct RunKeys => pub(crate) Run {
        /// The seed of all random streams, 0 to 2^63 - 1.
        seed: u64,
        /// Whether a stored run has a row for each request.
        keep_requests: bool => Run,
        /// How much time a row of a stored run's series covers, such as "1s", at least 1us;
        /// "auto": as much as makes 1024 to 2048 rows.
        series_interval: Interval => Run,
    }
}

/// `reliability.correctable`.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Limits(pub(crate) [f64; 3]);

impl Field for Limits {
    fn read(node: &Node, path: &str, log: &mut Log) -> Option<Self> {
        let numbers = three(node, path, "three numbers", log)?;
        let [a, b, c] = numbers.each_ref().map(|node| f64::read(node, path, log));
        Some(Self([a?, b?, c?]))
    }

    fn schema() -> Json {
        json!({ "type": "array", "items": f64::schema(), "minItems": 3, "maxItems": 3 })
    }
}

impl Copy for Reliability {}
impl Copy for Ftl {}
impl Copy for GcMarks {}
impl Copy for Host {}
impl Copy for Buffer {}
impl Copy for Precondition {}

always! {
    Limits => [f64; 3], |limits| limits.0, |limits| json!(limits);
    NonZeroU64 => u64, NonZeroU64::get, |n| (*n).into();
    Any => Json, |any| any.0, Json::clone;
    Offset => Offset, |offset| offset, |offset| {
        let size = Bytes::new(offset.0.unsigned_abs());
        if offset.0 < 0 { format!("-{size}").into() } else { size.to_string().into() }
    };
    Interval => Option<Dur>, |interval| interval.0, |length| {
        length.map_or("auto".into(), |length| length.to_string().into())
    };
    Fill => Fill, |fill| fill, |fill| fill.to_json();
}

/// `timing.physics.steps`.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Steps(pub(crate) [u32; 3]);

impl Field for Steps {
    fn read(node: &Node, path: &str, log: &mut Log) -> Option<Self> {
        let numbers = three(node, path, "three whole numbers", log)?;
        let [a, b, c] = numbers.each_ref().map(|node| NonZeroU32::read(node, path, log));
        Some(Self([a?.get(), b?.get(), c?.get()]))
    }

    fn schema() -> Json {
        json!({ "type": "array", "items": NonZeroU32::schema(), "minItems": 3, "maxItems": 3 })
    }
}

/// The items of a list of three.
fn three<'a>(node: &'a Node, path: &str, expected: &str, log: &mut Log) -> Option<&'a [Node; 3]> {
    match &node.value {
        Value::List(nodes) => match <&[Node; 3]>::try_from(nodes.as_slice()) {
            Ok(nodes) => Some(nodes),
            Err(_) => wrong_type(node, path, expected, log),
        },
        _ => wrong_type(node, path, expected, log),
    }
}

/// `run.series-interval`.
#[derive(Clone, Debug)]
pub(crate) struct Interval(pub(crate) Option<Dur>);

impl Field for Interval {
    fn read(node: &Node, path: &str, log: &mut Log) -> Option<Self> {
        let Value::Text(text) = &node.value else {
            return Dur::read(node, path, log).map(|length| Self(Some(length)));
        };
        if text == "auto" {
            return Some(Self(None));
        }
        match text.parse() {
            Ok(length) => Some(Self(Some(length))),
            Err::<Dur, ParseDurError>(error) => {
                let message = format!("`{path}` is \"auto\" or a time, not \"{text}\"");
                wrong_value(&node.place, path, message, error.to_string(), log)
            }
        }
    }

    fn schema() -> Json {
        json!({ "anyOf": [{ "const": "auto" }, Dur::schema()] })
    }
}

impl Field for Fill {
    fn read(node: &Node, path: &str, log: &mut Log) -> Option<Self> {
        let words = FillWord::ALL.iter().map(|word| word.name());
        if let Value::Int(_) | Value::Float(_) = node.value {
            let share = f64::read(node, path, log)?;
            if share > 0.0 && share <= 1.0 {
                return Some(if share < 1.0 { Self::Share(share) } else { Self::Full });
            }
            let message = format!("`{path}` is {share}, not a share");
            let label = if share == 0.0 {
                "\"none\" leaves the drive empty"
            } else if share > 1.0 && share <= 100.0 {
                "above 0, at most 1: 90 % is 0.9"
            } else {
                "above 0, at most 1"
            };
            return wrong_value(&node.place, path, message, label, log);
        }
        let expected = format!("{} or a share", words.clone().collect::<Vec<_>>().join(", "));
        let Value::Text(text) = &node.value else {
            return wrong_type(node, path, &expected, log);
        };
        match FillWord::ALL.iter().find(|word| word.name() == text) {
            Some(FillWord::None) => Some(Self::None),
            Some(FillWord::Touched) => Some(Self::Touched),
            Some(FillWord::Full) => Some(Self::Full),
            None => {
                let label = match kernel::nearest(text, words) {
                    Some(near) => format!("did you mean \"{near}\"?"),
                    None => "a share is a number, such as 0.9".to_owned(),
                };
                let message = format!("`{path}` is {expected}, not \"{text}\"");
                wrong_value(&node.place, path, message, label, log)
            }
        }
    }

    fn schema() -> Json {
        let share = json!({ "type": "number", "exclusiveMinimum": 0, "maximum": 1 });
        json!({ "anyOf": [FillWord::schema(), share] })
    }
}

/// `timing.bus`.
#[derive(Clone, Debug)]
pub(crate) enum Bus {
    /// The array times contain the transfer.
    Included,
    /// A bus of its own.
    Modelled(Box<BusKeys>),
}

impl Field for Bus {
    fn read(node: &Node, path: &str, log: &mut Log) -> Option<Self> {
        match &node.value {
            Value::Text(text) if text == "included" => Some(Self::Included),
            Value::Text(text) => {
                let message = format!("`{path}` is \"included\" or a table, not \"{text}\"");
                let label = "such as { rate = \"333MT/s\", width-bits = 8, command = \"300ns\" }";
                wrong_value(&node.place, path, message, label, log)
            }
            Value::Table(_) => {
                BusKeys::read(node, path, log).map(|keys| Self::Modelled(Box::new(keys)))
            }
            _ => wrong_type(node, path, "\"included\" or a table", log),
        }
    }

    fn schema() -> Json {
        json!({ "anyOf": [{ "const": "included" }, BusKeys::schema()] })
    }

    fn list(path: &str, out: &mut Vec<(String, &'static str)>) {
        BusKeys::list(path, out);
    }
}

/// `[policies]`: one choice for each family that is given.
#[derive(Clone, Default, Debug)]
pub(crate) struct Choices(pub(crate) Vec<Choice>);

/// The policy chosen for one family.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    pub(crate) family: String,
    pub(crate) family_place: Place,
    pub(crate) name: String,
    pub(crate) name_place: Place,
    pub(crate) params: Map<String, Json>,
    /// Where the key and the value of each parameter stand.
    pub(crate) param_places: BTreeMap<String, (Place, Place)>,
}

impl Choices {
    /// Turns `family = "name"` into `family = { name = "name" }`, so that layers can be compared.
    pub(crate) fn normalise(families: &mut Table) {
        for entry in families.0.values_mut() {
            if let Value::Text(name) = &entry.node.value {
                let place = entry.node.place.clone();
                let node = Node { place: place.clone(), value: Value::Text(name.clone()) };
                let name = Entry { key: place, node };
                entry.node.value = Value::Table(Table([("name".to_owned(), name)].into()));
            }
        }
    }
}

impl Field for Choices {
    fn read(node: &Node, path: &str, log: &mut Log) -> Option<Self> {
        let families = table(node, path, log)?;
        let choices = families
            .0
            .iter()
            .filter_map(|(family, entry)| Choice::read(family, entry, &join(path, family), log));
        Some(Self(choices.collect()))
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

impl Choice {
    fn read(family: &str, entry: &Entry, path: &str, log: &mut Log) -> Option<Self> {
        let mut choice = Self {
            family: family.to_owned(),
            family_place: entry.key.clone(),
            name: String::new(),
            name_place: entry.node.place.clone(),
            params: Map::new(),
            param_places: BTreeMap::new(),
        };
        match &entry.node.value {
            Value::Text(name) => choice.name.clone_from(name),
            Value::Table(table) => {
                for (key, param) in &table.0 {
                    let path = join(path, key);
                    if key == "name" {
                        choice.name = String::read(&param.node, &path, log)?;
                        choice.name_place = param.node.place.clone();
                    } else {
                        choice.params.insert(key.clone(), Any::read(&param.node, &path, log)?.0);
                        let places = (param.key.clone(), param.node.place.clone());
                        choice.param_places.insert(key.clone(), places);
                    }
                }
            }
            _ => return wrong_type(&entry.node, path, "a policy's name or a table", log),
        }
        Some(choice)
    }
}

/// `[sources]`: the beginning of a key, and where the numbers under it come from.
#[derive(Clone, Default, Debug)]
pub(crate) struct Sources(pub(crate) BTreeMap<String, String>);

impl Sources {
    /// The source of the setting at `path`: the longest entry that covers it.
    pub(crate) fn of(&self, path: &str) -> Option<&str> {
        let covers = |prefix: &str| {
            path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let found = self.0.iter().filter(|(prefix, _)| covers(prefix));
        found.max_by_key(|(prefix, _)| prefix.len()).map(|(_, source)| source.as_str())
    }
}

impl Field for Sources {
    fn read(node: &Node, path: &str, log: &mut Log) -> Option<Self> {
        let mut entries = Vec::new();
        flatten(table(node, path, log)?, "", &mut entries);
        let mut known = Vec::new();
        DriveFile::list("", &mut known);
        known.push(("measured".into(), "What was measured on the chip"));
        MeasuredKeys::list("measured", &mut known);
        let families = Family::ALL.iter().map(|f| (format!("policies.{}", f.name()), f.question()));
        known.extend(families);
        let mut sources = BTreeMap::new();
        for (key, entry) in entries {
            if !known.iter().any(|(known, _)| *known == key) {
                let all: Vec<(&str, &'static str)> =
                    known.iter().map(|(path, doc)| (path.as_str(), *doc)).collect();
                unknown_source(&key, entry, &all, log);
                continue;
            }
            if let Some(source) = String::read(&entry.node, &join(path, &key), log) {
                sources.insert(key, source);
            }
        }
        Some(Self(sources))
    }

    fn schema() -> Json {
        json!({ "type": "object" })
    }
}

/// Reports a source for something that is not a setting.
fn unknown_source(key: &str, entry: &Entry, known: &[(&str, &'static str)], log: &mut Log) {
    let near = kernel::nearest(key, known.iter().map(|(path, _)| *path));
    let label = near.map_or(String::new(), |near| format!("did you mean \"{near}\"?"));
    let message = format!("`[sources]` speaks of \"{key}\", which is not a setting");
    let error = ConfigError::new(Kind::UnknownKey, message).at(&entry.key, label);
    log.fail(&join("sources", key), error);
}

/// `timing.erase` may be written with quotes, or without and then as a table of its own.
fn flatten<'a>(table: &'a Table, path: &str, out: &mut Vec<(String, &'a Entry)>) {
    for (key, entry) in &table.0 {
        let path = join(path, key);
        match &entry.node.value {
            Value::Table(table) => flatten(table, &path, out),
            _ => out.push((path, entry)),
        }
    }
}

//! The resolved drive: no text, nothing left open.

use super::field::words;
use super::keys::{
    BufferSettings, Controller, FtlSettings, Host, LinkSettings, Precondition, Reliability, Suspend,
};
use super::scale::Scale;
use kernel::{Bytes, Dur, hexadecimal};
use nand::{Each, Mode, ModeSpec};
use policies::PolicySet;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::num::NonZeroU32;

/// A drive and all settings of a run, except the workload's requests. It is checked and computed:
/// no unit is left in a text and no default is left open.
#[derive(Clone, Debug)]
pub struct Drive {
    /// Its name in results.
    pub name: String,
    /// The drive in one line; may be empty.
    pub summary: String,
    /// The array.
    pub geometry: nand::Geometry,
    /// Times of the operations.
    pub timing: nand::Timing,
    /// The cost of reads with more sensings.
    pub soft_reads: nand::SoftReads,
    /// The transfers that go first on a channel that becomes free, if that is modelled.
    pub channel_first: ChannelFirst,
    /// How a program or an erase makes way for reads; `None`: it does not.
    pub suspend: Option<Suspend>,
    /// The operations that use the cache register; `None`: there is none.
    pub cache: Option<Cache>,
    /// Whether times depend on the cost level at which a page was written.
    pub has_levels: bool,
    /// Energies of the operations, if the drive file gives them.
    pub energy: Option<nand::Energies>,
    /// Blocks whose cells hold one bit, if the drive file has them.
    pub single: Option<ModeSpec>,
    /// Pages that the drive exports.
    pub logical_pages: u32,
    /// (P − L) / L of physical and logical pages.
    pub over_provisioning: f64,
    /// (P − L) / P of physical and logical pages.
    pub spare_factor: f64,
    /// The flash translation layer.
    pub ftl: FtlSettings,
    /// How requests arrive.
    pub host: Host,
    /// The link between host and drive.
    pub link: LinkSettings,
    /// The controller.
    pub controller: Controller,
    /// The write buffer.
    pub buffer: BufferSettings,
    /// Settings for generators, and changes of addresses.
    pub workload: DriveWorkload,
    /// The state before the run.
    pub precondition: Precondition,
    /// Endurance and the model of the cells.
    pub reliability: Reliability,
    /// The chosen policies.
    pub policies: PolicySet,
    /// The seed of all random streams, below 2^63.
    pub seed: u64,
    /// The records that a stored run keeps.
    pub recording: Recording,
    /// Pages programmed while the drive is aged, from one checkpoint to the next. There is no
    /// setting for it.
    pub checkpoint: u64,
    /// Present if a part of the blocks of each plane is simulated.
    pub scale: Option<Scale>,
    /// Present if a run is to estimate years ([`Drive::for_years`]). There is no setting for it.
    pub years: Option<Years>,
    /// The digest of the code that runs it. It is [`BUILD`](crate::BUILD), unless the program that
    /// embeds the engine has code of its own that shapes results.
    pub build: String,
    /// The source of each setting: the `[sources]` entry of the file that wrote it, else
    /// `drive file`, `base NAME`, `chip NAME`, `--set`, `--policy`, `--seed` or `default`.
    pub sources: BTreeMap<String, String>,
    /// Whether the command line sets the arrival times of requests; it then does so for every
    /// workload.
    pub insists_on_mode: bool,
    /// The whole resolved configuration as a drive file: kebab-case, units as text. Loading it
    /// gives an equal drive.
    pub resolved: Value,
}

impl Drive {
    /// The times, energies, endurance and errors of every mode of its blocks.
    pub fn modes(&self) -> Each<Mode, ModeSpec> {
        let full = ModeSpec::full(self.timing.clone(), self.energy.clone());
        ModeSpec::of_modes(&full, self.single.as_ref())
    }

    /// Whether no policy moves data because of the cells. Such moves may happen when no request is
    /// inside.
    pub(crate) fn is_quiet(&self) -> bool {
        let policies = self.policies.to_json();
        ["read-disturb", "wear"].iter().all(|family| policies[*family]["name"] == "none")
    }

    /// Cycles that a block endures in the run. With the model of the cells, cycles before the run
    /// count too.
    pub fn endurance_left(&self) -> u32 {
        let r = &self.reliability;
        if r.model_on() { r.endurance - r.initial_cycles } else { r.endurance }
    }

    /// `sha256:…` over the resolved configuration with its keys in order and no space between:
    /// equal for equal drives, however they were written.
    pub fn hash(&self) -> String {
        let mut resolved = self.resolved.clone();
        resolved.sort_all_objects();
        format!("sha256:{}", hexadecimal(&Sha256::digest(resolved.to_string())))
    }
}

/// The settings of a drive file for the workload.
#[derive(Clone, PartialEq, Debug)]
pub struct DriveWorkload {
    /// Bytes that every address is moved by; negative: towards zero.
    pub shift: i64,
    /// Keys of [`workload::Generator`] as given, without `pattern`, which the caller adds.
    pub generator: Map<String, Value>,
}

/// The data written before the run.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Fill {
    /// Nothing.
    None,
    /// The pages that the workload reads before it writes them.
    Touched,
    /// This share of the pages, 0 < x < 1, from the first one on.
    Share(f64),
    /// Every page.
    Full,
}

impl Fill {
    /// Whether pages are written in the order of their addresses, under every workload.
    pub(crate) fn is_in_order(self) -> bool {
        matches!(self, Self::Share(_) | Self::Full)
    }

    /// The words in the drive file.
    pub(crate) const WORDS: [(&str, Self); 3] =
        [("none", Self::None), ("touched", Self::Touched), ("full", Self::Full)];
}

/// The blocks that are opened, filled, collected and erased as one.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Superblock {
    /// Those that one command programs.
    PlaneGroup,
    /// Those of all planes of a die.
    Die,
    /// Those of all planes of the drive.
    Drive,
    /// Those of all planes of this number of dies.
    Dies(u32),
}

/// The condition at which collection begins.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum GcTrigger {
    /// Too few free blocks.
    FreeBlocks,
    /// This share of the written pages of a plane is invalid: with each write request it collects one block.
    Garbage(f64),
}

impl Interruptible {
    /// Whether programs make way.
    pub(crate) fn programs(self) -> bool {
        matches!(self, Self::All | Self::Programs)
    }

    /// Whether erases make way.
    pub(crate) fn erases(self) -> bool {
        matches!(self, Self::All | Self::Erases)
    }
}

impl Superblock {
    /// The words in the drive file.
    pub(crate) const WORDS: [(&str, Self); 3] =
        [("plane-group", Self::PlaneGroup), ("die", Self::Die), ("drive", Self::Drive)];

    /// The dies of a superblock; `None`: each block is collected by itself.
    pub(crate) fn dies(self, geometry: &nand::Geometry) -> Option<u32> {
        match self {
            Self::PlaneGroup => None,
            Self::Die => Some(1),
            Self::Drive => Some(geometry.dies() as u32),
            Self::Dies(dies) => Some(dies),
        }
    }
}

impl Reliability {
    /// Whether the physics of the cells is simulated.
    pub fn model_on(&self) -> bool {
        self.model == Model::On
    }

    /// The error rates that 1, 3 and 7 sensings at each boundary correct.
    ///
    /// # Panics
    ///
    /// Panics if `correctable` was changed to a list that is not valid.
    pub fn ldpc(&self) -> nand::physics::Ldpc {
        limits(self.correctable).expect("checked when it was read")
    }

    /// The drive's cells.
    pub fn cell(&self, geometry: &nand::Geometry) -> nand::physics::Cell {
        nand::physics::Cell::new(geometry.shape().bits_per_cell, f64::from(self.endurance))
    }

    /// Its codewords, and the number of errors that the finest sensing corrects in one.
    pub fn code(&self) -> (nand::physics::Codeword, u32) {
        let bits = self.codeword.get() as u32 * 8;
        let code = nand::physics::Codeword::new(bits, self.code_rate);
        (code, code.errors_corrected(self.ldpc().correctable(2), self.uber))
    }

    /// READY's equations with the constants that were chosen.
    pub fn equations(&self) -> nand::physics::Recovery {
        match self.recovery {
            RecoveryConstants::Printed => nand::physics::Recovery::PRINTED,
            RecoveryConstants::Fitted => nand::physics::Recovery::FITTED,
        }
    }
}

/// A code that corrects these rates, if the rates are valid.
pub(crate) fn limits(correctable: [f64; 3]) -> Option<nand::physics::Ldpc> {
    nand::physics::Ldpc::new(nand::physics::Ldpc::DEFAULT.all_sensings(), correctable)
}

/// The records that a stored run keeps beside its result and its blocks.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Recording {
    /// A row for each request.
    pub requests: bool,
    /// How much time a row of the series covers, at least [`SHORTEST`]; `None`: as much as makes
    /// 1024 to 2048 rows.
    pub series_interval: Option<Dur>,
    /// Snapshots of the drive at instants of the run. There is no setting for it: the caller asks
    /// for these tables.
    pub snapshots: bool,
}

/// The shortest time that a row of the series covers.
pub const SHORTEST: Dur = Dur::us(1);

words! {
    /// The unit of mapping.
    pub enum Mapping {
        /// A map entry for each page.
        Page = "page",
    }

    /// The cost of a read of a page that holds no data.
    pub enum UnmappedRead {
        /// Like any other read.
        Flash = "flash",
        /// Nothing: it is answered without flash.
        Zero = "zero",
    }

    /// The programs that go to several planes of a die together.
    pub enum MultiPlane {
        /// None.
        Off = "off",
        /// Those at the same position of their planes.
        Aligned = "aligned",
        /// Any of different planes.
        Any = "any",
    }

    /// The pages of a block that one command programs.
    pub enum Program {
        /// One.
        Page = "page",
        /// All of a wordline.
        Wordline = "wordline",
        /// Half of a wordline's.
        TwoStep = "two-step",
    }

    /// How far data of different placement handles stay apart.
    pub enum Isolation {
        /// Until they are moved.
        Initial = "initial",
        /// For good.
        Persistent = "persistent",
    }

    /// The transfers that go first on a channel that becomes free.
    pub enum ChannelFirst {
        /// Commands of new operations, then data that dies have sensed.
        Commands = "commands",
        /// Data that dies have sensed, then commands of new operations.
        Data = "data",
    }

    /// The operations that use the cache register of a die.
    pub enum Cache {
        /// Reads.
        Reads = "reads",
        /// Programs.
        Programs = "programs",
        /// Both.
        All = "all",
    }

    /// The operations that make way for reads of the host.
    pub enum Interruptible {
        /// Programs and erases.
        All = "all",
        /// Programs.
        Programs = "programs",
        /// Erases.
        Erases = "erases",
        /// None: as without the section.
        None = "none",
    }

    /// The orders of the passes of the generator `permutation`.
    pub enum PermutationOrder {
        /// Each pass has an order of its own.
        Redrawn = "redrawn",
        /// All passes have the order of the first.
        Repeated = "repeated",
    }

    /// How the data of an ended conversation become invalid, in the generator `kv-offload`.
    pub enum OffloadEviction {
        /// The next conversation writes over them.
        Overwrite = "overwrite",
        /// The host trims them.
        Trim = "trim",
    }

    /// Whether the link carries data both ways at once.
    pub enum Duplex {
        /// It does.
        Full = "full",
        /// It does not.
        Half = "half",
    }

    /// When a write is done for the host, if there is a buffer.
    pub enum BufferKind {
        /// There is none.
        None = "none",
        /// When it is in the buffer.
        WriteBack = "write-back",
        /// When it survives a loss of power.
        WriteThrough = "write-through",
    }

    /// The cost of a read whose page is still on its way to flash.
    pub enum PendingRead {
        /// The wait for its program, and a read.
        Wait = "wait",
        /// Nothing in flash: the controller has the data.
        Memory = "memory",
    }

    /// The free block that a write opens.
    pub enum FreeBlock {
        /// The one that has been free longest.
        Oldest = "oldest",
        /// The one with the fewest cycles.
        LeastWorn = "least-worn",
    }

    /// How fast a plane that has too few free blocks collects.
    pub enum GcPacing {
        /// As fast as it can.
        Burst = "burst",
        /// As the host writes.
        PerWrite = "per-write",
    }

    /// How much a plane that has too few free blocks collects before it waits for idle time.
    pub enum Foreground {
        /// Until enough are free.
        All = "all",
        /// One block at a time.
        One = "one",
    }

    /// Whether programs get quicker as blocks wear.
    pub enum ProgramSpeed {
        /// No: they take the time of the drive's file.
        Fresh = "fresh",
        /// Yes, as was measured.
        Wear = "wear",
    }

    /// When requests arrive.
    pub enum HostMode {
        /// Open loop: at their recorded times.
        Timestamps = "timestamps",
        /// At recorded times plus the throttle delay injected so far.
        Shifted = "shifted",
        /// Closed loop: when a place in the queue is free.
        QueueDepth = "queue-depth",
        /// The recorded gap after the previous completion.
        ThinkTime = "think-time",
    }

    /// How a filled drive is worn in, until its write amplification is steady.
    pub enum Age {
        /// Not at all.
        None = "none",
        /// By uniformly random writes.
        Random = "random",
        /// By the workload's own writes.
        Workload = "workload",
    }

    /// Constants of READY's self-recovery equations.
    pub enum RecoveryConstants {
        /// As the paper prints them.
        Printed = "printed",
        /// Fitted to the paper's Table 2; holds for 2.8 to 25 hours between cycles.
        Fitted = "fitted",
    }

    /// With how many sensings a read begins.
    pub enum ReadStart {
        /// With one.
        Lowest = "lowest",
        /// With as many as the last read of the block and page type took.
        Last = "last",
        /// With as many as it needs: the controller knows the page's errors.
        Needed = "needed",
    }

    /// The fate of a block with a page that cannot be read.
    pub enum Uncorrectable {
        /// Its other pages are moved, and it is retired.
        Retire = "retire",
        /// Nothing.
        Keep = "keep",
    }

    /// Whether the physics of the cells is simulated.
    pub enum Model {
        /// It is not.
        Off = "off",
        /// It is.
        On = "on",
    }
}

/// A run that is to estimate years.
#[derive(Clone, Debug)]
pub struct Years {
    /// The whole drive, whose years are estimated.
    pub whole: Box<Drive>,
    /// The simulated drive is one of this number of equal parts.
    pub of: NonZeroU32,
    /// The relation of the workload to the whole drive, if a part of it is simulated.
    pub(crate) load: Option<WorkloadDemand>,
    /// Why there is no model of the cells; `None`: there is one.
    pub unmodelled: Option<String>,
}

/// The relation of a workload to a whole drive.
#[derive(Copy, Clone, Debug)]
pub(crate) struct WorkloadDemand {
    /// The bytes that it writes.
    pub(crate) written: u64,
    /// Its requests.
    pub(crate) requests: u64,
}

impl Drive {
    /// The bytes that the addresses of a workload may have: those that the drive exports, or the whole
    /// drive if it is scaled down.
    pub fn addresses(&self) -> Bytes {
        self.scale.as_ref().map_or_else(|| capacity(self), Scale::whole_capacity)
    }

    /// The drive as seen by generators whose requests are sampled together with others. It is the
    /// whole drive, with one address for each mapping unit. `None` if it has too many units.
    pub fn for_sampling(&self) -> Option<Self> {
        let Some(scale) = &self.scale else { return Some(self.clone()) };
        let logical_pages = u32::try_from(scale.whole_logical_pages).ok()?;
        Some(Self { logical_pages, scale: None, ..self.clone() })
    }
}

/// The bytes that a drive exports.
pub fn capacity(drive: &Drive) -> Bytes {
    Bytes::new(u64::from(drive.logical_pages) * drive.geometry.page_size().get())
}

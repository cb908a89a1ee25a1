//! The list of formats. A reader joins here.

use std::fmt;
use std::str::FromStr;

use super::alibaba::Alibaba;
use super::blkparse::Blkparse;
use super::csv::Csv;
use super::disksim::Disksim;
use super::fio::Fio;
use super::msps::Msps;
use super::msr::Msr;
use super::record::Parser;
use super::spc::Spc;
use super::ssdsim::Ssdsim;
use super::systor::Systor;
use super::tencent::Tencent;
use super::vscsi::Vscsi;
use super::wiscsee::Wiscsee;

/// A format of trace.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Format {
    /// Five columns, whole nanoseconds, 1 = read.
    SsdsimAscii,
    /// Five columns, decimal milliseconds, flags.
    DisksimAscii,
    /// Seven columns of CSV from Microsoft Research Cambridge.
    Msr,
    /// Events of Windows as text, from Microsoft's production servers.
    Msps,
    /// Five columns of CSV from the Storage Performance Council (`UMass`).
    Spc,
    /// Binary records of 32 bytes from `CloudPhysics`.
    Vscsi,
    /// Five columns of CSV from Alibaba's cloud.
    Alibaba,
    /// Five columns of CSV from Tencent's cloud.
    Tencent,
    /// Six columns of CSV from Fujitsu (SYSTOR '17).
    Systor,
    /// The text that `blkparse` prints.
    Blkparse,
    /// Eight columns that `WiscSee` makes of it.
    Wiscsee,
    /// An I/O log of fio, version 2 or 3.
    Fio,
    /// Any columns, as the user names them.
    Csv,
}

/// What is done with a format's parser, once it is known which one that is.
pub(crate) trait Visit {
    type Answer;

    fn visit<P: Parser>(self) -> Self::Answer;
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 13] = [
        Self::SsdsimAscii,
        Self::DisksimAscii,
        Self::Msr,
        Self::Msps,
        Self::Spc,
        Self::Vscsi,
        Self::Alibaba,
        Self::Tencent,
        Self::Systor,
        Self::Blkparse,
        Self::Wiscsee,
        Self::Fio,
        Self::Csv,
    ];

    /// The name used on the command line and in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SsdsimAscii => "ssdsim-ascii",
            Self::DisksimAscii => "disksim-ascii",
            Self::Msr => "msr",
            Self::Msps => "msps",
            Self::Spc => "spc",
            Self::Vscsi => "vscsi",
            Self::Alibaba => "alibaba",
            Self::Tencent => "tencent",
            Self::Systor => "systor",
            Self::Blkparse => "blkparse",
            Self::Wiscsee => "wiscsee",
            Self::Fio => "fio",
            Self::Csv => "csv",
        }
    }

    /// What the format holds, in a few words.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::SsdsimAscii => {
                "whole nanoseconds, device, first sector, sectors, 1 = read (SSDSim, MQSim)"
            }
            Self::DisksimAscii => {
                "decimal milliseconds, device, first sector, sectors, flags with bit 0 = read (DiskSim)"
            }
            Self::Msr => {
                "file time in 100 ns, host, disk, type, offset, size, response (MSR Cambridge)"
            }
            Self::Msps => {
                "DiskRead and DiskWrite events in microseconds (Microsoft servers, xperf)"
            }
            Self::Spc => "storage unit, first block, bytes, r or w, decimal seconds (UMass, SPC)",
            Self::Vscsi => "binary records with microseconds and blocks of 512 B (CloudPhysics)",
            Self::Alibaba => "device, R or W, offset, length, microseconds (Alibaba block traces)",
            Self::Tencent => {
                "whole seconds, first sector, sectors, 0 = read, volume (Tencent block storage)"
            }
            Self::Systor => {
                "decimal seconds, response, R or W, LUN, offset, size (Fujitsu, SYSTOR '17)"
            }
            Self::Blkparse => "events of the Linux block layer as text (blktrace, blkparse)",
            Self::Wiscsee => {
                "pid, event, operation, offset, size, decimal seconds, gap, sync (WiscSee)"
            }
            Self::Fio => "the log that fio writes with write_iolog, version 2 or 3",
            Self::Csv => "columns of your own, named with --columns",
        }
    }

    /// The one place that knows every format's parser.
    pub(crate) fn visit<V: Visit>(self, visit: V) -> V::Answer {
        match self {
            Self::SsdsimAscii => visit.visit::<Ssdsim>(),
            Self::DisksimAscii => visit.visit::<Disksim>(),
            Self::Msr => visit.visit::<Msr>(),
            Self::Msps => visit.visit::<Msps>(),
            Self::Spc => visit.visit::<Spc>(),
            Self::Vscsi => visit.visit::<Vscsi>(),
            Self::Alibaba => visit.visit::<Alibaba>(),
            Self::Tencent => visit.visit::<Tencent>(),
            Self::Systor => visit.visit::<Systor>(),
            Self::Blkparse => visit.visit::<Blkparse>(),
            Self::Wiscsee => visit.visit::<Wiscsee>(),
            Self::Fio => visit.visit::<Fio>(),
            Self::Csv => visit.visit::<Csv>(),
        }
    }

    /// Every name, for messages.
    pub(crate) fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|f| f.name() == text)
            .ok_or_else(|| format!("`{text}` is not a trace format; known are {}", Self::names()))
    }
}

//! How long a flash operation takes.

use crate::{Command, Each, Level};
use kernel::Dur;

/// The bus of a channel.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Bus {
    /// The array times contain the transfer; the channel is never busy.
    Included,
    /// Commands and data occupy the channel.
    Modelled {
        /// Command and address cycles before each operation.
        command: Dur,
        /// Transfer of one mapping unit: a page, or a part of one.
        page: Dur,
    },
}

/// The parts of a command's time. The array's part follows the first turn on the channel at once.
/// The second turn is requested when the array is done.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Segments {
    /// On the channel: command cycles, and data on its way into the die.
    pub before: Dur,
    /// In the array. A program or an erase may be interrupted here.
    pub array: Dur,
    /// On the channel: data on its way out.
    pub after: Dur,
}

impl Bus {
    /// The command cycles of an operation and the transfer of a page: nothing where the array times
    /// contain them.
    pub fn parts(self) -> (Dur, Dur) {
        match self {
            Self::Included => (Dur::ZERO, Dur::ZERO),
            Self::Modelled { command, page } => (command, page),
        }
    }

    /// The parts of a command on this bus.
    #[inline]
    pub fn segments(self, command: &Command) -> Segments {
        let array = command.array;
        match self {
            Self::Included => Segments { before: Dur::ZERO, array, after: Dur::ZERO },
            Self::Modelled { command: cycles, page } => Segments {
                before: cycles + page * u64::from(command.pages_in),
                array,
                after: page * u64::from(command.pages_out),
            },
        }
    }
}

/// The times of a drive's operations by page type (0 = least significant bit) and cost level.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Timing {
    /// Array time of a read, by the level at which the page was written and by page type.
    pub read: Each<Level, [Dur; 4]>,
    /// Array time of a read of a part of its page, by page type.
    pub read_partial: Option<[Dur; 4]>,
    /// Array time of a program, by level and page type.
    pub program: Each<Level, [Dur; 4]>,
    /// Time of an erase.
    pub erase: Dur,
    /// The channel.
    pub bus: Bus,
}

impl Timing {
    /// The same times for every level and page type.
    pub fn uniform(read: Dur, program: Dur, erase: Dur, bus: Bus) -> Self {
        let (read, program) = (Each::filled([read; 4]), Each::filled([program; 4]));
        Self { read, read_partial: None, program, erase, bus }
    }

    /// Array time of reading a page of this type, written at this level.
    #[inline]
    pub fn read(&self, level: Level, page_type: usize) -> Dur {
        self.read[level][page_type]
    }

    /// Array time of reading a part of a page of this type, written at this level.
    #[inline]
    pub fn read_part(&self, level: Level, page_type: usize) -> Dur {
        self.read_partial.map_or_else(|| self.read(level, page_type), |times| times[page_type])
    }

    /// Array time of programming a page of this type at this level.
    #[inline]
    pub fn program(&self, level: Level, page_type: usize) -> Dur {
        self.program[level][page_type]
    }

    /// The same times with every read and every program as quick as at its cheapest level, which no
    /// device can do.
    #[must_use]
    pub fn ideal(&self) -> Self {
        let least = |times: &Each<Level, [Dur; 4]>| {
            let of = |t: usize| times.values().map(|level| level[t]).min().expect("levels");
            Each::filled(std::array::from_fn(of))
        };
        Self { read: least(&self.read), program: least(&self.program), ..self.clone() }
    }
}

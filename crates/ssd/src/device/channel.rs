//! Channels: the turns of dies on the bus that they share.

use crate::server::Server;
use kernel::{Dur, Time};
use nand::DieId;
use std::collections::VecDeque;

/// One channel.
///
/// Commands, and data on its way into a die, go before data that dies have sensed. A die that is
/// done gets its next command at once and senses while the others send. In order of arrival, the
/// command would wait behind all ready data, and the dies would sense in lockstep while the bus is
/// idle. So sensed data gets its turns one at a time: the next one when the one before has been
/// sent.
///
/// A drive may have the opposite order (`timing.bus.first = "data"`). Then all turns are given one
/// at a time, and commands have theirs when no data waits.
#[derive(Clone, Default, Debug)]
pub(crate) struct Channel {
    /// The turns that were given.
    turns: Server,
    /// Some die has the turn, of the turns that are given one at a time.
    taken: bool,
    /// Dies with data to send, in the order in which they sensed it.
    data: VecDeque<DieId>,
    /// If data goes first: dies with a command to begin, in the order in which they asked.
    commands: VecDeque<DieId>,
}

impl Channel {
    /// Gives the next turn to a transfer that takes `length`. Returns when it ends.
    #[inline]
    pub(crate) fn take(&mut self, now: Time, length: Dur) -> Time {
        self.turns.take(now, length)
    }

    /// The busy time before an instant after which no turn was given.
    pub(crate) fn busy_until(&self, at: Time) -> Dur {
        self.turns.busy_until(at)
    }

    /// A die has sensed. Returns whether its turn to send has come. If not, it waits for
    /// [`Channel::pass_on`].
    pub(crate) fn ask_to_send(&mut self, die: DieId) -> bool {
        if self.taken {
            self.data.push_back(die);
        }
        !std::mem::replace(&mut self.taken, true)
    }

    /// The same for a die that is to begin a command, if data goes first.
    pub(crate) fn ask_to_begin(&mut self, die: DieId) -> bool {
        if self.taken {
            self.commands.push_back(die);
        }
        !std::mem::replace(&mut self.taken, true)
    }

    /// A die's turn is over. Returns the die whose turn it is now.
    pub(crate) fn pass_on(&mut self) -> Option<DieId> {
        let next = self.data.pop_front().or_else(|| self.commands.pop_front());
        self.taken = next.is_some();
        next
    }
}

//! The way into and out of the write buffer: one transfer after the other, at the buffer's rate,
//! and each answered after its latency. If a request has no data, the request itself is
//! transferred.

use crate::config;
use crate::server::Server;
use kernel::{Bandwidth, Bytes, Dur, Time};
use std::collections::VecDeque;

/// A transfer on its way.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Transfer {
    /// The data of an operation, and the place that a write goes to; none for a read.
    Data { op: u32, place: Option<u32> },
    /// A request without data, and when it came.
    Command { id: u32, since: Time },
}

/// The port of a buffer.
pub(crate) struct Port {
    latency: Dur,
    /// Before the data of each transfer.
    access: Dur,
    rate: Option<Bandwidth>,
    way: Server,
    /// The transfers on their way, in the order of their end.
    queue: VecDeque<(Time, Transfer)>,
}

impl Port {
    pub(crate) fn new(settings: &config::BufferSettings) -> Self {
        let &config::BufferSettings { latency, rate, access, .. } = settings;
        let access = access.unwrap_or(Dur::ZERO);
        Self { latency, access, rate, way: Server::default(), queue: VecDeque::new() }
    }

    /// Whether transfers take time at all.
    #[inline]
    pub(crate) fn takes_time(&self) -> bool {
        self.rate.is_some() || self.latency + self.access > Dur::ZERO
    }

    /// A transfer of this many bytes begins behind those that are on their way.
    pub(crate) fn begin(&mut self, transfer: Transfer, bytes: Bytes, now: Time) {
        let takes = self.rate.map_or(Dur::ZERO, |rate| rate.time(bytes).max(Dur::ns(1)));
        self.queue.push_back((self.way.take(now, self.access + takes) + self.latency, transfer));
    }

    /// How long it was busy up to now.
    pub(crate) fn busy_until(&self, now: Time) -> Dur {
        self.way.busy_until(now)
    }

    /// When the first of all ends.
    pub(crate) fn next(&self) -> Option<Time> {
        self.queue.front().map(|&(at, _)| at)
    }

    /// The first transfer has ended.
    pub(crate) fn end(&mut self) -> Transfer {
        self.queue.pop_front().expect("a transfer is on its way").1
    }
}

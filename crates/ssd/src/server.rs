//! A server that takes one job at a time, in order of arrival: a channel, a link, a core.

use kernel::{Dur, Time};

/// Serves one job after the other.
#[derive(Copy, Clone, Default, Debug)]
pub(crate) struct Server {
    /// When all jobs so far will be done.
    free_at: Time,
    /// The total time of all jobs.
    busy: Dur,
}

impl Server {
    /// A job of `length` comes. Returns when it is done.
    #[inline]
    pub(crate) fn take(&mut self, now: Time, length: Dur) -> Time {
        self.free_at = self.free_at.max(now) + length;
        self.busy += length;
        self.free_at
    }

    /// When it is free.
    pub(crate) fn free_at(&self) -> Time {
        self.free_at
    }

    /// How long it was busy before an instant after which no job has come: jobs follow one another
    /// until it is free.
    pub(crate) fn busy_until(&self, at: Time) -> Dur {
        self.busy - self.free_at.since(at)
    }
}

/// A server that takes one job at a time is busy no longer than the run lasts.
///
/// # Panics
/// It was.
pub(crate) fn assert_within(busy: Dur, run: Time, what: &str, at: usize) {
    let lasted = run - Time::ZERO;
    assert!(busy <= lasted, "conservation broken: {what} {at} was busy for {busy} in {lasted}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_follow_one_another_and_count_as_far_as_they_have_come() {
        let mut server = Server::default();
        let at = Time::from_ns;
        assert_eq!(server.take(at(100), Dur::ns(50)), at(150));
        assert_eq!(server.take(at(110), Dur::ns(50)), at(200));
        assert_eq!(server.take(at(300), Dur::ns(10)), at(310));
        let busy = |until| server.busy_until(at(until));
        assert_eq!([busy(300), busy(304), busy(310), busy(400)], [100, 104, 110, 110].map(Dur::ns));
        assert_within(busy(304), at(304), "server", 0);
    }

    #[test]
    #[should_panic(expected = "conservation broken: server 3 was busy for 101ns in 100ns")]
    fn no_server_is_busy_longer_than_the_run() {
        assert_within(Dur::ns(101), Time::from_ns(100), "server", 3);
    }
}

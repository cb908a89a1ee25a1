//! The interface of a drive in simulated time, for parts that push requests into it.

use super::Completion;
use kernel::{Dur, Time};
use workload::Request;

/// A drive that takes requests. The feeder and the arbiter use nothing else of it.
pub(crate) trait DriveInterface {
    /// The simulated time.
    fn now(&self) -> Time;

    /// Requests inside.
    fn inside(&self) -> u32;

    /// Takes a request that arrives now. Returns how long the throttle holds it back.
    fn submit(&mut self, request: &Request, token: u32) -> Dur {
        self.submit_arrived(request, self.now(), token)
    }

    /// Takes a request that arrived before and waited outside. Returns how long the throttle holds it back.
    fn submit_arrived(&mut self, request: &Request, arrived: Time, token: u32) -> Dur;

    /// The next request that is done and was not reported yet.
    fn take_done(&mut self) -> Option<Completion>;

    /// Returns to the caller at this time; `None`: only when a request is done.
    fn wake_at(&mut self, at: Option<Time>);

    /// The time that [`DriveInterface::wake_at`] has set.
    fn wakes_at(&self) -> Option<Time>;

    /// No more requests come.
    fn close(&mut self);

    /// Loads the map entry of the first page of a request that comes soon into the processor's cache.
    fn prefetch(&self, offset: u64);

    /// Loads into the processor's cache the entries that change when that page is written over.
    fn prefetch_copy(&self, offset: u64);
}

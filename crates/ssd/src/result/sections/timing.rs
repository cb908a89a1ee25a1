//! The speed of the simulator.

use super::SectionAbout;
use crate::result::WallTimes;
use crate::result::evidence::Evidence;
use crate::result::shape::table;
use ftl::PolicyTypes;

pub(crate) const ABOUT: SectionAbout = SectionAbout::section(
    "The speed of the simulator, not of the drive. Only these numbers differ between equal runs. \
     The speed of the drive is `host.all.requests` divided by `simulated_seconds`.",
);

pub(crate) type Section = Speed;

table! {
    /// The speed of the simulator.
    struct Speed {
        /// The time on the clock from when the workload is open, preconditioning included.
        wall_seconds: f64, "s";
        /// The processor time of the simulating thread in that time. It covers the engine, the
        /// reading of the trace and policies in Python. Null in results of earlier versions.
        cpu_seconds: f64, "s", later null;
        /// Page operations for each second on the clock after preconditioning.
        page_ops_per_second: f64, "per s";
        /// Requests for each second on the clock after preconditioning. Null in results of earlier
        /// versions.
        requests_per_second: f64, "per s", later null;
    }
}

/// The caller measures it later.
pub(crate) fn of<K: PolicyTypes>(e: &Evidence<'_, K>) -> Section {
    Speed::of(WallTimes::default(), e.page_operations(), e.stats.served)
}

impl Speed {
    pub(crate) fn of(took: WallTimes, page_operations: u64, served: u64) -> Self {
        let by_second = |n: u64| if took.running > 0.0 { n as f64 / took.running } else { 0.0 };
        Self {
            wall_seconds: took.wall,
            cpu_seconds: took.cpu,
            page_ops_per_second: by_second(page_operations),
            requests_per_second: by_second(served),
        }
    }
}

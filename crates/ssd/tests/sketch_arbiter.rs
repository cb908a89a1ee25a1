//! Two flows with an arbiter before the drive's interface. Files outside of this one: none.
//!
//! Each flow always has a request ready; the arbiter keeps eight inside the drive, and gives the
//! next place to the flow that had the least for its weight. The law: of requests of equal size,
//! shares are those of the weights. The wait inside is the same for each, because the drive does
//! not distinguish them.

use crate::common::{self, policies_of};
use floatgate_ssd::ftl_of;
use floatgate_ssd::sim::{Sim, Turn};
use kernel::{Dur, Prio, Time};
use workload::{Op, Request};

const DEPTH: u32 = 8;
const REQUESTS: u64 = 40_000;

#[test]
fn two_flows_share_a_drive_by_their_weights() {
    for weights in [[1_u64, 1], [1, 2], [1, 4]] {
        let drive = common::drive::<&str>(&[]);
        let mut sim = Sim::new(&drive, ftl_of(&drive, policies_of(&drive)));
        let mut given = [0_u64; 2];
        let mut done = [0_u64; 2];
        let mut latency = [Dur::ZERO; 2];
        let mut inside = 0;
        let mut next = 0_u64;
        while done[0] + done[1] < REQUESTS {
            while inside < DEPTH {
                let first = given[0] * weights[1] <= given[1] * weights[0];
                let flow = usize::from(!first);
                let offset = next * 4099 % u64::from(drive.logical_pages) * 4096;
                let op = if next % 3 == 0 { Op::Write } else { Op::Read };
                let at = Time::ZERO;
                let request =
                    Request { at, offset, len: 4096, op, prio: Prio::Normal, flow: 0, hint: 0 };
                let held = sim.submit(&request, flow as u32);
                assert_eq!(held, Dur::ZERO, "nothing throttles");
                (given[flow], next, inside) = (given[flow] + 1, next + 1, inside + 1);
            }
            let at = sim.next_at().expect("there are requests inside");
            assert!(at >= sim.now());
            assert_eq!(sim.advance(None), Turn::Done);
            while let Some(completion) = sim.take_done() {
                done[completion.token as usize] += 1;
                latency[completion.token as usize] += completion.latency;
                inside -= 1;
            }
            assert_eq!(sim.inside(), inside);
        }
        sim.close();
        while sim.advance(None) != Turn::Idle {
            while sim.take_done().is_some() {}
        }
        assert_eq!(sim.inside(), 0);
        let share = done[1] as f64 / done[0] as f64;
        let wanted = weights[1] as f64 / weights[0] as f64;
        assert!((share / wanted - 1.0).abs() < 0.002, "{weights:?}: {share}");
        let mean = |flow: usize| latency[flow].as_ns() as f64 / done[flow] as f64;
        assert!((mean(0) / mean(1) - 1.0).abs() < 0.05, "{weights:?}");
    }
}

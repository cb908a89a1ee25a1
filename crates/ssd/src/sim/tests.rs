//! A die that reports failures: an operation that fails comes back to the FTL as failed, from every
//! owner.

use super::Sim;
use crate::config::{Layers, load};
use crate::ops::PageOp;
use kernel::{Prio, Rng, Time};
use nand::{Outcome, Verb};
use policies::Builtin;
use std::panic::{AssertUnwindSafe, catch_unwind};
use workload::{Op, Request};

const DRIVE: &str = r#"
[geometry]
channels = 1
chips-per-channel = 1
dies-per-chip = 1
planes-per-die = 1
blocks-per-plane = 16
pages-per-block = 8
page-size = "4KiB"
bits-per-cell = 1
[timing]
read = "50us"
program = "600us"
erase = "3ms"
bus = "included"
[ftl]
spare-factor = 0.5
"#;

fn sim() -> Sim<Builtin> {
    let layers = Layers {
        file: ("test.toml", DRIVE),
        library: &|_| None,
        set: &[],
        policy: &[],
        seed: None,
    };
    let drive = load(&layers).unwrap_or_else(|errors| panic!("{errors:?}"));
    Sim::new(&drive, crate::ftl_of(&drive, drive.policies.build()))
}

/// Writes pages and reads them until an operation that fails is over. Returns the FTL's message.
fn until_it_fails(fails: impl Fn(&PageOp) -> bool) -> String {
    let mut sim = sim();
    let mut rng = Rng::named(1, "test/failures");
    let end = catch_unwind(AssertUnwindSafe(|| {
        for n in 0..2_000 {
            let op = if n % 4 == 3 { Op::Read } else { Op::Write };
            let offset = u64::from(rng.below(48)) * 4096;
            let request = Request {
                at: Time::ZERO,
                offset,
                len: 4096,
                op,
                prio: Prio::Normal,
                flow: 0,
                hint: 0,
            };
            sim.submit(&request, n);
            while sim.take_done().is_none() {
                // Operations that begin now end later.
                sim.device.ops.fail(&fails);
                sim.advance(sim.next_at());
            }
        }
    }));
    let said = end.expect_err("nothing failed");
    said.downcast_ref::<String>().expect("a message").clone()
}

#[test]
fn an_operation_that_fails_comes_back_to_the_ftl_as_failed() {
    let cases = [
        (false, Verb::Program, "Program of slot", "for host"),
        (false, Verb::Read, "Read of ", "for host"),
        (true, Verb::Read, "Read of slot", "for gc"),
        (true, Verb::Program, "Program of slot", "for gc"),
        (true, Verb::Erase, "Erase of slot 0 of block", "for gc"),
    ];
    for (of_job, verb, what, source) in cases {
        let said =
            until_it_fails(|op| op.is_of_job() == of_job && !op.turn && op.operation.verb == verb);
        assert!(said.contains("the die reports that an operation failed"), "{said}");
        assert!(said.contains(what) && said.ends_with(source), "{verb:?}, {source}: {said}");
    }
}

/// Without a failure the same drive serves all of it.
#[test]
fn an_operation_that_does_not_fail_is_done() {
    let said = catch_unwind(|| until_it_fails(|op| op.outcome == Outcome::Failed));
    let said = said.expect_err("something failed");
    assert!(said.downcast_ref::<String>().is_some_and(|said| said.starts_with("nothing failed")));
}

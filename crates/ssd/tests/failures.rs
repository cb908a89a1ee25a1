//! A die that reports failures: an operation that fails comes back to the FTL as failed, from every
//! owner.

use crate::common::{drive, policies_of};
use floatgate_ssd::ftl_of;
use floatgate_ssd::sim::Sim;
use kernel::{Prio, Rng, Time};
use nand::{Operation, Source, Verb};
use std::panic::{AssertUnwindSafe, catch_unwind};
use workload::{Op, Request};

/// Writes pages and reads them until an operation that fails is over. Returns the FTL's message.
fn until_it_fails(fails: impl Fn(&Operation) -> bool) -> String {
    let drive = drive::<&str>(&[]);
    let mut sim = Sim::new(&drive, ftl_of(&drive, policies_of(&drive)));
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
                sim.fail(&fails);
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
        (Source::Host, Verb::Program, "Program of slot", "for host"),
        (Source::Host, Verb::Read, "Read of ", "for host"),
        (Source::Gc, Verb::Read, "Read of slot", "for gc"),
        (Source::Gc, Verb::Program, "Program of slot", "for gc"),
        (Source::Gc, Verb::Erase, "Erase of slot 0 of block", "for gc"),
    ];
    for (source, verb, what, end) in cases {
        let said = until_it_fails(|each| each.tag.source == source && each.verb == verb);
        assert!(said.contains("the die reports that an operation failed"), "{said}");
        assert!(said.contains(what) && said.ends_with(end), "{verb:?}, {end}: {said}");
    }
}

/// Without a failure the same drive serves all of it.
#[test]
fn an_operation_that_does_not_fail_is_done() {
    let said = catch_unwind(|| until_it_fails(|_| false));
    let said = said.expect_err("something failed");
    assert!(said.downcast_ref::<String>().is_some_and(|said| said.starts_with("nothing failed")));
}

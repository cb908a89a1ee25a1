//! Outcomes of steps: carried out, put off or dropped.

use super::*;

fn plain() -> Scene {
    let mut s = Scene::new("refresh", &json!({}), StreamSpec::REGULAR);
    s.write(0..12);
    s
}

fn reprogram(n: u32, keep_reads: bool) -> Step {
    Step::Reprogram { block: block(n), surcharge: 300, role: LOW, keep_reads }
}

/// The operation that a job requested: its kind, its block, its slots, and how many of these are
/// known.
fn started(operation: Option<Operation>) -> (Verb, BlockId, u32, u16) {
    let operation = operation.expect("the job does not wait");
    let slots = operation.slots.expect("an operation of a job has a place");
    let block = BlockId::from_u32(slots.first.as_u32() / 6);
    (operation.verb, block, slots.count(), operation.known)
}

/// Of two wordlines all six pages are read, but for the top ones that have just been copied, and the
/// top ones are written.
#[test]
fn reprogramming_reads_what_it_does_not_know() {
    for (copied, known) in [(vec![], 0), (vec![2], 1), (vec![2, 5], 2), (vec![0, 1, 2, 5], 2)] {
        let mut s = plain();
        s.read(0, 3);
        let lost = [2, 5].into_iter().filter(|slot| !copied.contains(slot));
        s.trim(lost);
        let copies = copied.len();
        let steps = vec![copy(0, &copied, Dest::Stream(REFRESHED)), reprogram(0, copies == 1)];
        let actions = s.follow(steps, |_, _| {});
        let last = actions.last().copied();
        let expected = (Verb::Reprogram, block(0), 2, known);
        assert_eq!((actions.len(), last.map(started)), (2 * copies + 1, Some(expected)));
        let c = s.ftl.counts();
        assert_eq!(
            (c.reprogram, c.reprogrammed_pages[Source::Refresh].get(), c.dropped),
            (1, 2, 0)
        );
        assert_eq!(c.reprogrammed_pages.total(), 2);
        assert_eq!(c.read[Source::Refresh], copies as u64 + 3 * 2 - u64::from(known));
        assert_eq!(c.program[Source::Refresh], copies as u64);
        assert_eq!(s.ftl.policies.read_disturb.reprogrammed, [block(0)]);
        assert_eq!((s.ftl.blocks().role(block(0)), s.state(0)), (LOW, State::Closed));
        assert_eq!(s.ftl.array().mode(block(0)), Mode::LowDensity);
        // The surcharge counts with the erase that is to come.
        assert_eq!(s.ftl.array().wear_after_erase(block(0)), 1_300);
        assert_eq!(s.ftl.reads()[0], if copies == 1 { 3 } else { 0 });
        assert!(s.ftl.take_relieved() && !s.ftl.take_relieved());
    }
    // Four of six pages are on two wordlines, and three on one.
    for (pages, wordlines) in [(4, 2), (3, 1)] {
        let mut s = plain();
        s.write(12..12 + pages);
        s.trim([14]);
        let actions = s.follow(vec![Step::Seal(block(2)), reprogram(2, false)], |_, _| {});
        let done: Vec<_> = actions.into_iter().map(started).collect();
        assert_eq!(done, [(Verb::Reprogram, block(2), wordlines, 0)]);
        assert_eq!(s.ftl.counts().sealed, u64::from(6 - pages));
    }
}

/// Only complete blocks of full density are reprogrammed, and while that goes on nobody else takes them.
#[test]
fn reprogramming_is_for_complete_blocks() {
    let mut s = plain();
    s.write(12..14);
    assert_eq!(s.follow(vec![reprogram(2, false)], |_, _| {}), [], "it is open");
    s.trim([2, 5]);
    let actions = s.follow(vec![reprogram(0, false), reprogram(0, false)], |s, done| {
        assert_eq!(s.state(0), if done == 1 { State::Moving } else { State::Closed });
    });
    assert_eq!(actions.len(), 1, "it has guard levels already");
    // Reads on their way to the pages that it loses are waited for.
    let mut s = plain();
    let page = Lpn::from_u32(2);
    let read = s.ftl.read(page, Prio::Normal, Time::ZERO).expect("it was written");
    s.trim([2, 5]);
    let mut waits = 0;
    let actions = s.follow(vec![reprogram(0, false)], |s, done| {
        if done == 1 {
            host_done(&mut s.ftl, page, 0, &read, Time::ZERO);
            waits += s.ftl.take_ready().iter().len();
        }
    });
    let [None, reprograms] = actions[..] else { panic!("{actions:?}") };
    assert_eq!(started(reprograms).0, Verb::Reprogram);
    assert_eq!(waits, 1);
}

/// Counters begin anew; a block is at its limit, and closed to the host, at the last read that it endures.
#[test]
fn a_block_at_its_limit_is_barred_until_it_begins_anew() {
    let mut s = plain();
    let page = Lpn::from_u32(0);
    s.read(0, LIMIT - 1);
    assert_eq!((s.ftl.blocked(page), s.ftl.is_at_limit(block(0))), (None, false));
    // Below the limit nothing is reclaimed.
    let at_limit = || Step::ReclaimAtLimit { block: block(0), to: Dest::Stream(REFRESHED) };
    assert_eq!(s.follow(vec![at_limit()], |_, _| {}), []);
    s.read(0, 1);
    assert_eq!((s.ftl.blocked(page), s.ftl.reads()[0]), (Some(block(0)), LIMIT));
    assert_eq!(s.ftl.blocked(Lpn::from_u32(6)), None);
    assert_eq!(s.ftl.blocked(Lpn::from_u32(30)), None, "it was never written");
    assert!(!s.ftl.take_relieved());
    s.carry_out(vec![Step::ResetReads(block(0))]);
    assert_eq!((s.ftl.blocked(page), s.ftl.reads()[0]), (None, 0));
    assert_eq!(s.ftl.policies.read_disturb.reset, [block(0)]);
    assert!(s.ftl.take_relieved() && !s.ftl.take_relieved());
    // At the limit it is, and its pages can be read where they are then.
    s.read(0, LIMIT);
    let actions = s.follow(vec![at_limit()], |_, _| {});
    assert_eq!((actions.len(), s.state(0)), (2 * 6 + 1, State::Free));
    assert_eq!((s.ftl.blocked(page), s.ftl.reads()[0]), (None, 0));
    assert!(s.ftl.take_relieved());
}

/// Steps are taken in order, and a block that was erased since is another one: nothing is done to it.
#[test]
fn a_plan_is_about_the_blocks_as_they_were() {
    let mut s = plain();
    s.ftl.policies.read_disturb.hold = Hold::Die;
    s.ftl.policies.read_disturb.plan =
        vec![Step::SetRole(block(0), LOW), reclaim(1, REFRESHED), Step::SetRole(block(0), SHADOW)];
    s.ftl.on_timer(Time::ZERO);
    let id = s.ftl.take_ready().expect("the plan");
    let job = s.ftl.job(id);
    assert_eq!((job.hold, job.background, job.tag), (Hold::Die, false, Tag::of(Source::Refresh)));
    let mut steps = Steps::default();
    assert_eq!(steps.verb(&mut s.ftl, id, Time::ZERO), Verb::Read);
    assert_eq!((s.ftl.blocks().role(block(0)), s.state(1)), (LOW, State::Moving));
    assert_eq!(s.ftl.running_jobs(), 1);
    // Meanwhile block 0 is reclaimed by somebody else, and written anew.
    s.ftl.policies.read_disturb.plan = vec![reclaim(0, REFRESHED)];
    s.ftl.on_timer(Time::ZERO);
    s.ftl.settle(Time::ZERO);
    assert_eq!(s.state(0), State::Free);
    while steps.next(&mut s.ftl, id, Time::ZERO) != Next::Done {}
    assert_eq!((s.ftl.blocks().role(block(0)), s.state(1)), (REGULAR, State::Free));
    assert_eq!(s.ftl.running_jobs(), 0);
}

/// A run begins with blocks that nobody has read.
#[test]
fn reads_before_the_run_do_not_count() {
    let mut s = plain();
    s.read(0, 7);
    s.carry_out(vec![Step::ResetReads(block(1))]);
    let set = PolicySet::resolve(&[], None).expect("the default policies");
    let (reset, reprogrammed) = (Vec::new(), Vec::new());
    let hot = StreamSpec::REGULAR;
    let puppet = Puppet { plan: Vec::new(), hold: Hold::Place, hot, reset, reprogrammed };
    s.ftl.begin_run(policies_with(&set, Traditional, puppet, Plain));
    assert!(!s.ftl.take_relieved());
    assert_eq!(s.ftl.reads(), [0; 10]);
}

//! The same? A result does not depend on the content of a cache of preconditioned states. The cache
//! holds nothing, the run's own state, or that of a run that differs in one family of policies or
//! in one setting. Random drives, and comparisons of several runs: `tests/test_cache.py`.

use crate::common::{Memory, drive, first_of, run_with, without_timing};
use floatgate_ssd::{
    Drive, NoCache, Preconditioned, RunError, Stage, StateCache, generator, planned, run,
};
use policies::Family;

/// An aged drive with three bits in a cell on which every scheme against read disturb has something
/// to do.
fn aged(own: &[String]) -> Drive {
    let settings = [
        "geometry.bits-per-cell=3",
        "geometry.pages-per-block=12",
        "geometry.blocks-per-plane=40",
        "geometry.channels=2",
        "ftl.spare-factor=0.6",
        "reliability.endurance=3000",
        "slc={ read = \"25us\", program = \"150us\" }",
        "precondition.fill=full",
        "precondition.age=random",
        "host.mode=queue-depth",
        "workload.requests=1500",
        "workload.read-share=0.7",
        "workload.size=16KiB",
    ];
    drive(&[settings.map(str::to_owned).as_slice(), own].concat())
}

fn result(drive: &Drive, cache: &mut dyn StateCache) -> String {
    without_timing(&run_with(drive, generator(drive, "zipf").unwrap(), cache))
}

/// The policies of a family, and of those with parameters some more that matter before the run.
fn members(family: Family) -> Vec<String> {
    let more: &[&str] = match family {
        Family::ReadDisturb => &[
            "refresh:limit=60",
            "redftl:limit=60:monitors=40:shadows=25",
            "hot-low-density:limit=60:low-limit=240:low-density=10",
            "ipr:limit=60:low-limit=240:low-density=10:pool=100",
        ],
        Family::Victim => &["d-choices:d=3", "d-choices:d=20", "stable-greedy:window=5"],
        Family::Placement => &["static:order=pcwd"],
        Family::Wear => &["static:threshold=2", "hot-cold-swap:slack=1"],
        Family::PageChoice => &["mango:gc=follow"],
        Family::Cost => &["fixed:level=low"],
        Family::SlcCache => &["static:size=128KiB", "hybrid:static=32KiB:size=64KiB"],
        Family::Throttle
        | Family::Coding
        | Family::Separation
        | Family::Order
        | Family::Arbitration => &[],
    };
    let names = family.policies().iter().map(|p| p.name.to_owned());
    names.chain(more.iter().map(|s| (*s).to_owned())).collect()
}

/// Compares the runs of `drives`, each alone, with a cache that holds its own state, and with one
/// that holds the states of all. Answers how many different states there were.
fn compare(drives: &[(String, Drive)]) -> usize {
    let mut all = Memory::default();
    let mut expected = Vec::new();
    for (what, drive) in drives {
        let cold = result(drive, &mut NoCache);
        let mut own = Memory::default();
        assert_eq!(result(drive, &mut own), cold, "{what}, which fills a cache");
        assert_eq!(result(drive, &mut own), cold, "{what}, from its own state");
        assert_eq!(own.found, own.kept, "{what}");
        all.states.extend(own.states);
        expected.push(cold);
    }
    for ((what, drive), expected) in drives.iter().zip(&expected) {
        assert_eq!(result(drive, &mut all), *expected, "{what}, among all others");
    }
    all.states.len()
}

#[test]
fn no_family_of_policies_gets_the_state_of_another_policy() {
    for family in Family::ALL {
        let other = |policy: &String| {
            let own = [format!("policy {}={policy}", family.name())];
            (own[0].clone(), aged(&own))
        };
        let members = members(family);
        let drives: Vec<_> = first_of(&members, members.len().min(2)).iter().map(other).collect();
        assert!(drives.len() >= 2, "{family:?}: nothing is varied");
        let states = compare(&drives);
        // A state of the coding `wom` is never kept.
        let kept = drives.len() - usize::from(family == Family::Coding);
        assert_eq!(states, if family.shapes_state() { kept } else { 1 }, "{family:?}");
    }
}

#[test]
fn no_setting_gets_the_state_of_another_value() {
    for (base, own, states) in [
        // The inputs of a wear leveller about the drive's life, and those of a page-choice policy
        // about its times.
        ("policy wear=hot-cold-swap:slack=1", "reliability.endurance=40", 2),
        ("policy wear=none", "reliability.endurance=40", 1),
        ("policy page-choice=mango:gc=follow", "timing.program=[\"1ms\", \"600us\", \"2ms\"]", 2),
        ("policy page-choice=in-order", "timing.program=[\"1ms\", \"600us\", \"2ms\"]", 1),
        // On one bit in a cell Mango's streams come after those of the family before it.
        ("policy page-choice=mango", "policy read-disturb=refresh:limit=60", 2),
        ("geometry.bits-per-cell=2", "pages.order=shadow", 2),
        ("ftl.gc.stop=2", "ftl.gc.stop=4", 2),
        ("ftl.gc.foreground=all", "ftl.gc.foreground=one", 2),
        ("workload.shift=0B", "workload.read-share=0.2", 1),
        ("buffer.size=0B", "buffer.size=64KiB", 1),
        ("run.seed=1", "run.seed=2", 2),
    ] {
        let mut base = vec![base.to_owned()];
        if own.contains("refresh") {
            base.push("geometry.bits-per-cell=1".to_owned());
        }
        let other = [base.as_slice(), &[own.to_owned()]].concat();
        let drives = [base, other].map(|own| (format!("{own:?}"), aged(&own)));
        assert_eq!(compare(&drives), states, "{}", drives[1].0);
    }
}

/// A plan knows a run's state by the name under which the run keeps it.
#[test]
fn a_workload_without_times_has_one_name_before_and_in_its_run() {
    let own = ["host.mode=timestamps", "policy wear=hot-cold-swap:slack=1"].map(str::to_owned);
    let drive = aged(&own);
    let workload = generator(&drive, "zipf").unwrap();
    assert!(!workload.about().timed, "it is run in a closed loop");
    let name = planned(&drive, workload.about()).state;
    let mut memory = Memory::default();
    result(&drive, &mut memory);
    assert_eq!(name, memory.states.into_keys().next());
}

/// Sums are right, and still the state is not the one that this drive's preconditioning makes.
#[test]
fn a_forged_state_is_as_good_as_none() {
    let drive = aged(&[]);
    let cold = result(&drive, &mut NoCache);
    let mut whole = Memory::default();
    assert_eq!(result(&drive, &mut whole), cold);
    let (key, bytes) = whole.states.into_iter().next().expect("it was kept");
    let (head, state) = bytes.split_first_chunk().expect("a summary");
    let summary = Preconditioned::from_bytes(head).expect("it is whole");
    let state = &state[..state.len() - 8];
    let sealed = |summary: Preconditioned, mut state: Vec<u8>| {
        ftl::seal(&mut state);
        [&summary.to_bytes()[..], &state].concat()
    };
    assert_eq!(sealed(summary, state.to_vec()), bytes, "nothing is forged");
    // The slots of pages come last, and before them the owners of slots. The last page loses its
    // slot, and so its block gains free space that was not there.
    let mut lost = state.to_vec();
    let (owners, places) = lost.split_at_mut(state.len() - 4 * drive.logical_pages as usize);
    places.last_chunk_mut::<4>().expect("pages").fill(0xff);
    let last = (drive.logical_pages - 1).to_le_bytes();
    let mut owners = owners.chunks_exact_mut(4).rev();
    owners.find(|word| **word == last).expect("a page is mapped").fill(0xff);
    let less = Preconditioned { filled: summary.filled - 1, ..summary };
    let (none, odd) = ([0.5, f64::NAN].map(|waf| Preconditioned { waf, ..summary })).into();
    for (what, forged) in [
        ("a page is lost", sealed(summary, lost.clone())),
        ("a page is lost, and nobody counted it", sealed(less, lost)),
        ("fewer pages were filled", sealed(less, state.to_vec())),
        ("more was written than programmed", sealed(none, state.to_vec())),
        ("write amplification is not a number", sealed(odd, state.to_vec())),
        ("nothing", bytes.clone()),
    ] {
        let mut memory = Memory::default();
        memory.states.insert(key.clone(), forged);
        assert_eq!(result(&drive, &mut memory), cold, "{what}");
        let refused = u32::from(what != "nothing");
        assert_eq!((memory.found, memory.kept), (1, refused), "{what}");
        assert_eq!(memory.states[&key], bytes, "{what}");
    }
}

/// Stopped at any time, and damaged or not, a stored ageing gives the run that it would have given.
#[test]
fn an_interrupted_ageing_is_resumed() {
    let mut resumed = 0;
    for own in [
        &[][..],
        &["precondition.age=workload"],
        &["precondition.age=workload", "precondition.fill=touched", "host.mode=timestamps"],
        &["policy victim=d-choices:d=3", "policy wear=static:threshold=2"],
        &["pages.program=wordline", "policy placement=dynamic"],
    ] {
        let mut drive = aged(&own.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>());
        drive.checkpoint = 150_000;
        let cold = result(&drive, &mut NoCache);
        let mut begun = Vec::new();
        for calls in 1.. {
            let mut memory = Memory::default();
            let mut left = calls;
            let made = generator(&drive, "zipf").unwrap();
            let stopped = run(&drive, made, &mut memory, &mut |p| {
                left -= i32::from(matches!(p.stage, Stage::Filling | Stage::Ageing));
                left > 0
            });
            if stopped.is_ok() {
                break;
            }
            assert!(matches!(stopped, Err(RunError::Stopped)));
            let mut first = None;
            let made = generator(&drive, "zipf").unwrap();
            let mut damaged = Memory { states: memory.states.clone(), ..Memory::default() };
            let report = run(&drive, made, &mut memory, &mut |p| {
                first =
                    first.or(matches!(p.stage, Stage::Filling | Stage::Ageing).then_some(p.done));
                true
            });
            assert_eq!(without_timing(report.unwrap().value()), cold, "{own:?} {calls}");
            assert_eq!(memory.states.len(), 1, "what was unfinished is forgotten");
            begun.push(first);
            // A checkpoint with a byte changed is refused.
            for state in damaged.states.values_mut() {
                let middle = state.len() / 2;
                state[middle] ^= 1;
            }
            assert_eq!(result(&drive, &mut damaged), cold, "{own:?} {calls}, damaged");
        }
        // The later it was stopped, the further it had come.
        assert!(begun.is_sorted(), "{own:?}: {begun:?}");
        resumed += u32::from(begun.first() < begun.last());
    }
    assert!(resumed >= 4, "{resumed} of five were resumed behind their beginning");
}

/// Cycles of preconditioning wear nothing out, however often an ageing is kept on the way.
#[test]
fn no_block_is_retired_before_the_run() {
    for age in ["random", "workload"] {
        let age = format!("precondition.age={age}");
        let own =
            ["reliability.endurance=2", "workload.read-share=1.0", "workload.requests=100", &age];
        let mut drive = aged(&own.map(str::to_owned));
        drive.checkpoint = 2_000;
        for cache in [&mut NoCache as &mut dyn StateCache, &mut Memory::default()] {
            let value = run_with(&drive, generator(&drive, "zipf").unwrap(), cache);
            assert_eq!(value["capacity"]["bad_blocks"], 0, "{age}");
            assert_eq!(value["end"]["state"], "completed", "{age}");
        }
    }
}

//! The plans of the schemes against read disturb, and the course of their steps: by hand, on one
//! plane of ten blocks of six pages. That data survives their plans is in `disturb.rs`.

mod schemes;
mod steps;

use crate::support::{Mix, Plain, Steps, Traditional, host_done, policies_with};
use ftl::{
    Config, Dest, FreePick, Ftl, FtlView, GcMarks, Hold, Interests, Lpn, Next, Pages, Plan, Pool,
    ReadDisturb, Role, State, Step, StreamId, StreamSpec, Watch,
};
use kernel::{Bytes, Prio, Time};
use nand::{BlockId, Geometry, Layout, Layouts, Mode, Operation, Shape, Source, Tag, Verb};
use policies::{PolicySet, ReadDisturbPolicy};
use serde_json::{Value, json};
use std::ops::Range;

const REGULAR: Role = Role::REGULAR;
const MONITOR: Role = Role(1);
const READ_HOT: Role = Role(2);
const LOW: Role = Role(3);
const SHADOW: Role = Role(4);

const fn stream(n: u8) -> StreamId {
    StreamId(StreamId::BUILT_IN as u8 + n)
}

const REFRESHED: StreamId = stream(0);
const MONITORED: StreamId = stream(1);
const HOT: StreamId = stream(2);

const LIMIT: u32 = 10;
const LOW_LIMIT: u32 = 40;

/// Carries out any step of the test.
struct Puppet {
    plan: Vec<Step>,
    hold: Hold,
    hot: StreamSpec,
    /// Blocks whose counters began anew, and those that were reprogrammed.
    reset: Vec<BlockId>,
    reprogrammed: Vec<BlockId>,
}

impl Watch for Puppet {
    fn interests(&self) -> Interests {
        Interests::TIMER.with(Interests::READ)
    }

    fn next_timer(&self) -> Option<Time> {
        Some(Time::ZERO)
    }

    fn on_timer(&mut self, _: &FtlView<'_>, _: Time, plan: &mut Plan) {
        plan.steps = std::mem::take(&mut self.plan);
        plan.hold = self.hold;
    }
}

impl ReadDisturb for Puppet {
    fn streams(&self) -> Vec<StreamSpec> {
        let monitored = StreamSpec { role: MONITOR, ..StreamSpec::REGULAR };
        vec![StreamSpec::REGULAR, monitored, self.hot]
    }

    fn limit(&self, mode: Mode) -> Option<u32> {
        Some(if mode == Mode::LowDensity { LOW_LIMIT } else { LIMIT })
    }

    fn on_reset(&mut self, block: BlockId, _: Time) {
        self.reset.push(block);
    }

    fn on_reprogrammed(&mut self, block: BlockId, _: Time) {
        self.reprogrammed.push(block);
    }
}

/// A drive in a state of the test's choice, and beside it the policy that is asked about it.
struct Scene {
    ftl: Ftl<Mix<Puppet>>,
    policy: ReadDisturbPolicy,
    /// Host reads of each block, as the policy hears of them.
    reads: Vec<u32>,
}

fn block(n: u32) -> BlockId {
    BlockId::from_u32(n)
}

fn at(ns: u64) -> Time {
    Time::from_ns(ns)
}

fn reclaim(n: u32, to: StreamId) -> Step {
    Step::Reclaim { block: block(n), to: Dest::Stream(to) }
}

fn copy(from: u32, slots: &[u32], to: Dest) -> Step {
    Step::Copy { from: block(from), pages: Pages::Some(slots.to_vec()), to }
}

impl Scene {
    /// An empty drive. Read-hot pages go to blocks of `hot`.
    fn new(scheme: &str, params: &Value, hot: StreamSpec) -> Self {
        let geometry = Geometry::new(Shape {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 10,
            pages_per_block: 6,
            page_size: Bytes::kib(4),
            bits_per_cell: 3,
        })
        .expect("a drive");
        // Guard levels are not a code, which has slots of its own.
        let layouts = Layouts::new(6).with(Mode::Wom1, Layout::plain());
        let layouts = layouts.with(Mode::Wom2, Layout::plain());
        let config = Config {
            geometry,
            layouts,
            logical_pages: 36,
            gc: GcMarks { start: 1, stop: 1, background_stop: 0, one_by_one: false, paced: false },
            endurance: 0,
            seed: 1,
        };
        let mut params = params.as_object().expect("a table").clone();
        params.insert("limit".into(), LIMIT.into());
        let set = PolicySet::resolve(&[("read-disturb".into(), scheme.into(), params)], None);
        let set = set.expect("a scheme and its settings");
        let mut policy = set.build().read_disturb;
        policy.attach(&geometry, 36);
        let (reset, reprogrammed) = (Vec::new(), Vec::new());
        let puppet = Puppet { plan: Vec::new(), hold: Hold::Place, hot, reset, reprogrammed };
        let ftl = Ftl::new(config, policies_with(&set, Traditional, puppet, Plain));
        Self { ftl, policy, reads: vec![0; 10] }
    }

    /// The host writes pages, which fill blocks in the order of their numbers at first.
    fn write(&mut self, pages: Range<u32>) {
        for lpn in pages {
            assert!(self.ftl.write_now(Lpn::from_u32(lpn), u64::from(lpn + 1) << 32, Time::ZERO));
        }
    }

    /// The host gives pages up.
    fn trim(&mut self, pages: impl IntoIterator<Item = u32>) {
        for lpn in pages {
            assert!(self.ftl.trim(Lpn::from_u32(lpn), Time::ZERO), "page {lpn} was there");
        }
    }

    /// Steps are carried out, against any wish of the policy.
    fn carry_out(&mut self, steps: Vec<Step>) {
        self.ftl.policies.read_disturb.plan = steps;
        self.ftl.on_timer(Time::ZERO);
        self.ftl.settle(Time::ZERO);
        assert_eq!(self.ftl.running_jobs(), 0);
        self.ftl.check().expect("a sound drive");
    }

    /// The same, step by step: the operations, none for a wait. `during` is told how many there were so far.
    fn follow(
        &mut self,
        steps: Vec<Step>,
        mut during: impl FnMut(&mut Self, usize),
    ) -> Vec<Option<Operation>> {
        self.ftl.policies.read_disturb.plan = steps;
        self.ftl.on_timer(Time::ZERO);
        let id = self.ftl.take_ready().expect("the plan");
        let (mut steps, mut done) = (Steps::default(), Vec::new());
        loop {
            during(self, done.len());
            match steps.next(&mut self.ftl, id, Time::ZERO) {
                Next::Done => break,
                _ => done.push(steps.under_way(id)),
            }
        }
        self.ftl.check().expect("a sound drive");
        done
    }

    /// The host reads a page so often.
    fn read(&mut self, lpn: u32, times: u32) {
        for _ in 0..times {
            let lpn = Lpn::from_u32(lpn);
            let read = self.ftl.read(lpn, Prio::Normal, Time::ZERO).expect("it was written");
            host_done(&mut self.ftl, lpn, 0, &read, Time::ZERO);
        }
    }

    fn set_role(&mut self, n: u32, role: Role) {
        self.carry_out(vec![Step::SetRole(block(n), role)]);
    }

    /// A block whose pages are counted: these were read twice, and the others not at all.
    fn monitor(&mut self, n: u32, slots: Range<u32>) {
        self.set_role(n, MONITOR);
        self.policy.on_open(block(n), MONITORED, MONITOR);
        let (geometry, mut plan) = (*self.ftl.geometry(), Plan::of(Source::Refresh));
        let view = view(&self.ftl, &self.reads);
        for slot in slots.clone().chain(slots) {
            self.policy.on_read(&view, geometry.ppn(block(n), slot), Time::ZERO, &mut plan);
        }
        assert!(plan.is_empty());
    }

    /// The plan for a block that has reached its limit.
    fn plan(&mut self, n: u32, now: Time) -> Plan {
        let mut plan = Plan::of(Source::Refresh);
        self.policy.on_limit(&view(&self.ftl, &self.reads), block(n), now, &mut plan);
        plan
    }

    /// Its steps.
    fn at_limit(&mut self, n: u32, now: Time) -> Vec<Step> {
        self.plan(n, now).steps
    }

    fn protects(&self, n: u32) -> bool {
        self.policy.protects(&view(&self.ftl, &self.reads), block(n))
    }

    fn may_reprogram(&mut self, n: u32) -> bool {
        self.policy.may_reprogram(&view(&self.ftl, &self.reads), block(n))
    }

    fn erased(&mut self, n: u32, role: Role, reads: u32, now: Time) {
        self.policy.on_erased(block(n), role, reads, Tag::of(Source::Refresh), now);
    }

    fn count(&self, name: &str) -> u64 {
        let counters = self.policy.counters();
        counters.iter().find(|(n, _)| *n == name).unwrap_or_else(|| panic!("no {name}")).1 as u64
    }

    fn state(&self, n: u32) -> State {
        self.ftl.blocks().state(block(n))
    }

    fn valid(&self, n: u32) -> u32 {
        self.ftl.blocks().valid(block(n))
    }
}

fn view<'a>(ftl: &'a Ftl<Mix<Puppet>>, reads: &'a [u32]) -> FtlView<'a> {
    FtlView {
        geometry: ftl.geometry(),
        layouts: ftl.array().layouts(),
        map: ftl.map(),
        blocks: ftl.blocks(),
        modes: ftl.array().modes(),
        erases: ftl.array().erases(),
        wear: ftl.array().wear(),
        reads,
        limits: ftl.read_limits(),
    }
}

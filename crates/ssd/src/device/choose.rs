//! The choice of the next operation of a die, and of the operations that share its command.

use super::Device;
use super::die::{Heads, LaneId, PAUSED, PAUSED_LANE, Phase, READS};
use super::register::{LOADED, LOADED_LANE};
use crate::clock::{Actor, Clock};
use crate::config::MultiPlane;
use crate::ops::{NONE, Owner, PageOp};
use kernel::{Idx, Prio};
use nand::{BlockStates, DieId, Mode, OpKind, OpView, Operation, Ppn, Verb, Waited};

const IDLE: u8 = 1 << LaneId::Idle as u8;

impl Device {
    /// The lane from which a die takes its next operation, if one waits. `pick` chooses among the
    /// first of several lanes. Work for idle time goes when nothing else waits.
    #[inline]
    pub(crate) fn next_lane(
        &self,
        die: DieId,
        pick: impl FnOnce(&[OpView]) -> usize,
    ) -> Option<usize> {
        let mask = self.dies[die].mask;
        let foreground = mask & !IDLE;
        if foreground == 0 {
            return (mask != 0).then_some(LaneId::Idle as usize);
        }
        if foreground.is_power_of_two() {
            return Some(foreground.trailing_zeros() as usize);
        }
        if self.first_come {
            return Some(self.dies[die].first_come(&self.ops, foreground));
        }
        let mut heads = Heads::NONE;
        self.dies[die].heads(&self.ops, mask, &mut heads);
        Some(heads.lane(pick(heads.views())))
    }

    /// Whether operations go in the order in which they came, for operations of any kind.
    #[inline]
    pub(crate) fn goes_by_arrival(&self) -> bool {
        self.first_come && !self.apart
    }

    /// For such a device: whether an operation that is not yet in a lane came before all others
    /// that wait for its die. Work for idle time does not count.
    #[inline(always)] // from one place
    pub(crate) fn is_first(&self, die: DieId, op: u32) -> bool {
        let (d, seq) = (&self.dies[die], self.ops[op].seq);
        d.heads_of(&self.ops, d.mask & !IDLE).all(|(_, first)| first > seq)
    }

    /// Whether the next operation depends on more than the waiting ones. One may stand behind the
    /// lanes, or the order goes by how long operations have waited.
    #[inline]
    pub(crate) fn chooses_apart(&self) -> bool {
        self.apart
    }

    /// The same for such a device. An operation in a die's register goes first. Beside an
    /// interrupted command only reads of the host may go.
    pub(crate) fn next_lane_apart(
        &mut self,
        die: DieId,
        pick: impl FnOnce(&[OpView], &[Waited]) -> usize,
    ) -> Option<usize> {
        let mask = self.dies[die].mask;
        if mask & LOADED != 0 {
            return Some(LOADED_LANE);
        }
        let paused = mask & PAUSED != 0;
        let foreground = if paused { mask & READS } else { mask & !IDLE };
        if foreground == 0 {
            let lane = if paused { PAUSED_LANE } else { LaneId::Idle as usize };
            return (mask != 0).then_some(lane);
        }
        let mut heads = Heads::NONE;
        self.dies[die].heads(&self.ops, foreground, &mut heads);
        let mut waits = [Waited::default(); Heads::MOST];
        for (at, waited) in waits.iter_mut().enumerate().take(heads.views().len()) {
            *waited = self.waited(die, self.dies[die].lanes[heads.lane(at)].head);
        }
        if paused {
            let op = self.paused(die);
            waits[heads.views().len()] = self.waited(die, op);
            heads.add_paused(self.view(op));
        }
        let views = heads.views();
        let waits = &waits[..views.len()];
        let picked = if views.len() > 1 { pick(views, waits) } else { 0 };
        self.count_passed(die, views, waits, picked);
        let lane = heads.lane(picked);
        if paused && lane != PAUSED_LANE {
            self.looks_again(die);
        }
        Some(lane)
    }

    /// Counts the reads that go before the first of all other operations.
    fn count_passed(&mut self, die: DieId, heads: &[OpView], waits: &[Waited], picked: usize) {
        let Some(passed) = self.passed.get_mut(die.index()) else { return };
        let others = heads.iter().zip(waits).filter(|(h, _)| h.op != OpKind::Read);
        if let Some((first, waited)) = others.min_by_key(|(h, _)| h.seq) {
            passed.goes(first.seq, waited.since, heads[picked].op == OpKind::Read);
        }
    }

    /// The order policy's view of an operation that is not in a lane.
    pub(super) fn view(&self, op: u32) -> OpView {
        let o = &self.ops[op];
        let (op, prio) = match (o.owner, o.operation.verb) {
            (Owner::Job(_), _) => (OpKind::Job, Prio::Normal),
            (_, Verb::Read) => (OpKind::Read, o.prio()),
            _ => (OpKind::Write, o.prio()),
        };
        OpView { op, prio, seq: o.seq }
    }

    /// How long an operation has waited.
    pub(super) fn waited(&self, die: DieId, op: u32) -> Waited {
        let PageOp { seq, since, .. } = self.ops[op];
        let passed = self.passed.get(die.index()).map_or(0, |passed| passed.of(seq, since));
        Waited { since, passed }
    }

    #[inline]
    pub(crate) fn pop(&mut self, die: DieId, lane: usize) -> u32 {
        self.dies[die].pop(&mut self.ops, lane)
    }

    /// Whether an operation waits for a die.
    #[inline(always)] // every command comes by
    pub(crate) fn is_asked(&self, die: DieId) -> bool {
        self.dies[die].mask != 0
    }

    /// A die finds nothing to do.
    #[inline]
    pub(crate) fn rest(&mut self, clock: &mut Clock, die: DieId) {
        self.dies[die].phase = Phase::Idle;
        self.idle.set(die.index());
        clock.clear(Actor::Die(die));
    }

    /// Dies that rest and have nothing to do, made to choose one after the other.
    pub(crate) fn wake_idle(&mut self, clock: &Clock, die: DieId) -> bool {
        let d = &mut self.dies[die];
        let idle = d.phase == Phase::Idle && d.mask == 0;
        if idle {
            d.choose(clock.now);
        }
        idle
    }

    /// An operation taken from a lane is about to start. A program lets the program of an earlier
    /// page in its block go first. Operations that can share its array time are chained to it.
    /// Returns the operation that starts.
    #[inline(always)] // from two places, of which one is never hot
    pub(crate) fn make_ready(
        &mut self,
        states: &BlockStates,
        die: DieId,
        lane: usize,
        op: u32,
    ) -> u32 {
        let (lane, op) = self.in_block_order(states, die, lane, op);
        if !self.ops[op].is_of_job() {
            self.dies[die].end_waits(&mut self.ops, op);
        }
        if self.multi_plane != MultiPlane::Off {
            self.gather(states, die, lane, op);
        }
        op
    }

    /// Pages of a block are programmed in order, and several jobs may write one block.
    #[inline]
    fn in_block_order(
        &mut self,
        states: &BlockStates,
        die: DieId,
        lane: usize,
        op: u32,
    ) -> (usize, u32) {
        // Host writes come in order; only jobs in idle time, parity, and moves of a policy that
        // mixes them go to the same blocks.
        let shared = lane >= LaneId::Job as usize || self.dies[die].mask & IDLE != 0 || self.mixes;
        if !shared || self.is_next(states, &self.ops[op].operation) {
            return (lane, op);
        }
        self.first_of_block(die, lane, op)
    }

    /// Whether an operation may go before all others of its die: programs of a block keep the order
    /// of its pages.
    #[inline]
    pub(crate) fn is_next(&self, states: &BlockStates, operation: &Operation) -> bool {
        if operation.verb != Verb::Program {
            return true;
        }
        let (block, slot) = self.geometry.split(operation.slot().expect("a program has a slot"));
        states.next_page(block) == slot
    }

    /// The waiting program of the least slot of the same block on this die, and its lane. `op`
    /// itself goes back to its lane if it is another one.
    #[cold]
    fn first_of_block(&mut self, die: DieId, lane: usize, op: u32) -> (usize, u32) {
        let geometry = &self.geometry;
        let ppn = self.ops[op].slot().expect("a program has a slot");
        let block = geometry.block_of(ppn);
        let d = &mut self.dies[die];
        d.line_up(&mut self.ops);
        let mut first: Option<(usize, Ppn)> = None;
        for (at, waiting) in d.lanes.iter().enumerate() {
            for o in waiting.iter(&self.ops) {
                let Some(slot) = o.slot() else { continue };
                let earlier = slot < first.map_or(ppn, |(_, least)| least);
                if o.programs() && earlier && geometry.block_of(slot) == block {
                    first = Some((at, slot));
                }
            }
        }
        let Some((from, slot)) = first else { return (lane, op) };
        d.insert(&mut self.ops, lane, op);
        let wanted = |o: &PageOp| o.slot() == Some(slot) && o.programs();
        let taken = d.take_all(&mut self.ops, from, wanted);
        let [first] = taken[..] else { unreachable!("a slot is programmed once") };
        (from, first)
    }

    /// Takes operations from the lane that can share the array time of `op`. They are of the same
    /// kind on other planes, and keep the order of the lane and of each block's pages.
    #[inline(never)]
    fn gather(&mut self, states: &BlockStates, die: DieId, lane: usize, op: u32) {
        let verb = self.ops[op].operation.verb;
        // For planes that are always programmed together, no search is needed.
        let fixed = verb == Verb::Program && self.geometry.units().planes > 1;
        if fixed || !self.ops[op].may_share() {
            return;
        }
        let geometry = &self.geometry;
        let place = |o: &PageOp| geometry.split(o.slot().expect("what may share has a slot"));
        let plane_bit = |o: &PageOp| {
            1_u32 << geometry.flash_plane_of(o.slot().expect("what may share has a slot"))
        };
        // Only a re-write in idle time can have an earlier place than a host write in the same
        // block.
        let contested = (self.dies[die].mask & IDLE != 0 || self.mixes) && verb == Verb::Program;
        let mut last = op;
        let (first, slot) = place(&self.ops[op]);
        let single = states.mode(first) == Mode::Slc;
        let mut planes = plane_bit(&self.ops[op]);
        for _ in 1..geometry.flash().planes_per_die {
            let head = self.dies[die].lanes[lane].head;
            if head == NONE {
                break;
            }
            let waiting = &self.ops[head];
            if waiting.operation.verb != verb || !waiting.may_share() {
                break;
            }
            let (block, at) = place(&self.ops[head]);
            let bit = plane_bit(&self.ops[head]);
            let (page, other) = (geometry.page_of(slot), geometry.page_of(at));
            let aligned = self.multi_plane == MultiPlane::Any || page == other;
            let overtakes = contested && states.next_page(block) != at;
            // Pages with one bit in a cell and others are programmed in different ways.
            let other_way = verb == Verb::Program && (states.mode(block) == Mode::Slc) != single;
            if planes & bit != 0 || !aligned || overtakes || other_way {
                break;
            }
            planes |= bit;
            let next = self.dies[die].pop(&mut self.ops, lane);
            self.dies[die].end_waits(&mut self.ops, next);
            self.ops[last].next = next;
            last = next;
            self.stats.merged += 1;
        }
        if last != op {
            // The array checks the slots of one command together.
            states.check_command(self.ops.chain(op).filter_map(PageOp::slot));
        }
    }
}

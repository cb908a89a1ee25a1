//! The pace of garbage collection that the host can wait for: it follows the host's writes.
//!
//! Collection for the host works while a die is otherwise idle, and the host goes first. That is
//! enough as long as a plane can lend the host a block. Otherwise two numbers decide. The
//! *headroom* is the number of slots left in the host's open block. The *work* is the pages to move
//! until a block can be lent again. From then on each page that the host writes is worth twice
//! `work / headroom` moves. So the host still goes first for half of the headroom. The collector is
//! *late* once the work exceeds the worth of the headroom. It then goes before the host, by as many
//! moves as the host's pages are worth. No write waits for a whole block of moves.
//!
//! If the host's pages may go to any plane, one that has no headroom left is passed over. There a
//! collector goes before the host only if no plane can lend a block, and those of all planes together are late.
//!
//! Victims differ, blocks come whole, and collection takes blocks too. So work and headroom are
//! computed anew whenever a victim is taken, and whenever a block is opened or becomes free. A
//! page's worth only rises until the plane can lend again.

use kernel::IndexVec;
use nand::{Geometry, PlaneId};

/// One move, in the fractions that are counted.
const MOVE: i64 = 1 << 16;

/// The work to do before the host needs another block, in pages.
#[derive(Copy, Clone, Default, Debug)]
pub(super) struct Need {
    /// Pages to be moved, plus those that could be moved during the erases.
    pub(super) work: u64,
    /// Pages that the host can write.
    pub(super) room: u64,
}

/// The schedule of a plane's collector.
#[derive(Copy, Clone, Default)]
struct Schedule {
    /// The worth of a page of the host, in fractions of a move. 0: the plane can lend a block, or has no
    /// headroom at all.
    each: i64,
    /// The worth of the headroom minus the work. Below zero the collector is late.
    lead: i64,
    /// Operations wait for space here: the collector goes before the host until there is some.
    awaited: bool,
    /// The valid pages of the last victim, and the space that it gave back.
    victim: (u32, u32),
    /// The plane cannot lend the host a block.
    short: bool,
}

/// The schedules of all planes; none if collection has no pace.
#[derive(Default)]
pub(crate) struct GcPace {
    planes: IndexVec<PlaneId, Schedule>,
    /// The number of sets of planes that collect on their own, each by its first plane.
    sets: usize,
    /// The host's pages may go to any of them.
    anywhere: bool,
    /// The leads of all planes together.
    lead: i64,
    /// How many planes are short.
    short: usize,
}

impl GcPace {
    /// Schedules for the planes of a drive; `anywhere`: the host's pages may go to any of them.
    pub(crate) fn new(geometry: &Geometry, anywhere: bool) -> Self {
        Self::of(geometry.planes(), geometry.sets(), anywhere)
    }

    fn of(planes: usize, sets: usize, anywhere: bool) -> Self {
        let planes = IndexVec::filled(Schedule::default(), planes);
        Self { planes, sets, anywhere, lead: 0, short: 0 }
    }

    /// Whether collection has a pace at all.
    #[inline]
    pub(crate) fn is_kept(&self) -> bool {
        !self.planes.is_empty()
    }

    /// A collector takes a victim with `valid` pages, which gives back `gain` pages.
    pub(super) fn begin(&mut self, plane: PlaneId, valid: u32, gain: u32) {
        self.planes[plane].victim = (valid, gain.max(1));
    }

    /// The valid pages of the last victim, and the space that it gave back; no pages before the
    /// first.
    pub(super) fn victim(&self, plane: PlaneId) -> (u32, u32) {
        self.planes[plane].victim
    }

    /// The need has changed; `None`: the plane can lend a block. Returns whether the collector goes
    /// before the host.
    pub(super) fn plan(&mut self, plane: PlaneId, need: Option<Need>) -> bool {
        let Need { work, room } = need.unwrap_or_default();
        let (work, room) = (work.cast_signed() * MOVE, room.cast_signed());
        let schedule = &mut self.planes[plane];
        schedule.each = match (schedule.each, work, room) {
            (_, 0, _) | (_, _, 0) => 0,
            (0, ..) => 2 * ((work + room - 1) / room),
            (each, ..) => each.max((work + room - 1) / room),
        };
        let lead = room * schedule.each - work;
        let was_short = std::mem::replace(&mut schedule.short, need.is_some());
        self.short = self.short + usize::from(need.is_some()) - usize::from(was_short);
        self.set_lead(plane, lead)
    }

    /// The host writes pages into a plane. Returns whether its collector goes before the host.
    #[inline]
    pub(super) fn earn(&mut self, plane: PlaneId, pages: u32) -> bool {
        let Schedule { lead, each, .. } = self.planes[plane];
        self.set_lead(plane, lead - each * i64::from(pages))
    }

    /// This number of pages is moved, or could be moved in the time of other work.
    pub(super) fn spend(&mut self, plane: PlaneId, pages: u32) {
        let lead = self.planes[plane].lead + MOVE * i64::from(pages);
        self.set_lead(plane, lead);
    }

    fn set_lead(&mut self, plane: PlaneId, lead: i64) -> bool {
        self.lead += lead - std::mem::replace(&mut self.planes[plane].lead, lead);
        self.goes_first(plane)
    }

    /// Whether the collector of a plane goes before the host.
    pub(super) fn goes_first(&self, plane: PlaneId) -> bool {
        let Schedule { awaited, lead, .. } = self.planes[plane];
        let all_late = !self.anywhere || (self.short == self.sets && self.lead < 0);
        awaited || (lead < 0 && all_late)
    }

    /// Operations wait for space in a plane.
    pub(super) fn await_space(&mut self, plane: PlaneId) {
        self.planes[plane].awaited = true;
    }

    /// A plane has headroom for the host again.
    pub(crate) fn relax(&mut self, plane: PlaneId) {
        self.planes[plane].awaited = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLANE: PlaneId = PlaneId::from_u32(0);

    /// The host goes first for half of its headroom. From then on each of its pages is worth twice work
    /// / headroom moves, and all is moved when no headroom is left.
    #[test]
    fn all_is_moved_when_the_host_has_no_room_left() {
        for (work, room) in [(1, 255), (100, 156), (255, 1), (7, 9), (4_000, 500)] {
            let mut pace = GcPace::of(1, 1, false);
            let (mut moved, mut most) = (0, 0);
            assert!(!pace.plan(PLANE, Some(Need { work, room })));
            for written in 1..=room {
                let mut at_once = 0;
                pace.earn(PLANE, 1);
                while pace.goes_first(PLANE) {
                    pace.spend(PLANE, 1);
                    at_once += 1;
                }
                most = most.max(at_once);
                moved += at_once;
                assert!(2 * written >= room || moved == 0, "{written} of {room}");
            }
            assert_eq!(moved, work);
            assert!(most <= 2 * work.div_ceil(room) + 1, "{most} at once, {work} in {room}");
        }
    }

    /// A new victim raises the worth of a page if necessary, and otherwise leaves it as it was.
    #[test]
    fn what_a_page_is_worth_rises_until_a_block_can_be_lent() {
        let mut pace = GcPace::of(1, 1, false);
        let worth = |pace: &GcPace| pace.planes[PLANE].each / MOVE;
        for (need, each) in [((10, 10), 2), ((10, 5), 2), ((10, 2), 5), ((1, 2), 5)] {
            let (work, room) = need;
            pace.plan(PLANE, Some(Need { work, room }));
            assert_eq!(worth(&pace), each, "{need:?}");
        }
        pace.plan(PLANE, None);
        assert!(worth(&pace) == 0 && !pace.earn(PLANE, 100), "there is no hurry");
        pace.plan(PLANE, Some(Need { work: 10, room: 10 }));
        assert_eq!(worth(&pace), 2);
    }

    /// A write that waits for space ends the pace of a plane until there is some; so does a plane without headroom.
    #[test]
    fn a_plane_without_room_has_no_pace() {
        let mut pace = GcPace::of(1, 1, false);
        pace.await_space(PLANE);
        assert!(pace.goes_first(PLANE));
        pace.relax(PLANE);
        assert!(!pace.goes_first(PLANE));
        assert!(pace.plan(PLANE, Some(Need { work: 2, room: 0 })));
        pace.spend(PLANE, 1);
        assert!(pace.goes_first(PLANE));
        pace.spend(PLANE, 1);
        assert!(!pace.goes_first(PLANE));
    }

    /// If pages may go to any plane, one plane is late alone as long as another can lend a block,
    /// or is as far ahead.
    #[test]
    fn a_plane_that_the_host_can_pass_over_does_not_hurry() {
        let other = PlaneId::from_u32(1);
        for anywhere in [false, true] {
            let mut pace = GcPace::of(2, 2, anywhere);
            let need = Some(Need { work: 10, room: 10 });
            pace.plan(PLANE, need);
            // Each page takes two of the ten moves by which the work falls short of the headroom's
            // worth.
            assert!(!pace.earn(PLANE, 5));
            assert_eq!(pace.earn(PLANE, 1), !anywhere);
            pace.plan(other, need);
            assert_eq!(pace.goes_first(PLANE), !anywhere);
            assert!(!pace.earn(other, 4));
            assert_eq!(pace.goes_first(PLANE), !anywhere);
            assert!(!pace.earn(other, 1));
            assert!(pace.goes_first(PLANE) && !pace.goes_first(other));
            pace.plan(other, None);
            assert_eq!(pace.goes_first(PLANE), !anywhere);
        }
    }
}

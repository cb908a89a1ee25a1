//! How fast garbage collection goes that the host can wait for: as the host writes.
//!
//! A paced collector empties a block while the host fills one. A victim with `v` valid pages of `n`
//! gives `n - v` back, so each page that the host writes into the plane is worth `v / (n - v)` moves:
//! the write amplification of that victim, less one. The bucket of a plane gets a quarter more, so
//! that the block is free before the host needs it. A collector whose bucket is empty is ahead of the
//! host: it gives way to everything else, and goes on where a die has nothing else to do.

use super::JobId;
use kernel::IndexVec;
use nand::PlaneId;

/// One move, in the fractions in which moves are earned.
const MOVE: u64 = 1 << 16;

/// What a plane's collector may do.
#[derive(Clone, Default)]
struct Bucket {
    /// Fractions of moves earned and not spent.
    earned: u64,
    /// What a page of the host earns.
    each: u64,
    /// No more than this is kept: what the victim takes as a whole.
    most: u64,
    /// The host has no room here: there is no pace until it has.
    pressed: bool,
    /// The collector, if it is ahead.
    ahead: Option<JobId>,
}

/// The buckets of all planes; none if collection has no pace.
#[derive(Default)]
pub(crate) struct Pace {
    planes: IndexVec<PlaneId, Bucket>,
}

impl Pace {
    pub(crate) fn new(planes: usize) -> Self {
        Self { planes: IndexVec::filled(Bucket::default(), planes) }
    }

    /// Whether collection has a pace at all.
    #[inline]
    pub(crate) fn is_kept(&self) -> bool {
        !self.planes.is_empty()
    }

    /// A collector takes a victim with so many valid pages, which gives so many back.
    pub(super) fn begin(&mut self, plane: PlaneId, valid: u32, gain: u32) {
        let (valid, gain) = (u64::from(valid), u64::from(gain.max(1)));
        let bucket = &mut self.planes[plane];
        bucket.each = (valid * MOVE * 5).div_ceil(gain * 4);
        bucket.most = valid * MOVE;
        bucket.earned = bucket.earned.min(bucket.most);
    }

    /// Whether a collector may move so many pages now; otherwise it is ahead.
    pub(super) fn spend(&mut self, plane: PlaneId, job: JobId, pages: u32) -> bool {
        let bucket = &mut self.planes[plane];
        let lets = bucket.pressed || bucket.earned >= MOVE;
        if lets {
            bucket.earned = bucket.earned.saturating_sub(MOVE * u64::from(pages));
        } else {
            bucket.ahead = Some(job);
        }
        lets
    }

    /// The host writes pages into a plane. Returns the collector that is ahead no more.
    pub(super) fn earn(&mut self, plane: PlaneId, pages: u32) -> Option<JobId> {
        let bucket = &mut self.planes[plane];
        bucket.earned = (bucket.earned + bucket.each * u64::from(pages)).min(bucket.most);
        bucket.ahead.take_if(|_| bucket.earned >= MOVE)
    }

    /// Somebody waits for space in a plane: its collector, which is returned if it was ahead, goes as
    /// fast as it can.
    pub(super) fn press(&mut self, plane: PlaneId) -> Option<JobId> {
        let bucket = &mut self.planes[plane];
        bucket.pressed = true;
        bucket.ahead.take()
    }

    /// A plane has room for the host again.
    pub(crate) fn relax(&mut self, plane: PlaneId) {
        self.planes[plane].pressed = false;
    }

    /// A collector has ended: what it did not spend is nobody's.
    pub(super) fn end(&mut self, plane: PlaneId) {
        self.planes[plane] = Bucket::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The host writes what a victim gives back, less what the margin saves: then all its pages may
    /// have left, and not before, but for the rounding of one move.
    #[test]
    fn a_victim_is_empty_before_the_host_has_filled_what_it_gives_back() {
        let (plane, job) = (PlaneId::from_u32(0), JobId::from_u32(0));
        for (valid, gain) in [(1, 255), (100, 156), (200, 56), (255, 1), (7, 9)] {
            let mut pace = Pace::new(1);
            pace.begin(plane, valid, gain);
            let (mut moved, mut written) = (0, 0);
            while moved < valid {
                if pace.spend(plane, job, 1) {
                    moved += 1;
                } else {
                    written += 1;
                    pace.earn(plane, 1);
                }
            }
            let exact = f64::from(gain) * 0.8;
            let one = f64::from(gain) / f64::from(valid);
            assert!(
                (exact - one..=exact + 1.0).contains(&f64::from(written)),
                "{valid} moves for {gain}: after {written} pages"
            );
        }
    }

    #[test]
    fn whoever_waits_for_space_ends_the_pace() {
        let (plane, other) = (PlaneId::from_u32(0), PlaneId::from_u32(1));
        let job = JobId::from_u32(3);
        let mut pace = Pace::new(2);
        pace.begin(plane, 10, 10);
        pace.begin(other, 10, 10);
        assert!(!pace.spend(plane, job, 1));
        assert_eq!(pace.earn(other, 1), None);
        assert_eq!(pace.press(plane), Some(job));
        assert!((0..10).all(|_| pace.spend(plane, job, 1)));
        pace.relax(plane);
        assert!(!pace.spend(plane, job, 1));
        // A page of the host is worth one move and a quarter.
        assert_eq!(pace.earn(plane, 1), Some(job));
        assert!(pace.spend(plane, job, 1));
        assert!(!pace.spend(plane, job, 1));
        pace.end(plane);
        assert_eq!(pace.press(plane), None);
    }

    /// Pages that one command programs are moved together, each for a move, and the first of them may be
    /// the only one that was earned.
    #[test]
    fn pages_that_are_moved_together_take_a_move_each() {
        let (plane, job) = (PlaneId::from_u32(0), JobId::from_u32(0));
        let mut pace = Pace::new(1);
        pace.begin(plane, 8, 8);
        // Four pages of the host are worth five moves.
        pace.earn(plane, 4);
        assert!(pace.spend(plane, job, 3));
        assert!(pace.spend(plane, job, 1));
        assert!(pace.spend(plane, job, 3));
        assert!(!pace.spend(plane, job, 1));
    }
}

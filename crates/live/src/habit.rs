//! Whether a client is about to ask again. With the fast clock simulated time waits for connections
//! with this habit, so that a client that keeps many commands inside finds them inside. It waits
//! for no other connection.
//!
//! A client shows it by its bursts: the commands between two answers. One that keeps 32 inside
//! sends one after each answer, one that works in batches sends 32 when all are answered. So it
//! asks again as soon as the requests inside leave space for another such burst. After a wait for a
//! client has expired, no other begins until the client has asked in time again.

use std::time::{Duration, Instant};

/// The time in which a client may ask again.
pub(crate) const GRACE: Duration = Duration::from_millis(1);

/// The observed behaviour of a client.
#[derive(Default)]
pub(crate) struct Habit {
    /// The most commands inside since it last let a wait expire.
    depth: u32,
    /// Commands since the last answer, and whether the first of them came in time.
    burst: u32,
    in_time: bool,
    /// When the last answer went out.
    answered: Option<Instant>,
    /// With this number of commands inside, or fewer, it asks again at once; `None`: not known.
    refills: Option<u32>,
}

impl Habit {
    /// Notes that the client sent a command; `inside` is the number inside now.
    pub(crate) fn asks(&mut self, inside: u32, now: Instant) {
        if self.burst == 0 {
            self.in_time = self.answered.is_some_and(|at| now.duration_since(at) <= GRACE);
        }
        self.burst += 1;
        self.depth = self.depth.max(inside);
    }

    /// It is sent an answer.
    pub(crate) fn is_answered(&mut self, now: Instant) {
        if self.answered.is_none() {
            // Without observations, a client keeps as many inside as it began with.
            self.refills = self.depth.checked_sub(1);
        } else if self.burst > 0 && self.in_time {
            self.refills = Some(self.depth.saturating_sub(self.burst));
        }
        self.burst = 0;
        self.answered = Some(now);
    }

    /// The time until which it may be about to ask again, with `inside` commands inside.
    pub(crate) fn awaited(&self, inside: u32) -> Option<Instant> {
        let asks = self.burst == 0 && self.refills.is_some_and(|most| inside <= most);
        self.answered.filter(|_| asks).map(|at| at + GRACE)
    }

    /// Notes that the client was waited for and did not ask.
    pub(crate) fn let_expire(&mut self, inside: u32) {
        self.refills = None;
        self.depth = inside;
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "instants have no other beginning")]
mod tests {
    use super::*;

    /// Waits that expire for a client with `depth` commands inside. It sends `burst` of them as
    /// soon as there is space for as many, in `bursts` bursts. The first burst is all that it has
    /// inside.
    fn expired(depth: u32, burst: u32, bursts: u32, late: Duration) -> u32 {
        let (mut habit, mut now) = (Habit::default(), Instant::now());
        let (mut inside, mut expired) = (0, 0);
        for _ in 0..bursts {
            while inside < depth {
                inside += 1;
                habit.asks(inside, now);
            }
            while inside + burst > depth {
                inside -= 1;
                habit.is_answered(now);
                let asks = inside + burst <= depth && late <= GRACE;
                if !asks && habit.awaited(inside).is_some() {
                    expired += 1;
                    habit.let_expire(inside);
                }
            }
            now += late;
        }
        expired
    }

    #[test]
    fn a_client_is_waited_for_in_vain_once_whatever_its_depth_and_its_bursts() {
        let (soon, later) = (Duration::from_micros(50), 2 * GRACE);
        for depth in 1..=64 {
            assert_eq!(expired(depth, 1, 1000, soon), 0, "{depth}");
            for burst in 2..=depth {
                assert_eq!(expired(depth, burst, 1000, soon), 1, "{burst} of {depth}");
            }
            for burst in 1..=depth {
                assert_eq!(expired(depth, burst, 1000, later), 1, "{burst} of {depth}");
            }
        }
    }

    /// A client that sent batches of 32 and then keeps 32 inside is waited for once it has shown
    /// that habit, and not when it sends batches again.
    #[test]
    fn a_client_may_change_its_habit() {
        let (mut habit, now) = (Habit::default(), Instant::now());
        let mut expired = 0;
        let mut batch = |habit: &mut Habit| {
            (1..=32).for_each(|inside| habit.asks(inside, now));
            for inside in (0..32).rev() {
                habit.is_answered(now);
                if inside > 0 && habit.awaited(inside).is_some() {
                    expired += 1;
                    habit.let_expire(inside);
                }
            }
            expired
        };
        assert_eq!((batch(&mut habit), batch(&mut habit)), (1, 1));
        (1..=32).for_each(|inside| habit.asks(inside, now));
        habit.is_answered(now);
        assert_eq!(habit.awaited(31), None);
        for _ in 0..3 {
            habit.asks(32, now);
            habit.is_answered(now);
            assert_eq!(habit.awaited(31), Some(now + GRACE));
        }
        habit.asks(32, now);
        (0..32).for_each(|_| habit.is_answered(now));
        assert_eq!((batch(&mut habit), batch(&mut habit)), (1, 1));
    }
}

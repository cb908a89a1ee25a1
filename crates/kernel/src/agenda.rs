//! The agenda: who acts next.
//!
//! A simulated drive has a fixed cast (dies, channels, the host, a timer), and each actor waits
//! for at most one thing at a time. So the event queue is not a heap that grows and shrinks but a
//! tournament over one place per actor: changing an actor's time replays its matches up to the
//! root, log2(actors) comparisons without a branch to mispredict. An actor that needs several
//! timers keeps them itself and posts the earliest.

use crate::Time;
use std::hint::select_unpredictable;

/// Places for a fixed number of actors, each with at most one pending time.
///
/// Equal times come out in the order in which they were set. A key is 16 bytes:
/// `time:64 | sequence:40 | actor:24`, which bounds a run to 10^12 events.
#[derive(Clone, Debug)]
pub struct Agenda {
    /// A binary tree of nodes from 1 on, each the least below: the children of node `n` are the pair at
    /// `n`, and the actors' places are the nodes from `actors` on. Their number need not be a power of
    /// two: only the order of equals depends on the shape, and there are none. In pairs, because a match
    /// is between two that lie side by side: one look-up finds both.
    pairs: Vec<[Key; 2]>,
    /// Node 1.
    first: Key,
    sequence: u64,
}

/// A place in time: `order` is `sequence:40 | actor:24`.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
struct Key {
    time: u64,
    order: u64,
}

impl Key {
    /// As one number: to compare two takes no branch, and which of them is earlier is anybody's guess.
    #[inline(always)]
    fn whole(self) -> u128 {
        u128::from(self.time) << 64 | u128::from(self.order)
    }
}

const NEVER: Key = Key { time: u64::MAX, order: u64::MAX };
const ACTOR_BITS: u32 = 24;
const SEQUENCE_LIMIT: u64 = 1 << 40;

impl Agenda {
    /// An empty agenda for actors `0..actors` (at most 2^24).
    pub fn new(actors: usize) -> Self {
        assert!(actors > 0 && actors < 1 << ACTOR_BITS, "{actors} actors do not fit the agenda");
        Self { pairs: vec![[NEVER; 2]; actors], first: NEVER, sequence: 0 }
    }

    /// Lets `actor` act at `at`, replacing what it had planned.
    #[inline]
    pub fn set(&mut self, actor: usize, at: Time) {
        self.sequence += 1;
        assert!(self.sequence < SEQUENCE_LIMIT, "more than 10^12 events in one run");
        let order = self.sequence << ACTOR_BITS | actor as u64;
        self.replay(actor, Key { time: at.as_ns(), order });
    }

    /// Takes `actor` off the agenda.
    #[inline]
    pub fn clear(&mut self, actor: usize) {
        if self.key(actor) != NEVER {
            self.replay(actor, NEVER);
        }
    }

    /// When `actor` acts next, if it does.
    #[inline]
    pub fn at(&self, actor: usize) -> Option<Time> {
        time(self.key(actor))
    }

    /// The next actor and its time. It stays on the agenda until it is set anew or cleared: most
    /// actors plan their next act while acting, and then one replay serves for both.
    #[inline]
    pub fn peek(&self) -> Option<(Time, usize)> {
        let key = self.first;
        let actor = key.order as usize & ((1 << ACTOR_BITS) - 1);
        time(key).map(|at| (at, actor))
    }

    #[inline]
    fn key(&self, actor: usize) -> Key {
        let node = self.pairs.len() + actor;
        // The only actor has no pair.
        if node == 1 { self.first } else { self.pairs[node / 2][node % 2] }
    }

    #[inline]
    fn replay(&mut self, actor: usize, key: Key) {
        let mut node = self.pairs.len() + actor;
        let pairs = self.pairs.as_mut_slice();
        let mut best = key;
        while node > 1 {
            let pair = &mut pairs[node / 2];
            pair[node % 2] = best;
            let other = pair[(node ^ 1) % 2];
            let earlier = other.whole() < best.whole();
            best = Key {
                time: select_unpredictable(earlier, other.time, best.time),
                order: select_unpredictable(earlier, other.order, best.order),
            };
            node /= 2;
        }
        self.first = best;
    }
}

#[inline(always)]
fn time(key: Key) -> Option<Time> {
    (key != NEVER).then(|| Time::from_ns(key.time))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(agenda: &mut Agenda) -> Vec<(u64, usize)> {
        let mut seen = Vec::new();
        while let Some((at, actor)) = agenda.peek() {
            agenda.clear(actor);
            seen.push((at.as_ns(), actor));
        }
        seen
    }

    #[test]
    fn earliest_first_and_in_order_of_posting_among_equals() {
        let mut agenda = Agenda::new(5);
        for (actor, ns) in [(3, 7), (0, 5), (4, 5), (1, 5), (2, 1)] {
            agenda.set(actor, Time::from_ns(ns));
        }
        assert_eq!(drain(&mut agenda), [(1, 2), (5, 0), (5, 4), (5, 1), (7, 3)]);
    }

    #[test]
    fn a_new_time_replaces_the_old() {
        let mut agenda = Agenda::new(2);
        agenda.set(0, Time::from_ns(1));
        agenda.set(1, Time::from_ns(2));
        agenda.set(0, Time::from_ns(3));
        assert_eq!(agenda.at(0), Some(Time::from_ns(3)));
        assert_eq!(drain(&mut agenda), [(2, 1), (3, 0)]);
        assert_eq!(agenda.peek(), None);
    }

    #[test]
    fn agrees_with_a_sorted_list_over_random_use() {
        let mut rng = crate::Rng::named(7, "agenda-test");
        for actors in [1, 2, 3, 8, 65] {
            let mut agenda = Agenda::new(actors);
            let mut model: Vec<Option<(u64, u64)>> = vec![None; actors];
            for step in 0..4_000_u64 {
                let actor = rng.below(actors as u32) as usize;
                if rng.below(4) == 0 {
                    agenda.clear(actor);
                    model[actor] = None;
                } else {
                    let at = u64::from(rng.below(50));
                    agenda.set(actor, Time::from_ns(at));
                    model[actor] = Some((at, step));
                }
                let least = (0..actors).filter_map(|a| model[a].map(|(t, s)| (t, s, a))).min();
                let expected = least.map(|(t, _, a)| (Time::from_ns(t), a));
                assert_eq!(agenda.peek(), expected);
            }
        }
    }
}

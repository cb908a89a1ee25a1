//! The agenda: who acts next.
//!
//! A simulated drive has a fixed set of actors (dies, channels, the host, a timer), and each waits
//! for at most one event. So the event queue is not a heap that grows and shrinks.
//! It is a tournament over one place per actor. A new time of an actor replays its matches up to
//! the root, without a branch to mispredict. A match is between eight, which fill a cache line,
//! because finding the players costs more than the comparisons. Actors that are set to the same
//! time one after the other share a place and cost no matches. The dies that begin the pages of one
//! request are an example. An actor that needs several timers keeps them itself and posts the
//! earliest.

use crate::Time;

/// Places for a fixed number of actors, each with at most one pending time.
///
/// Equal times come out in the order in which they were set. So that a match is one comparison, a key is
/// one number: `time since the base | sequence | place`. The place has as many bits as it needs, the
/// sequence [`SEQUENCE_BITS`] or two more than the place, and the time the rest: with 100 actors that
/// is 37 minutes. When the sequence is used up, or all that is pending lies beyond, the base moves
/// and the sequence begins anew ([`Agenda::move_base`]).
#[derive(Clone, Debug)]
pub struct Agenda {
    /// A tree in which each node is the least of its group of [`GROUP`] children. The children of
    /// the root are group 0, and those of node `n` (all groups one behind the other) are group
    /// `n + 1`. The last nodes are the places; not all have the same depth.
    groups: Vec<[u64; GROUP]>,
    /// The root: it is not far.
    first: u64,
    plans: Vec<Plan>,
    /// The actor of each place.
    holders: Vec<u32>,
    /// The actor that was set last, and its time; none, if that was cleared.
    last: u32,
    last_time: u64,
    /// The time of key 0.
    base: u64,
    sequence: u32,
    /// The sequence ends before.
    sequence_end: u32,
    /// The time since the base from which keys no longer distinguish times.
    far: u64,
    /// The least key of that time.
    far_key: u64,
    place_bits: u32,
    place_mask: u64,
    /// Those of place and sequence.
    order_bits: u32,
}

/// The plan of an actor.
#[derive(Copy, Clone, Debug)]
struct Plan {
    time: u64,
    /// Its place in the order of setting since the base moved.
    sequence: u32,
    /// The actor that was set to the same time right after. It has no key of its own, and inherits
    /// this one's.
    behind: u32,
    /// The actor that was set to the same time right before.
    ahead: u32,
    /// The place of its key, if it has one.
    place: u32,
}

const NOTHING: u64 = u64::MAX;
const NOBODY: u32 = u32::MAX;
const GROUP: usize = 8;
/// No key is as great: the sequence ends before.
const NEVER: u64 = u64::MAX;
const SEQUENCE_BITS: u32 = 16;

impl Agenda {
    /// An empty agenda for actors `0..actors` (at most 2^24).
    pub fn new(actors: usize) -> Self {
        assert!(actors > 0 && actors < 1 << 24, "{actors} actors do not fit the agenda");
        let place_bits = usize::BITS - actors.leading_zeros();
        let sequence_bits = SEQUENCE_BITS.max(place_bits + 2);
        let all = 0..actors as u32;
        let plan =
            |place| Plan { time: NOTHING, sequence: 0, behind: NOBODY, ahead: NOBODY, place };
        Self {
            // Each group but the first takes the place of one node.
            groups: vec![[NEVER; GROUP]; (actors - 1).div_ceil(GROUP - 1).max(1)],
            first: NEVER,
            plans: all.clone().map(plan).collect(),
            holders: all.collect(),
            last: NOBODY,
            last_time: NOTHING,
            base: 0,
            sequence: 0,
            sequence_end: 1 << sequence_bits,
            far: u64::MAX >> (place_bits + sequence_bits),
            far_key: u64::MAX << (place_bits + sequence_bits),
            place_bits,
            place_mask: (1 << place_bits) - 1,
            order_bits: place_bits + sequence_bits,
        }
    }

    /// Lets `actor` act at `at`, in place of its earlier plan.
    #[inline]
    pub fn set(&mut self, actor: usize, at: Time) {
        let time = at.as_ns();
        let plan = &mut self.plans[actor];
        let shares = plan.behind & plan.ahead != NOBODY;
        // An actor with a key of its own has matches to replay in any case.
        if shares || (plan.time == NOTHING && time == self.last_time) {
            return self.set_among(actor, time, shares);
        }
        self.set_alone(actor, time);
    }

    /// The same for an actor that shares a key with others, or that may follow the last one.
    // Apart, and at an end of `set`: calls in the middle of it would cost every actor registers.
    #[inline(never)]
    fn set_among(&mut self, actor: usize, time: u64, shares: bool) {
        if time == self.last_time {
            return self.follow(actor, shares);
        }
        self.part(actor);
        self.set_alone(actor, time);
    }

    /// The same for an actor with a key of its own.
    #[inline(always)]
    fn set_alone(&mut self, actor: usize, time: u64) {
        self.last_time = time;
        self.last = actor as u32;
        let plan = &mut self.plans[actor];
        plan.time = time;
        plan.sequence = self.sequence;
        let place = plan.place;
        self.sequence += 1;
        let since = time.wrapping_sub(self.base);
        if since >= self.far || self.sequence == self.sequence_end {
            return self.set_apart(actor);
        }
        let order = u64::from(self.sequence - 1) << self.place_bits | u64::from(place);
        self.replay(place, since << self.order_bits | order);
    }

    /// The same if the time lies before the base or far behind it, or if the sequence is used up.
    #[cold]
    fn set_apart(&mut self, actor: usize) {
        if self.plans[actor].time < self.base || self.sequence == self.sequence_end {
            self.move_base();
        } else {
            self.replay(self.plans[actor].place, self.key_of(actor));
        }
    }

    /// Lets `actor` act at the time to which another was set just before: right behind it. It shares a key
    /// with others, or has planned nothing.
    fn follow(&mut self, actor: usize, shares: bool) {
        let last = self.last as usize;
        if actor == last {
            return;
        }
        if shares {
            self.part(actor);
        }
        self.plans[last].behind = actor as u32;
        let plan = &mut self.plans[actor];
        (plan.time, plan.sequence, plan.ahead) = (self.last_time, self.sequence, last as u32);
        self.last = actor as u32;
        self.sequence += 1;
        if self.sequence == self.sequence_end {
            self.move_base();
        }
    }

    /// An actor gives up its plan.
    #[inline]
    fn leave(&mut self, actor: usize) {
        let Plan { time, behind, ahead, place, .. } = self.plans[actor];
        if time == NOTHING {
            return;
        }
        self.plans[actor].time = NOTHING;
        if behind & ahead == NOBODY {
            self.replay(place, NEVER);
        } else {
            self.part(actor);
        }
    }

    /// An actor leaves those that share a key with it. If it was the first of them, the next takes over the place with
    /// the key, and leaves its own.
    fn part(&mut self, actor: usize) {
        let plan = &mut self.plans[actor];
        let (ahead, behind, place) = (plan.ahead, plan.behind, plan.place);
        (plan.ahead, plan.behind) = (NOBODY, NOBODY);
        if behind != NOBODY {
            self.plans[behind as usize].ahead = ahead;
        }
        if ahead != NOBODY {
            self.plans[ahead as usize].behind = behind;
            return;
        }
        let free = std::mem::replace(&mut self.plans[behind as usize].place, place);
        self.holders[place as usize] = behind;
        self.plans[actor].place = free;
        self.holders[free as usize] = actor as u32;
    }

    /// The base becomes the earliest time that is pending, and the sequence begins anew.
    #[cold]
    fn move_base(&mut self) {
        let pending = self.plans.iter().enumerate().filter(|(_, plan)| plan.time != NOTHING);
        let mut pending: Vec<(u32, usize)> = pending.map(|(a, plan)| (plan.sequence, a)).collect();
        pending.sort_unstable();
        for (sequence, &(_, actor)) in (0..).zip(&pending) {
            self.plans[actor].sequence = sequence;
        }
        self.sequence = pending.len() as u32;
        self.base = self.plans.iter().map(|plan| plan.time).min().expect("there are actors");
        for actor in 0..self.plans.len() {
            let node = self.groups.len() - 1 + self.plans[actor].place as usize;
            self.groups[node / GROUP][node % GROUP] = self.key_of(actor);
        }
        for group in (1..self.groups.len()).rev() {
            let node = group - 1;
            self.groups[node / GROUP][node % GROUP] = least(&self.groups[group]);
        }
        self.first = least(&self.groups[0]);
    }

    /// The key of an actor's plan, which does not lie before the base.
    fn key_of(&self, actor: usize) -> u64 {
        let Plan { time, sequence, ahead, place, .. } = self.plans[actor];
        if time == NOTHING || ahead != NOBODY {
            return NEVER;
        }
        let since = (time - self.base).min(self.far);
        since << self.order_bits | u64::from(sequence) << self.place_bits | u64::from(place)
    }

    /// Takes `actor` off the agenda.
    #[inline]
    pub fn clear(&mut self, actor: usize) {
        self.leave(actor);
        if self.last as usize == actor {
            self.last_time = NOTHING;
        }
    }

    /// When `actor` acts next, if it does.
    #[inline]
    pub fn at(&self, actor: usize) -> Option<Time> {
        let time = self.plans[actor].time;
        (time != NOTHING).then(|| Time::from_ns(time))
    }

    /// The next actor and its time. It stays on the agenda until it is set anew or cleared: most
    /// actors plan their next act while acting, and then one replay serves for both.
    #[inline]
    pub fn peek(&self) -> Option<(Time, usize)> {
        let key = self.first;
        if key == NEVER {
            return None;
        }
        let place = (key & self.place_mask) as usize;
        let at = Time::from_ns(self.base + (key >> self.order_bits));
        Some((at, self.holders[place] as usize))
    }

    #[inline]
    fn replay(&mut self, place: u32, key: u64) {
        let mut node = self.groups.len() - 1 + place as usize;
        let mut best = key;
        loop {
            let at = node / GROUP;
            let group = &mut self.groups[at];
            group[node % GROUP] = best;
            best = least(group);
            if at == 0 {
                break;
            }
            node = at - 1;
        }
        self.first = best;
        if best >= self.far_key {
            self.look_far(best);
        }
    }

    /// Everything pending lies where keys no longer distinguish times, or nothing is pending.
    #[cold]
    fn look_far(&mut self, best: u64) {
        if best != NEVER {
            self.move_base();
        }
    }
}

#[inline(always)]
fn least(group: &[u64; GROUP]) -> u64 {
    let pairs: [u64; GROUP / 2] = std::array::from_fn(|i| group[2 * i].min(group[2 * i + 1]));
    let [a, b, c, d] = pairs;
    a.min(b).min(c.min(d))
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
        agrees(4_000, |rng| u64::from(rng.below(50)));
    }

    /// Keys cannot tell the latest of these times apart, and the sequence ends several times.
    #[test]
    fn agrees_with_a_sorted_list_of_times_of_any_size() {
        agrees(150_000, |rng| {
            let size = rng.below(64);
            u64::from(rng.below(4)) << size | u64::from(rng.below(2))
        });
    }

    /// Most actors are set to the time of the one before, and set anew or cleared before it comes.
    #[test]
    fn agrees_with_a_sorted_list_where_times_are_shared() {
        let mut last = 0;
        agrees(150_000, |rng| {
            if rng.below(8) == 0 {
                last = u64::from(rng.below(1_000));
            }
            last
        });
    }

    fn agrees(steps: u64, mut time: impl FnMut(&mut crate::Rng) -> u64) {
        let mut rng = crate::Rng::named(7, "agenda-test");
        for actors in [1, 2, 3, 8, 65] {
            let mut agenda = Agenda::new(actors);
            let mut model: Vec<Option<(u64, u64)>> = vec![None; actors];
            for step in 0..steps {
                let actor = rng.below(actors as u32) as usize;
                if rng.below(4) == 0 {
                    agenda.clear(actor);
                    model[actor] = None;
                } else {
                    let at = time(&mut rng);
                    agenda.set(actor, Time::from_ns(at));
                    model[actor] = Some((at, step));
                }
                let least = (0..actors).filter_map(|a| model[a].map(|(t, s)| (t, s, a))).min();
                let expected = least.map(|(t, _, a)| (Time::from_ns(t), a));
                assert_eq!(agenda.peek(), expected);
                assert_eq!(agenda.at(actor), model[actor].map(|(t, _)| Time::from_ns(t)));
            }
        }
    }
}

//! The records of all touched pages, or of a sample of them that fits the memory.
//!
//! Pages come in groups of 16 neighbours. A hash table finds a group (16 bytes each); the records
//! of those of its pages that were touched lie side by side in a run of 1, 2, 4, 8 or 16 (24 bytes
//! each). So a request for many pages looks up few groups, and a lone page among untouched
//! neighbours takes no more room than it must.

use kernel::prefetch;

use super::page::{Page, SLOTS};

pub(super) const GROUP_SHIFT: u32 = 4;
const GROUP: u32 = 1 << GROUP_SHIFT;

/// A third of the memory is for groups, the rest for pages.
const GROUP_PART: usize = 3;
const SMALLEST_TABLE: usize = 1 << 10;
/// The number of places of the table by which prefetches of records run ahead in a pass over all.
const AHEAD: usize = 32;

#[derive(Copy, Clone, Default)]
struct Group {
    /// 1 + the group's number; 0 is a free place.
    key: u64,
    /// The beginning of its run of records.
    at: u32,
    /// Its pages that have a record, by their place in the group.
    present: u16,
}

const _: () = assert!(size_of::<Group>() == 16);

impl Group {
    /// The number of records that its run has space for.
    fn room(self) -> u32 {
        self.present.count_ones().next_power_of_two()
    }
}

pub(super) struct TouchedPages {
    /// A power of two of places, at most three quarters taken.
    table: Vec<Group>,
    groups: usize,
    most_groups: usize,
    records: Vec<Page>,
    most_records: usize,
    /// Records in the runs of groups, and not in `free`.
    in_runs: usize,
    /// Given-up runs of 1, 2, 4 and 8.
    free: [Vec<u32>; GROUP_SHIFT as usize],
    /// One group in `weight` is in the sample.
    weight: u64,
}

/// The result of a look-up of pages.
pub(super) enum PagesFound<'a> {
    /// The records, side by side; new ones are as by default.
    Pages(&'a mut [Page]),
    /// The group is not in the sample.
    Unsampled,
    /// There is no space: call [`TouchedPages::make_room`], then try again.
    Full,
}

impl TouchedPages {
    pub(super) fn new(memory: u64) -> Self {
        let memory = memory as usize;
        let places = memory / GROUP_PART / size_of::<Group>();
        let most = (places / 2 + 1).next_power_of_two().max(SMALLEST_TABLE);
        let most_records = (memory - memory / GROUP_PART) / size_of::<Page>();
        Self {
            table: vec![Group::default(); SMALLEST_TABLE],
            groups: 0,
            most_groups: most / 4 * 3,
            records: Vec::new(),
            // Half of the slots stay free, so that numbering them anew always gains some.
            most_records: most_records.min(SLOTS as usize / 2),
            in_runs: 0,
            free: [const { Vec::new() }; 4],
            weight: 1,
        }
    }

    /// The number of pages or touches that one in the sample represents.
    pub(super) fn weight(&self) -> u64 {
        self.weight
    }

    pub(super) fn groups(&self) -> u64 {
        self.groups as u64
    }

    /// Prefetches the cache line where `group` is looked up.
    #[inline]
    pub(super) fn prefetch(&self, group: u64) {
        prefetch(&self.table[self.home(mix(group))]);
    }

    /// Prefetches the cache lines of a group's records, whose place in the table is known.
    #[inline]
    pub(super) fn prefetch_records(&self, group: u64) {
        if let Ok(place) = self.find(group, mix(group)) {
            let at = self.table[place].at as usize;
            prefetch(&self.records[at]);
        }
    }

    /// The records of pages `first` to `first + n - 1` of a group.
    #[inline]
    pub(super) fn get(&mut self, group: u64, first: u32, n: u32) -> PagesFound<'_> {
        let hash = mix(group);
        if hash & (self.weight - 1) != 0 {
            return PagesFound::Unsampled;
        }
        let requested = (u16::MAX >> (GROUP - n)) << first;
        let place = match self.find(group, hash) {
            Ok(place) if self.table[place].present & requested == requested => place,
            Ok(place) => {
                if !self.widen(place, requested) {
                    return PagesFound::Full;
                }
                place
            }
            Err(_) if self.groups == self.most_groups => return PagesFound::Full,
            Err(_) => {
                if self.groups == self.table.len() / 4 * 3 {
                    self.grow();
                }
                let Some(at) = self.run(requested.count_ones().next_power_of_two()) else {
                    return PagesFound::Full;
                };
                self.groups += 1;
                self.insert(Group { key: group + 1, at, present: requested })
            }
        };
        let Group { at, present, .. } = self.table[place];
        let before = present & ((1 << first) - 1);
        let at = (at + before.count_ones()) as usize;
        PagesFound::Pages(&mut self.records[at..at + n as usize])
    }

    /// The first place for a hash: its highest bits. The sample goes by the lowest.
    #[inline]
    fn home(&self, hash: u64) -> usize {
        (hash >> (64 - self.table.len().ilog2())) as usize
    }

    /// The place of a group, or the free one where it would be.
    #[inline]
    fn find(&self, group: u64, hash: u64) -> Result<usize, usize> {
        let mut place = self.home(hash);
        loop {
            match self.table[place].key {
                0 => return Err(place),
                key if key == group + 1 => return Ok(place),
                _ => place = (place + 1) & (self.table.len() - 1),
            }
        }
    }

    fn insert(&mut self, group: Group) -> usize {
        let number = group.key - 1;
        let (Ok(place) | Err(place)) = self.find(number, mix(number));
        self.table[place] = group;
        place
    }

    fn grow(&mut self) {
        let twice = vec![Group::default(); 2 * self.table.len()];
        let old = std::mem::replace(&mut self.table, twice);
        for group in old.into_iter().filter(|g| g.key != 0) {
            self.insert(group);
        }
    }

    /// A run of `room` fresh records.
    fn run(&mut self, room: u32) -> Option<u32> {
        let free = self.free.get_mut(room.ilog2() as usize).and_then(Vec::pop);
        let at = match free {
            Some(at) => {
                self.records[at as usize..(at + room) as usize].fill(Page::default());
                at
            }
            None if self.records.len() + room as usize > self.most_records => return None,
            None => {
                let at = self.records.len();
                self.records.resize(at + room as usize, Page::default());
                at as u32
            }
        };
        self.in_runs += room as usize;
        Some(at)
    }

    /// Gives the requested pages of a group their records, in a larger run if need be.
    fn widen(&mut self, place: usize, requested: u16) -> bool {
        let old = self.table[place];
        let mut new = Group { present: old.present | requested, ..old };
        if new.room() > old.room() {
            let Some(at) = self.run(new.room()) else { return false };
            new.at = at;
            self.free[old.room().ilog2() as usize].push(old.at);
            self.in_runs -= old.room() as usize;
        }
        // From the last page down, so that a move within a run overwrites nothing that is needed.
        let (mut from, mut to) = (old.present.count_ones(), new.present.count_ones());
        for page in (0..GROUP).rev().filter(|page| new.present >> page & 1 != 0) {
            to -= 1;
            self.records[(new.at + to) as usize] = if old.present >> page & 1 != 0 {
                from -= 1;
                self.records[(old.at + from) as usize]
            } else {
                Page::default()
            };
        }
        self.table[place] = new;
        true
    }

    /// Packs the records; gives up every other group, and `forget` sees their pages, if packing
    /// alone would gain too little.
    pub(super) fn make_room(&mut self, mut forget: impl FnMut(&Page)) {
        let crowded = self.in_runs > self.most_records / 4 * 3;
        if crowded || self.groups == self.most_groups {
            self.weight *= 2;
        }
        let mut kept = Vec::with_capacity(self.groups / 2);
        for group in self.taken() {
            if mix(group.key - 1) & (self.weight - 1) == 0 {
                kept.push(group);
            } else {
                let at = group.at as usize;
                let n = group.present.count_ones() as usize;
                self.records[at..at + n].iter().for_each(&mut forget);
            }
        }
        self.table = Vec::new();
        // In the order of their runs, so that packing only ever moves records down.
        kept.sort_unstable_by_key(|group| group.at);
        let mut next = 0;
        for group in &mut kept {
            let (at, room) = (group.at as usize, group.room());
            self.records.copy_within(at..at + room as usize, next as usize);
            group.at = next;
            next += room;
        }
        self.records.truncate(next as usize);
        self.in_runs = next as usize;
        self.free = [const { Vec::new() }; 4];
        self.groups = kept.len();
        let places = (kept.len() / 3 * 4 + 1).next_power_of_two().max(SMALLEST_TABLE);
        self.table = vec![Group::default(); places];
        for group in kept {
            self.insert(group);
        }
    }

    /// Every record with its page's number.
    pub(super) fn each(&self, mut see: impl FnMut(u64, &Page)) {
        for group in self.taken() {
            let pages = (0..GROUP).filter(|page| group.present >> page & 1 != 0);
            for (i, page) in pages.enumerate() {
                let number = (group.key - 1) << GROUP_SHIFT | u64::from(page);
                see(number, &self.records[group.at as usize + i]);
            }
        }
    }

    /// Every record, to change it.
    pub(super) fn each_mut(&mut self, mut change: impl FnMut(&mut Page)) {
        for place in 0..self.table.len() {
            self.prefetch_run(place + AHEAD);
            let Group { key, at, present } = self.table[place];
            if key != 0 {
                let run = at as usize..(at + present.count_ones()) as usize;
                self.records[run].iter_mut().for_each(&mut change);
            }
        }
    }

    /// The groups in the order of the table, with their records prefetched.
    fn taken(&self) -> impl Iterator<Item = Group> + '_ {
        let places = self.table.iter().enumerate();
        places.filter_map(|(place, &group)| {
            self.prefetch_run(place + AHEAD);
            (group.key != 0).then_some(group)
        })
    }

    #[inline]
    fn prefetch_run(&self, place: usize) {
        if let Some(first) = self.table.get(place).and_then(|g| self.records.get(g.at as usize)) {
            prefetch(first);
        }
    }
}

/// Every bit of the number changes every bit of the hash (the finish of `SplitMix64`).
#[inline]
fn mix(group: u64) -> u64 {
    let mut z = group.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Op;
    use kernel::Rng;
    use std::collections::BTreeMap;

    /// Touches single pages and stretches against a plain map, growing, widening and thinning.
    fn against_a_map(memory: u64, groups: u32, touches: u32) -> u64 {
        let mut rng = Rng::named(memory, "test/pages");
        let mut pages = TouchedPages::new(memory);
        let mut plain: BTreeMap<u64, u32> = BTreeMap::new();
        for _ in 0..touches {
            let group = u64::from(rng.below(groups)) << 20;
            let first = rng.below(GROUP);
            let n = 1 + rng.below(GROUP - first);
            loop {
                match pages.get(group, first, n) {
                    PagesFound::Unsampled => break,
                    PagesFound::Full => {
                        let (mut gone, before) = (0, pages.weight());
                        pages.make_room(|page| gone += page.reads);
                        let kept = |number: u64| mix(number >> GROUP_SHIFT) % pages.weight() == 0;
                        let lost: u32 = plain.iter().filter(|p| !kept(*p.0)).map(|p| p.1).sum();
                        assert_eq!(gone, lost, "forgotten records");
                        plain.retain(|&number, _| kept(number));
                        assert!(pages.weight() <= 2 * before);
                    }
                    PagesFound::Pages(found) => {
                        assert_eq!(found.len(), n as usize);
                        for (i, page) in found.iter_mut().enumerate() {
                            page.touch(Op::Read);
                            let number = group << GROUP_SHIFT | u64::from(first);
                            *plain.entry(number + i as u64).or_default() += 1;
                        }
                        break;
                    }
                }
            }
        }
        let mut seen = BTreeMap::new();
        pages.each(|number, page| assert!(seen.insert(number, page.reads).is_none()));
        assert_eq!(seen, plain);
        assert_eq!(pages.groups(), {
            let mut groups: Vec<u64> = plain.keys().map(|n| n >> GROUP_SHIFT).collect();
            groups.dedup();
            groups.len() as u64
        });
        pages.weight()
    }

    #[test]
    fn keeps_every_page_that_fits_and_a_sample_of_more() {
        assert_eq!(against_a_map(8 << 20, 3000, 200_000), 1);
        assert!(against_a_map(64 << 10, 3000, 100_000) >= 8);
    }
}

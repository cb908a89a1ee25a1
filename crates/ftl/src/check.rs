//! Structural checks: everything that must hold between two calls.

use crate::ask::Kit;
use crate::ftl::Ftl;
use crate::map::Lpn;
use crate::stream::StreamId;

/// What a check found wrong.
pub(crate) type Fault = String;

macro_rules! ensure {
    ($holds:expr, $($text:tt)+) => {
        if !$holds {
            return Err(format!($($text)+));
        }
    };
}
pub(crate) use ensure;

impl<K: Kit> Ftl<K> {
    /// Checks that L2P and P2L are inverse, that counts equal bits, that every block is in exactly
    /// one place, and that the referee agrees. Takes time in proportion to the drive: for tests,
    /// and once at the end of a run.
    pub fn check(&self) -> Result<(), Fault> {
        self.space.check()?;
        self.check_valid()?;
        self.check_map()
    }

    /// Checks that blocks and the map agree on which slots are valid.
    pub(crate) fn check_valid(&self) -> Result<(), Fault> {
        let (space, blocks) = (&self.space, &self.space.blocks);
        for b in space.block_ids() {
            let (valid, counted) = (blocks.valid(b), self.map.count_valid(b));
            ensure!(valid == counted, "block {b}: {counted} valid slots, counted {valid}");
            let mode = space.array().mode(b);
            for slot in blocks.written(b)..space.geometry.pages_per_block() {
                ensure!(
                    space.layouts.is_kept(mode, slot) || !self.map.is_valid(b, slot),
                    "block {b}: slot {slot} valid, never written"
                );
            }
        }
        Ok(())
    }

    fn check_map(&self) -> Result<(), Fault> {
        let map = &self.map;
        let mut mapped = 0;
        for lpn in (0..map.logical_pages()).map(Lpn::from_u32) {
            let Some(ppn) = map.lookup(lpn) else { continue };
            mapped += 1;
            let (block, slot) = self.space.geometry.split(ppn);
            ensure!(map.owner(ppn) == Some(lpn), "L2P({lpn}) = {ppn}, whose owner is another");
            ensure!(map.is_valid(block, slot), "L2P({lpn}) = {ppn}, which is not valid");
        }
        ensure!(mapped == map.mapped(), "{mapped} pages are mapped, counted {}", map.mapped());
        // Mapped pages lie in different slots, for each is its slot's owner. So as many valid slots
        // as mapped pages means that no other slot is valid.
        let valid: u32 = self.space.block_ids().map(|b| self.space.blocks.valid(b)).sum();
        ensure!(mapped == valid, "{mapped} pages are mapped, {valid} slots are valid");
        Ok(())
    }

    /// Checks what holds beside all that when nothing is on its way and every block is plain: the
    /// drive is one that [`Ftl::save`] keeps, and that [`Ftl::restore`] may make.
    pub(crate) fn check_quiet(&self) -> Result<(), Fault> {
        ensure!(self.answers.coding_plain, "blocks may have several lives");
        // Blocks close when they are full, unless a policy passes pages over or completes blocks.
        let whole = self.answers.in_order && !self.reads.are_counted();
        let in_use = |stream| match stream {
            StreamId::WEAR => self.answers.wear,
            StreamId::HOST_HIGH => self.answers.priority,
            _ => true,
        };
        self.space.check_quiet(whole, in_use, self.config.gc.start)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::State;
    use crate::ask::{HostDest, OpView, Order, Placement, Policies, Victim, Watch};
    use crate::{Config, GcMarks, InOrder, Load, NoRefresh, NoThrottle, NoWear, PlaneView};
    use crate::{Plain, Traditional};
    use kernel::{Bytes, Prio, Rng, Time};
    use nand::{BlockId, Geometry, Layouts, Nothing, PlaneId, Ppn, Shape, Tag};

    struct Simple;
    impl Watch for Simple {}
    impl Victim for Simple {
        fn choose(&mut self, plane: &PlaneView<'_>, _: Tag, _: &mut Rng) -> Option<BlockId> {
            plane.most_gain()
        }
    }
    impl Placement for Simple {
        fn place(&mut self, _: &Load<'_>, lpn: Lpn, _: Prio) -> Option<HostDest> {
            Some(HostDest { plane: self.spread(lpn), stream: StreamId::HOST })
        }
        fn spread(&mut self, lpn: Lpn) -> PlaneId {
            PlaneId::from_u32(lpn.as_u32() % 2)
        }
        fn is_free(&self) -> bool {
            false
        }
    }
    impl Order for Simple {
        fn pick(&mut self, _: &[OpView], _: Time) -> usize {
            0
        }
    }
    impl Kit for Simple {
        type Store = Nothing;
        type Cost = Traditional;
        type Throttle = NoThrottle;
        type ReadDisturb = NoRefresh;
        type PageChoice = InOrder;
        type Coding = Plain;
        type Victim = Self;
        type Placement = Self;
        type Wear = NoWear;
        type Order = Self;
    }
    type Drive = Ftl<Simple>;
    type Damage<'a> = &'a dyn Fn(&mut Drive);

    /// Of a drive of two planes of eight blocks of four pages.
    pub(crate) fn small() -> Config {
        let geometry = Geometry::new(Shape {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 2,
            blocks_per_plane: 8,
            pages_per_block: 4,
            page_size: Bytes::kib(4),
            bits_per_cell: 1,
        })
        .unwrap();
        Config {
            geometry,
            layouts: Layouts::new(4),
            logical_pages: 32,
            gc: GcMarks { start: 2, stop: 2, background_stop: 0, one_by_one: false },
            endurance: 0,
            seed: 1,
        }
    }

    /// Half full, with pages overwritten.
    fn drive() -> Drive {
        let policies = Policies {
            cost: Traditional,
            throttle: NoThrottle,
            read_disturb: NoRefresh,
            page_choice: InOrder,
            coding: Plain,
            victim: Simple,
            placement: Simple,
            wear: NoWear,
            order: Simple,
        };
        let mut ftl = Ftl::new(small(), policies);
        for n in (0..28).chain(0..6) {
            assert!(ftl.write_now(Lpn::from_u32(n), (), Time::ZERO));
        }
        ftl
    }

    fn block_in(ftl: &Drive, state: State) -> BlockId {
        ftl.space
            .block_ids()
            .find(|b| ftl.blocks().state(*b) == state)
            .expect("a block in that state")
    }

    /// Each line of the check finds what it is there for.
    #[test]
    fn every_kind_of_damage_is_found() {
        let (a, b) = (Lpn::from_u32(10), Lpn::from_u32(12));
        let at = |ftl: &Drive, lpn| {
            let ppn = ftl.map.lookup(lpn).expect("mapped");
            let (block, slot) = ftl.geometry().split(ppn);
            (ppn, block, slot)
        };
        let damages: [(&str, Damage<'_>); 6] = [
            ("valid slots, counted", &|f| {
                let (_, block, slot) = at(f, a);
                f.map.invalidate(block, slot);
            }),
            ("valid slots, counted", &|f| f.space.add_valid(block_in(f, State::Closed))),
            ("whose owner is another", &|f| {
                let (ppn, block, slot) = at(f, a);
                f.map.bind(b, ppn, block, slot);
            }),
            ("pages are mapped, ", &|f| {
                f.map.unbind(a);
            }),
            ("which is not valid", &|f| {
                // The stale slot of an overwritten page takes the place of a valid one.
                let (_, block, slot) = at(f, a);
                f.map.invalidate(block, slot);
                f.space.drop_valid(block);
                let stale = (0..64).map(Ppn::from_u32).find(|p| {
                    let (block, slot) = f.geometry().split(*p);
                    f.map.owner(*p).is_some() && !f.map.is_valid(block, slot)
                });
                let (ppn, lpn) = (stale.expect("a stale slot"), Lpn::from_u32(31));
                let (block, slot) = f.geometry().split(ppn);
                f.map.bind(lpn, ppn, block, slot);
                f.space.add_valid(block);
            }),
            ("slot 3 valid, never written", &|f| {
                let block = block_in(f, State::Open);
                f.map.bind(Lpn::from_u32(31), f.geometry().ppn(block, 3), block, 3);
                f.space.add_valid(block);
            }),
        ];
        drive().check().unwrap();
        for (n, (words, damage)) in damages.iter().enumerate() {
            let mut ftl = drive();
            damage(&mut ftl);
            let fault = ftl.check().expect_err(words);
            assert!(fault.contains(words), "damage {n} should be {words:?}, and is {fault:?}");
        }
    }
}

//! The array, top down: channel, chip, die, plane, block, page.

mod superblocks;

pub use superblocks::Superblocks;

use crate::{FlashBlocks, FlashPages, PageOrder, PageRange, Units};
use kernel::{Bytes, Divisor, Idx, newtype_index};
use std::fmt;

newtype_index! {
    /// A channel: the bus that its chips share.
    ChannelId;
    /// A die (LUN): executes one command at a time. Numbered channel first, so that neighbouring
    /// numbers lie on different channels.
    DieId;
    /// A plane: `die * planes_per_die + plane`.
    PlaneId;
    /// A block: `plane * blocks_per_plane + block`.
    BlockId;
    /// A physical unit that holds one logical page: `block * pages_per_block + slot`. On a plain
    /// block it is a mapping unit, a physical page where [`UnitSizes`] says nothing else; blocks of other
    /// modes have fewer (see [`crate::Layouts`]).
    Ppn;
}

/// The sizes that a drive file gives.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Channels of the drive.
    pub channels: u32,
    /// Chips on each channel.
    pub chips_per_channel: u32,
    /// Dies in each chip.
    pub dies_per_chip: u32,
    /// Planes in each die.
    pub planes_per_die: u32,
    /// Blocks in each plane.
    pub blocks_per_plane: u32,
    /// Pages in each block.
    pub pages_per_block: u32,
    /// Bytes of data in a page.
    pub page_size: Bytes,
    /// Bits in a cell: 1 (SLC) to 4 (QLC).
    pub bits_per_cell: u32,
}

/// The size of a map entry and of a program command.
///
/// A *mapping unit* is a page in the layers above: a physical page, an equal part of one, or the
/// pages of equal index in several planes. Their blocks and planes are groups. A group is the
/// blocks of the same index in `planes` planes, which are opened, programmed and erased together. A
/// *program unit* is the extent of one command: `pages` pages of each of these planes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct UnitSizes {
    /// Mapping units in a physical page: 1 if a mapping unit has a page or more.
    pub per_page: u32,
    /// Physical pages of a mapping unit, each in a plane of its own: 1 if it has a page or less.
    /// `planes` is a multiple of it.
    pub across: u32,
    /// Physical pages of a block that one command programs.
    pub pages: u32,
    /// Planes that one command programs.
    pub planes: u32,
}

impl UnitSizes {
    /// A page is mapped, and programmed alone.
    pub const PAGE: Self = Self { per_page: 1, across: 1, pages: 1, planes: 1 };

    /// Mapping units in a page of all planes that are programmed together.
    #[inline]
    pub const fn per_row(self) -> u32 {
        self.per_page * self.planes / self.across
    }

    /// Mapping units that one command programs.
    #[inline]
    pub const fn per_program(self) -> u32 {
        self.per_row() * self.pages
    }

    /// The first plane of its group that a slot lies in.
    #[inline]
    pub const fn plane_of(self, slot: u32) -> u32 {
        slot / self.per_page * self.across % self.planes
    }
}

/// A checked shape with everything multiplied out. It alone converts between dense numbers and
/// their parts.
///
/// Pages, blocks and planes are those of the layers above (see [`UnitSizes`]); those of the flash are
/// [`Geometry::flash`].
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Geometry {
    shape: Shape,
    units: UnitSizes,
    /// Mapping units that one command programs.
    unit: u32,
    /// Mapping units in a page of all planes that are programmed together.
    row: u32,
    by_row: Divisor,
    dies: u32,
    planes: u32,
    blocks: u32,
    pages: u32,
    by_pages: Divisor,
    by_blocks: Divisor,
    by_planes: Divisor,
    /// Slots of a die.
    by_dies: Divisor,
    by_channels: Divisor,
    by_bits: Divisor,
    order: PageOrder,
    superblocks: Superblocks,
}

/// Why a shape is not a drive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum GeometryError {
    /// A size is zero.
    Zero(&'static str),
    /// A size is beyond its limit.
    Limit {
        /// The key of the drive file.
        key: &'static str,
        /// The value given.
        got: u64,
        /// The greatest value allowed.
        limit: u64,
    },
    /// More physical pages than a 32-bit page number can name.
    TooManyPages(u64),
}

impl fmt::Display for GeometryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zero(key) => write!(f, "`{key}` must be at least 1"),
            Self::Limit { key, got, limit } => {
                write!(f, "`{key}` is {got}, and the limit is {limit}")
            }
            Self::TooManyPages(pages) => write!(
                f,
                "the drive has {pages} physical pages, and page numbers end at {}; \
                 larger pages make fewer",
                u32::MAX - 1
            ),
        }
    }
}

impl std::error::Error for GeometryError {}

/// Offsets of slots in a group of pages have 16 bits ([`crate::SlotSpan`]).
const PAGES_PER_BLOCK_LIMIT: u64 = (1 << 14) - 1;

impl Geometry {
    /// Checks `shape` and multiplies it out.
    pub fn new(shape: Shape) -> Result<Self, GeometryError> {
        let sizes = [
            ("channels", shape.channels, 1 << 12),
            ("chips-per-channel", shape.chips_per_channel, 1 << 12),
            ("dies-per-chip", shape.dies_per_chip, 64),
            ("planes-per-die", shape.planes_per_die, 16),
            ("blocks-per-plane", shape.blocks_per_plane, 1 << 24),
            ("pages-per-block", shape.pages_per_block, PAGES_PER_BLOCK_LIMIT),
            ("bits-per-cell", shape.bits_per_cell, 4),
        ];
        for (key, got, limit) in sizes {
            if got == 0 {
                return Err(GeometryError::Zero(key));
            }
            if u64::from(got) > limit {
                return Err(GeometryError::Limit { key, got: got.into(), limit });
            }
        }
        if shape.page_size.get() == 0 {
            return Err(GeometryError::Zero("page-size"));
        }
        Self::multiplied_out(shape, UnitSizes::PAGE)
    }

    /// The same geometry with other units. The pages of a block, the bytes of its page and the
    /// planes of a die are multiples of theirs.
    ///
    /// # Panics
    ///
    /// If they are not.
    pub fn with_units(self, units: UnitSizes) -> Result<Self, GeometryError> {
        let flash = self.flash();
        let UnitSizes { per_page, across, pages, planes } = units;
        assert!(
            flash.page_size.get().is_multiple_of(per_page.into())
                && planes.is_multiple_of(across)
                && (per_page == 1 || across == 1)
                && flash.pages_per_block.is_multiple_of(pages)
                && flash.planes_per_die.is_multiple_of(planes),
            "{units:?} do not fit {flash:?}"
        );
        let shape = Shape {
            planes_per_die: flash.planes_per_die / planes,
            pages_per_block: flash.pages_per_block * units.per_row(),
            page_size: Bytes::new(flash.page_size.get() / u64::from(per_page) * u64::from(across)),
            ..flash
        };
        Ok(Self { order: self.order, ..Self::multiplied_out(shape, units)? })
    }

    fn multiplied_out(shape: Shape, units: UnitSizes) -> Result<Self, GeometryError> {
        let dies = u64::from(shape.channels)
            * u64::from(shape.chips_per_channel)
            * u64::from(shape.dies_per_chip);
        let dies_limit = 1 << 16;
        if dies > dies_limit {
            return Err(GeometryError::Limit { key: "dies", got: dies, limit: dies_limit });
        }
        let planes = dies * u64::from(shape.planes_per_die);
        let blocks = planes * u64::from(shape.blocks_per_plane);
        let pages = u128::from(blocks) * u128::from(shape.pages_per_block);
        if pages >= u128::from(u32::MAX) {
            return Err(GeometryError::TooManyPages(u64::try_from(pages).unwrap_or(u64::MAX)));
        }
        let row = units.per_row();
        Ok(Self {
            shape,
            units,
            unit: units.per_program(),
            row,
            by_row: Divisor::new(row),
            dies: dies as u32,
            planes: planes as u32,
            blocks: blocks as u32,
            pages: pages as u32,
            by_pages: Divisor::new(shape.pages_per_block),
            by_blocks: Divisor::new(shape.blocks_per_plane),
            by_planes: Divisor::new(shape.planes_per_die),
            by_dies: Divisor::new((pages as u64 / dies) as u32),
            by_channels: Divisor::new(shape.channels),
            by_bits: Divisor::new(shape.bits_per_cell),
            order: PageOrder::Cyclic,
            superblocks: Superblocks::alone(&shape),
        })
    }

    /// The same with superblocks of all planes of this number of dies.
    ///
    /// # Panics
    ///
    /// If that is not a part of the drive's dies.
    #[must_use]
    pub fn with_superblocks(mut self, dies: u32) -> Self {
        assert!(dies > 0 && self.dies.is_multiple_of(dies), "{dies} dies of {}", self.dies);
        self.superblocks = Superblocks::across(&self.shape, dies);
        self
    }

    /// The same with superblocks of `layers` blocks in each plane.
    ///
    /// # Panics
    ///
    /// If that does not divide the blocks of a plane.
    #[must_use]
    pub fn with_layers(mut self, layers: u32) -> Self {
        let blocks = self.shape.blocks_per_plane;
        assert!(layers > 0 && blocks.is_multiple_of(layers), "{layers} layers of {blocks}");
        self.superblocks = self.superblocks.with_layers(layers);
        self
    }

    /// The same geometry with parity in the last of every `one_in` program units of a superblock;
    /// 0: without. The number of units is a multiple of `one_in`.
    ///
    /// # Panics
    ///
    /// If it is not.
    #[must_use]
    pub fn with_parity(mut self, one_in: u32) -> Self {
        let units = self.slots_per_superblock() / self.unit;
        assert!(one_in == 0 || units.is_multiple_of(one_in), "{one_in} of {units} units");
        self.superblocks = self.superblocks.with_parity(one_in);
        self
    }

    /// The same with another number of blocks in each plane, each one layer of its superblock.
    ///
    /// # Errors
    ///
    /// It has too many pages.
    pub fn with_blocks(&self, blocks_per_plane: u32) -> Result<Self, GeometryError> {
        let shape = Shape { blocks_per_plane, ..self.shape };
        let other = Self { order: self.order, ..Self::multiplied_out(shape, self.units)? };
        let apart = self.superblocks.are_blocks();
        let other = if apart { other } else { other.with_superblocks(self.superblocks.dies()) };
        Ok(other.with_parity(self.superblocks.parity()))
    }

    /// How its blocks make superblocks.
    #[inline(always)]
    pub fn superblocks(&self) -> &Superblocks {
        &self.superblocks
    }

    /// The superblock of a block: its first block.
    #[inline]
    pub fn superblock_of(&self, b: BlockId) -> BlockId {
        self.superblocks.first_of(b)
    }

    /// The sets of planes whose blocks make superblocks, each by its first plane.
    pub fn set_ids(&self) -> impl Iterator<Item = PlaneId> + use<> {
        (0..self.planes).step_by(self.superblocks.planes() as usize).map(PlaneId::from_u32)
    }

    /// Number of these sets.
    pub fn sets(&self) -> usize {
        (self.planes / self.superblocks.planes()) as usize
    }

    /// Superblocks of a set.
    pub fn superblocks_per_set(&self) -> usize {
        self.blocks_per_plane() / self.superblocks.layers() as usize
    }

    /// The superblocks of a set, each by its first block.
    pub fn superblocks_of(&self, set: PlaneId) -> impl Iterator<Item = BlockId> + use<> {
        self.blocks_of(set).step_by(self.superblocks.layers() as usize).map(BlockId::new)
    }

    /// The superblocks of the drive, each by its first block.
    pub fn superblock_ids(&self) -> impl Iterator<Item = BlockId> + use<> {
        let all = *self;
        self.set_ids().flat_map(move |set| all.superblocks_of(set))
    }

    /// Slots of a superblock at full density.
    pub fn slots_per_superblock(&self) -> u32 {
        self.shape.pages_per_block * self.superblocks.members()
    }

    /// Slots of a superblock that hold data rather than parity.
    pub fn data_slots_per_superblock(&self) -> u32 {
        self.superblocks.data_units(self.slots_per_superblock() / self.unit) * self.unit
    }

    /// Slots of a block whose cells hold one bit: one page for each wordline, in whole program
    /// units and whole stripes of parity.
    pub fn single_slots_per_block(&self) -> u32 {
        let wordlines = self.flash_pages() / self.shape.bits_per_cell;
        let units = wordlines * self.row / self.unit;
        let parity = self.superblocks.parity();
        let cut = if self.superblocks.are_blocks() && parity > 0 { units % parity } else { 0 };
        (units - cut) * self.unit
    }

    /// The same for the data of a superblock.
    pub fn single_slots_per_superblock(&self) -> u32 {
        let units = self.single_slots_per_block() / self.unit * self.superblocks.members();
        self.superblocks.data_units(units) * self.unit
    }

    /// Slots of the drive that can hold data: all but those of parity.
    pub fn data_slots(&self) -> u64 {
        let superblocks = self.sets() as u64 * self.superblocks_per_set() as u64;
        superblocks * u64::from(self.data_slots_per_superblock())
    }

    /// The same with the pages of a block in another order; `None` if it does not fit the block.
    pub fn with_order(mut self, order: PageOrder) -> Option<Self> {
        self.order = order;
        order.fits(self.flash_pages(), self.shape.bits_per_cell).then_some(self)
    }

    /// The order of the pages of a block.
    pub fn order(&self) -> PageOrder {
        self.order
    }

    /// The sizes as the layers above see them.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The sizes of the flash.
    pub fn flash(&self) -> Shape {
        let UnitSizes { per_page, across, planes, .. } = self.units;
        Shape {
            planes_per_die: self.shape.planes_per_die * planes,
            pages_per_block: self.flash_pages(),
            page_size: Bytes::new(
                self.shape.page_size.get() * u64::from(per_page) / u64::from(across),
            ),
            ..self.shape
        }
    }

    /// Pages of a block of the flash.
    fn flash_pages(&self) -> u32 {
        if self.row == 1 {
            self.shape.pages_per_block
        } else {
            self.shape.pages_per_block / self.row
        }
    }

    /// The size of a map entry and of a program command.
    #[inline]
    pub fn units(&self) -> UnitSizes {
        self.units
    }

    /// Slots that one command programs, one after the other from a multiple of their number on.
    #[inline]
    pub fn slots_per_program(&self) -> u32 {
        self.unit
    }

    /// Blocks of the flash in a block.
    #[inline]
    pub fn flash_blocks_per_block(&self) -> FlashBlocks {
        FlashBlocks::new(self.units.planes.into())
    }

    /// Blocks of the drive, as the flash counts them.
    pub fn flash_blocks(&self) -> FlashBlocks {
        self.flash_blocks_per_block() * self.blocks.into()
    }

    /// Mapping units in blocks of the flash at full density.
    pub fn units_in_blocks(&self, blocks: FlashBlocks) -> Units {
        let slots = blocks.get() * u64::from(self.shape.pages_per_block);
        Units::new(slots / u64::from(self.units.planes))
    }

    /// Mapping units in pages of the flash.
    pub fn units_in_pages(&self, pages: FlashPages) -> Units {
        let UnitSizes { per_page, across, .. } = self.units;
        Units::new(pages.get() * u64::from(per_page) / u64::from(across))
    }

    /// Pages of the flash that hold `units` mapping units: a ratio, so not a whole number.
    pub fn pages_of(&self, units: Units) -> f64 {
        units.as_f64() / f64::from(self.units.per_page) * f64::from(self.units.across)
    }

    /// Pages of the flash that one command programs: of each of its planes, `pages` each.
    pub fn flash_pages_per_program(&self) -> FlashPages {
        FlashPages::new((self.units.pages * self.units.planes).into())
    }

    /// The same page in all planes that are programmed together, as pages of the flash.
    #[inline]
    pub fn flash_pages_per_page(&self) -> FlashPages {
        FlashPages::new(self.units.planes.into())
    }

    /// Slots of a page, in all planes that are programmed together.
    #[inline]
    pub fn slots_per_page(&self) -> u32 {
        self.row
    }

    /// The page of its block that a slot lies in.
    #[inline]
    pub fn page_of(&self, slot: u32) -> u32 {
        if self.row == 1 { slot } else { self.by_row.div(slot) }
    }

    /// The plane of its die, as the flash counts them, that a slot lies in; the first of several.
    #[inline]
    pub fn flash_plane_of(&self, p: Ppn) -> u32 {
        let (block, slot) = self.split(p);
        let group = self.by_planes.rem(self.plane_of(block).as_u32());
        if self.units.planes == 1 {
            return group;
        }
        group * self.units.planes + self.units.plane_of(slot)
    }

    /// Number of channels.
    pub fn channels(&self) -> usize {
        self.shape.channels as usize
    }

    /// Number of dies.
    pub fn dies(&self) -> usize {
        self.dies as usize
    }

    /// Number of planes.
    pub fn planes(&self) -> usize {
        self.planes as usize
    }

    /// Number of planes in a die.
    pub fn planes_per_die(&self) -> usize {
        self.shape.planes_per_die as usize
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.blocks as usize
    }

    /// Number of blocks in a plane.
    pub fn blocks_per_plane(&self) -> usize {
        self.shape.blocks_per_plane as usize
    }

    /// Number of physical pages.
    pub fn pages(&self) -> usize {
        self.pages as usize
    }

    /// Number of pages in a block: the slots of a plain one.
    #[inline]
    pub fn pages_per_block(&self) -> u32 {
        self.shape.pages_per_block
    }

    /// Bytes in a page.
    pub fn page_size(&self) -> Bytes {
        self.shape.page_size
    }

    /// The block of a unit.
    #[inline]
    pub fn block_of(&self, p: Ppn) -> BlockId {
        BlockId::from_u32(self.by_pages.div(p.as_u32()))
    }

    /// The block of a unit, and its slot there.
    #[inline]
    pub fn split(&self, p: Ppn) -> (BlockId, u32) {
        let block = self.by_pages.div(p.as_u32());
        (BlockId::from_u32(block), p.as_u32() - block * self.shape.pages_per_block)
    }

    /// Slot `slot` of `block`.
    #[inline]
    pub fn ppn(&self, block: BlockId, slot: u32) -> Ppn {
        Ppn::from_u32(block.as_u32() * self.shape.pages_per_block + slot)
    }

    /// The plane of a block.
    #[inline]
    pub fn plane_of(&self, b: BlockId) -> PlaneId {
        PlaneId::from_u32(self.by_blocks.div(b.as_u32()))
    }

    /// The position of a block in its plane.
    #[inline]
    pub fn index_in_plane(&self, b: BlockId) -> u32 {
        self.by_blocks.rem(b.as_u32())
    }

    /// Block `index` of a plane.
    #[inline]
    pub fn block_in(&self, plane: PlaneId, index: u32) -> BlockId {
        BlockId::from_u32(plane.as_u32() * self.shape.blocks_per_plane + index)
    }

    /// The die of a plane.
    #[inline]
    pub fn die_of_plane(&self, p: PlaneId) -> DieId {
        DieId::from_u32(self.by_planes.div(p.as_u32()))
    }

    /// The die of a block.
    #[inline]
    pub fn die_of(&self, b: BlockId) -> DieId {
        self.die_of_plane(self.plane_of(b))
    }

    /// The die of a unit.
    #[inline]
    pub fn die_of_slot(&self, p: Ppn) -> DieId {
        DieId::from_u32(self.by_dies.div(p.as_u32()))
    }

    /// Plane `index` of a die.
    #[inline]
    pub fn plane_in(&self, die: DieId, index: u32) -> PlaneId {
        PlaneId::from_u32(die.as_u32() * self.shape.planes_per_die + index)
    }

    /// The channel of a die.
    #[inline]
    pub fn channel_of(&self, die: DieId) -> ChannelId {
        ChannelId::from_u32(self.by_channels.rem(die.as_u32()))
    }

    /// The chip of a die on its channel, and the position of the die in that chip. The chips of a
    /// channel follow one another.
    pub fn chip_of(&self, die: DieId) -> (u32, u32) {
        let on_channel = self.by_channels.div(die.as_u32());
        (on_channel / self.shape.dies_per_chip, on_channel % self.shape.dies_per_chip)
    }

    /// The type of the page that a slot lies in: its position in the cell, 0 for the least
    /// significant bit.
    #[inline(always)] // as `type_of_page`
    pub fn page_type(&self, slot: u32) -> usize {
        self.type_of_page(self.page_of(slot))
    }

    /// The same of a page.
    #[inline(always)] // every command comes by
    pub fn type_of_page(&self, page: u32) -> usize {
        if self.order == PageOrder::Cyclic {
            return self.by_bits.rem(page) as usize;
        }
        self.order.shadow_type(self.flash_pages(), page)
    }

    /// The wordline of a page in its block.
    pub fn wordline(&self, page: u32) -> u32 {
        self.order.wordline(self.flash_pages(), self.shape.bits_per_cell, page)
    }

    /// The pages of a block whose data are lost when `page` is programmed again over its data.
    pub fn disturbed_by_reprogram(&self, page: u32) -> PageRange {
        self.order.disturbed_by_reprogram(self.flash_pages(), self.shape.bits_per_cell, page)
    }

    /// The first block of a plane and the one after its last, as positions in block columns.
    #[inline]
    pub fn blocks_of(&self, plane: PlaneId) -> std::ops::Range<usize> {
        let first = plane.as_u32() as usize * self.blocks_per_plane();
        first..first + self.blocks_per_plane()
    }

    /// All blocks, in order.
    pub fn block_ids(&self) -> impl Iterator<Item = BlockId> + use<> {
        (0..self.blocks() as u32).map(BlockId::from_u32)
    }

    /// All planes, in order.
    pub fn plane_ids(&self) -> impl Iterator<Item = PlaneId> + use<> {
        (0..self.planes() as u32).map(PlaneId::from_u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape() -> Shape {
        Shape {
            channels: 2,
            chips_per_channel: 3,
            dies_per_chip: 1,
            planes_per_die: 2,
            blocks_per_plane: 5,
            pages_per_block: 6,
            page_size: Bytes::kib(4),
            bits_per_cell: 3,
        }
    }

    #[test]
    fn every_number_splits_and_joins() {
        let g = Geometry::new(shape()).unwrap();
        assert_eq!((g.dies(), g.planes(), g.blocks(), g.pages()), (6, 12, 60, 360));
        for n in 0..g.pages() as u32 {
            let ppn = Ppn::from_u32(n);
            let (block, slot) = g.split(ppn);
            assert_eq!(g.ppn(block, slot), ppn);
            assert_eq!(g.block_in(g.plane_of(block), g.index_in_plane(block)), block);
            assert_eq!(g.die_of_slot(ppn), g.die_of(block));
            assert!(g.blocks_of(g.plane_of(block)).contains(&(block.as_u32() as usize)));
        }
    }

    /// A page has four units here, and a command three pages and two planes. So slot 13 of the
    /// third block is the second unit of the second plane's page, in the second page of the block.
    #[test]
    fn units_lie_in_pages_and_planes() {
        let units = UnitSizes { per_page: 4, pages: 3, planes: 2, ..UnitSizes::PAGE };
        let flash = Geometry::new(shape()).unwrap();
        let g = flash.with_units(units).unwrap();
        assert_eq!((g.planes(), g.blocks(), g.pages_per_block()), (6, 30, 48));
        assert_eq!((g.page_size(), g.pages()), (Bytes::kib(1), flash.pages() * 4));
        assert_eq!((g.slots_per_program(), g.flash()), (24, *flash.shape()));
        let ppn = |slot| g.ppn(BlockId::from_u32(7), slot);
        for slot in 0..g.pages_per_block() {
            // Page after page: four units of the first plane, then four of the second.
            assert_eq!(g.page_of(slot), slot / 8);
            assert_eq!(g.flash_plane_of(ppn(slot)), slot / 4 % 2);
            assert_eq!(g.page_type(slot), flash.page_type(slot / 8));
        }
        assert_eq!(flash.with_units(UnitSizes::PAGE), Ok(flash));
    }

    /// A mapping unit here has the pages of two of four planes, so a page of the group has two
    /// units.
    #[test]
    fn units_lie_across_planes() {
        let flash = Geometry::new(Shape { planes_per_die: 8, ..shape() }).unwrap();
        let g =
            flash.with_units(UnitSizes { across: 2, pages: 3, planes: 4, per_page: 1 }).unwrap();
        assert_eq!((g.planes(), g.blocks(), g.pages_per_block()), (12, 60, 12));
        assert_eq!((g.page_size(), g.pages()), (Bytes::kib(8), flash.pages() / 2));
        assert_eq!((g.slots_per_program(), g.flash()), (6, *flash.shape()));
        for slot in 0..g.pages_per_block() {
            // The second group of a die has the planes from the fourth on.
            let ppn = g.ppn(BlockId::from_u32(7), slot);
            assert_eq!(g.page_of(slot), slot / 2);
            assert_eq!(g.flash_plane_of(ppn), 4 + slot % 2 * 2);
            assert_eq!(g.page_type(slot), flash.page_type(slot / 2));
        }
    }

    #[test]
    fn neighbouring_dies_lie_on_different_channels() {
        let g = Geometry::new(shape()).unwrap();
        let channels: Vec<u32> =
            (0..6).map(|d| g.channel_of(DieId::from_u32(d)).as_u32()).collect();
        assert_eq!(channels, [0, 1, 0, 1, 0, 1]);
    }

    /// Two channels of three dies with two planes of four blocks: superblocks of three dies.
    #[test]
    fn superblocks_take_their_dies_in_turn() {
        let shape = Shape { planes_per_die: 2, blocks_per_plane: 4, ..shape() };
        let alone = Geometry::new(shape).unwrap();
        assert!(alone.block_ids().all(|b| alone.superblock_of(b) == b));
        assert_eq!((alone.sets(), alone.slots_per_superblock()), (12, alone.pages_per_block()));
        let g = alone.with_superblocks(3);
        let sets: Vec<u32> = g.set_ids().map(PlaneId::as_u32).collect();
        assert_eq!((sets, g.superblocks().members()), (vec![0, 6], 6));
        let mut seen = Vec::new();
        for superblock in g.superblock_ids() {
            let blocks: Vec<BlockId> = g.superblocks().blocks_of(superblock).collect();
            let places = blocks.iter().map(|b| {
                let (die, plane) = (g.die_of(*b).as_u32(), g.plane_of(*b).as_u32());
                (die, plane % 2)
            });
            let first = g.die_of(superblock).as_u32();
            let expected = [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1)];
            assert_eq!(places.collect::<Vec<_>>(), expected.map(|(die, p)| (first + die, p)));
            for (position, b) in (0..).zip(&blocks) {
                assert_eq!(g.superblock_of(*b), superblock);
                assert_eq!(g.superblocks().position(*b), position);
                assert_eq!(g.index_in_plane(*b), g.index_in_plane(superblock));
                assert_eq!(g.superblocks().set_of(g.plane_of(*b)), g.plane_of(superblock));
            }
            seen.extend(blocks);
        }
        let units = g.slots_per_superblock();
        let parity = g.with_parity(3);
        let data = (0..units).filter(|unit| !parity.superblocks().is_parity(*unit)).count();
        assert_eq!((parity.data_slots_per_superblock(), data), (units / 3 * 2, data));
        assert_eq!(data as u32 * 3, units * 2);
        assert_eq!(parity.data_slots() * 3, g.pages() as u64 * 2);
        seen.sort_unstable();
        assert_eq!(seen, g.block_ids().collect::<Vec<_>>());
    }

    #[test]
    fn the_chips_of_a_channel_follow_one_another() {
        let g = Geometry::new(Shape { dies_per_chip: 2, ..shape() }).unwrap();
        let on_first = (0..g.dies() as u32).step_by(2).map(DieId::from_u32);
        let places: Vec<(u32, u32)> = on_first.map(|d| g.chip_of(d)).collect();
        assert_eq!(places, [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]);
    }

    #[test]
    fn shapes_that_are_no_drive_are_refused() {
        let zero = Shape { channels: 0, ..shape() };
        assert_eq!(Geometry::new(zero), Err(GeometryError::Zero("channels")));
        let wide = Shape { pages_per_block: 1 << 14, ..shape() };
        assert!(matches!(Geometry::new(wide), Err(GeometryError::Limit { .. })));
        let huge = Shape { blocks_per_plane: 1 << 24, pages_per_block: 4096, ..shape() };
        assert!(matches!(Geometry::new(huge), Err(GeometryError::TooManyPages(_))));
    }
}

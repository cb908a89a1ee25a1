//! Cells whose content a test chooses when it runs. They are one type, because each further type
//! compiles the FTL, or the whole engine, once more.

use nand::{BlockId, Geometry, Layouts, Mode, Ppn, Store, Versions};
use policies::BuiltinWith;
use std::cell::Cell;

/// The built-in policies over such cells.
pub(crate) type Remembering = BuiltinWith<Cells>;

/// Cells that remember what the test has chosen with [`over`] or [`checked`]; else the version of each slot.
pub(crate) struct Cells(Box<dyn Memory>);

/// The methods of a [`Store`] for a slot or a block.
trait Memory: Send {
    fn write(&mut self, ppn: Ppn, page: u64);
    fn read(&self, ppn: Ppn) -> u64;
    fn erase(&mut self, block: BlockId, mode: Mode);
    fn set_mode(&mut self, block: BlockId, mode: Mode);
    fn begin_second_generation(&mut self, block: BlockId);
    fn reprogram_to_low(&mut self, block: BlockId);
}

impl<S: Store<Page = u64>> Memory for S {
    fn write(&mut self, ppn: Ppn, page: u64) {
        Store::write(self, ppn, page);
    }

    fn read(&self, ppn: Ppn) -> u64 {
        Store::read(self, ppn)
    }

    fn erase(&mut self, block: BlockId, mode: Mode) {
        Store::erase(self, block, mode);
    }

    fn set_mode(&mut self, block: BlockId, mode: Mode) {
        Store::set_mode(self, block, mode);
    }

    fn begin_second_generation(&mut self, block: BlockId) {
        Store::begin_second_generation(self, block);
    }

    fn reprogram_to_low(&mut self, block: BlockId) {
        Store::reprogram_to_low(self, block);
    }
}

/// The functions of a [`Store`] that take no value of it.
#[derive(Copy, Clone)]
struct Kind {
    new: fn(&Geometry, &Layouts) -> Box<dyn Memory>,
    stamp: fn(u32, u64) -> u64,
    is_of: fn(u64, u32) -> bool,
}

impl Kind {
    const fn of<S: Store<Page = u64> + 'static>() -> Self {
        Self {
            new: |geometry, layouts| Box::new(S::new(geometry, layouts)),
            stamp: S::stamp,
            is_of: S::is_of,
        }
    }
}

thread_local! {
    static KIND: Cell<Kind> = const { Cell::new(Kind::of::<Versions>()) };
    /// Whether a drive has been built since the latest choice.
    static BUILT: Cell<bool> = const { Cell::new(false) };
}

/// Drives of this thread are built over `S`, and checked by it, as long as the answer lives.
#[must_use]
pub(crate) fn over<S: Store<Page = u64> + 'static>() -> Over {
    checked::<S>(S::stamp, S::is_of)
}

/// The same, with other marks of what the host writes, and another check of what it reads.
#[must_use]
pub(crate) fn checked<S: Store<Page = u64> + 'static>(
    stamp: fn(u32, u64) -> u64,
    is_of: fn(u64, u32) -> bool,
) -> Over {
    BUILT.set(false);
    Over(KIND.replace(Kind { stamp, is_of, ..Kind::of::<S>() }))
}

/// Ends a choice. One that no drive was built over is a mistake of the test, such as `let _ = over…`.
pub(crate) struct Over(Kind);

impl Drop for Over {
    fn drop(&mut self) {
        KIND.set(self.0);
        assert!(
            BUILT.get() || std::thread::panicking(),
            "no drive has been built over these cells"
        );
    }
}

impl Store for Cells {
    type Page = u64;

    fn stamp(owner: u32, order: u64) -> u64 {
        (KIND.get().stamp)(owner, order)
    }

    fn is_of(page: u64, owner: u32) -> bool {
        (KIND.get().is_of)(page, owner)
    }

    fn new(geometry: &Geometry, layouts: &Layouts) -> Self {
        BUILT.set(true);
        Self((KIND.get().new)(geometry, layouts))
    }

    fn write(&mut self, ppn: Ppn, page: u64) {
        self.0.write(ppn, page);
    }

    fn read(&self, ppn: Ppn) -> u64 {
        self.0.read(ppn)
    }

    fn erase(&mut self, block: BlockId, mode: Mode) {
        self.0.erase(block, mode);
    }

    fn set_mode(&mut self, block: BlockId, mode: Mode) {
        self.0.set_mode(block, mode);
    }

    fn begin_second_generation(&mut self, block: BlockId) {
        self.0.begin_second_generation(block);
    }

    fn reprogram_to_low(&mut self, block: BlockId) {
        self.0.reprogram_to_low(block);
    }
}

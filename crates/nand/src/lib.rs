//! The flash device: geometry, commands, cell layouts and timing, the physics of cells, and cells
//! that hold bits. The array stops the run when a command breaks the rules of NAND flash. This
//! crate has no queue and no clock.

mod account;
mod array;
mod command;
mod counts;
mod each;
mod energy;
mod geometry;
mod layout;
mod mode;
mod operation;
mod order;
mod range;
mod soft;
mod store;
mod timing;

pub mod cells;
pub mod physics;

pub use account::{Cause, Part, Parts, Source, reserved};
pub use array::{Array, BlockStates};
pub use command::{Command, Level, Mode, Tag, Verb};
pub use counts::{FlashBlocks, FlashPages, Units};
pub use each::{Each, Key, KeyPlace, Never, Packed, words};
pub use energy::Energies;
pub use geometry::{
    BlockId, ChannelId, DieId, Geometry, GeometryError, PlaneId, Ppn, Shape, Superblocks, UnitSizes,
};
pub use layout::{Layout, Layouts, SlotSpan};
pub use mode::{CYCLE, ErrorModel, ModeSpec};
pub use operation::{OpKind, OpView, Operation, Outcome, Route, Slots, Waited};
pub use order::PageOrder;
pub use range::PageRange;
pub use soft::SoftReads;
pub use store::{Nothing, Store, Versions};
pub use timing::{Bus, Segments, Timing};

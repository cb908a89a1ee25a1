//! The small drive of examples that are worked out by hand.

use kernel::Bytes;
use nand::Shape;

/// One plane of eight blocks of four pages.
pub(crate) const SMALL: Shape = Shape {
    channels: 1,
    chips_per_channel: 1,
    dies_per_chip: 1,
    planes_per_die: 1,
    blocks_per_plane: 8,
    pages_per_block: 4,
    page_size: Bytes::kib(4),
    bits_per_cell: 1,
};

//! What the loop needs to know of a drive.

use crate::config::{ChannelFirst, Drive, HostMode, MultiPlane, ProgramSpeed, UnmappedRead};
use kernel::Bytes;
use nand::Timing;
use nand::physics::program_time_factor;

/// What the loop needs to know of a drive, apart from its FTL.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Times of the operations.
    pub timing: Timing,
    /// Whether data that dies have sensed goes over a channel before commands.
    pub data_first: bool,
    /// Which operations share their array time.
    pub multi_plane: MultiPlane,
    /// What a read of a page that holds nothing costs.
    pub unmapped_read: UnmappedRead,
    /// When requests arrive.
    pub mode: HostMode,
    /// Recorded times are divided by this.
    pub speed: f64,
    /// Requests outstanding in a closed loop.
    pub queue_depth: u32,
    /// Requests inside the drive at once in an open loop.
    pub queue_limit: u32,
    /// The write buffer; less than a page: none.
    pub buffer: Bytes,
    /// The share of it that may stay unsent.
    pub flush_above: f64,
    /// Program time of a block after so many cycles, as a share of the fresh one; beyond the last
    /// it stays. `None`: it does not change.
    pub program_by_wear: Option<Vec<f64>>,
}

impl Settings {
    /// The settings of a resolved drive.
    pub fn of(drive: &Drive) -> Self {
        Self {
            timing: drive.timing.clone(),
            data_first: drive.channel_first == ChannelFirst::Data,
            multi_plane: drive.ftl.multi_plane,
            unmapped_read: drive.ftl.unmapped_read,
            mode: drive.host.mode,
            speed: drive.host.speed,
            queue_depth: drive.host.queue_depth,
            queue_limit: drive.host.queue_limit,
            buffer: drive.buffer.size,
            flush_above: drive.buffer.flush_above,
            program_by_wear: program_by_wear(drive),
        }
    }
}

/// Program times by the cycles of a block, those before the run included.
fn program_by_wear(drive: &Drive) -> Option<Vec<f64>> {
    if drive.reliability.program_speed == ProgramSpeed::Fresh {
        return None;
    }
    let (rated, before) = (drive.reliability.endurance, drive.reliability.initial_cycles);
    let bits = drive.geometry.shape().bits_per_cell;
    let factor = |n: u32| program_time_factor(bits, f64::from(before + n) / f64::from(rated));
    Some((0..=rated - before).map(factor).collect())
}

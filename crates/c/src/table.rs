//! Sessions by handle. A handle is a number that no two sessions share: its place in a table, and how
//! many sessions had the place before.

use crate::{FloatgateSession, HeldSession};
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// Bits of a handle that are the place. Handles are odd, so that no pointer to aligned data is one.
const PLACE_BITS: u32 = 24;

/// The number of a session.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Handle(usize);

impl Handle {
    pub(crate) fn of(pointer: *mut FloatgateSession) -> Self {
        Self(pointer.addr())
    }

    pub(crate) fn pointer(self) -> *mut FloatgateSession {
        ptr::without_provenance_mut(self.0)
    }

    fn new(place: usize, turn: usize) -> Self {
        Self((turn << PLACE_BITS | place) << 1 | 1)
    }

    fn place(self) -> Option<usize> {
        (self.0 & 1 == 1).then_some((self.0 >> 1) & ((1 << PLACE_BITS) - 1))
    }
}

/// A session that one call at a time uses.
pub(crate) struct SessionEntry(Mutex<HeldSession>);

impl SessionEntry {
    pub(crate) fn new(state: HeldSession) -> Arc<Self> {
        Arc::new(Self(Mutex::new(state)))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, HeldSession> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place in the table.
struct Slot {
    handle: Handle,
    /// Sessions that had the place.
    turn: usize,
    entry: Option<Arc<SessionEntry>>,
}

static TABLE: RwLock<Vec<Slot>> = RwLock::new(Vec::new());

pub(crate) fn add(entry: Arc<SessionEntry>) -> Handle {
    let mut table = TABLE.write().unwrap_or_else(PoisonError::into_inner);
    let place = table.iter().position(|slot| slot.entry.is_none()).unwrap_or(table.len());
    assert!(place < 1 << PLACE_BITS, "there are more than 16 million sessions");
    if place == table.len() {
        table.push(Slot { handle: Handle(0), turn: 0, entry: None });
    }
    let slot = &mut table[place];
    slot.turn += 1;
    slot.handle = Handle::new(place, slot.turn);
    slot.entry = Some(entry);
    slot.handle
}

pub(crate) fn find(handle: Handle) -> Option<Arc<SessionEntry>> {
    let table = TABLE.read().unwrap_or_else(PoisonError::into_inner);
    let slot = table.get(handle.place()?)?;
    if slot.handle == handle { slot.entry.clone() } else { None }
}

pub(crate) fn remove(handle: Handle) -> Option<Arc<SessionEntry>> {
    let mut table = TABLE.write().unwrap_or_else(PoisonError::into_inner);
    let slot = table.get_mut(handle.place()?)?;
    if slot.handle == handle { slot.entry.take() } else { None }
}

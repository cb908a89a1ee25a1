//! The traffic of a drive that stores the keys and values of conversations with a language model.
//!
//! Each conversation (a session) has a part of the address space, as an array of objects. An object
//! holds the keys and values of a few tokens. The server looks objects up: it chooses a session at
//! random, and finds the object on the drive with a fixed probability, the share of prefix hits.
//! Then it reads the session's next object, from the first to the last and again. Otherwise it
//! computes the object and writes it behind the last one of the session. If the part is full, a new
//! conversation begins in it.
//!
//! So the bytes that are read and those that are written have the ratio h : (1 - h), for any number
//! and size of objects.

use kernel::{Bytes, Hint, Rng};
use serde::{Deserialize, Serialize};

use crate::Op;

/// How the drive learns that the data of an ended conversation are of no use.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Eviction {
    /// When the next conversation writes over them.
    #[default]
    Overwrite,
    /// The host trims all of them before the next conversation begins.
    Trim,
}

/// Mean traffic of offloaded keys and values in MiB/s, read and written, in requests of 128 KiB. It
/// was measured with `FlexGen` and OPT-6.7B, which generated 256 tokens after prompts of 256. The
/// context has 384 tokens in the mean. So 256 * 384 are read for 512 written, 192 to 1; measured was
/// 186 to 1.
///
/// Source: Z. Ren, K. Doekemeijer, T. De Matteis, C. Pinto, R. Stoica and A. Trivedi. "An I/O
/// characterizing study of offloading LLM models and KV caches to NVMe SSD", CHEOPS 2025.
pub(super) const MEASURED: Traffic = Traffic { read: 2048.0, written: 11.0 };

/// The size of its requests.
pub(super) const REQUEST: Bytes = Bytes::kib(128);

/// An object is 16 tokens, a block of vLLM. The model has 128 KiB for each token, as Llama 3 with 8
/// billion parameters: 32 layers, 8 heads of 128 numbers of 16 bits, keys and values.
pub(super) const OBJECT: Bytes = Bytes::mib(2);

/// The sessions, if the user does not say.
pub(super) const SESSIONS: u64 = 16;

/// Rates in MiB/s.
pub(super) struct Traffic {
    read: f64,
    written: f64,
}

impl Traffic {
    /// The share of the bytes that are read, which is that of the lookups that hit.
    pub(super) const fn hits(&self) -> f64 {
        self.read / (self.read + self.written)
    }

    /// Requests of 128 KiB a second.
    pub(super) const fn iops(&self) -> f64 {
        (self.read + self.written) * 8.0
    }
}

/// The checked settings.
#[derive(Debug)]
pub(super) struct Offload {
    /// At least 1.
    pub sessions: u64,
    /// The most objects of a session, at least 1.
    pub room: u64,
    /// Bytes of an object.
    pub object: u32,
    /// The most bytes of a read or write.
    pub request: u32,
    /// A lookup hits below this, in units of 2^-64.
    pub hits_below: u128,
    pub eviction: Eviction,
    /// Sessions take turns to belong to a tenant; 0: to none.
    pub tenants: u64,
}

/// The sessions on the way.
#[derive(Debug)]
pub(super) struct Conversations {
    all: Vec<Conversation>,
    now: Transfer,
    /// The session whose data are being trimmed, and which writes next.
    begins: Option<usize>,
}

#[derive(Copy, Clone, Debug)]
struct Conversation {
    /// Objects of its conversation on the drive.
    live: u64,
    /// The one that is read next.
    next: u64,
}

/// Bytes that are read, written or trimmed in some requests.
#[derive(Debug)]
struct Transfer {
    op: Op,
    at: u64,
    end: u64,
    hint: Hint,
}

impl Conversations {
    /// Sessions with parts that are filled as at any time later: each number of objects is as likely.
    pub(super) fn new(offload: &Offload, rng: &mut Rng) -> Self {
        let session = |_| Conversation { live: 1 + rng.below_u64(offload.room), next: 0 };
        Self {
            all: (0..offload.sessions).map(session).collect(),
            now: Transfer { op: Op::Read, at: 0, end: 0, hint: 0 },
            begins: None,
        }
    }

    /// The next request: its operation, first byte, length and hint.
    #[inline]
    pub(super) fn next(
        &mut self,
        offload: &Offload,
        places: &mut Rng,
        ops: &mut Rng,
    ) -> (Op, u64, u32, Hint) {
        if self.now.at == self.now.end {
            self.now = self.look_up(offload, places, ops);
        }
        let Transfer { op, at, end, hint } = self.now;
        let most = if op == Op::Trim { offload.object } else { offload.request };
        let len = u64::from(most).min(end - at);
        self.now.at += len;
        (op, at, len as u32, hint)
    }

    fn look_up(&mut self, offload: &Offload, places: &mut Rng, ops: &mut Rng) -> Transfer {
        let (place, hit) = match self.begins.take() {
            Some(place) => (place, false),
            None => (
                places.below_u64(offload.sessions) as usize,
                u128::from(ops.bits()) < offload.hits_below,
            ),
        };
        let session = &mut self.all[place];
        let (op, first, objects) = if hit {
            let object = session.next % session.live;
            session.next = object + 1;
            (Op::Read, object, 1)
        } else if session.live < offload.room {
            session.live += 1;
            (Op::Write, session.live - 1, 1)
        } else {
            match offload.eviction {
                Eviction::Overwrite => {
                    *session = Conversation { live: 1, next: 0 };
                    (Op::Write, 0, 1)
                }
                Eviction::Trim => {
                    *session = Conversation { live: 0, next: 0 };
                    self.begins = Some(place);
                    (Op::Trim, 0, offload.room)
                }
            }
        };
        let object = u64::from(offload.object);
        let at = (place as u64 * offload.room + first) * object;
        let tenant = (place as u64).checked_rem(offload.tenants);
        let hint = tenant.map_or(0, |tenant| tenant as Hint + 1);
        Transfer { op, at, end: at + objects * object, hint }
    }
}

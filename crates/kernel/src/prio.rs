//! The priority and the hint of a request.

/// How urgent a request is. Readers of traces give `Normal`; merged streams may differ.
#[derive(Copy, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Prio {
    /// Everything that nobody marked.
    #[default]
    Normal,
    /// Served first by order policies that use priorities.
    High,
}

/// The hint of a request about the data that it writes: data of one hint are alike, and data of
/// different hints have different lifetimes. 0: none.
///
/// A namespace of NVM Express has at most 128 placement handles, so a byte is enough.
pub type Hint = u8;

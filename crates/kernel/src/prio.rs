//! Request priority.

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

//! Queues of operations.

use crate::ops::{NONE, Ops, PageOp};

/// A queue of operations, linked through the slab.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Lane {
    pub(crate) head: u32,
    /// Not used while the lane is empty.
    tail: u32,
}

impl Lane {
    pub(crate) const EMPTY: Self = Self { head: NONE, tail: NONE };

    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.head == NONE
    }

    /// Puts an operation at the end. It comes alone: it is new, or was taken out of a lane.
    #[inline]
    pub(crate) fn push(&mut self, ops: &mut Ops, id: u32) {
        debug_assert_eq!(ops[id].next, NONE);
        if self.head == NONE {
            self.head = id;
        } else {
            ops[self.tail].next = id;
        }
        self.tail = id;
    }

    /// Puts an operation before all others. It comes alone.
    pub(crate) fn push_front(&mut self, ops: &mut Ops, id: u32) {
        debug_assert_eq!(ops[id].next, NONE);
        if self.head == NONE {
            self.tail = id;
        }
        ops[id].next = self.head;
        self.head = id;
    }

    /// The last operation; the lane is not empty.
    #[inline]
    pub(crate) fn last(self) -> u32 {
        self.tail
    }

    /// Puts operations at their places by `seq`, behind the first operation here. They come in
    /// order, each alone.
    pub(crate) fn merge(&mut self, ops: &mut Ops, late: impl Iterator<Item = u32>) {
        let mut before = self.head;
        for id in late {
            let seq = ops[id].seq;
            while ops[before].next != NONE && ops[ops[before].next].seq <= seq {
                before = ops[before].next;
            }
            ops[id].next = ops[before].next;
            ops[before].next = id;
            if self.tail == before {
                self.tail = id;
            }
            before = id;
        }
    }

    #[inline]
    pub(crate) fn pop(&mut self, ops: &mut Ops) -> u32 {
        let id = self.head;
        self.head = ops[id].next;
        ops[id].next = NONE;
        id
    }

    /// The operations, first to last.
    pub(crate) fn iter(self, ops: &Ops) -> impl Iterator<Item = &PageOp> {
        ops.chain(self.head)
    }

    /// Takes out the operations that `requested` accepts, in order.
    pub(crate) fn take_all(
        &mut self,
        ops: &mut Ops,
        requested: impl Fn(&PageOp) -> bool,
    ) -> Vec<u32> {
        let mut taken = Vec::new();
        let mut kept = Self::EMPTY;
        while !self.is_empty() {
            let id = self.pop(ops);
            if requested(&ops[id]) {
                taken.push(id);
            } else {
                kept.push(ops, id);
            }
        }
        *self = kept;
        taken
    }
}

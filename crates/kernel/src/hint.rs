//! Hints to the processor.

/// Asks for the cache line of `item` ahead of its use. Never changes a result.
#[inline(always)]
#[allow(unsafe_code)] // the only intrinsic in the project; a prefetch cannot fault
pub fn prefetch<T>(item: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the address comes from a reference, and a prefetch has no architectural effect.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = item;
}

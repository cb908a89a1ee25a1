//! Hints to the processor and to the system. None changes a result.

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

/// Asks the system for large pages behind a column that was not written yet and will be. Host
/// writes and collection access columns as large as the drive at random. With pages of 4 KiB nearly
/// each access misses the processor's table of pages, and each page costs a fault. If little is
/// written, clearing large pages costs more than it saves. Small columns are left alone, and so are
/// those from 1 GiB on: a virtual machine took 12 s instead of 4 to hand out 4 GB in large pages.
pub fn ask_for_large_pages<T>(column: &[T]) {
    const SIZES: std::ops::Range<usize> = 4 << 20..1 << 30;
    if SIZES.contains(&size_of_val(column)) {
        advise(column);
    }
}

#[cfg(target_os = "linux")]
#[allow(unsafe_code)] // changes how memory is backed, not what is in it
fn advise<T>(column: &[T]) {
    use rustix::mm::{Advice, madvise};
    const PAGE: usize = 4096;
    let range = column.as_ptr_range();
    let (start, end) = (range.start.addr().next_multiple_of(PAGE), range.end.addr() / PAGE * PAGE);
    let start = column.as_ptr().with_addr(start).cast_mut().cast();
    // SAFETY: the pages belong to the column as a whole, and the advice keeps their content. A
    // system without large pages refuses, and all goes on with small ones.
    let _ = unsafe { madvise(start, end - start.addr(), Advice::LinuxHugepage) };
}

#[cfg(not(target_os = "linux"))]
fn advise<T>(_: &[T]) {}

//! The places of a stand-in's pages in the address space.
//!
//! The span is cut into extents. A class takes extents as it needs them, scattered over the span,
//! so the classes alternate. Within an extent its pages lie in the order in which they are first
//! touched, with gaps as in the trace.

/// Sectors are those of traces.
pub(super) const SECTOR: u64 = 512;
pub(super) const PAGE_SECTORS: u64 = 8;
/// Pieces that are begun at once, so that sequential runs side by side stay sequential.
const LANES: usize = 16;

/// Hands out extents, and knows which pages have been touched.
#[derive(Debug)]
pub(super) struct StandInSpace {
    /// Sectors of an extent, a power of two.
    extent: u64,
    slots: u64,
    step: u64,
    next: u64,
    /// A bit for each page.
    touched: Vec<u64>,
}

/// The next place of a class.
#[derive(Clone, Default, Debug)]
pub(super) struct Lanes {
    /// First free sector and end of the extent; the lane used last is at the end.
    lanes: Vec<(u64, u64)>,
}

impl StandInSpace {
    /// A space of `span` bytes for requests of at most `largest` bytes.
    pub(super) fn new(span: u64, largest: u64) -> Self {
        // Sixteen of the largest requests fit an extent: few are cut at its end.
        let wish = (16 * largest).next_power_of_two().clamp(1 << 20, 1 << 30);
        let extent = wish.min(span.next_power_of_two() / 2).max(1 << 20);
        let slots = span.div_ceil(extent).max(1);
        Self {
            extent: extent / SECTOR,
            slots,
            step: coprime_step(slots),
            next: 0,
            touched: vec![0; (slots * extent / 4096).div_ceil(64) as usize],
        }
    }

    /// All addresses end here, in bytes.
    pub(super) fn end(&self) -> u64 {
        self.slots * self.extent * SECTOR
    }

    fn take(&mut self) -> (u64, u64) {
        // Once all are taken the gaps of the first are filled.
        let slot = self.next * self.step % self.slots;
        self.next = (self.next + 1) % self.slots;
        (slot * self.extent, (slot + 1) * self.extent)
    }

    /// Finds space for a request to pages that nothing has touched, `gap` pages beyond the last one
    /// of its lane, beginning `begin` sectors into a page. Returns its first sector.
    pub(super) fn fresh(&mut self, lanes: &mut Lanes, gap: u64, begin: u64, len: u64) -> u64 {
        // The least recently used lane is least likely to continue.
        let (mut free, mut end) =
            if lanes.lanes.len() < LANES { self.take() } else { lanes.lanes.remove(0) };
        let mut at = (free + gap * PAGE_SECTORS).next_multiple_of(PAGE_SECTORS) + begin;
        if at + len > end {
            (free, end) = self.take();
            at = free + begin;
        }
        lanes.lanes.push((at + len, end));
        at
    }

    /// Finds space for the request that goes on at `at`: there, unless its extent ends.
    pub(super) fn proceed(&mut self, lanes: &mut Lanes, at: u64, len: u64) -> u64 {
        let Some(lane) = lanes.lanes.iter().rposition(|lane| lane.0 == at) else { return at };
        let (mut free, mut end) = lanes.lanes.remove(lane);
        if free + len > end {
            (free, end) = self.take();
        }
        lanes.lanes.push((free + len, end));
        free
    }

    /// Keeps a request inside the extent that it begins in.
    pub(super) fn cut(&self, at: u64, len: u64) -> u64 {
        let end = (at / self.extent + 1) * self.extent;
        len.min(end - at)
    }

    /// Whether a sector that a run would go on at lies in the extent of the run.
    pub(super) fn is_edge(&self, at: u64) -> bool {
        at.is_multiple_of(self.extent)
    }

    /// Whether the page of a sector has been touched.
    #[inline]
    pub(super) fn is_touched(&self, at: u64) -> bool {
        let page = at / PAGE_SECTORS;
        self.touched.get((page / 64) as usize).is_some_and(|word| word >> (page % 64) & 1 == 1)
    }

    /// The sectors of a request up to the first page that nothing has touched; all of them if that
    /// is its first.
    pub(super) fn known(&self, at: u64, len: u64) -> u64 {
        let new = (at / PAGE_SECTORS..=(at + len - 1) / PAGE_SECTORS)
            .map(|page| page * PAGE_SECTORS)
            .find(|&sector| !self.is_touched(sector));
        new.filter(|&sector| sector > at).map_or(len, |sector| sector - at)
    }

    /// Touches the pages of a request. Returns the number of pages touched for the first time.
    #[inline]
    pub(super) fn touch(&mut self, at: u64, len: u64) -> u64 {
        let (first, last) = (at / PAGE_SECTORS, (at + len - 1) / PAGE_SECTORS);
        let mut new = 0;
        for word in first / 64..=last / 64 {
            let from = if word == first / 64 { first % 64 } else { 0 };
            let to = if word == last / 64 { last % 64 } else { 63 };
            let mask = (u64::MAX >> (63 - to)) & (u64::MAX << from);
            let cell = &mut self.touched[word as usize];
            new += u64::from((mask & !*cell).count_ones());
            *cell |= mask;
        }
        new
    }
}

/// The number next above n/phi that shares no factor with n: taking every step-th of n visits all,
/// neighbours far from each other.
fn coprime_step(n: u64) -> u64 {
    let gcd = |mut a: u64, mut b: u64| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let start = (n as f64 * 0.618_033_988_749_894_9) as u64;
    (start.max(1)..=n).find(|&step| gcd(step, n) == 1).unwrap_or(1)
}

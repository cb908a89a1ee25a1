//! The characters of pages and how well they are foretold (AGCR: Li et al., FAST 2016).

use serde::Serialize;

use super::page::{Page, PageClass};
use super::share;

/// The pages that are touched.
#[derive(Copy, Clone, Default, PartialEq, Debug, Serialize)]
pub struct Footprint {
    /// Pages that are read or written.
    pub pages: u64,
    /// Their size together.
    pub bytes: u64,
    /// Pages that are read.
    pub read_pages: u64,
    /// Pages that are written.
    pub written_pages: u64,
    /// Pages that are both.
    pub both_pages: u64,
    /// Pages whose first touch is a read: their content was there before.
    pub read_first_pages: u64,
    /// Touches by reads, exact in a sample too.
    pub read_touches: u64,
    /// Touches by writes, likewise.
    pub write_touches: u64,
    /// The mean number of writes of a page that is written: 1 means that none is written again.
    pub writes_per_written_page: Option<f64>,
    /// Share of the write touches that overwrite the workload's own writes.
    pub overwrites: Option<f64>,
}

/// Counts by class of page. More than 95 % of the touches of a *read-only* page are reads, of a
/// *write-only* page writes; all others are *interleaved*.
#[derive(Copy, Clone, Default, PartialEq, Debug, Serialize)]
pub struct OfClasses {
    /// On read-only pages.
    pub read_only: u64,
    /// On write-only pages.
    pub write_only: u64,
    /// On interleaved pages.
    pub interleaved: u64,
}

impl OfClasses {
    fn add(&mut self, class: PageClass, count: u64) {
        *match class {
            PageClass::ReadOnly => &mut self.read_only,
            PageClass::WriteOnly => &mut self.write_only,
            PageClass::Interleaved => &mut self.interleaved,
        } += count;
    }

    fn all(&self) -> u64 {
        self.read_only + self.write_only + self.interleaved
    }

    fn scale(&mut self, weight: u64) {
        self.read_only *= weight;
        self.write_only *= weight;
        self.interleaved *= weight;
    }
}

/// AGCR's Figure 2. A page that is touched once belongs to the operation that touched it.
#[derive(Copy, Clone, Default, PartialEq, Debug, Serialize)]
pub struct Characters {
    /// Pages by class.
    pub pages: OfClasses,
    /// Reads (touches) by the class of their page.
    pub reads: OfClasses,
    /// Writes (touches) by the class of their page.
    pub writes: OfClasses,
    /// Share of the reads that go to read-only pages: Observation 1, "more than 85 % on average".
    pub reads_on_read_only: Option<f64>,
    /// Share of the reads that go to read-only pages which the workload itself writes before it
    /// reads them. Only their cost depends on a policy for writes.
    pub reads_on_created: Option<f64>,
    /// Share of the writes that go to write-only pages: Observation 2, "more than 91 %".
    pub writes_on_write_only: Option<f64>,
    /// Share of all touches on interleaved pages: Observation 3, "only a small part".
    pub on_interleaved: Option<f64>,
    /// Share of all touches that are a read of a write-only or a write of a read-only page. The
    /// figure has no bar for them; there they belong to interleaved.
    pub minority: Option<f64>,
}

/// AGCR's Figure 6. A page's next touch is predicted as read-only (write-only) if it and the
/// touches before it in the window are all reads (writes), and as interleaved otherwise. A
/// prediction is right if it is the class of the page over the whole workload.
#[derive(Clone, Default, PartialEq, Debug, Serialize)]
pub struct Identification {
    /// Touches that are judged: all but the first of each page, which has no history. If a window
    /// is longer than the history, the existing history decides.
    pub judged: u64,
    /// Share of all touches that have no history.
    pub without_history: Option<f64>,
    /// By length of window.
    pub windows: Vec<Window>,
}

/// One length of the history window.
#[derive(Copy, Clone, Default, PartialEq, Debug, Serialize)]
pub struct Window {
    /// Touches in the window, the next one included: a window of 2 remembers one touch.
    pub window: u32,
    /// Touches that were identified rightly.
    pub right: u64,
    /// Their share of those that are judged.
    pub accuracy: Option<f64>,
}

/// Sums over the records of pages.
#[derive(Default)]
pub(super) struct Sums {
    footprint: Footprint,
    characters: Characters,
    /// Reads of read-only pages whose first touch is a write.
    created: u64,
    right: [u64; 3],
}

impl Sums {
    pub(super) fn add(&mut self, page: Page) {
        let (reads, writes) = (u64::from(page.reads), u64::from(page.writes));
        let footprint = &mut self.footprint;
        footprint.pages += 1;
        footprint.read_pages += u64::from(reads > 0);
        footprint.written_pages += u64::from(writes > 0);
        footprint.both_pages += u64::from(reads > 0 && writes > 0);
        footprint.read_first_pages += u64::from(page.first_was_read());
        let class = page.class();
        if class == PageClass::ReadOnly && !page.first_was_read() {
            self.created += reads;
        }
        self.characters.pages.add(class, 1);
        self.characters.reads.add(class, reads);
        self.characters.writes.add(class, writes);
        for (sum, right) in self.right.iter_mut().zip(page.identified()) {
            *sum += right;
        }
    }

    /// Each record stands for `weight` pages of `page_bytes`; the touches are known in full.
    pub(super) fn finish(
        self,
        weight: u64,
        page_bytes: u64,
        touches: [u64; 2],
    ) -> (Footprint, Characters, Identification) {
        let Self { mut footprint, mut characters, created, right } = self;
        let Characters { mut pages, mut reads, mut writes, .. } = characters;
        let (first, all) = (footprint.pages, reads.all() + writes.all());
        footprint.writes_per_written_page = share(writes.all(), footprint.written_pages);
        footprint.overwrites = share(writes.all() - footprint.written_pages, writes.all());
        characters.reads_on_read_only = share(reads.read_only, reads.all());
        characters.reads_on_created = share(created, reads.all());
        characters.writes_on_write_only = share(writes.write_only, writes.all());
        characters.on_interleaved = share(reads.interleaved + writes.interleaved, all);
        characters.minority = share(reads.write_only + writes.read_only, all);
        let windows = (1..).zip(right).map(|(window, right)| Window {
            window,
            right: right * weight,
            accuracy: share(right, all - first),
        });
        let identification = Identification {
            judged: (all - first) * weight,
            without_history: share(first, all),
            windows: windows.collect(),
        };
        for counts in [&mut pages, &mut reads, &mut writes] {
            counts.scale(weight);
        }
        characters = Characters { pages, reads, writes, ..characters };
        for count in [
            &mut footprint.pages,
            &mut footprint.read_pages,
            &mut footprint.written_pages,
            &mut footprint.both_pages,
            &mut footprint.read_first_pages,
        ] {
            *count *= weight;
        }
        footprint.bytes = footprint.pages * page_bytes;
        [footprint.read_touches, footprint.write_touches] = touches;
        (footprint, characters, identification)
    }
}

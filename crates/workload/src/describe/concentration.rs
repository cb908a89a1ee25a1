//! How touches gather on few pages.
//!
//! For reads this matters to read disturb: a page that is read often disturbs its neighbours, and a
//! block's reads are those of its pages.

use std::collections::BTreeMap;

use serde::Serialize;

use super::share;

/// How the touches of one operation gather. Shares of pages are of the pages that have such
/// touches at all.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Concentration {
    /// Most touches of one page.
    pub most: u64,
    /// Mean touches of a page.
    pub mean: Option<f64>,
    /// Share of the touches on the hottest 1 % of the pages.
    pub on_top_1_percent: Option<f64>,
    /// On the hottest 10 %.
    pub on_top_10_percent: Option<f64>,
    /// On the hottest 20 %.
    pub on_top_20_percent: Option<f64>,
    /// The hottest pages, the hottest first, at most ten; in a sample, those of the sample.
    pub top: Vec<TopPage>,
    /// Pages by their touches: `[least touches, pages]`, the former powers of two.
    pub pages_by_touches: Vec<[u64; 2]>,
    /// Share of the touches, by share of the pages, hottest first.
    pub curve: Curve,
}

/// A page and its touches.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct TopPage {
    /// Its first byte.
    pub offset: u64,
    /// Touches.
    pub touches: u64,
}

/// Points of a concentration curve. Between pages with equally many touches it is straight, so a
/// page can be split.
#[derive(Clone, Default, PartialEq, Debug, Serialize)]
pub struct Curve {
    /// Share of the pages: 1, 2 and 5 in every power of ten up to all of them.
    pub pages: Vec<f64>,
    /// Share of the touches on them.
    pub touches: Vec<f64>,
}

const TOP: usize = 10;
/// Pages with fewer touches are counted in a column.
const COLUMN: usize = 4096;

/// Touches of pages so far.
pub(super) struct TouchTally {
    /// Pages by touches.
    few: Vec<u64>,
    many: BTreeMap<u32, u64>,
    top: Vec<(u32, u64)>,
}

impl TouchTally {
    pub(super) fn new() -> Self {
        Self { few: vec![0; COLUMN], many: BTreeMap::new(), top: Vec::new() }
    }

    /// Notes the page at `number`, unless it has no such touches.
    pub(super) fn add(&mut self, number: u64, touches: u32) {
        match self.few.get_mut(touches as usize) {
            Some(pages) => *pages += 1,
            None => *self.many.entry(touches).or_default() += 1,
        }
        if self.top.len() == TOP && touches < self.top[TOP - 1].0 {
            return;
        }
        // The hottest first; of equals the one with the lowest address, for any order of arrival.
        let hotter = |&(t, n): &(u32, u64)| (t, u64::MAX - n) > (touches, u64::MAX - number);
        let place = self.top.partition_point(hotter);
        if place < TOP && touches > 0 {
            self.top.truncate(TOP - 1);
            self.top.insert(place, (touches, number));
        }
    }

    pub(super) fn finish(self, weight: u64, page_bytes: u64) -> Concentration {
        let few = self.few.iter().enumerate().map(|(touches, &pages)| (touches as u64, pages));
        let many = self.many.iter().map(|(&touches, &pages)| (u64::from(touches), pages));
        let classes: Vec<(u64, u64)> = few.chain(many).filter(|c| c.0 > 0 && c.1 > 0).collect();
        let pages: u64 = classes.iter().map(|c| c.1).sum();
        let touches: u64 = classes.iter().map(|c| c.0 * c.1).sum();
        let most = classes.last().map_or(0, |c| c.0);
        let on_top = |part: f64| (pages > 0).then(|| on_hottest(&classes, pages, touches, part));
        let mut by_touches: Vec<[u64; 2]> = Vec::new();
        if most > 0 {
            by_touches = (0..=most.ilog2()).map(|power| [1 << power, 0]).collect();
            for (touches, pages) in &classes {
                by_touches[touches.ilog2() as usize][1] += pages * weight;
            }
        }
        let mut curve = Curve::default();
        if pages > 0 {
            // From the first point that holds a whole page.
            let decades = (0..=pages.ilog10()).rev().map(|d| 10_u64.pow(d) as f64);
            let steps = decades.flat_map(|decade| [1.0, 2.0, 5.0].map(|s| s / decade));
            let points = steps.filter(|p| p * pages as f64 >= 1.0 && *p < 1.0);
            curve.pages = points.chain([1.0]).collect();
            let touched = |&part: &f64| on_hottest(&classes, pages, touches, part);
            curve.touches = curve.pages.iter().map(touched).collect();
        }
        let top = self.top.into_iter();
        Concentration {
            most,
            mean: share(touches, pages),
            on_top_1_percent: on_top(0.01),
            on_top_10_percent: on_top(0.10),
            on_top_20_percent: on_top(0.20),
            top: top
                .map(|(touches, number)| TopPage {
                    offset: number * page_bytes,
                    touches: u64::from(touches),
                })
                .collect(),
            pages_by_touches: by_touches,
            curve,
        }
    }
}

/// The share of the touches on the hottest part of the pages. `classes`: (touches, pages),
/// ascending.
fn on_hottest(classes: &[(u64, u64)], pages: u64, touches: u64, part: f64) -> f64 {
    let mut left = part * pages as f64;
    let mut sum = 0.0;
    for &(of_each, pages) in classes.iter().rev() {
        let taken = left.min(pages as f64);
        sum += taken * of_each as f64;
        left -= taken;
        if left <= 0.0 {
            break;
        }
    }
    (sum / touches as f64).min(1.0)
}

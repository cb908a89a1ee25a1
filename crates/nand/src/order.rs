//! The order in which the pages of a block take up the bits of its cells.

use crate::PageRange;

/// How pages are numbered within a block.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum PageOrder {
    /// Wordline by wordline: page `i` has type `i` modulo the bits of a cell.
    #[default]
    Cyclic,
    /// Cells of two bits, a wordline ahead: pages 0, 1, 3, 5 … are first bits, 2, 4, 6 … and the
    /// last are second bits, so that a cell is finished only after its neighbour is begun.
    Shadow,
    /// The same with pairs of pages: 0 to 3, 6, 7, 10, 11 … are first bits, 4, 5, 8, 9 … and the
    /// last two are second bits.
    ShadowPairs,
}

impl PageOrder {
    /// Whether a block of `pages` pages on cells of `bits` bits can be numbered this way. Shadow
    /// orders need two bits, and as many first as second bits.
    pub fn fits(self, pages: u32, bits: u32) -> bool {
        self == Self::Cyclic || (bits == 2 && pages % (2 << self.shift()) == 0)
    }

    /// The number of pages in a group is 2 to this power.
    const fn shift(self) -> u32 {
        match self {
            Self::Cyclic | Self::Shadow => 0,
            Self::ShadowPairs => 1,
        }
    }

    /// The type of a page in a shadow order, in a block of `pages`.
    #[inline]
    pub(crate) fn shadow_type(self, pages: u32, page: u32) -> usize {
        let (unit, last) = (page >> self.shift(), (pages - 1) >> self.shift());
        if unit == 0 {
            0
        } else if unit == last {
            1
        } else {
            usize::from(unit % 2 == 0)
        }
    }

    /// The wordline of a page: pages of one wordline share their cells. Wordlines are numbered by
    /// their first pages.
    pub fn wordline(self, pages: u32, bits: u32, page: u32) -> u32 {
        if self == Self::Cyclic {
            return page / bits;
        }
        let first = if self.shadow_type(pages, page) == 0 {
            page
        } else {
            let partners = self.disturbed_by_reprogram(pages, bits, page);
            partners.first + page % partners.count
        };
        (0..first).filter(|p| self.shadow_type(pages, *p) == 0).count() as u32
    }

    /// The pages whose data are lost when `page` is programmed again over its data: those that hold
    /// earlier bits of the same cells. None for a page of first bits.
    ///
    /// In shadow orders this is the finding of Grupp 3.5. Pages 2n disturb 2n − 3, and the last two
    /// 123 and 125. Or 4n and 4n + 1 disturb 4n − 6 and 4n − 5, and the last four 118, 119, 122 and
    /// 123. For page 2 (4 and 5) the rule names pages before the first; here it is page 0 (0 and
    /// 1), whose cells are left.
    pub fn disturbed_by_reprogram(self, pages: u32, bits: u32, page: u32) -> PageRange {
        if self == Self::Cyclic {
            let earlier = page % bits;
            return PageRange::new(page - earlier, earlier);
        }
        let (shift, size) = (self.shift(), 1 << self.shift());
        if self.shadow_type(pages, page) == 0 {
            return PageRange::new(page, 0);
        }
        let (unit, last) = (page >> shift, (pages - 1) >> shift);
        let partner = if unit == last { unit.saturating_sub(2) } else { unit.saturating_sub(3) };
        PageRange::new(partner << shift, size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn types(order: PageOrder, pages: u32) -> Vec<usize> {
        (0..pages).map(|page| order.shadow_type(pages, page)).collect()
    }

    #[test]
    fn shadow_orders_are_those_of_the_text() {
        // "For C-MLC64 every other page is fast."
        assert_eq!(types(PageOrder::Shadow, 10), [0, 0, 1, 0, 1, 0, 1, 0, 1, 1]);
        // "The first four pages and every other pair."
        let pairs = [0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 1, 1];
        assert_eq!(types(PageOrder::ShadowPairs, 16), pairs);
        for order in [PageOrder::Shadow, PageOrder::ShadowPairs] {
            assert_eq!(types(order, 128).iter().sum::<usize>(), 64, "as many of each");
        }
    }

    #[test]
    fn reprogramming_disturbs_what_grupp_found() {
        let of = |order: PageOrder, page: u32| {
            order.disturbed_by_reprogram(128, 2, page).iter().collect::<Vec<_>>()
        };
        for n in 2..63 {
            assert_eq!(of(PageOrder::Shadow, 2 * n), [2 * n - 3]);
        }
        assert_eq!(
            (of(PageOrder::Shadow, 126), of(PageOrder::Shadow, 127)),
            (vec![123], vec![125])
        );
        for n in 2..31 {
            for page in [4 * n, 4 * n + 1] {
                assert_eq!(of(PageOrder::ShadowPairs, page), [4 * n - 6, 4 * n - 5]);
            }
        }
        let last: Vec<u32> = (124..128).flat_map(|page| of(PageOrder::ShadowPairs, page)).collect();
        assert_eq!(last, [118, 119, 118, 119, 122, 123, 122, 123]);
        for (order, harmless) in [(PageOrder::Shadow, 2), (PageOrder::ShadowPairs, 4)] {
            for page in 0..harmless {
                assert!(of(order, page).is_empty(), "the first pages cause no errors");
            }
        }
    }

    #[test]
    fn every_page_of_first_bits_has_its_second() {
        for order in [PageOrder::Cyclic, PageOrder::Shadow, PageOrder::ShadowPairs] {
            let size = if order == PageOrder::ShadowPairs { 2 } else { 1 };
            let mut hit = vec![0; 32];
            for page in 0..32 {
                for other in order.disturbed_by_reprogram(32, 2, page).iter() {
                    assert!(order.disturbed_by_reprogram(32, 2, other).iter().next().is_none());
                    hit[other as usize] += 1;
                }
            }
            hit.sort_unstable();
            assert_eq!(hit, [vec![0; 16], vec![size; 16]].concat(), "{order:?}");
        }
    }

    #[test]
    fn a_wordline_has_one_page_of_each_type() {
        for (order, bits) in [
            (PageOrder::Cyclic, 3),
            (PageOrder::Cyclic, 2),
            (PageOrder::Shadow, 2),
            (PageOrder::ShadowPairs, 2),
        ] {
            let mut met = vec![Vec::new(); (24 / bits) as usize];
            for page in 0..24 {
                let page_type = match order {
                    PageOrder::Cyclic => (page % bits) as usize,
                    _ => order.shadow_type(24, page),
                };
                met[order.wordline(24, bits, page) as usize].push(page_type);
            }
            let each: Vec<usize> = (0..bits as usize).collect();
            // Types of a wordline come in ascending order, as cells must take them.
            assert!(met.iter().all(|types| *types == each), "{order:?}: {met:?}");
        }
    }

    #[test]
    fn an_order_needs_its_block() {
        assert!(PageOrder::Cyclic.fits(7, 3) && PageOrder::Shadow.fits(6, 2));
        assert!(!PageOrder::Shadow.fits(7, 2) && !PageOrder::Shadow.fits(6, 3));
        assert!(PageOrder::ShadowPairs.fits(8, 2) && !PageOrder::ShadowPairs.fits(6, 2));
        // Three bits: a later page spoils all earlier ones of its wordline.
        let spoiled = PageOrder::Cyclic.disturbed_by_reprogram(12, 3, 5);
        assert_eq!(spoiled, PageRange::new(3, 2));
    }
}

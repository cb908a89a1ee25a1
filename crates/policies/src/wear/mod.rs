//! Family wear: which cold data moves to which worn block?

use ftl::{Balance, Life, Plan, Wear};

crate::family::family! { $
    /// Family wear.
    WearPolicy: Wear {
        none: none::NoWear,
        cold_swap: cold_swap::StaticWear,
        hot_cold_swap: hot_cold_swap::HotColdSwap,
    }
    fn learn_life(&mut self, life: &Life);
    fn active(&self) -> bool;
    fn balance(&mut self, balance: &Balance<'_>, plan: &mut Plan);
}

//! Family victim: which block is reclaimed?

use ftl::{PlaneView, Victim};
use kernel::Rng;
use nand::{BlockId, Tag};

crate::family::family! { $
    /// Family victim.
    VictimPolicy: Victim {
        greedy: greedy::Greedy,
        fifo: fifo::Fifo,
        random: random::Random,
        d_choices: d_choices::DChoices,
        stable_greedy: stable_greedy::StableGreedy,
        cost_benefit: cost_benefit::CostBenefit,
        windowed: windowed::Windowed,
        random_plus: random_plus::RandomPlus,
        cat: cat::CostAgeTimes,
    }
    fn choose(&mut self, plane: &PlaneView<'_>, why: Tag, rng: &mut Rng) -> Option<BlockId>;
}

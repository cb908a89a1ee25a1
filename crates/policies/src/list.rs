//! The one list of policies, and what is made of it: checks, names, documentation, a drive's set.

use crate::builtin::{
    Builtin, CodingPolicy, CostPolicy, OrderPolicy, PageChoicePolicy, PlacementPolicy,
    ReadDisturbPolicy, ThrottlePolicy, VictimPolicy, WearPolicy,
};
use crate::external::{External, Supplier};
use crate::params::{ParamInfo, Params, PolicyError};
use crate::{coding, cost, disturb, order, page_choice, placement, throttle, victim, wear};
use ftl::{InOrder, NoRefresh, NoThrottle, NoWear, Plain, Policies};
use kernel::nearest;
use nand::{Geometry, Layouts, Mode};
use serde_json::{Map, Value};

/// A family of policies: a question.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Family {
    /// At which cost level is a page programmed?
    Cost,
    /// How long must a write wait?
    Throttle,
    /// What moves when a block nears its read limit?
    ReadDisturb,
    /// Which page of the open block takes a write?
    PageChoice,
    /// How do bits lie on cells?
    Coding,
    /// Which block is reclaimed?
    Victim,
    /// Which plane takes the next page?
    Placement,
    /// Which cold data moves to which worn block?
    Wear,
    /// Which flash operation goes next?
    Order,
}

impl Family {
    /// All families, in the order of drive files.
    pub const ALL: [Self; 9] = [
        Self::Cost,
        Self::Throttle,
        Self::ReadDisturb,
        Self::PageChoice,
        Self::Coding,
        Self::Victim,
        Self::Placement,
        Self::Wear,
        Self::Order,
    ];

    /// The name in drive files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cost => "cost",
            Self::Throttle => "throttle",
            Self::ReadDisturb => "read-disturb",
            Self::PageChoice => "page-choice",
            Self::Coding => "coding",
            Self::Victim => "victim",
            Self::Placement => "placement",
            Self::Wear => "wear",
            Self::Order => "order",
        }
    }

    /// The question it answers.
    pub const fn question(self) -> &'static str {
        match self {
            Self::Cost => "at which cost level is a page programmed?",
            Self::Throttle => "how long must a write wait before the FTL sees it?",
            Self::ReadDisturb => "what moves where when a block nears its read limit?",
            Self::PageChoice => "which page of the open block takes a write?",
            Self::Coding => "how do bits lie on cells, and may a block be written twice?",
            Self::Victim => "which block is reclaimed?",
            Self::Placement => "which plane takes the next page?",
            Self::Wear => "which cold data moves to which worn block?",
            Self::Order => "which flash operation goes next on a free die?",
        }
    }

    /// Whether a policy of the family can shape the state before the run, and so is part of that
    /// state's name. Drives are filled and aged without time and without a queue, so nobody asks
    /// there at which level to program, how long to wait or what goes first.
    pub const fn shapes_state(self) -> bool {
        !matches!(self, Self::Cost | Self::Throttle | Self::Order)
    }

    /// The policy of a drive that names none.
    pub const fn default(self) -> &'static str {
        match self {
            Self::Cost => "fixed",
            Self::Throttle | Self::ReadDisturb | Self::Wear => "none",
            Self::PageChoice => "in-order",
            Self::Coding => "plain",
            Self::Victim => "greedy",
            Self::Placement => "dynamic",
            Self::Order => "fifo",
        }
    }
}

/// One policy as it is registered.
#[derive(Copy, Clone, Debug)]
pub struct PolicyInfo {
    /// The family it belongs to.
    pub family: Family,
    /// Its name, kebab-case.
    pub name: &'static str,
    /// Other names it answers to.
    pub aliases: &'static [&'static str],
    /// What it does, in one sentence.
    pub summary: &'static str,
    /// Where it was proposed, or "folklore".
    pub paper: &'static str,
    /// Its parameters.
    pub params: &'static [ParamInfo],
    /// Policies of other families, as `family=name`, that it does not work without.
    pub needs: &'static [&'static str],
    /// Policies of other families, as `family=name`, that it does not work with.
    pub forbids: &'static [&'static str],
}

impl PolicyInfo {
    /// A policy without parameters, aliases, needs or conflicts.
    const fn plain(
        family: Family,
        name: &'static str,
        summary: &'static str,
        paper: &'static str,
    ) -> Self {
        Self { family, name, aliases: &[], summary, paper, params: &[], needs: &[], forbids: &[] }
    }
}

const DO_NOTHING: &str = "folklore";

/// Every policy. A policy is added here and in its own file, and nowhere else.
pub const POLICIES: &[PolicyInfo] = &[
    cost::fixed::INFO,
    cost::conflict::INFO,
    cost::wu::INFO,
    cost::agcr::INFO,
    cost::expected::INFO,
    cost::oracle::INFO,
    cost::ideal::INFO,
    PolicyInfo::plain(Family::Throttle, "none", "Writes enter as they arrive.", DO_NOTHING),
    throttle::fixed::INFO,
    throttle::dynamic::INFO,
    throttle::ready::INFO,
    PolicyInfo::plain(
        Family::ReadDisturb,
        "none",
        "Reads are not counted and nothing is refreshed.",
        DO_NOTHING,
    ),
    disturb::refresh::INFO,
    disturb::redftl::INFO,
    disturb::read_leveling::INFO,
    disturb::hot_low_density::INFO,
    disturb::ipr::INFO,
    PolicyInfo::plain(Family::PageChoice, "in-order", "The next page of the block.", DO_NOTHING),
    page_choice::mango::INFO,
    PolicyInfo::plain(Family::Coding, "plain", "Bits as the host gave them.", DO_NOTHING),
    coding::wom::INFO,
    victim::greedy::INFO,
    victim::fifo::INFO,
    victim::random::INFO,
    victim::d_choices::INFO,
    victim::stable_greedy::INFO,
    placement::dynamic::INFO,
    placement::fixed::INFO,
    PolicyInfo::plain(Family::Wear, "none", "Nothing is moved to even out wear.", DO_NOTHING),
    wear::cold_swap::INFO,
    wear::hot_cold_swap::INFO,
    order::fifo::INFO,
    order::read_first::INFO,
    order::priority::INFO,
    order::collection_first::INFO,
];

/// One policy of a drive: which, with which parameters.
#[derive(Clone, Debug)]
struct Choice {
    family: Family,
    name: String,
    params: Params,
    origin: Origin,
}

/// Where a policy comes from.
#[derive(Clone, Debug)]
enum Origin {
    List(&'static PolicyInfo),
    Outside(External),
}

/// One policy of each family, checked.
#[derive(Clone, Debug)]
pub struct PolicySet {
    choices: Vec<Choice>,
}

impl PolicySet {
    /// The set that a drive file and a command line name, as `(family, policy, parameters)`; a
    /// later entry of a family replaces an earlier one, and families not named get their default.
    /// `supplier` has the policies that are not on the list, if there are such.
    pub fn resolve(
        named: &[(String, String, Map<String, Value>)],
        supplier: Option<&dyn Supplier>,
    ) -> Result<Self, Vec<PolicyError>> {
        let mut errors = Vec::new();
        for (family, name, _) in named {
            if !Family::ALL.iter().any(|f| f.name() == family) {
                errors.push(PolicyError {
                    family: family.clone(),
                    name: name.clone(),
                    key: None,
                    message: format!(
                        "`{family}` is not a policy family (they are {})",
                        Family::ALL.map(Family::name).join(", ")
                    ),
                    suggestion: nearest(family, Family::ALL.iter().map(|f| f.name()))
                        .map(ToOwned::to_owned),
                });
            }
        }
        let none = Map::new();
        let mut choices = Vec::new();
        for family in Family::ALL {
            let given = named.iter().rev().find(|(f, ..)| f == family.name());
            let (name, params) =
                given.map_or((family.default(), &none), |(_, n, p)| (n.as_str(), p));
            if let Some(supplier) = supplier.filter(|s| s.supplies(name)) {
                match External::find(supplier, family, name, params) {
                    Ok(external) => choices.push(Choice {
                        family,
                        name: name.to_owned(),
                        params: Params::complete(external.params.clone()),
                        origin: Origin::Outside(external),
                    }),
                    Err(error) => errors.push(error),
                }
                continue;
            }
            let members = || POLICIES.iter().filter(move |p| p.family == family);
            let Some(info) = members().find(|p| p.name == name || p.aliases.contains(&name)) else {
                let names: Vec<&str> = members().map(|p| p.name).collect();
                errors.push(PolicyError {
                    family: family.name().to_owned(),
                    name: name.to_owned(),
                    key: None,
                    message: format!(
                        "`{name}` is not a policy of family `{}` (it has {})",
                        family.name(),
                        names.join(", ")
                    ),
                    suggestion: nearest(name, names.iter().copied()).map(ToOwned::to_owned),
                });
                continue;
            };
            let params = Params::check(family, info.name, info.params, params, &mut errors);
            let origin = Origin::List(info);
            choices.push(Choice { family, name: info.name.to_owned(), params, origin });
        }
        let full_name = |c: &Choice| format!("{}={}", c.family.name(), c.name);
        let present: Vec<String> = choices.iter().map(full_name).collect();
        for choice in &choices {
            let Origin::List(info) = choice.origin else { continue };
            let mut refuse = |message: String| {
                errors.push(PolicyError {
                    family: choice.family.name().to_owned(),
                    name: choice.name.clone(),
                    key: None,
                    message,
                    suggestion: None,
                });
            };
            for need in info.needs.iter().filter(|n| !present.iter().any(|p| p == *n)) {
                refuse(format!("`{}` does not work without `{need}`", full_name(choice)));
            }
            for foe in info.forbids.iter().filter(|n| present.iter().any(|p| p == *n)) {
                refuse(format!("`{}` does not work together with `{foe}`", full_name(choice)));
            }
        }
        if errors.is_empty() { Ok(Self { choices }) } else { Err(errors) }
    }

    fn choice(&self, family: Family) -> &Choice {
        let choice = self.choices.iter().find(|c| c.family == family);
        choice.expect("a set has a policy of every family")
    }

    /// The name of a family's policy, and its parameters.
    pub fn get(&self, family: Family) -> (&str, &Params) {
        let choice = self.choice(family);
        (&choice.name, &choice.params)
    }

    /// The same set with the default policy of a family.
    #[must_use]
    pub fn with_default(&self, family: Family) -> Self {
        let defaults = Self::resolve(&[], None).expect("the defaults are on the list");
        let pick = |c: &Choice| {
            let from = if c.family == family { &defaults } else { self };
            from.choice(c.family).clone()
        };
        Self { choices: self.choices.iter().map(pick).collect() }
    }

    /// The policies from outside, as family and name, that this set alone is not enough to find
    /// again.
    pub fn unrepeatable(&self) -> impl Iterator<Item = (Family, &str)> {
        let lost = |c: &&Choice| matches!(&c.origin, Origin::Outside(e) if !e.repeatable);
        self.choices.iter().filter(lost).map(|c| (c.family, c.name.as_str()))
    }

    /// `{family: {name, parameters…}}`, as a drive file writes it.
    pub fn to_json(&self) -> Map<String, Value> {
        let entry = |c: &Choice| {
            let mut value = Map::new();
            value.insert("name".into(), c.name.clone().into());
            value.extend(c.params.as_map().clone());
            if let Origin::Outside(external) = &c.origin {
                value.insert("source".into(), external.source.clone().into());
            }
            (c.family.name().to_owned(), Value::Object(value))
        };
        self.choices.iter().map(entry).collect()
    }

    fn read_disturb(&self) -> ReadDisturbPolicy {
        let (name, params) = self.get(Family::ReadDisturb);
        match name {
            "none" => ReadDisturbPolicy::None(NoRefresh),
            "refresh" => ReadDisturbPolicy::Refresh(disturb::refresh::Refresh::new(params)),
            "redftl" => ReadDisturbPolicy::Shadows(Box::new(disturb::redftl::new(params))),
            "read-leveling" => {
                ReadDisturbPolicy::Shadows(Box::new(disturb::read_leveling::new(params)))
            }
            "hot-low-density" => ReadDisturbPolicy::HotLowDensity(Box::new(
                disturb::hot_low_density::HotLowDensity::new(params),
            )),
            "ipr" => ReadDisturbPolicy::Ipr(Box::new(disturb::ipr::Ipr::new(params))),
            other => unregistered(other),
        }
    }

    fn page_choice(&self) -> PageChoicePolicy {
        let (name, params) = self.get(Family::PageChoice);
        match name {
            "in-order" => PageChoicePolicy::InOrder(InOrder),
            "mango" => PageChoicePolicy::Mango(Box::new(page_choice::mango::Mango::new(params))),
            other => unregistered(other),
        }
    }

    /// Where slots lie in the blocks of an array.
    pub fn layouts(&self, geometry: &Geometry) -> Layouts {
        match self.get(Family::Coding).0 {
            "wom" if self.misfit(geometry).is_none() => Layouts::write_once(geometry),
            _ => Layouts::new(geometry.pages_per_block()),
        }
    }

    /// Slots of each plane that the policies keep from data, beside what garbage collection needs;
    /// with their names, as `family=name`.
    pub fn spare_slots(&self, geometry: &Geometry) -> (u64, Vec<String>) {
        let lost = match self.get(Family::Coding).0 {
            "wom" => geometry.pages_per_block() - self.layouts(geometry).slots(Mode::Wom1),
            _ => 0,
        };
        let kept = [
            (Family::ReadDisturb, ftl::ReadDisturb::spare_slots(&self.read_disturb(), geometry)),
            (Family::PageChoice, ftl::PageChoice::spare_slots(&self.page_choice(), geometry)),
            (Family::Coding, u64::from(lost) * geometry.blocks_per_plane() as u64),
        ];
        let keeping = kept.iter().filter(|(_, slots)| *slots > 0);
        let names = keeping.map(|(family, _)| format!("{}={}", family.name(), self.get(*family).0));
        (kept.iter().map(|(_, slots)| slots).sum(), names.collect())
    }

    /// Why the policies do not fit an array, if they do not.
    pub fn misfit(&self, geometry: &Geometry) -> Option<PolicyError> {
        if self.get(Family::Coding).0 == "wom" {
            let safe = |page: &u32| geometry.disturbed_by_reprogram(*page).count == 0;
            let safe = (0..geometry.pages_per_block()).filter(safe).count();
            if safe < 3 {
                return Some(PolicyError {
                    family: Family::Coding.name().to_owned(),
                    name: "wom".to_owned(),
                    key: None,
                    message: format!(
                        "`wom` needs three pages of a block that endure a second program, and \
                         blocks of this drive have {safe}"
                    ),
                    suggestion: None,
                });
            }
        }
        let (name, _) = self.get(Family::ReadDisturb);
        if !matches!(name, "hot-low-density" | "ipr") {
            return None;
        }
        let shape = geometry.shape();
        let why = if shape.bits_per_cell != 3 {
            format!("three bits per cell, and this drive has {}", shape.bits_per_cell)
        } else if geometry.order() != nand::PageOrder::Cyclic {
            "the pages of a wordline one after the other (pages.order = \"cyclic\")".to_owned()
        } else {
            return None;
        };
        Some(PolicyError {
            family: Family::ReadDisturb.name().to_owned(),
            name: name.to_owned(),
            key: None,
            message: format!("guard levels, which `{name}` uses, need {why}"),
            suggestion: None,
        })
    }

    /// The policies themselves, in their first state.
    pub fn build(&self) -> Policies<Builtin> {
        let of = |family| self.get(family);
        let outside = |family| match &self.choice(family).origin {
            Origin::Outside(external) => Some(&external.make),
            Origin::List(_) => None,
        };
        let (cost, cost_params) = of(Family::Cost);
        let (throttle, throttle_params) = of(Family::Throttle);
        let (victim, victim_params) = of(Family::Victim);
        let (placement, placement_params) = of(Family::Placement);
        let (wear, wear_params) = of(Family::Wear);
        Policies {
            cost: match (outside(Family::Cost), cost) {
                (Some(make), _) => CostPolicy::Custom(make.cost()),
                (None, "fixed") => CostPolicy::Fixed(cost::fixed::Fixed::new(cost_params)),
                (None, "conflict") => {
                    CostPolicy::Conflict(cost::conflict::Conflict::new(cost_params))
                }
                (None, "wu") => CostPolicy::Wu(cost::wu::Wu::new(cost_params)),
                (None, "agcr") => CostPolicy::Agcr(cost::agcr::Agcr::new(cost_params)),
                (None, "expected") => {
                    CostPolicy::Expected(Box::new(cost::expected::Expected::new(cost_params)))
                }
                (None, "oracle") => CostPolicy::Oracle(cost::oracle::Oracle::new(cost_params)),
                (None, "ideal") => CostPolicy::Ideal(cost::ideal::Ideal),
                (None, other) => unregistered(other),
            },
            throttle: match throttle {
                "none" => ThrottlePolicy::None(NoThrottle),
                "static" => ThrottlePolicy::Gate(throttle::fixed::new(throttle_params).into()),
                "dynamic" => ThrottlePolicy::Gate(throttle::dynamic::new(throttle_params).into()),
                "ready" => ThrottlePolicy::Gate(throttle::ready::new(throttle_params).into()),
                other => unregistered(other),
            },
            read_disturb: self.read_disturb(),
            page_choice: self.page_choice(),
            coding: match of(Family::Coding).0 {
                "plain" => CodingPolicy::Plain(Plain),
                "wom" => CodingPolicy::Wom(coding::wom::Wom::new(of(Family::Coding).1)),
                other => unregistered(other),
            },
            victim: match (outside(Family::Victim), victim) {
                (Some(make), _) => VictimPolicy::Custom(make.victim()),
                (None, "greedy") => VictimPolicy::Greedy(victim::greedy::Greedy),
                (None, "fifo") => VictimPolicy::Fifo(victim::fifo::Fifo),
                (None, "random") => VictimPolicy::Random(victim::random::Random),
                (None, "d-choices") => {
                    VictimPolicy::DChoices(victim::d_choices::DChoices::new(victim_params))
                }
                (None, "stable-greedy") => VictimPolicy::StableGreedy(
                    victim::stable_greedy::StableGreedy::new(victim_params),
                ),
                (None, other) => unregistered(other),
            },
            placement: match placement {
                "dynamic" => PlacementPolicy::Dynamic(placement::dynamic::Dynamic::default()),
                "static" => {
                    PlacementPolicy::Static(placement::fixed::Static::new(placement_params))
                }
                other => unregistered(other),
            },
            wear: match wear {
                "none" => WearPolicy::None(NoWear),
                "static" => WearPolicy::Static(wear::cold_swap::StaticWear::new(wear_params)),
                "hot-cold-swap" => {
                    WearPolicy::HotColdSwap(wear::hot_cold_swap::HotColdSwap::new(wear_params))
                }
                other => unregistered(other),
            },
            order: match of(Family::Order).0 {
                "fifo" => OrderPolicy::Fifo(order::fifo::Fifo),
                "read-first" => OrderPolicy::ReadFirst(order::read_first::ReadFirst),
                "priority" => OrderPolicy::Priority(order::priority::Priority),
                "collection-first" => {
                    OrderPolicy::CollectionFirst(order::collection_first::CollectionFirst)
                }
                other => unregistered(other),
            },
        }
    }
}

fn unregistered(name: &str) -> ! {
    panic!("policy `{name}` is on the list but nothing builds it");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(family: Family, name: &str) -> Vec<(String, String, Map<String, Value>)> {
        vec![(family.name().to_owned(), name.to_owned(), Map::new())]
    }

    #[test]
    fn every_policy_is_described_named_once_and_can_be_built() {
        assert!(POLICIES.len() >= 16, "the list has shrunk");
        for (i, p) in POLICIES.iter().enumerate() {
            assert!(p.summary.ends_with('.') && !p.paper.is_empty(), "{}: describe it", p.name);
            let names = |q: &PolicyInfo| {
                let mut all = q.aliases.to_vec();
                all.push(q.name);
                all
            };
            for q in POLICIES[i + 1..].iter().filter(|q| q.family == p.family) {
                assert!(!names(p).iter().any(|n| names(q).contains(n)), "{} twice", p.name);
            }
            let set = PolicySet::resolve(&one(p.family, p.name), None).unwrap();
            assert_eq!(set.get(p.family).0, p.name);
            let _ = set.build();
            for param in p.params {
                assert!(!param.doc.is_empty(), "{}.{}: describe it", p.name, param.name);
            }
        }
    }

    #[test]
    fn every_family_has_its_default() {
        let set = PolicySet::resolve(&[], None).unwrap();
        for family in Family::ALL {
            assert_eq!(set.get(family).0, family.default());
        }
    }

    #[test]
    fn all_mistakes_are_told_at_once_with_the_nearest_right_word() {
        let level = [("level".to_owned(), Value::from("hgih"))].into_iter().collect();
        let named = vec![
            ("victm".to_owned(), "greedy".to_owned(), Map::new()),
            ("cost".to_owned(), "fixed".to_owned(), level),
            ("order".to_owned(), "read-frist".to_owned(), Map::new()),
        ];
        let errors = PolicySet::resolve(&named, None).unwrap_err();
        let hints: Vec<_> = errors.iter().map(|e| e.suggestion.as_deref().unwrap_or("")).collect();
        assert_eq!(hints, ["victim", "high", "read-first"]);
    }

    #[test]
    fn a_set_is_its_json_read_back() {
        let set = PolicySet::resolve(&one(Family::Victim, "d-choices"), None).unwrap();
        let json = set.to_json();
        assert_eq!(json["victim"]["name"], "d-choices");
        let named: Vec<_> = json
            .iter()
            .map(|(family, value)| {
                let mut params = value.as_object().unwrap().clone();
                let name = params.remove("name").unwrap();
                (family.clone(), name.as_str().unwrap().to_owned(), params)
            })
            .collect();
        assert_eq!(PolicySet::resolve(&named, None).unwrap().to_json(), json);
    }
}

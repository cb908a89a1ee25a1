//! One policy of each family: checked, named, built.

use crate::arbitration::{self, ArbitrationPolicy};
use crate::external::{External, Supplier};
use crate::info::{DriveParts, Family, Idle, PolicyInfo, Wanted};
use crate::params::{Params, PolicyError};
use crate::{
    coding, cost, order, page_choice, placement, read_disturb, separation, slc_cache, throttle,
    victim, wear,
};
use ftl::{
    CacheSpec, Coding, Cost, HandleSpec, Order, PageChoice, Policies, PolicyTypes, ReadDisturb,
    Separation, SlcCache, WhenFull, stream_slots,
};
use kernel::nearest;
use nand::{Geometry, Layouts, Nothing, Store};
use serde_json::{Map, Value};
use std::marker::PhantomData;

/// The built-in policies over cells that remember `S`.
pub struct BuiltinWith<S>(PhantomData<fn() -> S>);

/// The built-in policies over cells that remember nothing: the engine that people run.
pub type Builtin = BuiltinWith<Nothing>;

impl<S: Store + 'static> PolicyTypes for BuiltinWith<S> {
    type Store = S;
    type Cost = cost::CostPolicy;
    type Throttle = throttle::ThrottlePolicy;
    type ReadDisturb = read_disturb::ReadDisturbPolicy;
    type PageChoice = page_choice::PageChoicePolicy;
    type Coding = coding::CodingPolicy;
    type SlcCache = slc_cache::SlcCachePolicy;
    type Victim = victim::VictimPolicy;
    type Separation = separation::SeparationPolicy;
    type Placement = placement::PlacementPolicy;
    type Wear = wear::WearPolicy;
    type Order = order::OrderPolicy;
}

impl Family {
    /// Its policies.
    pub const fn policies(self) -> &'static [PolicyInfo] {
        match self {
            Self::Cost => cost::LIST,
            Self::Throttle => throttle::LIST,
            Self::ReadDisturb => read_disturb::LIST,
            Self::PageChoice => page_choice::LIST,
            Self::Coding => coding::LIST,
            Self::SlcCache => slc_cache::LIST,
            Self::Victim => victim::LIST,
            Self::Separation => separation::LIST,
            Self::Placement => placement::LIST,
            Self::Wear => wear::LIST,
            Self::Order => order::LIST,
            Self::Arbitration => arbitration::LIST,
        }
    }

    /// The policy of a drive that names none: the first.
    pub const fn default(self) -> &'static str {
        self.policies()[0].name
    }
}

/// Every policy, family by family.
pub fn all() -> impl Iterator<Item = &'static PolicyInfo> + Clone {
    Family::ALL.into_iter().flat_map(Family::policies)
}

/// One policy of a drive, with its parameters.
#[derive(Clone, Debug)]
struct Choice {
    family: Family,
    name: String,
    params: Params,
    origin: Origin,
}

impl Choice {
    /// As `family=name`.
    fn full_name(&self) -> String {
        format!("{}={}", self.family.name(), self.name)
    }

    /// The entry whose conditions hold for it: its own, or that of the policy which one from
    /// outside is like.
    fn entry(&self) -> Option<&'static PolicyInfo> {
        match &self.origin {
            Origin::List(info) => Some(info),
            Origin::Outside(external) => external.like,
        }
    }

    fn error(&self, message: String) -> PolicyError {
        PolicyError {
            family: self.family.name().to_owned(),
            name: self.name.clone(),
            key: None,
            message,
            suggestion: None,
        }
    }
}

/// The origin of a policy.
#[derive(Clone, Debug)]
enum Origin {
    List(&'static PolicyInfo),
    Outside(External),
}

/// Makes the policy of a family.
macro_rules! made {
    ($set:expr, $family:ident, $policy:ty) => {{
        let choice = $set.choice(Family::$family);
        match &choice.origin {
            Origin::Outside(external) => <$policy>::made((external.make)()),
            Origin::List(info) => <$policy>::listed(info.name, &choice.params),
        }
    }};
}

/// One policy of each family, checked.
#[derive(Clone, Debug)]
pub struct PolicySet {
    choices: Vec<Choice>,
    /// The placement handles of the drive, for the separation policy.
    handles: Option<HandleSpec>,
    /// The drive has one of this number of its blocks.
    scale: u32,
}

impl PolicySet {
    /// The set that a drive file and a command line name, as `(family, policy, parameters)`; a
    /// later entry of a family replaces an earlier one, and families not named get their default.
    /// `supplier` has the policies that are not on the list, if any.
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
                match supplier.find(family, name, params) {
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
            let members = family.policies().iter();
            let called = |p: &&PolicyInfo| p.name == name || p.aliases.contains(&name);
            let Some(info) = members.clone().find(called) else {
                let names: Vec<&str> = members.map(|p| p.name).collect();
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
            let params = Params::check(family.name(), info.name, info.params, params, &mut errors);
            let origin = Origin::List(info);
            choices.push(Choice { family, name: info.name.to_owned(), params, origin });
        }
        // Each by its name, and by its kind.
        let present: Vec<(String, String)> = choices
            .iter()
            .map(|c| {
                let like = c.entry().map(|info| format!("{}={}", info.family.name(), info.name));
                (c.full_name(), like.unwrap_or_else(|| c.full_name()))
            })
            .collect();
        for (choice, (own, _)) in choices.iter().zip(&present) {
            let Some(info) = choice.entry() else { continue };
            for need in info.needs.iter().filter(|n| !present.iter().any(|(p, _)| p == *n)) {
                errors.push(choice.error(format!("`{own}` does not work without `{need}`")));
            }
            for foe in info.forbids {
                for (name, _) in present.iter().filter(|(_, like)| like == foe) {
                    errors.push(
                        choice.error(format!("`{own}` does not work together with `{name}`")),
                    );
                }
            }
        }
        if errors.is_empty() { Ok(Self { choices, handles: None, scale: 1 }) } else { Err(errors) }
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
        Self { choices: self.choices.iter().map(pick).collect(), ..*self }
    }

    /// The same set on a drive with these placement handles.
    #[must_use]
    pub fn with_handles(self, handles: HandleSpec) -> Self {
        Self { handles: Some(handles), ..self }
    }

    /// The same set on a drive that has one of this number of its blocks.
    #[must_use]
    pub fn with_scale(self, of: u32) -> Self {
        Self { scale: of, ..self }
    }

    /// The SLC cache on an array, if there is one.
    pub fn cache(&self, geometry: &Geometry) -> Option<CacheSpec> {
        self.build().slc_cache.cache(geometry)
    }

    /// Whether a family's policy comes from outside.
    pub fn is_from_outside(&self, family: Family) -> bool {
        matches!(self.choice(family).origin, Origin::Outside(_))
    }

    /// The policies from outside that this set alone cannot find again, as family and name.
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

    /// The places of slots in the blocks of an array.
    pub fn layouts(&self, geometry: &Geometry) -> Layouts {
        if self.misfit(geometry).is_some() {
            return Layouts::of(geometry);
        }
        self.build().coding.layouts(geometry)
    }

    /// Returns the slots of each plane that the policies keep from data, besides the need of
    /// garbage collection, and the names of these policies as `family=name`.
    pub fn spare_slots(&self, geometry: &Geometry) -> (u64, Vec<String>) {
        if self.misfit(geometry).is_some() {
            return (0, Vec::new());
        }
        let all = self.build();
        let kept = [
            (Family::ReadDisturb, all.read_disturb.spare_slots(geometry)),
            (Family::PageChoice, all.page_choice.spare_slots(geometry)),
            (Family::Coding, all.coding.spare_slots(geometry)),
            (
                Family::SlcCache,
                all.slc_cache.cache(geometry).map_or(0, |cache| cache.spare_slots(geometry)),
            ),
            (
                Family::Separation,
                stream_slots(&all.separation.streams(), all.separation.isolates(), geometry),
            ),
        ];
        let keeping = kept.iter().filter(|(_, slots)| *slots > 0);
        let names = keeping.map(|(family, _)| self.choice(*family).full_name());
        (kept.iter().map(|(_, slots)| slots).sum(), names.collect())
    }

    /// Why the policies do not fit an array, if they do not.
    pub fn misfit(&self, geometry: &Geometry) -> Option<PolicyError> {
        if geometry.units().pages > 1 {
            let (cost, page_choice) = (Family::Cost, Family::PageChoice);
            let built = self.build();
            let alone = if built.cost.constant().is_none() {
                Some((cost, "the pages of a wordline have one level"))
            } else if !built.page_choice.in_order() {
                Some((page_choice, "pages of a wordline cannot be passed over"))
            } else {
                None
            };
            if let Some((family, why)) = alone {
                let choice = self.choice(family);
                return Some(choice.error(format!(
                    "`{}` does not fit this drive: it needs programs of single pages \
                     (pages.program = \"page\"), as {why}",
                    choice.full_name()
                )));
            }
        }
        if geometry.superblocks().are_striped()
            && let Some(error) = self.misfit_of_stripes(geometry)
        {
            return Some(error);
        }
        if let Some(error) = self.misfit_of_separation(geometry) {
            return Some(error);
        }
        if let Some(error) = self.misfit_of_cache(geometry) {
            return Some(error);
        }
        self.choices.iter().find_map(|choice| {
            let why = (choice.entry()?.misfit)(geometry)?;
            Some(choice.error(format!("`{}` does not fit this drive: {why}", choice.full_name())))
        })
    }

    /// Why the policies do not fit superblocks or parity, if they do not: they open, reprogram or fill blocks
    /// one by one.
    fn misfit_of_stripes(&self, geometry: &Geometry) -> Option<PolicyError> {
        let whole = |family: Family| match family {
            Family::ReadDisturb => &["none", "refresh"][..],
            Family::Coding => &["plain"],
            Family::PageChoice => &["in-order"],
            _ => &[],
        };
        let alone = self.choices.iter().find(|choice| {
            let whole = whole(choice.family);
            let listed = matches!(choice.origin, Origin::List(_));
            !(whole.is_empty() || listed && whole.contains(&&*choice.name))
        })?;
        let setting = if geometry.superblocks().are_blocks() {
            "stripes with parity (`ftl.parity`): it needs `ftl.parity = 0`"
        } else {
            "superblocks of several blocks: it needs `ftl.superblock = \"plane-group\"`"
        };
        let why = match alone.family {
            Family::ReadDisturb => "it gives single blocks a use of their own",
            Family::Coding => "it programs single blocks twice",
            _ => "it passes over pages of single blocks",
        };
        Some(alone.error(format!(
            "`{}` does not fit this drive, which has {setting}, as {why}",
            alone.full_name()
        )))
    }

    /// Whether the pages of one victim may go to several streams. Each answer of `hints`, `fdp` and
    /// `dac` is that of the victim's stream.
    pub fn sorts_victims(&self) -> bool {
        let (name, _) = self.get(Family::Separation);
        !["sepgc", "shared", "hints", "fdp", "dac"].contains(&name)
    }

    /// Why the separation policy does not fit, if it does not: others decide where pages go, too.
    fn misfit_of_separation(&self, geometry: &Geometry) -> Option<PolicyError> {
        let own = self.choice(Family::Separation);
        if own.name == Family::Separation.default() {
            return None;
        }
        let built = self.build();
        let (specs, isolates) = (built.separation.streams(), built.separation.isolates());
        let beside = |family: Family, why: &str| {
            let other = self.choice(family).full_name();
            let own_name = own.full_name();
            Some(own.error(format!("`{own_name}` does not work together with `{other}`: {why}")))
        };
        if !built.coding.plain() {
            return beside(
                Family::Coding,
                "a block that is programmed twice keeps pages of its first use, so streams would mix",
            );
        }
        if !built.page_choice.in_order() {
            return beside(
                Family::PageChoice,
                "both choose the blocks that writes of the host go to",
            );
        }
        let read_disturb = &self.choice(Family::ReadDisturb).name;
        if !["none", "refresh"].contains(&read_disturb.as_str()) {
            return beside(
                Family::ReadDisturb,
                "both choose the blocks that moved pages go to; `none` and `refresh` do not",
            );
        }
        if (isolates || own.name == separation::fdp::INFO.name) && built.order.uses_priority() {
            return beside(
                Family::Order,
                "urgent writes have open blocks of their own, which would mix the streams",
            );
        }
        let moves = specs.iter().filter(|spec| spec.class.takes_moves()).count() as u64;
        let units = geometry.data_slots_per_superblock() / geometry.slots_per_program();
        if moves > 1 && geometry.slots_per_program() > 1 && u64::from(units) < 2 * moves {
            let own_name = own.full_name();
            return Some(own.error(format!(
                "`{own_name}` does not fit this drive: a block has {units} program units, and its \
                 {moves} streams of moved pages need {}",
                2 * moves
            )));
        }
        None
    }

    /// Why the SLC cache does not fit, if it does not: others give blocks a use of their own, too.
    fn misfit_of_cache(&self, geometry: &Geometry) -> Option<PolicyError> {
        let own = self.choice(Family::SlcCache);
        let built = self.build();
        let cache = built.slc_cache.cache(geometry)?;
        let own_name = own.full_name();
        let beside = |family: Family, why: &str| {
            let other = self.choice(family).full_name();
            Some(own.error(format!("`{own_name}` does not work together with `{other}`: {why}")))
        };
        if !built.coding.plain() {
            return beside(Family::Coding, "a block that is programmed twice has slots of its own");
        }
        if !built.page_choice.in_order() {
            return beside(
                Family::PageChoice,
                "it chooses among pages of several types, and blocks of the cache have one",
            );
        }
        if built.cost.constant().is_none() {
            return beside(
                Family::Cost,
                "pages of the cache are programmed in one way, so they have no levels",
            );
        }
        let read_disturb = &self.choice(Family::ReadDisturb).name;
        if !["none", "refresh"].contains(&read_disturb.as_str()) {
            return beside(
                Family::ReadDisturb,
                "both give blocks a use of their own; `none` and `refresh` do not",
            );
        }
        if built.separation.isolates() || self.handles.is_some() {
            return beside(
                Family::Separation,
                "blocks of the cache hold pages of all streams, which are to stay apart",
            );
        }
        if built.order.uses_priority() {
            return beside(
                Family::Order,
                "urgent writes have open blocks of their own, and the cache has one for all",
            );
        }
        let all = geometry.superblocks_per_set() as u32;
        let fault = if cache.own >= all || cache.least >= all {
            Some("the cache is to have as many blocks as the drive has, or more".to_owned())
        } else if cache.own == 0 && cache.most == 0 {
            Some("the size of the cache is 0".to_owned())
        } else if cache.full == WhenFull::Wait && cache.own == 0 && cache.least == 0 {
            Some(
                "writes wait for room in the cache, and on a full drive it has no blocks; it needs a \
                 `minimum`, or a static part"
                    .to_owned(),
            )
        } else {
            None
        };
        fault.map(|why| own.error(format!("`{own_name}` does not fit this drive: {why}")))
    }

    /// The parts of the policies that change nothing on a drive, with the names as `family=name`.
    /// Nothing is known of policies from outside.
    pub fn idle(&self, drive: &DriveParts<'_>) -> Vec<(String, Idle)> {
        let of = |choice: &Choice| {
            let Origin::List(info) = choice.origin else { return None };
            Some((choice.full_name(), (info.idle)(drive, &choice.params)))
        };
        self.choices.iter().filter_map(of).filter(|(_, idle)| *idle != Idle::Nothing).collect()
    }

    /// The policies that change nothing on an array unless requests have a property, and that
    /// property.
    pub fn wanting(&self, geometry: &Geometry) -> impl Iterator<Item = (String, Wanted)> {
        let of = |choice: &Choice| {
            let Origin::List(info) = choice.origin else { return None };
            Some((choice.full_name(), (info.wants)(geometry)?))
        };
        self.choices.iter().filter_map(of)
    }

    /// The arbiter, in its first state: the FTL never asks it.
    pub fn arbiter(&self) -> ArbitrationPolicy {
        made!(self, Arbitration, ArbitrationPolicy)
    }

    /// The policies themselves, in their first state: those that the FTL asks.
    pub fn build(&self) -> Policies<Builtin> {
        self.build_over()
    }

    /// The same over cells that remember `S`.
    pub fn build_over<S: Store + 'static>(&self) -> Policies<BuiltinWith<S>> {
        macro_rules! family {
            ($family:ident, $policy:ty) => {
                made!(self, $family, $policy)
            };
        }
        let mut separation = family!(Separation, separation::SeparationPolicy);
        if let Some(handles) = &self.handles {
            separation.learn_handles(handles);
        }
        let mut slc_cache = family!(SlcCache, slc_cache::SlcCachePolicy);
        if self.scale > 1 {
            slc_cache.learn_scale(self.scale);
        }
        Policies {
            cost: family!(Cost, cost::CostPolicy),
            throttle: family!(Throttle, throttle::ThrottlePolicy),
            read_disturb: family!(ReadDisturb, read_disturb::ReadDisturbPolicy),
            page_choice: family!(PageChoice, page_choice::PageChoicePolicy),
            coding: family!(Coding, coding::CodingPolicy),
            slc_cache,
            victim: family!(Victim, victim::VictimPolicy),
            separation,
            placement: family!(Placement, placement::PlacementPolicy),
            wear: family!(Wear, wear::WearPolicy),
            order: family!(Order, order::OrderPolicy),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(family: Family, name: &str) -> Vec<(String, String, Map<String, Value>)> {
        vec![(family.name().to_owned(), name.to_owned(), Map::new())]
    }

    #[test]
    fn every_policy_is_described_named_once_and_can_be_built() {
        let all: Vec<&PolicyInfo> = all().collect();
        assert!(all.len() >= 35, "the list has shrunk");
        for (i, p) in all.iter().enumerate() {
            assert!(p.summary.ends_with('.') && !p.paper.is_empty(), "{}: describe it", p.name);
            let names = |q: &PolicyInfo| {
                let mut all = q.aliases.to_vec();
                all.push(q.name);
                all
            };
            for q in all[i + 1..].iter().filter(|q| q.family == p.family) {
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
    fn one_family_can_be_put_back_to_its_default() {
        let mut named = one(Family::Victim, "fifo");
        named.extend(one(Family::Order, "read-first"));
        let set = PolicySet::resolve(&named, None).unwrap().with_default(Family::Victim);
        for family in Family::ALL {
            let name = if family == Family::Order { "read-first" } else { family.default() };
            assert_eq!(set.get(family).0, name);
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

    /// The write-once code needs a drive without refresh, and does not work together with Mango.
    #[test]
    fn what_a_policy_needs_and_forbids_is_checked() {
        let refused = |others: &[(Family, &str)]| -> Vec<String> {
            let mut named = one(Family::Coding, "wom");
            named.extend(others.iter().flat_map(|(family, name)| one(*family, name)));
            let errors = PolicySet::resolve(&named, None).err().unwrap_or_default();
            errors.into_iter().map(|e| e.message).collect()
        };
        let needs = "`coding=wom` does not work without `read-disturb=none`";
        let forbids = [
            "`page-choice=mango` does not work together with `coding=wom`",
            "`coding=wom` does not work together with `page-choice=mango`",
        ];
        assert!(refused(&[]).is_empty());
        assert_eq!(refused(&[(Family::ReadDisturb, "refresh")]), [needs]);
        assert_eq!(refused(&[(Family::PageChoice, "mango")]), forbids);
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

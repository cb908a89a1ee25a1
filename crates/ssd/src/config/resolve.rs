//! From settings as written to a drive: multiplied out, checked against each other, nothing open.

use super::drive::{Drive, Order, Recording, SHORTEST, Workload, limits};
use super::emit::{emit, sources};
use super::error::{ConfigError, Kind, Log};
use super::field::{At, Field, Setting, all_of, given, need};
use super::keys::{
    Buffer, Choice, DriveFile, Ftl, FtlKeys, GcKeys, Host, Interval, Limits, Reliability, Run,
    WorkloadKeys,
};
use super::layers::{CAPACITY, Merged};
use super::node::{Node, Table, Value};
use super::text::{Origin, Place, Text};
use kernel::Bytes;
use nand::{Geometry, GeometryError, Shape};
use policies::external::Supplier;
use policies::{PolicyError, PolicySet};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::Arc;
use workload::Arrivals;

/// A page is at most this large.
const PAGE_LIMIT: Bytes = Bytes::gib(1);

/// A write buffer holds at most so many pages.
const BUFFER_PAGES: u64 = 1 << 30;

/// Makes the drive of all layers. `None` if something is wrong; `log` says what.
pub(crate) fn resolve(
    merged: &Merged,
    supplier: Option<&dyn Supplier>,
    log: &mut Log,
) -> Option<Drive> {
    let file = &merged.file;
    let root = Node { place: Place::new(file, 0..0), value: Value::Table(merged.tree.clone()) };
    // What is wrong within single keys was reported when their layer was read.
    let written = DriveFile::read(&root, "", &mut Log::default()).unwrap_or_default();
    let mut work = Work { log, written: &written, tree: &merged.tree };

    let name = work.name(merged, file);
    let geometry = work.geometry();
    let reliability = work.reliability(geometry.as_ref());
    let timing = work.timing(geometry.as_ref(), reliability.as_ref());
    let (energy, energy_json) = work.energy(geometry.as_ref()).unzip();
    let ftl = work.ftl();
    let capacity = work.capacity(geometry.as_ref());
    let host = work.host(geometry.as_ref());
    let buffer = work.buffer(geometry.as_ref());
    let workload = work.workload();
    let precondition = work.take(written.precondition.as_ref(), "precondition");
    let policies = work.policies(supplier);
    work.fits(geometry.as_ref(), policies.as_ref());
    work.spare(geometry.as_ref(), capacity, ftl, policies.as_ref());
    let run = work.run();
    report_missing(&merged.tree, file, work.log);

    if !log.is_empty() {
        return None;
    }
    let (geometry, timing, logical_pages) = (geometry?, timing?, capacity?);
    let (physical, logical) = (geometry.pages() as f64, f64::from(logical_pages));
    let summary = merged.head.summary.clone();
    let based = merged.head.base.as_ref().map(|base| format!("based on {base}"));
    let (mut ftl, run) = (ftl?, run?);
    // However it was given, a drive says what it exports.
    let exported = Bytes::new(u64::from(logical_pages) * geometry.page_size().get());
    (ftl.over_provisioning, ftl.spare_factor) = (None, None);
    ftl.logical_capacity = Some(exported);
    let set = |place: &Place| place.text.origin == Origin::Set;
    let mut drive = Drive {
        name: name?,
        summary: summary.or(based).unwrap_or_default(),
        geometry,
        has_levels: timing.has_levels,
        timing: timing.timing,
        soft_reads: timing.soft_reads,
        energy,
        logical_pages,
        over_provisioning: (physical - logical) / logical,
        spare_factor: (physical - logical) / physical,
        ftl,
        host: host?,
        buffer: buffer?,
        workload,
        precondition: precondition?,
        reliability: reliability?,
        policies: policies?,
        seed: run.seed,
        recording: Recording {
            requests: run.keep_requests,
            series_interval: run.series_interval,
            snapshots: false,
        },
        build: crate::BUILD.to_owned(),
        sources: sources(merged),
        insists_on_mode: keys_of(written.host.as_ref()).mode.is_some_and(|at| set(&at.place)),
        resolved: Json::Null,
    };
    drive.resolved = emit(&drive, &timing.json, energy_json, &run, &merged.tree);
    Some(drive)
}

/// The keys of a section; of one that is absent, none.
pub(crate) fn keys_of<S: Clone + Default>(section: Option<&At<S>>) -> S {
    section.map(|at| at.value.clone()).unwrap_or_default()
}

/// Where a value stands.
pub(crate) fn place_of<T>(at: Option<&At<T>>) -> Option<Place> {
    at.map(|at| at.place.clone())
}

/// Resolving in progress.
pub(crate) struct Work<'a> {
    pub(crate) log: &'a mut Log,
    pub(crate) written: &'a DriveFile,
    pub(crate) tree: &'a Table,
}

/// The sizes of the array as they are taken from the section.
struct Sizes {
    places: BTreeMap<&'static str, Place>,
    complete: bool,
}

impl Sizes {
    /// A size; one that is missing is taken for `one`, so that the others can be checked.
    fn take<T>(&mut self, log: &mut Log, key: &'static str, at: Option<At<T>>, one: T) -> T {
        let Some(at) = at else {
            log.miss(&format!("geometry.{key}"));
            self.complete = false;
            return one;
        };
        self.places.insert(key, at.place);
        at.value
    }
}

impl Work<'_> {
    /// A setting that must be there.
    pub(crate) fn need<T>(&mut self, path: &str, value: Option<At<T>>) -> Option<T> {
        need(value, path, self.log)
    }

    /// A section as the table of keys has it.
    pub(crate) fn take<S: Setting + Clone>(
        &mut self,
        section: Option<&At<S>>,
        path: &str,
    ) -> Option<S::Plain> {
        S::take(section.cloned(), path, self.log)
    }

    pub(crate) fn fail(
        &mut self,
        path: &str,
        kind: Kind,
        message: impl Into<String>,
        place: &Place,
        label: &str,
    ) {
        self.log.fail(path, ConfigError::new(kind, message).at(place, label));
    }

    /// The drive's name: as given, or that of its file.
    fn name(&mut self, merged: &Merged, file: &Text) -> Option<String> {
        let Some((name, place)) = &merged.head.name else {
            let shown = file.name.rsplit(['/', '\\']).next().unwrap_or("");
            let stem = shown.strip_suffix(".toml").unwrap_or(shown);
            return Some(if stem.is_empty() { "drive".into() } else { stem.to_owned() });
        };
        if name.trim().is_empty() || name.chars().any(char::is_control) {
            self.fail("name", Kind::Value, "`name` must be one line of text", place, "");
            return None;
        }
        Some(name.clone())
    }

    fn geometry(&mut self) -> Option<Geometry> {
        let keys = keys_of(self.written.geometry.as_ref());
        let mut sizes = Sizes { places: BTreeMap::new(), complete: true };
        let mut shape = Shape {
            channels: sizes.take(self.log, "channels", keys.channels, 1),
            chips_per_channel: sizes.take(self.log, "chips-per-channel", keys.chips_per_channel, 1),
            dies_per_chip: sizes.take(self.log, "dies-per-chip", keys.dies_per_chip, 1),
            planes_per_die: sizes.take(self.log, "planes-per-die", keys.planes_per_die, 1),
            blocks_per_plane: sizes.take(self.log, "blocks-per-plane", keys.blocks_per_plane, 1),
            pages_per_block: sizes.take(self.log, "pages-per-block", keys.pages_per_block, 1),
            page_size: sizes.take(self.log, "page-size", keys.page_size, Bytes::new(1)),
            bits_per_cell: sizes.take(self.log, "bits-per-cell", keys.bits_per_cell, 1),
        };
        let mut sound = sizes.complete;
        let place = |key: &str| sizes.places.get(key);
        if shape.page_size > PAGE_LIMIT {
            let message = format!("`geometry.page-size` must be at most {PAGE_LIMIT}");
            let error = ConfigError::new(Kind::Geometry, message).at_some(place("page-size"), "");
            self.log.fail("geometry.page-size", error);
            sound = false;
        }
        // `Geometry` names the first thing wrong; with that mended it names the next.
        loop {
            let error = match Geometry::new(shape) {
                Ok(geometry) if sound => return self.ordered(geometry),
                Ok(_) => return None,
                Err(error) => error,
            };
            sound = false;
            let message = format!("{error}").replace("`dies`", "the number of dies");
            match error {
                GeometryError::Zero(key) | GeometryError::Limit { key, .. } if key != "dies" => {
                    let message =
                        message.replace(&format!("`{key}`"), &format!("`geometry.{key}`"));
                    let error = ConfigError::new(Kind::Geometry, message).at_some(place(key), "");
                    self.log.fail(&format!("geometry.{key}"), error);
                    match key {
                        "channels" => shape.channels = 1,
                        "chips-per-channel" => shape.chips_per_channel = 1,
                        "dies-per-chip" => shape.dies_per_chip = 1,
                        "planes-per-die" => shape.planes_per_die = 1,
                        "blocks-per-plane" => shape.blocks_per_plane = 1,
                        "pages-per-block" => shape.pages_per_block = 1,
                        "bits-per-cell" => shape.bits_per_cell = 1,
                        "page-size" => shape.page_size = Bytes::new(1),
                        _ => return None,
                    }
                }
                _ => {
                    let whole = matches!(error, GeometryError::TooManyPages(_));
                    let key = if whole { "blocks-per-plane" } else { "channels" };
                    let error = ConfigError::new(Kind::Geometry, message).at_some(place(key), "");
                    self.log.fail("geometry", error);
                    return None;
                }
            }
        }
    }

    /// The array with the pages of its blocks in the order that is asked for.
    fn ordered(&mut self, geometry: Geometry) -> Option<Geometry> {
        let Some(order) = keys_of(self.written.pages.as_ref()).order else { return Some(geometry) };
        let ordered = geometry.with_order(order.value.into());
        if ordered.is_none() {
            let pages = if order.value == Order::ShadowPairs { "a multiple of 4" } else { "even" };
            let message = format!(
                "`pages.order` \"{}\" is for cells of two bits, and blocks with a number of pages \
                 that is {pages}",
                order.value.name()
            );
            self.fail("pages.order", Kind::Conflict, message, &order.place, "");
        }
        ordered
    }

    pub(crate) fn reliability(&mut self, geometry: Option<&Geometry>) -> Option<Reliability> {
        let keys = keys_of(self.written.reliability.as_ref());
        if let (Some(cycles), Some(endurance)) = (&keys.initial_cycles, &keys.endurance)
            && cycles.value >= endurance.value.get()
        {
            let message = format!(
                "`reliability.initial-cycles` is {}, and blocks endure {}: the drive would be worn \
                 out before the run",
                cycles.value, endurance.value
            );
            let error = ConfigError::new(Kind::Conflict, message)
                .at_some(written(Some(&cycles.place)), "cycles before the run")
                .at_some(written(Some(&endurance.place)), "cycles that a block endures");
            self.log.fail("reliability.initial-cycles", error);
        }
        if let Some(At { value: Limits(rates), place }) = keys.correctable
            && limits(rates).is_none()
        {
            let message = format!("`reliability.correctable` is {rates:?}");
            let label = "three numbers that rise, above 0 and below 0.5";
            self.fail("reliability.correctable", Kind::Value, message, &place, label);
            return None;
        }
        let mut all = self.take(self.written.reliability.as_ref(), "reliability")?;
        if let Some(geometry) = geometry {
            all.codeword = all.codeword.min(geometry.page_size());
        }
        Some(all)
    }

    fn ftl(&mut self) -> Option<Ftl> {
        let GcKeys { start, stop, background_stop: background, .. } =
            keys_of(keys_of(self.written.ftl.as_ref()).gc.as_ref());
        // A mark that is wrong in itself has a default here, which is not what the user meant.
        let own = |log: &Log, key: &str| !log.is_broken(&format!("ftl.gc.{key}"));
        let [own_start, own_stop, own_background] =
            ["start", "stop", "background-stop"].map(|key| own(self.log, key));
        if let (Some(start), Some(stop)) = (&start, &stop)
            && own_start
            && own_stop
            && stop.value < start.value
        {
            let (from, to) = (start.value, stop.value);
            let message = format!("`ftl.gc.stop` is {to}, below `ftl.gc.start`, {from}");
            let error = ConfigError::new(Kind::Value, message)
                .at_some(written(Some(&stop.place)), "collection ends here")
                .at_some(written(Some(&start.place)), "before it begins");
            self.log.fail("ftl.gc.stop", error);
        }
        if let (Some(stop), Some(background)) = (&stop, &background)
            && own_stop
            && own_background
            && (1..stop.value).contains(&background.value)
        {
            let (least, most) = (background.value, stop.value);
            let message =
                format!("`ftl.gc.background-stop` is {least}, below `ftl.gc.stop`, {most}");
            let error = ConfigError::new(Kind::Value, message)
                .at(&background.place, "0 (no background collection), or at least `ftl.gc.stop`")
                .at_some(written(Some(&stop.place)), "");
            self.log.fail("ftl.gc.background-stop", error);
        }
        self.take(self.written.ftl.as_ref(), "ftl")
    }

    /// How many pages the drive exports.
    fn capacity(&mut self, geometry: Option<&Geometry>) -> Option<u32> {
        let FtlKeys {
            over_provisioning: over, spare_factor: spare, logical_capacity: logical, ..
        } = keys_of(self.written.ftl.as_ref());
        let (over, spare, logical) = (given(over), given(spare), given(logical));
        if CAPACITY.iter().any(|key| self.log.is_broken(&format!("ftl.{key}"))) {
            return None;
        }
        let places =
            [place_of(over.as_ref()), place_of(spare.as_ref()), place_of(logical.as_ref())];
        let mut ways: Vec<(&str, &Place)> = CAPACITY
            .into_iter()
            .zip(&places)
            .filter_map(|(key, place)| Some((key, place.as_ref()?)))
            .collect();
        ways.sort_by_key(|(_, place)| place.order());
        match ways.as_slice() {
            [_] => {}
            [] => {
                self.log.miss("ftl.spare-factor");
                return None;
            }
            [(first, at), rest @ ..] => {
                let names: Vec<String> = ways.iter().map(|(key, _)| (*key).to_owned()).collect();
                let message = format!("{} exclude each other", all_of(&names));
                let mut error = ConfigError::new(Kind::Conflict, message).at(at, "");
                for (_, at) in rest {
                    error = error.at(at, "");
                }
                let error = error.help("each says how much the drive exports: give exactly one");
                self.log.fail(&format!("ftl.{first}"), error);
                return None;
            }
        }
        if let Some(At { value: x, place }) = &over
            && *x <= 0.0
        {
            let message = format!("`ftl.over-provisioning` is {x}, and it must be above 0");
            self.fail("ftl.over-provisioning", Kind::Value, message, place, "(P - L) / L");
            return None;
        }
        if let Some(At { value: x, place }) = &spare
            && (*x <= 0.0 || *x >= 1.0)
        {
            let message = format!("`ftl.spare-factor` is {x}, and it must lie between 0 and 1");
            let label = if *x >= 1.0 { "a fraction: 7 % is 0.07" } else { "(P - L) / P" };
            self.fail("ftl.spare-factor", Kind::Value, message, place, label);
            return None;
        }
        let geometry = geometry?;
        let physical = geometry.pages() as f64;
        let page = geometry.page_size();
        let pages = match (&over, &spare, &logical) {
            (Some(at), ..) => whole_pages(physical / (1.0 + at.value)),
            (_, Some(at), _) => whole_pages(physical * (1.0 - at.value)),
            (_, _, Some(at)) => at.value.get().div_ceil(page.get()),
            _ => return None,
        };
        let (key, place) = ways[0];
        let path = format!("ftl.{key}");
        if pages > geometry.pages() as u64 {
            let flash = Bytes::new(geometry.pages() as u64 * page.get());
            let asked = place.text.body[place.range.clone()].trim_matches(['"', '\'']);
            let message =
                format!("{asked} exported, but the drive has {} of flash", readable(flash));
            self.fail(&path, Kind::OverCapacity, message, place, "");
            return None;
        }
        if pages < geometry.planes() as u64 {
            let message = format!(
                "{pages} pages exported, fewer than the drive has planes ({})",
                geometry.planes()
            );
            self.fail(&path, Kind::Value, message, place, "at least one page for each plane");
            return None;
        }
        Some(pages as u32)
    }

    /// Whether the policies fit the array.
    fn fits(&mut self, geometry: Option<&Geometry>, policies: Option<&PolicySet>) {
        let (Some(geometry), Some(policies)) = (geometry, policies) else { return };
        let Some(error) = policies.misfit(geometry) else { return };
        let choices = self.written.policies.as_ref().map_or(&[][..], |at| &at.value.0);
        let found = policy_error(&error, choices);
        self.log.fail(&format!("policies.{}", error.family), found);
    }

    /// Whether garbage collection has room.
    fn spare(
        &mut self,
        geometry: Option<&Geometry>,
        logical: Option<u32>,
        ftl: Option<Ftl>,
        policies: Option<&PolicySet>,
    ) {
        let (Some(g), Some(logical), Some(ftl)) = (geometry, logical, ftl) else { return };
        if self.log.is_broken("ftl.gc.stop") {
            return;
        }
        // An open block for the host, and one for garbage collection.
        let own = u64::from(ftl.gc.stop) + 2;
        let (kept, names) = policies.map_or((0, Vec::new()), |p| p.spare_slots(g));
        let kept = kept.div_ceil(g.pages_per_block().into());
        let blocks = own + kept;
        let needed = g.planes() as u64 * blocks * u64::from(g.pages_per_block());
        let spare = g.pages() as u64 - u64::from(logical);
        if spare >= needed {
            return;
        }
        let names = (!names.is_empty()).then(|| format!("`{}`", names.join("` and `")));
        let who = names.as_ref().map_or("GC needs".to_owned(), |who| format!("GC and {who} need"));
        let per_plane = spare as f64 / (g.planes() as f64 * f64::from(g.pages_per_block()));
        let message = format!(
            "{who} {blocks} free blocks per plane, this drive has {} spare",
            (per_plane * 100.0).floor() / 100.0
        );
        let keys = keys_of(self.written.ftl.as_ref());
        let stop = place_of(keys_of(keys.gc.as_ref()).stop.as_ref());
        let capacity = place_of(keys.over_provisioning.as_ref())
            .or(place_of(keys.spare_factor.as_ref()))
            .or(place_of(keys.logical_capacity.as_ref()));
        let mut need = format!(
            "GC needs `ftl.gc.stop` ({}) blocks, an open one for the host and one for itself",
            ftl.gc.stop
        );
        if let Some(who) = names {
            need += &format!("; {who} keeps the pages of {kept} from data");
        }
        let all = g.blocks_per_plane() as u64;
        let help = if blocks >= all {
            format!("{need}; a plane has {all} blocks in all, so give it more")
        } else {
            let least = blocks as f64 / all as f64;
            let least = (least * 10_000.0).ceil() / 10_000.0;
            format!("{need}; with {all} blocks per plane that is a spare-factor of {least} or more")
        };
        let error = ConfigError::new(Kind::TooFewSpare, message)
            .at_some(capacity.as_ref(), "too little spare")
            .at_some(written(stop.as_ref()), "");
        self.log.fail("ftl", error.help(help));
    }

    fn host(&mut self, geometry: Option<&Geometry>) -> Option<Host> {
        let keys = keys_of(self.written.host.as_ref());
        if let (Some(sector), Some(g)) = (keys.sector, geometry)
            && self.log.is_sound("host.sector")
        {
            let (page, unit) = (g.page_size(), sector.value);
            if unit.get() == 0 || page.get() % unit.get() != 0 {
                let message = format!("a page of {page} is no multiple of a sector of {unit}");
                let page_place = keys_of(self.written.geometry.as_ref()).page_size;
                let error = ConfigError::new(Kind::Value, message)
                    .at_some(written(Some(&sector.place)), "the sector")
                    .at_some(place_of(page_place.as_ref()).as_ref(), "the page");
                self.log.fail("host.sector", error);
            }
        }
        self.take(self.written.host.as_ref(), "host")
    }

    fn buffer(&mut self, geometry: Option<&Geometry>) -> Option<Buffer> {
        let keys = keys_of(self.written.buffer.as_ref());
        if let (Some(At { value: size, place }), Some(g)) = (keys.size, geometry)
            && size.get() > 0
        {
            let pages = size.get() / g.page_size().get();
            if !(1..=BUFFER_PAGES).contains(&pages) {
                let message = format!("`buffer.size` is {size}, which is {pages} pages");
                let label = format!("0B, or 1 to {BUFFER_PAGES} pages of {}", g.page_size());
                self.fail("buffer.size", Kind::Value, message, &place, &label);
            }
        }
        self.take(self.written.buffer.as_ref(), "buffer")
    }

    fn workload(&mut self) -> Workload {
        let keys = keys_of(self.written.workload.as_ref());
        let (arrivals, rate) = (&keys.arrivals, &keys.rate);
        if let (Some(arrivals), Some(rate)) = (arrivals, rate) {
            let message = "`workload.arrivals` and `workload.rate` exclude each other";
            let error = ConfigError::new(Kind::Conflict, message)
                .at(&arrivals.place, "")
                .at(&rate.place, "")
                .help("`rate` is short for { poisson = { iops = … } }: give one of them");
            self.log.fail("workload.rate", error);
        }
        if let Some(At { value: Some(x), place }) = rate
            && !Arrivals::is_rate(*x)
        {
            let message = format!("`workload.rate` is {x}, not requests a second");
            self.fail("workload.rate", Kind::Value, message, place, "above 0 and at most 1e9");
        }
        let given = self.take(self.written.workload.as_ref(), "workload");
        let given = given.as_ref().and_then(WorkloadKeys::emit);
        let mut generator = given.and_then(|all| all.as_object().cloned()).unwrap_or_default();
        generator.remove("shift");
        for (key, value) in &generator {
            // What a key may hold, the generator itself knows best.
            let alone = json!({ "pattern": "random-write", key: value });
            if let Err(error) = serde_json::from_value::<workload::Generator>(alone) {
                let path = format!("workload.{key}");
                let message = format!("`{path}` is not what a generator takes");
                let place = self.tree.at(&path).map(|node| node.place.clone());
                let error = ConfigError::new(Kind::Value, message)
                    .at_some(place.as_ref(), error.to_string());
                self.log.fail(&path, error);
            }
        }
        let shift = keys.shift.and_then(|at| at.value).map_or(0, |offset| offset.0);
        Workload { shift, generator }
    }

    fn run(&mut self) -> Option<Run> {
        let interval = keys_of(self.written.run.as_ref()).series_interval;
        if let Some(At { value: Interval(Some(length)), place }) = interval
            && length < SHORTEST
        {
            let message = format!("`run.series-interval` must be at least {SHORTEST}");
            self.fail("run.series-interval", Kind::Value, message, &place, "");
        }
        self.take(self.written.run.as_ref(), "run")
    }

    fn policies(&mut self, supplier: Option<&dyn Supplier>) -> Option<PolicySet> {
        let choices = self.written.policies.as_ref().map_or(&[][..], |at| &at.value.0);
        for choice in choices.iter().filter(|c| c.name.is_empty()) {
            let path = format!("policies.{}", choice.family);
            if self.log.is_sound(&path) {
                let message = format!("`{path}` does not say which policy");
                self.fail(
                    &path,
                    Kind::Policy,
                    message,
                    &choice.family_place,
                    "its `name` is missing",
                );
            }
        }
        let named = choices.iter().filter(|c| !c.name.is_empty());
        let named: Vec<_> =
            named.map(|c| (c.family.clone(), c.name.clone(), c.params.clone())).collect();
        let set = PolicySet::resolve(&named, supplier).map_err(|errors| {
            for error in errors {
                let found = policy_error(&error, choices);
                self.log.fail(&format!("policies.{}", error.family), found);
            }
        });
        set.ok()
    }
}

/// Puts a policy's error where it was written.
fn policy_error(error: &PolicyError, choices: &[Choice]) -> ConfigError {
    let choice = choices.iter().find(|c| c.family == error.family);
    let unknown_family = !policies::Family::ALL.iter().any(|f| f.name() == error.family);
    let place = choice.map(|c| match &error.key {
        Some(key) => {
            let declared = policies::all()
                .filter(|p| p.name == error.name && p.family.name() == error.family)
                .any(|p| p.params.iter().any(|param| param.name == key));
            c.param_places
                .get(key)
                .map_or(&c.name_place, |(name, value)| if declared { value } else { name })
        }
        None if unknown_family => &c.family_place,
        None => &c.name_place,
    });
    let label = error.suggestion.as_ref().map_or(String::new(), |s| format!("did you mean `{s}`?"));
    ConfigError::new(Kind::Policy, error.message.clone()).at_some(place, label)
}

/// A place worth showing: one in a text that the user wrote.
pub(crate) fn written(place: Option<&Place>) -> Option<&Place> {
    place.filter(|p| p.text.origin != Origin::Default)
}

/// Reports the settings that are missing, one error for each section.
fn report_missing(tree: &Table, file: &Arc<Text>, log: &mut Log) {
    for (path, keys) in log.take_missing() {
        let place = path.split('.').try_fold((tree, None), |(table, _), key| {
            let entry = table.0.get(key)?;
            match &entry.node.value {
                Value::Table(inner) => Some((inner, Some(entry.node.place.clone()))),
                _ => None,
            }
        });
        let place = place.and_then(|(_, place)| place);
        let place = written(place.as_ref()).cloned();
        let section = if path.is_empty() { "the file".into() } else { format!("`[{path}]`") };
        let names = all_of(&keys)
            .replace("`spare-factor`", "`over-provisioning`, `spare-factor` or `logical-capacity`");
        let message = format!("{section} does not give {names}");
        let place = place.unwrap_or_else(|| Place::new(file, 0..0));
        let mut error = ConfigError::new(Kind::Missing, message).at(&place, "");
        if path == "geometry" || path == "timing" {
            error = error.help("inherit from a drive with `base`, or from a chip with `chip`");
        }
        log.push(error);
    }
}

pub(crate) fn text(value: impl Display) -> Json {
    value.to_string().into()
}

/// Rounds down, but not for what binary fractions lose: 0.9 of 10 pages are 9.
fn whole_pages(pages: f64) -> u64 {
    let near = pages.round();
    if (pages - near).abs() < 1e-6 { near as u64 } else { pages.floor() as u64 }
}

/// A size for messages: exact where that is short, else with two decimals.
fn readable(size: Bytes) -> String {
    let exact = size.to_string();
    let units = [(1_u64 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB")];
    match units.iter().find(|(scale, _)| size.get() >= *scale) {
        Some((scale, unit)) if exact.len() > 7 => {
            format!("{:.2} {unit}", size.get() as f64 / *scale as f64)
        }
        _ => exact,
    }
}

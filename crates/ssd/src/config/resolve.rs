//! From settings as written to a drive: multiplied out, checked against each other, nothing open.

use super::drive::{
    Buffer, Drive, Ftl, GcMarks, Host, Order, Precondition, Recording, SHORTEST, Workload,
};
use super::emit::{emit, sources};
use super::error::{ConfigError, Kind, Log};
use super::field::{At, Field, all_of};
use super::keys::{Choice, DriveFile, FtlKeys, GcKeys, WorkloadKeys};
use super::layers::{CAPACITY, Merged};
use super::node::{Node, Table, Value};
use super::text::{Origin, Place, Text};
use kernel::Bytes;
use nand::{Geometry, GeometryError, Shape};
use policies::external::Supplier;
use policies::{PolicyError, PolicySet};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::Arc;
use workload::Arrivals;

/// A page is at most this large.
const PAGE_LIMIT: Bytes = Bytes::gib(1);

/// A write buffer holds at most so many pages.
const BUFFER_PAGES: u64 = 1 << 30;

/// Recorded times are divided by a factor in this range, so that they stay within 64 bits.
const SPEED: (f64, f64) = (0.001, 1e6);

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
    let mut work = Work { log, written: &written };

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
    let precondition = work.precondition();
    let policies = work.policies(supplier);
    work.fits(geometry.as_ref(), policies.as_ref());
    work.spare(geometry.as_ref(), capacity, ftl, policies.as_ref());
    let seed = work.need("run.seed", keys_of(written.run.as_ref()).seed);
    let recording = work.recording();
    report_missing(&merged.tree, file, work.log);

    if !log.is_empty() {
        return None;
    }
    let (geometry, timing, logical_pages) = (geometry?, timing?, capacity?);
    let (physical, logical) = (geometry.pages() as f64, f64::from(logical_pages));
    let summary = merged.head.summary.clone();
    let based = merged.head.base.as_ref().map(|base| format!("based on {base}"));
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
        ftl: ftl?,
        host: host?,
        buffer: buffer?,
        workload,
        precondition: precondition?,
        reliability: reliability?,
        policies: policies?,
        seed: seed?,
        recording: recording?,
        build: crate::BUILD.to_owned(),
        sources: sources(merged),
        resolved: Json::Null,
    };
    drive.resolved = emit(&drive, &timing.json, energy_json);
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
        if value.is_none() {
            self.log.miss(path);
        }
        value.map(|at| at.value)
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

    fn ftl(&mut self) -> Option<Ftl> {
        let keys = keys_of(self.written.ftl.as_ref());
        let mapping = self.need("ftl.mapping", keys.mapping);
        let unmapped = self.need("ftl.unmapped-read", keys.unmapped_read);
        let planes = self.need("ftl.multi-plane", keys.multi_plane);
        let gc = self.gc(keys_of(keys.gc.as_ref()));
        mapping?;
        Some(Ftl { unmapped_read: unmapped?, gc: gc?, multi_plane: planes? })
    }

    fn gc(&mut self, keys: GcKeys) -> Option<GcMarks> {
        let GcKeys { start, stop, background_stop: background, foreground } = keys;
        let places = [&start, &stop, &background].map(|at| place_of(at.as_ref()));
        let start = self.need("ftl.gc.start", start);
        let stop = self.need("ftl.gc.stop", stop);
        let background = self.need("ftl.gc.background-stop", background);
        let foreground = self.need("ftl.gc.foreground", foreground);
        let (start, stop, background_stop) = (start?, stop?, background?);
        let [at_start, at_stop, at_background] = places.each_ref().map(Option::as_ref);
        // A mark that is wrong in itself has a default here, which is not what the user meant.
        let own = |log: &Log, key: &str| !log.is_broken(&format!("ftl.gc.{key}"));
        let [own_start, own_stop, own_background] =
            ["start", "stop", "background-stop"].map(|key| own(self.log, key));
        if own_start && start < 2 {
            let message = format!("`ftl.gc.start` is {start}, and the least is 2");
            let label = "one free block to collect into, one to go on writing";
            let error = ConfigError::new(Kind::Value, message).at_some(written(at_start), label);
            self.log.fail("ftl.gc.start", error);
        }
        if own_start && own_stop && stop < start {
            let message = format!("`ftl.gc.stop` is {stop}, below `ftl.gc.start`, {start}");
            let error = ConfigError::new(Kind::Value, message)
                .at_some(written(at_stop), "collection ends here")
                .at_some(written(at_start), "before it begins");
            self.log.fail("ftl.gc.stop", error);
        }
        if own_stop && own_background && background_stop != 0 && background_stop < stop {
            let message = format!(
                "`ftl.gc.background-stop` is {background_stop}, below `ftl.gc.stop`, {stop}"
            );
            let error = ConfigError::new(Kind::Value, message)
                .at_some(at_background, "0 (no background collection), or at least `ftl.gc.stop`")
                .at_some(written(at_stop), "");
            self.log.fail("ftl.gc.background-stop", error);
        }
        Some(GcMarks { start, stop, background_stop, foreground: foreground? })
    }

    /// How many pages the drive exports.
    fn capacity(&mut self, geometry: Option<&Geometry>) -> Option<u32> {
        let FtlKeys {
            over_provisioning: over, spare_factor: spare, logical_capacity: logical, ..
        } = keys_of(self.written.ftl.as_ref());
        if CAPACITY.iter().any(|key| self.log.is_broken(&format!("ftl.{key}"))) {
            return None;
        }
        let places =
            [place_of(over.as_ref()), place_of(spare.as_ref()), place_of(logical.as_ref())];
        let mut given: Vec<(&str, &Place)> = CAPACITY
            .into_iter()
            .zip(&places)
            .filter_map(|(key, place)| Some((key, place.as_ref()?)))
            .collect();
        given.sort_by_key(|(_, place)| place.order());
        match given.as_slice() {
            [_] => {}
            [] => {
                self.log.miss("ftl.spare-factor");
                return None;
            }
            [(first, at), rest @ ..] => {
                let names: Vec<String> = given.iter().map(|(key, _)| (*key).to_owned()).collect();
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
        let (key, place) = given[0];
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
        let (sector_place, speed_place) =
            (place_of(keys.sector.as_ref()), place_of(keys.speed.as_ref()));
        let sector = self.need("host.sector", keys.sector);
        let mode = self.need("host.mode", keys.mode);
        let speed = self.need("host.speed", keys.speed);
        let depth = self.need("host.queue-depth", keys.queue_depth);
        let limit = self.need("host.queue-limit", keys.queue_limit);
        let out_of_range = self.need("host.out-of-range", keys.out_of_range);
        if let (Some(x), Some(place)) = (speed, &speed_place)
            && !(SPEED.0..=SPEED.1).contains(&x)
        {
            let message = format!("`host.speed` is {x}, not a speed-up factor");
            let label = format!("{} to {}", SPEED.0, SPEED.1);
            self.fail("host.speed", Kind::Value, message, place, &label);
        }
        if let (Some(sector), Some(g)) = (sector, geometry) {
            let page = g.page_size();
            let sound = self.log.is_sound("host.sector");
            if sound && (sector.get() == 0 || page.get() % sector.get() != 0) {
                let message = format!("a page of {page} is no multiple of a sector of {sector}");
                let page_place = keys_of(self.written.geometry.as_ref()).page_size;
                let error = ConfigError::new(Kind::Value, message)
                    .at_some(written(sector_place.as_ref()), "the sector")
                    .at_some(place_of(page_place.as_ref()).as_ref(), "the page");
                self.log.fail("host.sector", error);
            }
        }
        Some(Host {
            sector: sector?,
            mode: mode?,
            speed: speed?,
            queue_depth: depth?.get(),
            queue_limit: limit?.get(),
            out_of_range: out_of_range?,
        })
    }

    fn buffer(&mut self, geometry: Option<&Geometry>) -> Option<Buffer> {
        let keys = keys_of(self.written.buffer.as_ref());
        let (size_place, share_place) =
            (place_of(keys.size.as_ref()), place_of(keys.flush_above.as_ref()));
        let size = self.need("buffer.size", keys.size);
        let flush_above = self.need("buffer.flush-above", keys.flush_above);
        if let (Some(x), Some(place)) = (flush_above, &share_place)
            && !(0.0..=1.0).contains(&x)
        {
            let message = format!("`buffer.flush-above` is {x}, not a share");
            self.fail("buffer.flush-above", Kind::Value, message, place, "0 to 1");
        }
        if let (Some(size), Some(g), Some(place)) = (size, geometry, &size_place)
            && size.get() > 0
        {
            let pages = size.get() / g.page_size().get();
            if !(1..=BUFFER_PAGES).contains(&pages) {
                let message = format!("`buffer.size` is {size}, which is {pages} pages");
                let label = format!("0B, or 1 to {BUFFER_PAGES} pages of {}", g.page_size());
                self.fail("buffer.size", Kind::Value, message, place, &label);
            }
        }
        Some(Buffer { size: size?, flush_above: flush_above? })
    }

    fn workload(&mut self) -> Workload {
        let WorkloadKeys {
            shift,
            requests,
            duration,
            size,
            align,
            span,
            read_share,
            trim_share,
            arrivals,
            rate,
            theta,
            hot_data,
            hot_writes,
            seed,
        } = keys_of(self.written.workload.as_ref());
        if let (Some(arrivals), Some(rate)) = (&arrivals, &rate) {
            let message = "`workload.arrivals` and `workload.rate` exclude each other";
            let error = ConfigError::new(Kind::Conflict, message)
                .at(&arrivals.place, "")
                .at(&rate.place, "")
                .help("`rate` is short for { poisson = { iops = … } }: give one of them");
            self.log.fail("workload.rate", error);
        }
        if let Some(At { value: x, place }) = &rate
            && !Arrivals::is_rate(*x)
        {
            let message = format!("`workload.rate` is {x}, not requests a second");
            self.fail("workload.rate", Kind::Value, message, place, "above 0 and at most 1e9");
        }
        let given: [(&str, Option<(Json, Place)>); 13] = [
            ("requests", requests.map(|at| (at.value.get().into(), at.place))),
            ("duration", duration.map(|at| (text(at.value), at.place))),
            ("size", size.map(|at| (at.value.0, at.place))),
            ("align", align.map(|at| (text(at.value), at.place))),
            ("span", span.map(|at| (text(at.value), at.place))),
            ("read-share", read_share.map(|at| (at.value.into(), at.place))),
            ("trim-share", trim_share.map(|at| (at.value.into(), at.place))),
            ("arrivals", arrivals.map(|at| (at.value.0, at.place))),
            ("rate", rate.map(|at| (at.value.into(), at.place))),
            ("theta", theta.map(|at| (at.value.into(), at.place))),
            ("hot-data", hot_data.map(|at| (at.value.into(), at.place))),
            ("hot-writes", hot_writes.map(|at| (at.value.into(), at.place))),
            ("seed", seed.map(|at| (at.value.into(), at.place))),
        ];
        let mut generator = Map::new();
        for (key, value) in given {
            let Some((value, place)) = value else { continue };
            // What a key may hold, the generator itself knows best.
            let alone = json!({ "pattern": "random-write", key: value });
            if let Err(error) = serde_json::from_value::<workload::Generator>(alone) {
                let path = format!("workload.{key}");
                let message = format!("`{path}` is not what a generator takes");
                self.fail(&path, Kind::Value, message, &place, &error.to_string());
            }
            generator.insert(key.to_owned(), value);
        }
        Workload { shift: shift.map_or(0, |at| at.value.0), generator }
    }

    fn precondition(&mut self) -> Option<Precondition> {
        let keys = keys_of(self.written.precondition.as_ref());
        let fill = self.need("precondition.fill", keys.fill);
        let age = self.need("precondition.age", keys.age);
        Some(Precondition { fill: fill?, age: age? })
    }

    fn recording(&mut self) -> Option<Recording> {
        let keys = keys_of(self.written.run.as_ref());
        let requests = self.need("run.keep-requests", keys.keep_requests);
        let place = place_of(keys.series_interval.as_ref());
        let series_interval = self.need("run.series-interval", keys.series_interval)?.0;
        if series_interval.is_some_and(|length| length < SHORTEST) {
            let message = format!("`run.series-interval` must be at least {SHORTEST}");
            let place = place.expect("what was read has a place");
            self.fail("run.series-interval", Kind::Value, message, &place, "");
        }
        Some(Recording { requests: requests?, series_interval, snapshots: false })
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

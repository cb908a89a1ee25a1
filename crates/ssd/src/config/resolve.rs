//! From settings as written to a drive: multiplied out, checked against each other, nothing open.

use super::drive::{
    ChannelFirst, Drive, DriveWorkload, FreeBlock, GcPacing, GcTrigger, HostMode, Interruptible,
    Isolation, Model, MultiPlane, Program, Recording, Superblock, limits,
};
use super::error::{ConfigError, ConfigErrorKind, Log, Mark};
use super::field::{At, Field, Reach, Word, all, all_of, one_of};
use super::keys::{
    Choices, EnergySettings, FdpSettings, File, Fraction, GcSettings, GeometrySettings,
    OperationTime, PagesSettings, Reliability, TriggerField, WorkloadSettings,
};
use super::layers::{DRIVE, Merged, WAYS};
use super::node::{Node, TomlTable};
use super::scale::Scale;
use super::text::{Origin, Text, TextPlace};
use super::times::spread;
use ftl::HandleSpec;
use kernel::Bytes;
use nand::{Energies, Geometry, GeometryError, ModeSpec, PageOrder, Shape, Timing, UnitSizes};
use policies::external::Supplier;
use policies::{Family, PolicyError, PolicySet};
use serde_json::{Value as Json, json};
use std::num::NonZeroU32;
use std::sync::Arc;

/// The greatest number of mapping units in a page.
pub(crate) const MOST_UNITS: u64 = 64;

/// Pages programmed while ageing, after which a checkpoint is kept.
const CHECKPOINT: u64 = 1 << 29;

/// The greatest number of mapping units in a superblock.
const MOST_SLOTS: u64 = 1 << 29;

/// The greatest number of pages in a write buffer.
const BUFFER_PAGES: u64 = 1 << 30;

/// The bytes that all dies program at once: a program unit each, or one of each plane if planes can
/// share a program.
pub(crate) fn at_once(geometry: &Geometry, multi_plane: MultiPlane) -> Bytes {
    let unit = u64::from(geometry.slots_per_program()) * geometry.page_size().get();
    let (flash, units) = (geometry.flash(), geometry.units());
    let together = match multi_plane {
        MultiPlane::Any if units.planes == 1 => u64::from(flash.planes_per_die),
        _ => 1,
    };
    Bytes::new(unit * together * geometry.dies() as u64)
}

/// Blocks of a plane that never hold old data, for planes of any size. Garbage collection keeps `stop` free, and
/// the host and collection each have one open.
pub(super) fn reserve(stop: u32) -> u64 {
    u64::from(stop) + 2
}

/// The keys of which a drive gives exactly one.
const CAPACITY: [&str; 3] = ["ftl.over-provisioning", "ftl.spare-factor", "ftl.logical-capacity"];

/// The keys of the cells that every drive must give.
const ALWAYS: [&str; 3] = ["model", "endurance", "recovery"];

/// Makes the drive of all layers. `None` if there are errors, which are in `log`.
pub(crate) fn resolve(
    mut merged: Merged,
    supplier: Option<&dyn Supplier>,
    log: &Log,
) -> Option<Drive> {
    // Until all layers were one, an absent setting was not yet missing.
    drop(log.take_missing());
    // Whether a section has keys; one without keys sets nothing.
    let says = |(key, _): &(String, _)| merged.tree.at(&format!("energy.{key}")).is_some();
    if !all(EnergySettings::KEYS).iter().any(says) {
        merged.tree.remove("energy");
    }
    let tree = &merged.tree;
    let mut work = Work { log, tree, geometry: None };
    work.ways();
    let name = work.name(&merged.file);
    let (geometry, scale) = work.geometry().unzip();
    work.geometry = geometry;
    log.page_types.set(work.geometry.map(|g| g.shape().bits_per_cell as usize));
    let file = File::of(tree, "", log);
    let reliability = work.reliability();
    let timing = work.timing(reliability.as_ref());
    work.gc();
    let logical_pages = match &scale {
        Some(Some(scale)) => Some(scale.logical_pages as u32),
        _ => work.capacity(),
    };
    work.host();
    work.jitter();
    let buffer_size = work.buffer();
    work.workload();
    let policies = work.policies(supplier);
    let mut scale = scale.flatten();
    work.spare(logical_pages, scale.as_ref(), policies.as_ref());
    work.copyback_by_stream(policies.as_ref());
    work.slc_cache(policies.as_ref());
    if scale.is_some() {
        work.unscalable(policies.as_ref());
    }
    if merged.whole {
        work.missing(&merged.file);
    }
    let mut file = file.filter(|_| log.is_empty())?;
    let (geometry, logical_pages, policies) = (work.geometry?, logical_pages?, policies?);
    (file.buffer.size, file.buffer.units_per_die) = (Some(buffer_size?), None);
    let ((timing, soft_reads), reliability) = (timing?, reliability?);
    if let Some(slc) = &mut file.slc {
        slc.erase = slc.erase.or(Some(timing.erase));
        slc.endurance = slc.endurance.or(Some(reliability.endurance).filter(|cycles| *cycles > 0));
    }

    // The echo is the file with every value resolved, without settings that only describe how it
    // was written.
    let based = file.base.take().map(|base| format!("based on {base}"));
    let summary = file.summary.take().or(based).unwrap_or_default();
    let exported = scale.as_ref().map_or(logical_pages.into(), |scale| scale.whole_logical_pages);
    let exported = exported * geometry.page_size().get();
    (file.ftl.over_provisioning, file.ftl.spare_factor) = (None, None);
    file.ftl.logical_capacity = Some(Bytes::new(exported));
    file.timing.suspend = file.timing.suspend.filter(|to| to.operations != Interruptible::None);
    file.ftl.superblock = file.ftl.superblock.filter(|all| *all != Superblock::PlaneGroup);
    file.ftl.free_block = file.ftl.free_block.filter(|pick| *pick != FreeBlock::Oldest);
    file.ftl.gc.trigger = file.ftl.gc.trigger.filter(|begin| *begin != GcTrigger::FreeBlocks);
    file.ftl.parity = file.ftl.parity.filter(|one_in| *one_in > 0);
    file.pages.order = file.pages.order.filter(|order| *order != PageOrder::Cyclic);
    file.pages.program = file.pages.program.filter(|program| *program != Program::Page);
    let shift = file.workload.shift.take().filter(|shift| *shift != 0);
    let generator = file.workload.echo();
    file.workload.shift = shift;
    (file.name, file.summary) = (Some(name.clone()), Some(summary.clone()));
    (file.schema, file.chip, file.reliability) = (Some(DRIVE.to_owned()), None, reliability);
    let mut resolved = file.echo();
    let before_run = resolved.keys().take_while(|key| *key != "run").count();
    resolved.shift_insert(before_run, "policies".into(), policies.to_json().into());
    let from =
        |path: &str, origin| tree.at(path).is_some_and(|node| node.place.text.origin == origin);
    if let Some(Json::Object(echo)) = resolved.get_mut("reliability")
        && !reliability.model_on()
    {
        // Settings that only the model of the cells uses are echoed if they were given.
        let given = |key: &str| !from(&format!("reliability.{key}"), Origin::Default);
        echo.retain(|key, _| ALWAYS.contains(&key.as_str()) || given(key));
    }
    let (physical, logical) = (geometry.data_slots() as f64, f64::from(logical_pages));
    let buffer = scale.as_ref().map_or(file.buffer, |scale| scale.buffer(file.buffer));
    if let Some(scale) = &mut scale {
        scale.take_in(&file.buffer);
    }
    Some(Drive {
        name,
        summary,
        geometry,
        soft_reads,
        channel_first: file.timing.bus.map_or(ChannelFirst::Commands, |bus| bus.first),
        suspend: file.timing.suspend,
        cache: file.timing.cache,
        has_levels: file.timing.levels.is_some() || file.timing.physics.is_some(),
        energy: file.energy.as_ref().map(|energy| Energies {
            read: spread(&energy.read),
            program: spread(&energy.program),
            erase: energy.erase,
            transfer_out: energy.transfer_out,
            transfer_in: energy.transfer_in,
            idle: energy.idle_power,
        }),
        single: file.slc.map(|slc| {
            let energy = file.energy.as_ref().zip(slc.energy).map(|(energy, slc)| Energies {
                read: [slc.read; 4],
                program: [slc.program; 4],
                erase: slc.erase,
                transfer_out: energy.transfer_out,
                transfer_in: energy.transfer_in,
                idle: energy.idle_power,
            });
            let erase = slc.erase.unwrap_or(timing.erase);
            let rated = slc.endurance.unwrap_or(reliability.endurance).max(1);
            let times = Timing::uniform(slc.read, slc.program, erase, timing.bus);
            ModeSpec::single(times, energy, reliability.endurance.max(1), rated)
        }),
        timing,
        logical_pages,
        over_provisioning: (physical - logical) / logical,
        spare_factor: (physical - logical) / physical,
        ftl: file.ftl,
        host: file.host,
        link: file.link,
        controller: file.controller,
        buffer,
        workload: DriveWorkload { shift: shift.unwrap_or(0), generator },
        precondition: file.precondition,
        reliability,
        policies,
        seed: file.run.seed,
        recording: Recording {
            requests: file.run.keep_requests,
            series_interval: file.run.series_interval,
            snapshots: false,
        },
        checkpoint: CHECKPOINT,
        scale,
        years: None,
        build: crate::BUILD.to_owned(),
        sources: merged.sources,
        insists_on_mode: from("host.mode", Origin::Set),
        resolved: resolved.into(),
    })
}

/// The part of a resolved drive that can shape its state before the run, except the policies and
/// the facts for them. `by_requests`: the state is made from the workload.
pub(crate) fn before_run(resolved: &Json, by_requests: bool) -> Json {
    let mut left = resolved.clone();
    for (path, key) in all(File::KEYS) {
        if key.reach.is_none_or(|reach| reach == Reach::Requests && by_requests) {
            continue;
        }
        let (section, key) = path.rsplit_once('.').unwrap_or(("", &path));
        let section = format!("/{}", section.replace('.', "/"));
        let section = left.pointer_mut(section.trim_end_matches('/')).and_then(Json::as_object_mut);
        section.and_then(|section| section.remove(key));
    }
    left
}

/// Resolving in progress.
pub(crate) struct Work<'a> {
    pub(crate) log: &'a Log,
    pub(crate) tree: &'a TomlTable,
    /// The array, once it is known.
    pub(crate) geometry: Option<Geometry>,
}

impl Work<'_> {
    /// A setting or a section, or its default if no file has it. Its errors have been reported
    /// before.
    pub(crate) fn take<T: Field>(&self, path: &str) -> Option<T::Plain> {
        match self.tree.at(path) {
            Some(node) => T::read(At { node, path, log: &Log::default() }),
            None => T::absent(path, &Log::default()),
        }
    }

    /// A single setting, if it is given and valid.
    pub(crate) fn get<T: Field>(&self, path: &str) -> Option<T::Plain> {
        let node = self.tree.at(path).filter(|_| self.log.is_sound(path))?;
        T::read(At { node, path, log: &Log::default() })
    }

    /// The place of a setting in a text that the user wrote.
    fn place(&self, path: &str) -> Option<&TextPlace> {
        let node = self.tree.at(path)?;
        Some(&node.place).filter(|place| place.text.origin != Origin::Default)
    }

    /// An error about settings, with the remark to print at each, the culprit first.
    fn error(
        &self,
        kind: ConfigErrorKind,
        message: impl Into<String>,
        marks: &[(&str, &str)],
    ) -> ConfigError {
        let mark = |(path, label): &(&str, &str)| {
            Some(Mark { place: self.place(path)?.clone(), label: (*label).to_owned() })
        };
        let marks = marks.iter().filter_map(mark).collect();
        ConfigError { kind, message: message.into(), marks, help: None }
    }

    /// Reports an error about settings, the culprit first.
    pub(crate) fn fail(
        &self,
        kind: ConfigErrorKind,
        message: impl Into<String>,
        marks: &[(&str, &str)],
    ) {
        self.log.fail(marks[0].0, self.error(kind, message, marks));
    }

    /// Reports several ways of setting one thing that are given together.
    fn ways(&self) {
        for (section, ways, help) in WAYS {
            let first = |way: &&[&str]| {
                let mut paths = way.iter().map(|key| format!("{section}.{key}"));
                paths.find(|path| self.tree.at(path).is_some())
            };
            let mut given: Vec<String> = ways.iter().filter_map(first).collect();
            given.sort_by_key(|path| self.place(path).map(TextPlace::order));
            if given.len() > 1 {
                let message = format!("{} exclude each other", all_of(&given));
                let marks: Vec<_> = given.iter().map(|path| (path.as_str(), "")).collect();
                let help = Some(help.to_owned());
                let error =
                    ConfigError { help, ..self.error(ConfigErrorKind::Conflict, message, &marks) };
                for path in given {
                    self.log.fail(&path, error.clone());
                }
            }
        }
    }

    /// The drive's name: as given, or that of its file.
    fn name(&self, file: &Text) -> String {
        let Some((name, _)) = self.tree.text("name") else {
            let shown = file.name.rsplit(['/', '\\']).next().unwrap_or("");
            let stem = shown.strip_suffix(".toml").unwrap_or(shown);
            return if stem.is_empty() { "drive".into() } else { stem.to_owned() };
        };
        if name.trim().is_empty() || name.chars().any(char::is_control) {
            self.fail(ConfigErrorKind::Value, "`name` must be one line of text", &[("name", "")]);
        }
        name.to_owned()
    }

    /// The simulated array, and its relation to the whole one if it is scaled down.
    fn geometry(&self) -> Option<(Geometry, Option<Scale>)> {
        let sizes = self.take::<GeometrySettings>("geometry")?;
        let shape = Shape {
            channels: sizes.channels,
            chips_per_channel: sizes.chips_per_channel,
            dies_per_chip: sizes.dies_per_chip,
            planes_per_die: sizes.planes_per_die,
            blocks_per_plane: sizes.blocks_per_plane,
            pages_per_block: sizes.pages_per_block,
            page_size: sizes.page_size,
            bits_per_cell: sizes.bits_per_cell,
        };
        let Some(of) = self.get::<Fraction>("scale").filter(|of| *of > 1) else {
            return Some((self.array(shape)?, None));
        };
        let one = self.array(Shape { blocks_per_plane: 1, ..shape })?;
        let flash = one.data_slots() * u64::from(shape.blocks_per_plane);
        let exported = self.exported(&one, flash)?;
        let gc = self.take::<GcSettings>("ftl.gc")?;
        let open_loop = self.get::<HostMode>("host.mode") != Some(HostMode::QueueDepth);
        let scale = Scale::new(of, &one, shape.blocks_per_plane, exported, &gc, open_loop);
        let array = self.array(Shape { blocks_per_plane: scale.blocks, ..shape })?;
        Some((array, Some(scale)))
    }

    /// An array of a shape, with the requested order of pages in its blocks.
    fn array(&self, shape: Shape) -> Option<Geometry> {
        let wrong = |error: GeometryError| {
            let many = matches!(error, GeometryError::TooManyPages(_));
            let path = if many { "geometry.blocks-per-plane" } else { "geometry.channels" };
            let message = error.to_string().replace("`dies`", "the number of dies");
            self.fail(ConfigErrorKind::Geometry, message, &[(path, "")]);
        };
        let geometry = Geometry::new(shape).map_err(wrong).ok()?;
        let order = self.take::<PagesSettings>("pages")?.order.unwrap_or_default();
        let ordered = geometry.with_order(order);
        if ordered.is_none() {
            let pages = if order == PageOrder::ShadowPairs { "a multiple of 4" } else { "even" };
            let message = format!(
                "`pages.order` \"{}\" is for cells of two bits, and blocks with a number of pages \
                 that is {pages}",
                order.said()
            );
            self.fail(ConfigErrorKind::Conflict, message, &[("pages.order", "")]);
        }
        let superblocks = self.superblocks(&self.units(&ordered?)?)?;
        self.parity(&self.reclaim_units(&superblocks)?)
    }

    /// The array with its superblocks.
    fn superblocks(&self, geometry: &Geometry) -> Option<Geometry> {
        let path = "ftl.superblock";
        let asked = self.get::<Superblock>(path).unwrap_or(Superblock::PlaneGroup);
        let Some(dies) = asked.dies(geometry) else { return Some(*geometry) };
        let all = geometry.dies() as u32;
        if !all.is_multiple_of(dies) {
            let message = format!("`{path}` is {dies} dies, and the drive has {all}");
            let fit = (1..=all).filter(|n| all.is_multiple_of(*n));
            let fit: Vec<_> = fit.map(|n| n.to_string()).collect();
            let label = format!("a part of them: {}", one_of(&fit, "or"));
            self.fail(ConfigErrorKind::Value, message, &[(path, &label)]);
            return None;
        }
        let members = u64::from(dies) * geometry.planes_per_die() as u64;
        let slots = members * u64::from(geometry.pages_per_block());
        if slots > MOST_SLOTS {
            let message =
                format!("`{path}`: a superblock of {dies} dies has {slots} mapping units");
            let label = format!("at most {MOST_SLOTS}: fewer dies, or a larger mapping unit");
            self.fail(ConfigErrorKind::Value, message, &[(path, &label)]);
            return None;
        }
        if self.tree.at("ftl.copyback").is_some() && members > 1 {
            let message = format!(
                "`ftl.copyback` moves pages inside a plane, and a superblock of {members} blocks takes \
                 moved pages on all of them in turn"
            );
            let marks = [("ftl.copyback", ""), (path, "must be \"plane-group\"")];
            self.fail(ConfigErrorKind::Conflict, message, &marks);
        }
        Some(geometry.with_superblocks(dies))
    }

    /// The array with its reclaim units, which may be several superblocks.
    fn reclaim_units(&self, geometry: &Geometry) -> Option<Geometry> {
        let path = "ftl.fdp.reclaim-unit";
        let layers = self.get::<NonZeroU32>(path).unwrap_or(1);
        if layers == 1 {
            return Some(*geometry);
        }
        let other = if self.get::<Fraction>("scale").is_some_and(|of| of > 1) {
            Some((
                "scale",
                "a scaled drive has fewer superblocks, so they would not be whole units",
            ))
        } else if self.tree.at("ftl.copyback").is_some() {
            Some(("ftl.copyback", "moved data take the superblocks of a unit in turn"))
        } else {
            None
        };
        if let Some((other, why)) = other {
            let message = format!("`{path}` is {layers} and does not go with `{other}`: {why}");
            let marks = [(path, "must be 1"), (other, "")];
            self.fail(ConfigErrorKind::Conflict, message, &marks);
            return None;
        }
        let blocks = geometry.shape().blocks_per_plane;
        let slots = u64::from(geometry.slots_per_superblock()) * u64::from(layers);
        if !blocks.is_multiple_of(layers) || slots > MOST_SLOTS {
            let message = format!("`{path}` is {layers}, and a plane has {blocks} blocks");
            let label = format!("a part of them; at most {MOST_SLOTS} mapping units in all");
            let marks = [(path, &*label), ("geometry.blocks-per-plane", "")];
            self.fail(ConfigErrorKind::Value, message, &marks);
            return None;
        }
        Some(geometry.with_layers(layers))
    }

    /// The array with its parity.
    fn parity(&self, geometry: &Geometry) -> Option<Geometry> {
        let path = "ftl.parity";
        let one_in = self.get::<u32>(path).unwrap_or(0);
        if one_in == 0 {
            return Some(*geometry);
        }
        let superblocks = geometry.superblocks();
        let (units, of) = if superblocks.planes() == 1 {
            let units = geometry.pages_per_block() / geometry.slots_per_program();
            (units, "program units of a block")
        } else {
            (superblocks.planes(), "blocks of a superblock")
        };
        if one_in == 1 || !units.is_multiple_of(one_in) {
            let message = format!("`{path}` is {one_in}, and there are {units} {of}");
            let fit: Vec<_> = (2..=units).filter(|n| units.is_multiple_of(*n)).collect();
            let label = if fit.is_empty() {
                "no number fits: a stripe needs at least two units".to_owned()
            } else {
                let fit: Vec<_> = fit.iter().map(u32::to_string).collect();
                format!("0, or one of {}", fit.join(", "))
            };
            self.fail(ConfigErrorKind::Value, message, &[(path, &label)]);
            return None;
        }
        Some(geometry.with_parity(one_in))
    }

    /// The array with the units that it is mapped and programmed in.
    fn units(&self, geometry: &Geometry) -> Option<Geometry> {
        let (path, page) = ("ftl.mapping-unit", geometry.page_size());
        let unit = self.get::<Bytes>(path).unwrap_or(page);
        // One of the two divides the other; the quotient the other way is 0 or 1.
        let whole = |a: Bytes, b: Bytes| a.get().checked_div(b.get()).unwrap_or(0);
        let (parts, across) = (whole(page, unit).max(1), whole(unit, page).max(1));
        if parts * unit.get() != across * page.get() || parts > MOST_UNITS {
            let message = format!("`{path}` is {unit}, and a page is {page}");
            let label = format!(
                "a page, an equal part of one, at least a {MOST_UNITS}th, or a page of each of several \
                 planes"
            );
            self.fail(
                ConfigErrorKind::Value,
                message,
                &[(path, &label), ("geometry.page-size", "")],
            );
            return None;
        }
        let shape = geometry.flash();
        let planes = self.get::<NonZeroU32>("ftl.program-planes").unwrap_or(1);
        if !shape.planes_per_die.is_multiple_of(planes) {
            let dies = shape.planes_per_die;
            let message = format!("`ftl.program-planes` is {planes}, and a die has {dies} planes");
            let label = "a part of them";
            let marks = [("ftl.program-planes", label), ("geometry.planes-per-die", "")];
            self.fail(ConfigErrorKind::Value, message, &marks);
            return None;
        }
        let across = u32::try_from(across).unwrap_or(u32::MAX);
        self.across(unit, across, planes)?;
        let pages = self.pages_at_once(geometry)?;
        let units = UnitSizes { per_page: parts as u32, across, pages, planes };
        let row = u64::from(units.per_row());
        if row > MOST_UNITS {
            let message = format!("a page of {planes} planes has {row} mapping units of {unit}");
            let label = format!("at most {MOST_UNITS}");
            self.fail(
                ConfigErrorKind::Value,
                message,
                &[(path, &label), ("ftl.program-planes", "")],
            );
            return None;
        }
        let wrong = |error: GeometryError| {
            self.fail(
                ConfigErrorKind::Geometry,
                format!("in units of {unit}: {error}"),
                &[(path, "")],
            );
        };
        geometry.with_units(units).map_err(wrong).ok()
    }

    /// Whether the planes that are programmed together can hold a mapping unit of `across` pages.
    fn across(&self, unit: Bytes, across: u32, planes: u32) -> Option<()> {
        let (path, program) = ("ftl.mapping-unit", "ftl.program-planes");
        if across == 1 {
            return Some(());
        }
        if !planes.is_multiple_of(across) {
            let message = format!(
                "`{path}` is {unit}, which is {across} pages, and one command programs a page of {planes} \
                 {}",
                if planes == 1 { "plane" } else { "planes" }
            );
            let marks =
                [(path, "one page of each plane"), (program, "must be a multiple of the pages")];
            let planes_per_die = self.get::<u32>("geometry.planes-per-die").unwrap_or(1);
            let help = if planes_per_die.is_multiple_of(across) {
                format!(
                    "`--set {program}={across}` programs such a unit with one command; without it a unit \
                     could be half written"
                )
            } else {
                format!(
                    "with {planes_per_die} planes in a die, a unit has 1 to {planes_per_die} pages of \
                     different planes, and their number divides the number of planes"
                )
            };
            let error = self.error(ConfigErrorKind::Conflict, message, &marks);
            self.log.fail(path, ConfigError { help: Some(help), ..error });
            return None;
        }
        if self.get::<Model>("reliability.model") == Some(Model::On) {
            let message = format!(
                "`{path}` of {unit} has no error model: the model of the cells reads each page for \
                 itself, and a read of this unit is {across} pages"
            );
            let marks = [(path, "at most a page"), ("reliability.model", "or \"off\"")];
            self.fail(ConfigErrorKind::Conflict, message, &marks);
            return None;
        }
        Some(())
    }

    /// Pages of a block that one command programs.
    fn pages_at_once(&self, geometry: &Geometry) -> Option<u32> {
        let path = "pages.program";
        let program = self.get::<Program>(path).unwrap_or(Program::Page);
        let flash = geometry.flash();
        let (bits, said) = (flash.bits_per_cell, program.said());
        let pages = match program {
            Program::Page => return Some(1),
            Program::Wordline => bits,
            Program::TwoStep => bits / 2,
        };
        let conflict = |why: String, marks: &[(&str, &str)]| {
            let marks = [&[(path, "")], marks].concat();
            self.fail(ConfigErrorKind::Conflict, format!("`{path}` \"{said}\" {why}"), &marks);
        };
        if program == Program::TwoStep && !bits.is_multiple_of(2) {
            let why = format!("is for cells of two bits or four, and this drive has {bits}");
            conflict(why, &[("geometry.bits-per-cell", "")]);
        } else if geometry.order() != PageOrder::Cyclic {
            let why = "needs the pages of a wordline one after the other".into();
            conflict(why, &[("pages.order", "must be \"cyclic\"")]);
        } else if !flash.pages_per_block.is_multiple_of(bits) {
            let why =
                format!("needs whole wordlines, and a block has {} pages", flash.pages_per_block);
            conflict(why, &[("geometry.pages-per-block", &format!("a multiple of {bits}"))]);
        } else if self.get::<Model>("reliability.model") == Some(Model::On) {
            let message = format!(
                "`{path}` \"{said}\" has no error model: the model of the cells knows programs of \
                 single pages"
            );
            let marks = [(path, ""), ("reliability.model", "or \"off\"")];
            let help = Some("programs of single pages: `--set pages.program=page`".to_owned());
            let error =
                ConfigError { help, ..self.error(ConfigErrorKind::Conflict, message, &marks) };
            self.log.fail(path, error);
        } else {
            return Some(pages);
        }
        None
    }

    fn reliability(&self) -> Option<Reliability> {
        let (cycles, endurance) = ("reliability.initial-cycles", "reliability.endurance");
        if let (Some(n), Some(limit)) = (self.get::<u32>(cycles), self.get::<u32>(endurance))
            && n >= limit
        {
            let message = format!(
                "`{cycles}` is {n}, and blocks endure {limit}: the drive would be worn out before \
                 the run"
            );
            let marks =
                [(cycles, "cycles before the run"), (endurance, "cycles that a block endures")];
            self.fail(ConfigErrorKind::Conflict, message, &marks);
        }
        let mut all = self.take::<Reliability>("reliability")?;
        if limits(all.correctable).is_none() {
            let message = format!("`reliability.correctable` is {:?}", all.correctable);
            let label = "three numbers that rise, above 0 and below 0.5";
            self.fail(ConfigErrorKind::Value, message, &[("reliability.correctable", label)]);
            return None;
        }
        if let Some(geometry) = self.geometry {
            all.codeword = all.codeword.min(geometry.flash().page_size);
        }
        Some(all)
    }

    /// When garbage collection runs.
    fn gc(&self) {
        let below = |low: (&str, &str), high: (&str, &str), least: u32| {
            if let (Some(less), Some(more)) = (self.get::<u32>(low.0), self.get::<u32>(high.0))
                && (least..more).contains(&less)
            {
                let message = format!("`{}` is {less}, below `{}`, {more}", low.0, high.0);
                self.fail(ConfigErrorKind::Value, message, &[low, high]);
            }
        };
        // A value with a mistake is not compared with others. So the last of the three is first.
        let (start, stop) = ("ftl.gc.start", "ftl.gc.stop");
        let none = "0 (no background collection), or at least `ftl.gc.stop`";
        below(("ftl.gc.background-stop", none), (stop, ""), 1);
        below((stop, "collection ends here"), (start, "before it begins"), 0);
        self.pace();
    }

    /// Whether collection at the pace of the host begins early enough. With fewer free blocks than
    /// this, it begins when the host opens the last block that it may have. The collection needed
    /// until that block is full comes in whole victims, which may take more time than the block
    /// lasts.
    fn pace(&self) {
        const LEAST: u32 = 3;
        let [start, background] = ["ftl.gc.start", "ftl.gc.background-stop"];
        let begins = [start, background].map(|path| self.get::<u32>(path));
        let paced = self.get::<GcPacing>("ftl.gc.pace") == Some(GcPacing::PerWrite);
        if let [Some(first), Some(second)] = begins
            && paced
            && first.max(second) < LEAST
        {
            let message = "with `ftl.gc.pace = \"per-write\"` collection has to begin while the host may \
                           still open a block";
            let marks = [
                ("ftl.gc.pace", ""),
                (start, "begins when the host opens the last one"),
                (background, "and nothing is collected before"),
            ];
            let help = format!(
                "set `{background}` to {LEAST} or more (collection in idle time), or `{start}`; or \
                 `ftl.gc.pace = \"burst\"`. Victims are collected whole: begun at the last block, the next \
                 one is not free in time, and a write waits for what is left of a victim"
            );
            let error = self.error(ConfigErrorKind::Conflict, message, &marks);
            self.log.push(ConfigError { help: Some(help), ..error });
        }
    }

    /// How many pages the drive exports.
    fn capacity(&self) -> Option<u32> {
        let [_, spare, _] = CAPACITY;
        if CAPACITY.iter().all(|path| self.tree.at(path).is_none()) {
            self.log.miss(spare);
            return None;
        }
        let geometry = self.geometry?;
        self.exported(&geometry, geometry.data_slots()).map(|pages| pages as u32)
    }

    /// How many pages a drive with these planes and this number of pages exports, if its capacity
    /// is given.
    fn exported(&self, geometry: &Geometry, flash: u64) -> Option<u64> {
        if CAPACITY.iter().any(|path| self.log.is_broken(path)) {
            return None;
        }
        let [over, spare, logical] = CAPACITY;
        let path = CAPACITY.into_iter().find(|path| self.tree.at(path).is_some())?;
        let page = geometry.page_size().get();
        let pages = match (self.get::<f64>(over), self.get::<f64>(spare)) {
            (Some(over), _) => whole_pages(flash as f64 / (1.0 + over)),
            (_, Some(spare)) => whole_pages(flash as f64 * (1.0 - spare)),
            _ => self.get::<Bytes>(logical)?.get().div_ceil(page),
        };
        if pages > flash {
            let asked = self.tree.at(path)?.place.text().trim_matches(['"', '\'']);
            let flash = readable(Bytes::new(flash * page));
            let parity = match geometry.superblocks().parity() {
                0 => String::new(),
                one_in => format!(" beside parity (one unit in {one_in})"),
            };
            let message = format!("{asked} exported, but the drive has {flash} of flash{parity}");
            let help = "a share of the flash fits any drive: `--set ftl.spare-factor=0.1`";
            let error = self.error(ConfigErrorKind::OverCapacity, message, &[(path, "")]);
            self.log.fail(path, ConfigError { help: Some(help.to_owned()), ..error });
            return None;
        }
        let planes = geometry.planes();
        if pages < planes as u64 {
            let message =
                format!("{pages} pages exported, fewer than the drive has planes ({planes})");
            self.fail(
                ConfigErrorKind::Value,
                message,
                &[(path, "at least one page for each plane")],
            );
            return None;
        }
        Some(pages)
    }

    /// Whether garbage collection has room.
    fn spare(&self, logical: Option<u32>, scale: Option<&Scale>, policies: Option<&PolicySet>) {
        let stop = self.get::<u32>("ftl.gc.stop");
        let (Some(g), Some(logical), Some(stop)) = (&self.geometry, logical, stop) else { return };
        // Slots for data of a block, or of a superblock.
        let slots = u64::from(g.data_slots_per_superblock());
        let own = reserve(stop);
        // Each block may keep up to a program unit less one page that reclaiming it does not gain.
        let unit = u64::from(g.slots_per_program());
        let needs = |g: &Geometry, policies: Option<&PolicySet>| {
            let (kept, names) = policies.map_or((0, Vec::new()), |p| p.spare_slots(g));
            let padded = (unit - 1) * g.superblocks_per_set() as u64;
            (kept.div_ceil(slots), padded.div_ceil(slots), names)
        };
        let (kept, padded, names) = needs(g, policies);
        let blocks = own + kept + padded;
        let sets = g.sets() as u64;
        let needed = sets * blocks * slots;
        let spare = g.data_slots() - u64::from(logical);
        if spare >= needed {
            return;
        }
        let names = (!names.is_empty()).then(|| format!("`{}`", names.join("` and `")));
        let who = names.as_ref().map_or("GC needs".to_owned(), |who| format!("GC and {who} need"));
        let per_plane = spare as f64 / (sets * slots) as f64;
        let (each, per, whole) = match g.superblocks().dies() {
            _ if g.superblocks().layers() > 1 => {
                ("reclaim units", "per set of dies".to_owned(), "it has")
            }
            _ if g.superblocks().are_blocks() => ("blocks", "per plane".to_owned(), "a plane has"),
            dies if dies as usize == g.dies() => ("superblocks", String::new(), "the drive has"),
            dies => ("superblocks", format!("per {dies} dies"), "they have"),
        };
        let per = if per.is_empty() { per } else { format!(" {per}") };
        let message = format!(
            "{who} {blocks} free {each}{per}, this drive has {} spare",
            (per_plane * 100.0).floor() / 100.0
        );
        let mut help = format!(
            "GC needs `ftl.gc.stop` ({stop}) {each}, an open one for the host and one for itself"
        );
        if let Some(who) = names {
            help += &format!("; {who} keeps the pages of {kept} from data");
        }
        if padded > 0 {
            help += &format!(
                "; moved data take whole programs of {unit} mapping units, which may give up {padded}"
            );
        }
        let all = g.superblocks_per_set() as u64;
        help += &if let Some(scale) = scale {
            // A drive that is scaled less has more blocks, and its policies may keep more of them.
            let loads = |other: &Scale| {
                let Ok(array) = g.with_blocks(other.blocks) else { return false };
                let policies = policies.map(|set| set.clone().with_scale(other.of));
                let (kept, padded, _) = needs(&array, policies.as_ref());
                let needed = sets * (own + kept + padded) * slots;
                array.data_slots().saturating_sub(other.logical_pages) >= needed
            };
            match scale.most(loads) {
                1 => format!("; none below 1/1 leaves as many of {} blocks", scale.whole_blocks),
                most => format!("; `scale = \"1/{most}\"` leaves as many"),
            }
        } else if blocks >= all {
            format!("; {whole} {all} {each} in all, so give it more")
        } else {
            let least = (blocks as f64 / all as f64 * 10_000.0).ceil() / 10_000.0;
            format!("; with {all} {each}{per} that is a spare-factor of {least} or more")
        };
        let given = CAPACITY.into_iter().find(|path| self.tree.at(path).is_some());
        let marks = [
            (given.unwrap_or("ftl"), "too little spare"),
            ("ftl.gc.stop", ""),
            ("scale", "free and open blocks do not shrink with a plane"),
        ];
        let marks = if scale.is_some() { [marks[2], marks[0], marks[1]] } else { marks };
        let error = self.error(ConfigErrorKind::TooFewSpare, message, &marks);
        self.log.push(ConfigError { help: Some(help), ..error });
    }

    /// Whether the pages that one command moves have one stream.
    fn copyback_by_stream(&self, policies: Option<&PolicySet>) {
        let (Some(policies), Some(geometry)) = (policies, self.geometry) else { return };
        let several = policies.sorts_victims() && geometry.slots_per_program() > 1;
        if several && self.tree.at("ftl.copyback").is_some() {
            let (name, _) = policies.get(Family::Separation);
            let message = format!(
                "`ftl.copyback` programs the pages of a command where they were read, and \
                 `separation={name}` may send them to several streams"
            );
            let marks = [
                ("ftl.copyback", ""),
                ("policies.separation", "such as `sepgc`, `dac` or `hints`"),
            ];
            self.fail(ConfigErrorKind::Conflict, message, &marks);
        }
    }

    /// The needs of an SLC cache, and the settings that it does not go with.
    fn slc_cache(&self, policies: Option<&PolicySet>) {
        let (Some(policies), Some(geometry)) = (policies, self.geometry) else { return };
        let (name, _) = policies.get(Family::SlcCache);
        if policies.misfit(&geometry).is_some() || policies.cache(&geometry).is_none() {
            return;
        }
        let own = "policies.slc-cache";
        let fail = |why: &str, path: &str, label: &str| {
            let message = format!("`slc-cache={name}` {why}");
            self.fail(ConfigErrorKind::Conflict, message, &[(own, ""), (path, label)]);
        };
        if self.tree.at("slc").is_none() {
            fail(
                "needs the times of blocks whose cells hold one bit, and the drive has no `[slc]`",
                "slc",
                "such as { read = \"25us\", program = \"200us\" }",
            );
        } else if self.tree.at("energy").is_some() && self.tree.at("slc.energy").is_none() {
            fail(
                "needs the energies of such blocks on a drive with `[energy]`",
                "energy",
                "`slc.energy` is missing",
            );
        }
        if self.get::<Model>("reliability.model") == Some(Model::On) {
            fail(
                "does not go with the model of the cells, which has no constants for blocks whose \
                 cells hold one bit",
                "reliability.model",
                "must be \"off\"",
            );
        }
        let trigger = self.get::<TriggerField>("ftl.gc.trigger");
        if trigger.is_some_and(|begin| begin != GcTrigger::FreeBlocks) {
            fail(
                "does not go with collection by garbage: blocks of the cache hold less than others, \
                 and are not garbage",
                "ftl.gc.trigger",
                "must be \"free-blocks\"",
            );
        }
    }

    /// Settings whose results depend on how often a block is erased in an hour, which scaling changes.
    fn unscalable(&self, policies: Option<&PolicySet>) {
        let wears = "a block of a scaled drive is erased as many times more often in an hour";
        if self.get::<Model>("reliability.model") == Some(Model::On) {
            let message = format!("`scale` does not go with the model of the cells: {wears}");
            let marks = [("scale", ""), ("reliability.model", "must be \"off\"")];
            self.fail(ConfigErrorKind::Conflict, message, &marks);
        }
        if let Some(throttle) = policies.map(|all| all.get(Family::Throttle).0)
            && throttle != "none"
        {
            let message = format!("`scale` does not go with throttle={throttle}: {wears}");
            let marks = [("scale", ""), ("policies.throttle", "must be \"none\"")];
            self.fail(ConfigErrorKind::Conflict, message, &marks);
        }
    }

    /// The percentiles of a random time rise.
    fn jitter(&self) {
        for of in ["read", "write"] {
            let [low, high] = ["p50", "p99"].map(|rank| format!("controller.{of}-jitter.{rank}"));
            let times = [&low, &high].map(|path| self.get::<OperationTime>(path));
            if let [Some(median), Some(rare)] = times
                && rare < median
            {
                let message = format!("`{high}` is {rare}, which is below the median of {median}");
                self.fail(ConfigErrorKind::Value, message, &[(&high, ""), (&low, "the median")]);
            }
        }
    }

    fn host(&self) {
        if let (Some(unit), Some(g)) = (self.get::<Bytes>("host.sector"), self.geometry)
            && (unit.get() == 0 || g.page_size().get() % unit.get() != 0)
        {
            let page = g.page_size();
            let (what, path) = if g.units().per_row() == g.units().planes {
                ("page", "geometry.page-size")
            } else {
                ("mapping unit", "ftl.mapping-unit")
            };
            let message = format!("a {what} of {page} is not a multiple of a sector of {unit}");
            let label = format!("the {what}");
            self.fail(
                ConfigErrorKind::Value,
                message,
                &[("host.sector", "the sector"), (path, &label)],
            );
        }
    }

    /// How much the buffer holds.
    fn buffer(&self) -> Option<Bytes> {
        let geometry = self.geometry?;
        let units = self.get::<NonZeroU32>("buffer.units-per-die");
        let (path, size) = match units.zip(self.get::<MultiPlane>("ftl.multi-plane")) {
            Some((units, multi_plane)) => {
                let bytes = u64::from(units) * at_once(&geometry, multi_plane).get();
                ("buffer.units-per-die", Bytes::new(bytes))
            }
            None => ("buffer.size", self.get::<Bytes>("buffer.size")?),
        };
        let pages = size.get() / geometry.page_size().get();
        if size.get() > 0 && !(1..=BUFFER_PAGES).contains(&pages) {
            let message = format!("`{path}` is {size}, which is {pages} pages");
            let label = format!("0B, or 1 to {BUFFER_PAGES} pages of {}", geometry.page_size());
            self.fail(ConfigErrorKind::Value, message, &[(path, &label)]);
        }
        Some(size)
    }

    fn workload(&self) {
        for (key, _) in all(WorkloadSettings::KEYS).iter().filter(|(key, _)| key != "shift") {
            // The generator itself decides which values a key may hold.
            let path = format!("workload.{key}");
            let node = self.tree.at(&path).filter(|_| self.log.is_sound(&path));
            let Some(value) = node.map(Node::to_json) else { continue };
            let alone = json!({ "pattern": "random-write", key: value });
            if let Err(error) = serde_json::from_value::<workload::Generator>(alone) {
                let message = format!("`{path}` is not what a generator takes");
                self.fail(ConfigErrorKind::Value, message, &[(&path, &told(&error))]);
            }
        }
    }

    fn policies(&self, supplier: Option<&dyn Supplier>) -> Option<PolicySet> {
        let mut choices = self.take::<Choices>("policies")?;
        let handles = self.handles(&mut choices);
        for (family, ..) in choices.extract_if(.., |(_, name, _)| name.is_empty()) {
            let path = format!("policies.{family}");
            if let Some(entry) = self.tree.entry(&path).filter(|_| self.log.is_sound(&path)) {
                let message = format!("`{path}` does not say which policy");
                let label = "its `name` is missing";
                self.log.fail(
                    &path,
                    ConfigError::new(ConfigErrorKind::Policy, message, &entry.key, label),
                );
            }
        }
        let set = PolicySet::resolve(&choices, supplier);
        let set = set.map_err(|errors| errors.iter().for_each(|e| self.policy_error(e))).ok()?;
        let set = match handles {
            Some(handles) => set.with_handles(handles),
            None => set,
        };
        let set = match self.get::<Fraction>("scale") {
            Some(of) if of > 1 => set.with_scale(of),
            _ => set,
        };
        if let Some(error) = self.geometry.and_then(|geometry| set.misfit(&geometry)) {
            self.policy_error(&error);
        }
        Some(set)
    }

    /// The placement handles of the drive. The separation policy of such a drive keeps them apart.
    fn handles(
        &self,
        choices: &mut Vec<(String, String, serde_json::Map<String, Json>)>,
    ) -> Option<HandleSpec> {
        let (own, path) = (policies::separation::fdp::INFO.name, "policies.separation");
        let family = Family::Separation.name();
        let chosen = choices.iter().find(|(of, ..)| of == family).map(|(_, name, _)| name.clone());
        let given = self.tree.at("ftl.fdp").is_some();
        match chosen {
            Some(name) if given && name != own && !name.is_empty() => {
                let message = format!(
                    "`ftl.fdp` keeps the data of its handles apart, so `separation={name}` cannot choose \
                     the blocks of a page"
                );
                let marks = [(path, "leave it out"), ("ftl.fdp", "or this")];
                self.fail(ConfigErrorKind::Conflict, message, &marks);
            }
            None if given => {
                choices.push((family.to_owned(), own.to_owned(), serde_json::Map::new()));
            }
            _ => {}
        }
        let fdp = self.get::<FdpSettings>("ftl.fdp").filter(|_| given)?;
        if fdp.spill && fdp.isolation == Isolation::Persistent {
            let message = "`ftl.fdp.spill` moves data into the unit of another handle, and \
                           `isolation = \"persistent\"` excludes that";
            let marks =
                [("ftl.fdp.spill", "must be false"), ("ftl.fdp.isolation", "or \"initial\"")];
            self.fail(ConfigErrorKind::Conflict, message, &marks);
            return None;
        }
        Some(fdp.spec())
    }

    /// Shows a policy's error at the place where the policy was written.
    fn policy_error(&self, error: &PolicyError) {
        let family = format!("policies.{}", error.family);
        let Some(chosen) = self.tree.at("policies").and_then(|all| all.key(&error.family)) else {
            return self.fail(ConfigErrorKind::Policy, &error.message, &[(&family, "")]);
        };
        let name = chosen.node.key("name").map_or(&chosen.node.place, |name| &name.node.place);
        let place = match &error.key {
            Some(key) => {
                let declared = policies::all()
                    .filter(|p| p.name == error.name && p.family.name() == error.family)
                    .any(|p| p.params.iter().any(|param| param.name == key));
                let param = chosen.node.key(key);
                param.map_or(name, |param| if declared { &param.node.place } else { &param.key })
            }
            None if policies::Family::ALL.iter().any(|f| f.name() == error.family) => name,
            None => &chosen.key,
        };
        let label = error.suggestion.as_ref().map(|s| format!("did you mean `{s}`?"));
        let label = label.unwrap_or_default();
        self.log
            .fail(&family, ConfigError::new(ConfigErrorKind::Policy, &error.message, place, label));
    }

    /// Reports the settings that are missing, one error for each section.
    fn missing(&self, file: &Arc<Text>) {
        for (path, keys) in self.log.take_missing() {
            let section = if path.is_empty() { "the file".into() } else { format!("`[{path}]`") };
            let names = all_of(&keys).replace(
                "`spare-factor`",
                "`over-provisioning`, `spare-factor` or `logical-capacity`",
            );
            let message = format!("{section} does not give {names}");
            // The section as the user wrote it, or the section around it, or the file.
            let outer = path.rmatch_indices('.').map(|(dot, _)| &path[..dot]);
            let mut sections = [&*path].into_iter().chain(outer);
            let place = sections.find_map(|path| self.place(path).cloned());
            let place = place.unwrap_or_else(|| TextPlace::new(file, 0..0));
            let inherited = path == "geometry" || path == "timing";
            let help = "inherit from a drive with `base`, or from a chip with `chip`";
            let help = inherited.then(|| help.to_owned());
            let error = ConfigError::new(ConfigErrorKind::Missing, message, &place, "");
            self.log.push(ConfigError { help, ..error });
        }
    }
}

/// Rounds down, but not for the loss of binary fractions: 0.9 of 10 pages are 9.
fn whole_pages(pages: f64) -> u64 {
    let near = pages.round();
    if (pages - near).abs() < 1e-6 { near as u64 } else { pages.floor() as u64 }
}

/// A generator's message about a value, with the word that was probably meant.
fn told(error: &serde_json::Error) -> String {
    let said = error.to_string();
    let mut words = said.split('`').skip(1).step_by(2);
    match words.next().and_then(|word| kernel::nearest(word, words)) {
        Some(near) if said.starts_with("unknown") => format!("did you mean `{near}`?"),
        _ => said,
    }
}

/// A size for messages: exact if that is short, otherwise with two decimals.
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

//! Errors: their text, their causes, and that all of them are shown.

use super::*;

/// The array times of the good drive.
const PLAIN: &str = "read = \"50us\"\nprogram = \"600us\"";

#[test]
fn an_unknown_key_is_shown_with_the_nearest_one() {
    file(with("channels = 2", "chanels = 2")).shows(
        r"
error[config::unknown-key]: `geometry.chanels` is not a setting
 --> drive.toml:3:1
  |
3 | chanels = 2
  | ^^^^^^^ did you mean `channels`?  (channels of the drive, 1 to 4096)
",
    );
    // A key of another section, and one that is like nothing.
    file(with("channels = 2", "channels = 2\nqueue-depth = 4\ncolour = 1")).shows(
        r"
error[config::unknown-key]: `geometry.queue-depth` is not a setting
 --> drive.toml:4:1
  |
4 | queue-depth = 4
  | ^^^^^^^^^^^ did you mean `host.queue-depth`?

error[config::unknown-key]: `geometry.colour` is not a setting
 --> drive.toml:5:1
  |
5 | colour = 1
  | ^^^^^^
  |
  = help: `[geometry]` may have channels, chips-per-channel, dies-per-chip, planes-per-die, blocks-per-plane, pages-per-block, page-size, bits-per-cell
",
    );
}

#[test]
fn what_is_suggested_is_one_line_and_another_word() {
    // The table of `read-start` describes it in three lines.
    let label = |text: String| file(text).errors()[0].marks[0].label.clone();
    let label_of_line = label(with("endurance = 3000", "endurance = 3000\nread-stat = 1"));
    assert!(label_of_line.starts_with("did you mean `read-start`?  (with how many sensings"));
    assert!(label_of_line.ends_with("takes)") && !label_of_line.contains('\n'), "{label_of_line}");
    // A key of another section in quotes has a dot in its name.
    let quoted = format!("\"ftl.gc.stop\" = 4\n{GOOD}");
    assert_eq!(label(quoted), "take the quotes away");
}

#[test]
fn what_is_missing_deep_down_is_shown_where_it_begins() {
    let file = with(PLAIN, "[timing.levels]\nhigh = { read = \"1us\", program = \"2us\" }");
    Case { file, set: &["timing.levels.low={}"], ..Case::default() }.shows(
        r"
error[config::missing]: `[timing.levels.medium]` does not give `program` and `read`
  --> drive.toml:15:1
   |
15 | [timing.levels]
   | ^^^^^^^^^^^^^^^

error[config::missing]: `[timing.levels.low]` does not give `program` and `read`
 --> --set argument 1
  |
1 | timing.levels.low={}
  |                   ^^
",
    );
}

#[test]
fn a_bare_number_is_told_to_take_a_unit() {
    file(with("erase = \"3ms\"", "erase = 3000").replace("\"4KiB\"", "4096")).shows(
        r#"
error[config::unit]: `geometry.page-size` is a size and needs a unit
 --> drive.toml:9:13
  |
9 | page-size = 4096
  |             ^^^^ write it as text with its unit, such as "4096KiB"

error[config::unit]: `timing.erase` is a time and needs a unit
  --> drive.toml:14:9
   |
14 | erase = 3000
   |         ^^^^ write it as text with its unit, such as "3000us"
"#,
    );
    file(with("\"3ms\"", "\"3 weeks\"")).shows(
        r#"
error[config::unit]: `timing.erase` is not a time
  --> drive.toml:14:9
   |
14 | erase = "3 weeks"
   |         ^^^^^^^^^ `weeks` is not a unit of time (ns, us, ms, s, min, h, d, y)
"#,
    );
}

#[test]
fn too_little_spare_is_explained_with_the_numbers() {
    file(with("spare-factor = 0.25", "spare-factor = 0.05\ngc = { stop = 4 }")).shows(
        r"
error[config::too-few-spare]: GC needs 6 free blocks per plane, this drive has 3.2 spare
  --> drive.toml:22:16
   |
22 | spare-factor = 0.05
   |                ^^^^ too little spare
23 | gc = { stop = 4 }
   |               -
   |
   = help: GC needs `ftl.gc.stop` (4) blocks, an open one for the host and one for itself; with 64 blocks per plane that is a spare-factor of 0.0938 or more
",
    );
    // A mistake in another key of the section does not hide it.
    let both = with("spare-factor = 0.25", "spare-factor = 0.05\nmapping = \"block\"");
    assert_eq!(kinds(&file(both).errors()), [ConfigErrorKind::TooFewSpare, ConfigErrorKind::Value]);
    let tiny = with("blocks-per-plane = 64", "blocks-per-plane = 4");
    let help = file(tiny).errors()[0].help.clone().unwrap();
    assert!(help.ends_with("a plane has 4 blocks in all, so give it more"), "{help}");
    // The least spare factor that the message names is enough, and a little less is not.
    file(with("0.25", "0.0938\ngc = { stop = 4 }")).drive();
    file(with("0.25", "0.0935\ngc = { stop = 4 }")).errors();
}

#[test]
fn arguments_are_named_by_their_number() {
    Case {
        file: GOOD.into(),
        set: &["ftl.gc.start=3", "ftl.gcc.start=3", "host.mode=queuedepth", "host"],
        policy: &["cost=fixed:level=hgih", "victm=greedy"],
        ..Case::default()
    }
    .shows(
        r#"
error[config::unknown-key]: `ftl.gcc` is not a setting
 --> --set argument 2
  |
1 | ftl.gcc.start=3
  |     ^^^ did you mean `gc`?  (when garbage collection runs)

error[config::value]: `host.mode` is timestamps, shifted, queue-depth or think-time, not "queuedepth"
 --> --set argument 3
  |
1 | host.mode=queuedepth
  |           ^^^^^^^^^^ did you mean "queue-depth"?

error[config::argument]: `--set` takes KEY=VALUE
 --> --set argument 4
  |
1 | host
  | ^^^^ such as ftl.spare-factor=0.2

error[config::policy]: `level` must be one of high, medium, low, not `hgih`
 --> --policy argument 1
  |
1 | cost=fixed:level=hgih
  |                  ^^^^ did you mean `high`?

error[config::policy]: `victm` is not a policy family (they are cost, throttle, read-disturb, page-choice, coding, slc-cache, victim, separation, placement, wear, order, arbitration)
 --> --policy argument 2
  |
1 | victm=greedy
  | ^^^^^ did you mean `victim`?
"#,
    );
}

#[test]
fn numbers_and_words_of_generators_are_guessed() {
    Case {
        file: GOOD.into(),
        set: &["workload.requests=1e6", "host.queue-depth=1.5", "workload.arrivals={ poison = 1 }"],
        ..Case::default()
    }
    .shows(
        r"
error[config::type]: `workload.requests` must be a whole number
 --> --set argument 1
  |
1 | workload.requests=1e6
  |                   ^^^ this is a number; did you mean `1000000`?

error[config::type]: `host.queue-depth` must be a whole number
 --> --set argument 2
  |
1 | host.queue-depth=1.5
  |                  ^^^ this is a number

error[config::value]: `workload.arrivals` is not what a generator takes
 --> --set argument 3
  |
1 | workload.arrivals={ poison = 1 }
  |                   ^^^^^^^^^^^^^^ did you mean `poisson`?
",
    );
}

#[test]
fn what_is_missing_is_said_once_for_each_section() {
    file("[geometry]\nchannels = 2\n").shows(
        r"
error[config::missing]: `[ftl]` does not give `over-provisioning`, `spare-factor` or `logical-capacity`
--> drive.toml

error[config::missing]: `[geometry]` does not give `chips-per-channel`, `dies-per-chip`, `planes-per-die`, `blocks-per-plane`, `pages-per-block`, `page-size` and `bits-per-cell`
 --> drive.toml:1:1
  |
1 | [geometry]
  | ^^^^^^^^^^
  |
  = help: inherit from a drive with `base`, or from a chip with `chip`

error[config::missing]: `[timing]` does not give `bus`, `erase`, `read` and `program`
--> drive.toml
 = help: inherit from a drive with `base`, or from a chip with `chip`
",
    );
}

#[test]
fn every_error_comes_at_once() {
    let text = r#"
sumary = "two unknown keys here"
[geometry]
channels = 5000
chips-per-channel = 0
dies-per-chip = 1
planes-per-die = 2
blocks-per-plane = 64
pages-per-block = 16
page-size = "4KiB"
bits-per-cell = 2
[timing]
bus = "included"
erase = 3
read = true
program = ["600us", "soon"]
[reliability]
model = "onn"
endurance = 0
[ftl]
spare-factor = 0.25
over-provisioning = 0.07
unmapped-read = "falsh"
[ftl.gc]
start = 5
stop = 3
background-stop = 1
[host]
speed = -1.0
sektor = "512B"
[energy]
read = "3us"
program = "3uJ"
erase = "3uJ"
[policies]
victim = { name = "d-choices", choices = 0 }
"#;
    let errors = Case { file: text.into(), set: &["run.seed=x"], ..Case::default() }.errors();
    let lines: Vec<_> = errors.iter().map(|e| e.marks[0].place.line()).collect();
    let expected = [2, 4, 5, 14, 15, 16, 18, 19, 21, 23, 26, 27, 29, 30, 32, 36];
    let expected: Vec<_> = expected.into_iter().map(Some).chain([None]).collect();
    assert_eq!(lines, expected, "\n{}", render(&errors, false));
}

#[test]
fn an_error_does_not_bring_others_with_it() {
    // A size that cannot be read leaves nothing to say about capacity, and is not missing.
    let cases = [
        (with("channels = 2", "channels = \"2\""), ConfigErrorKind::Type),
        (with("page-size = \"4KiB\"", "page-size = 4096"), ConfigErrorKind::Unit),
        (with("spare-factor", "spair-factor"), ConfigErrorKind::UnknownKey),
        (with("spare-factor = 0.25", "spare-factor = 25"), ConfigErrorKind::Value),
        (with("[timing]", "[timings]"), ConfigErrorKind::UnknownKey),
        (with("read = \"50us\"", "read = 50"), ConfigErrorKind::Unit),
        (with("bus = \"included\"", "bus = \"inclued\""), ConfigErrorKind::Value),
        (GOOD.replace("[ftl]", "[ftl]\ngc = 3"), ConfigErrorKind::Type),
        (
            format!(
                "geometry = 3\n{}",
                with("[geometry]", "[host]\n").split("[host]").next().unwrap()
            ),
            ConfigErrorKind::Type,
        ),
    ];
    for (text, kind) in cases {
        let errors = file(text.clone()).errors();
        let of_section = errors.iter().filter(|e| e.kind != ConfigErrorKind::Missing);
        assert_eq!(of_section.count(), 1, "{text}\n{}", render(&errors, false));
        assert_eq!(errors.iter().find(|e| e.kind != ConfigErrorKind::Missing).unwrap().kind, kind);
        if !text.starts_with("geometry") {
            assert_eq!(errors.len(), 1, "{text}\n{}", render(&errors, false));
        }
    }
}

#[test]
fn each_wrong_value_has_its_kind_and_message() {
    const PHYSICS: &str = "physics = { program = \"600us\", sense = \"10us\", transfer = \"20us\", \
                           retention = \"1y\"";
    let extra = |section: &str| format!("{GOOD}\n{section}\n");
    let cases: &[(String, ConfigErrorKind, &str)] = &[
        (with("channels = 2", "channels = "), ConfigErrorKind::Syntax, "this is not TOML"),
        (
            with("channels = 2", "channels = 2\nchannels = 3"),
            ConfigErrorKind::Syntax,
            "this is not TOML",
        ),
        (
            with("channels = 2", "channels = 99999999999999999999"),
            ConfigErrorKind::Value,
            "this is not a whole number",
        ),
        (with("channels = 2", "channels = 2x"), ConfigErrorKind::Syntax, "this is not TOML"),
        (with("0.25", "0.2.5"), ConfigErrorKind::Syntax, "this is not TOML"),
        (
            with("channels = 2", "channels = -1"),
            ConfigErrorKind::Value,
            "`geometry.channels` must be at least 0",
        ),
        (with("channels = 2", "channels = 0"), ConfigErrorKind::Value, "`geometry.channels` is 0"),
        (
            with("channels = 2", "channels = 2.5"),
            ConfigErrorKind::Type,
            "`geometry.channels` must be a whole number",
        ),
        (
            with("pages-per-block = 16", "pages-per-block = 16384"),
            ConfigErrorKind::Value,
            "`geometry.pages-per-block` is 16384",
        ),
        (
            with("channels = 2", "channels = 4096")
                .replace("chips-per-channel = 2", "chips-per-channel = 17"),
            ConfigErrorKind::Geometry,
            "the number of dies is 69632, and the limit is 65536",
        ),
        (
            with("blocks-per-plane = 64", "blocks-per-plane = 16777216")
                .replace("= 16\n", "= 4096\n"),
            ConfigErrorKind::Geometry,
            "the drive has 549755813888 physical pages, and page numbers end at 4294967294; larger pages make fewer",
        ),
        (with("4KiB", "2GiB"), ConfigErrorKind::Value, "`geometry.page-size` is 2GiB"),
        (
            with("4KiB", "4KB"),
            ConfigErrorKind::Value,
            "a page of 4kB is not a multiple of a sector of 512B",
        ),
        (
            extra("[host]\nsector = \"0B\""),
            ConfigErrorKind::Value,
            "a page of 4KiB is not a multiple of a sector of 0B",
        ),
        (
            with("read = \"50us\"", "read = [\"50us\", \"60us\", \"70us\"]"),
            ConfigErrorKind::Value,
            "`timing.read` has 3 values, and the cells have 2 page types (`geometry.bits-per-cell`)",
        ),
        (
            with("read = \"50us\"", "read = []"),
            ConfigErrorKind::Value,
            "`timing.read` has 0 values",
        ),
        (
            with("3ms", "3h"),
            ConfigErrorKind::Value,
            "`timing.erase` is 3h, longer than any flash takes",
        ),
        (
            with("program = \"600us\"", "levels = { high = { program = \"1ms\" } }"),
            ConfigErrorKind::Conflict,
            "`timing.read` and `timing.levels` exclude each other",
        ),
        (
            with("\"included\"", "{ rate = \"1kT/s\", width-bits = 65, command = \"1us\" }"),
            ConfigErrorKind::Value,
            "`timing.bus.width-bits` must be at most 64",
        ),
        (
            with("\"included\"", "{ rate = \"0.001kT/s\", command = \"1us\" }"),
            ConfigErrorKind::Value,
            "a page takes 4096s on this bus, longer than any flash takes",
        ),
        (
            with("\"included\"", "{ rate = \"40MB/s\", command = \"1us\" }"),
            ConfigErrorKind::Unit,
            "`timing.bus.rate` is not a rate",
        ),
        (
            with("spare-factor = 0.25", "spare-factor = 0.25\nlogical-capacity = \"8MiB\""),
            ConfigErrorKind::Conflict,
            "`ftl.spare-factor` and `ftl.logical-capacity` exclude each other",
        ),
        (
            with("spare-factor = 0.25", "over-provisioning = 0.0"),
            ConfigErrorKind::Value,
            "`ftl.over-provisioning` is 0, and it must be above 0",
        ),
        (
            extra("[precondition]\nfill = 90"),
            ConfigErrorKind::Value,
            "`precondition.fill` is 90, not a share",
        ),
        (
            extra("[precondition]\nfill = 0.0"),
            ConfigErrorKind::Value,
            "`precondition.fill` is 0, not a share",
        ),
        (
            extra("[precondition]\nfill = \"90%\""),
            ConfigErrorKind::Value,
            "`precondition.fill` is none, touched, full or a share, not \"90%\"",
        ),
        (
            extra("[precondition]\nfill = true"),
            ConfigErrorKind::Type,
            "`precondition.fill` must be \"none\", \"touched\", \"full\" or a share",
        ),
        (
            extra("[workload]\nrate = 0"),
            ConfigErrorKind::Value,
            "`workload.rate` is 0, not requests a second",
        ),
        (
            extra("[workload]\nrate = 5\narrivals = { poisson = { iops = 5 } }"),
            ConfigErrorKind::Conflict,
            "`workload.rate` and `workload.arrivals` exclude each other",
        ),
        (
            with("0.25", "1.0"),
            ConfigErrorKind::Value,
            "`ftl.spare-factor` is 1, and it must lie between 0 and 1",
        ),
        (with("0.25", "nan"), ConfigErrorKind::Value, "`ftl.spare-factor` must be finite"),
        (
            with("spare-factor = 0.25", "logical-capacity = \"33MiB\""),
            ConfigErrorKind::OverCapacity,
            "33MiB exported, but the drive has 32MiB of flash",
        ),
        (
            with("spare-factor = 0.25", "logical-capacity = \"1TB\""),
            ConfigErrorKind::OverCapacity,
            "1TB exported, but the drive has 32MiB of flash",
        ),
        (
            with("0.25", "0.9999"),
            ConfigErrorKind::Value,
            "0 pages exported, fewer than the drive has planes (8)",
        ),
        (
            extra("[ftl.gc]\nstart = 1"),
            ConfigErrorKind::Value,
            "`ftl.gc.start` is 1, and the least is 2",
        ),
        (
            extra("[ftl.gc]\nstart = 4"),
            ConfigErrorKind::Value,
            "`ftl.gc.stop` is 3, below `ftl.gc.start`, 4",
        ),
        (
            extra("[ftl.gc]\nbackground-stop = 2"),
            ConfigErrorKind::Value,
            "`ftl.gc.background-stop` is 2, below `ftl.gc.stop`, 3",
        ),
        (
            extra("[controller]\nread-jitter = { p50 = \"5us\", p99 = \"4us\" }"),
            ConfigErrorKind::Value,
            "`controller.read-jitter.p99` is 4us, which is below the median of 5us",
        ),
        (
            extra("[host]\nspeed = 0"),
            ConfigErrorKind::Value,
            "`host.speed` is 0, not a speed-up factor",
        ),
        (extra("[host]\nspeed = inf"), ConfigErrorKind::Value, "`host.speed` must be finite"),
        (
            extra("[host]\nqueue-depth = 0"),
            ConfigErrorKind::Value,
            "`host.queue-depth` must be at least 1",
        ),
        (
            extra("[host]\nqueue-limit = 0"),
            ConfigErrorKind::Value,
            "`host.queue-limit` must be at least 1",
        ),
        (
            extra("[buffer]\nsize = \"1KiB\""),
            ConfigErrorKind::Value,
            "`buffer.size` is 1KiB, which is 0 pages",
        ),
        (
            extra("[buffer]\nflush-above = 1.5"),
            ConfigErrorKind::Value,
            "`buffer.flush-above` is 1.5, not a share",
        ),
        (
            extra("[host]\nmode = 3"),
            ConfigErrorKind::Type,
            "`host.mode` must be \"timestamps\", \"shifted\", \"queue-depth\" or \"think-time\"",
        ),
        (
            with("endurance = 3000", "endurance = 0"),
            ConfigErrorKind::Value,
            "`reliability.endurance` must be at least 1",
        ),
        (
            with("endurance = 3000", "endurance = 3000\ncorrectable = [4e-3, 4e-3, 1e-2]"),
            ConfigErrorKind::Value,
            "`reliability.correctable` is [0.004, 0.004, 0.01]",
        ),
        (
            with("endurance = 3000", "endurance = 3000\ncorrectable = [4e-3, 1e-2]"),
            ConfigErrorKind::Type,
            "`reliability.correctable` must be three numbers",
        ),
        (
            with("endurance = 3000", "endurance = 3000\ncode-rate = 1.5"),
            ConfigErrorKind::Value,
            "`reliability.code-rate` is 1.5",
        ),
        (
            with("endurance = 3000", "endurance = 3000\ntarget = \"1h\""),
            ConfigErrorKind::Value,
            "`reliability.target` is 1h",
        ),
        (
            with("endurance = 3000", "endurance = 3000\ninitial-cycles = 3000"),
            ConfigErrorKind::Conflict,
            "`reliability.initial-cycles` is 3000, and blocks endure 3000: the drive would be \
             worn out before the run",
        ),
        (
            with(PLAIN, &format!("{PHYSICS}, steps = [9, 12, 12] }}")),
            ConfigErrorKind::Value,
            "`timing.physics.steps` is [9, 12, 12], and steps must rise",
        ),
        (
            with(PLAIN, &format!("{PHYSICS}, steps = [9, 12, 40] }}")),
            ConfigErrorKind::Conflict,
            "data written with step 40 at 3000 cycles have 9.58e-2 wrong bits after 1y, more than \
             any sensing corrects",
        ),
        (
            with(PLAIN, &format!("{PLAIN}\n{PHYSICS}, steps = [9, 12, 16] }}")),
            ConfigErrorKind::Conflict,
            "`timing.read` and `timing.physics` exclude each other",
        ),
        (
            extra("[energy]\nread = \"3uJ\""),
            ConfigErrorKind::Missing,
            "`[energy]` does not give `program` and `erase`",
        ),
        (
            extra("[energy]\nread = \"3mW\"\nprogram = \"3uJ\"\nerase = \"3uJ\""),
            ConfigErrorKind::Unit,
            "`energy.read` is not an energy",
        ),
        (
            extra(
                "[energy]\nread = [\"1uJ\", \"2uJ\", \"3uJ\"]\nprogram = \"3uJ\"\nerase = \"3uJ\"",
            ),
            ConfigErrorKind::Value,
            "`energy.read` has 3 values, and the cells have 2 page types (`geometry.bits-per-cell`)",
        ),
        (
            extra("[pages]\norder = \"shade\""),
            ConfigErrorKind::Value,
            "`pages.order` is cyclic, shadow or shadow-pairs, not \"shade\"",
        ),
        (
            with("bits-per-cell = 2", "bits-per-cell = 3") + "\n[pages]\norder = \"shadow\"",
            ConfigErrorKind::Conflict,
            "`pages.order` \"shadow\" is for cells of two bits, and blocks with a number of pages \
             that is even",
        ),
        (
            extra("[measured]\nchips = 3"),
            ConfigErrorKind::UnknownKey,
            "`measured` is not a setting",
        ),
        (extra("[run]\nseed = -1"), ConfigErrorKind::Value, "`run.seed` must be at least 0"),
        (
            extra("[run]\nkeep-requests = 0"),
            ConfigErrorKind::Type,
            "`run.keep-requests` must be true or false",
        ),
        (
            extra("[run]\nseries-interval = \"500ns\""),
            ConfigErrorKind::Value,
            "`run.series-interval` is 500ns",
        ),
        (
            extra("[run]\nseries-interval = \"automatic\""),
            ConfigErrorKind::Value,
            "`run.series-interval` is auto or a time, not \"automatic\"",
        ),
        (
            extra("[run]\nseries-interval = 5"),
            ConfigErrorKind::Unit,
            "`run.series-interval` is a time and needs a unit",
        ),
        (
            extra("[workload]\nrequests = 0"),
            ConfigErrorKind::Value,
            "`workload.requests` must be at least 1",
        ),
        (
            extra("[workload]\nsize = 4096"),
            ConfigErrorKind::Value,
            "`workload.size` is not what a generator takes",
        ),
        (
            extra("[workload]\nshift = 63"),
            ConfigErrorKind::Unit,
            "`workload.shift` is an offset and needs a unit",
        ),
        (
            extra("[workload]\npattern = \"zipf\""),
            ConfigErrorKind::UnknownKey,
            "`workload.pattern` is not a setting",
        ),
        (
            extra("[policies]\nvictim = 3"),
            ConfigErrorKind::Type,
            "`policies.victim` must be a policy's name or a table",
        ),
        (
            extra("[policies]\nvictim = { d = 3 }"),
            ConfigErrorKind::Policy,
            "`policies.victim` does not say which policy",
        ),
        (
            extra("[sources]\n\"timing.earse\" = \"x\""),
            ConfigErrorKind::UnknownKey,
            "`[sources]` speaks of \"timing.earse\", which is not a setting",
        ),
        (extra("[sources]\ntiming = 3"), ConfigErrorKind::Type, "`sources.timing` must be text"),
        (
            format!("schema = \"floatgate.drive/9\"\n{GOOD}"),
            ConfigErrorKind::Value,
            "\"floatgate.drive/9\" is not the format expected here",
        ),
        (format!("name = \"\"\n{GOOD}"), ConfigErrorKind::Value, "`name` must be one line of text"),
        (format!("name = 1979-05-27\n{GOOD}"), ConfigErrorKind::Type, "`name` must be text"),
    ];
    for (text, kind, message) in cases {
        let errors = file(text.clone()).errors();
        let found: Vec<_> = errors.iter().map(|e| (e.kind, e.message.as_str())).collect();
        assert_eq!(found, [(*kind, *message)], "{text}");
        assert!(!errors[0].marks.is_empty(), "{message}: no place");
        assert!(errors[0].to_string().starts_with("drive.toml:"), "{}", errors[0]);
    }
}

#[test]
fn arguments_that_are_none() {
    let cases: &[(&[&str], &[&str], &str)] = &[
        (&["=3"], &[], "`--set` takes KEY=VALUE"),
        (&["a..b=3"], &[], "`--set` takes KEY=VALUE"),
        (&["[ftl]\nx=3"], &[], "`--set` takes KEY=VALUE"),
        (&["base=agcr"], &[], "`base` can be given in a drive file only"),
        (&["sources.timing=x"], &[], "`sources` can be given in a drive file only"),
        (&["timing.erase=3000"], &[], "`timing.erase` is a time and needs a unit"),
        (&["timing.erase="], &[], "`timing.erase` is not a time"),
        (&["ftl=3"], &[], "`ftl` must be a section"),
        (
            &["ftl.spare-factor=0.2", "ftl.over-provisioning=0.2"],
            &[],
            "`ftl.spare-factor` and `ftl.over-provisioning` exclude each other",
        ),
        (&[], &["cost"], "`--policy` takes FAMILY=NAME[:key=value]…"),
        (&[], &["=fixed"], "`--policy` takes FAMILY=NAME[:key=value]…"),
        (&[], &["cost=fixed:level"], "`--policy` takes FAMILY=NAME[:key=value]…"),
        (&[], &["victim=greedy,fifo"], "one policy for a family is needed here"),
        (
            &[],
            &["victim=gredy"],
            "`gredy` is not a policy of family `victim` (it has greedy, fifo, random, d-choices)",
        ),
    ];
    for (set, policy, message) in cases {
        let case = Case { file: GOOD.into(), set, policy, ..Case::default() };
        let found: Vec<_> = case.errors().into_iter().map(|e| e.message).collect();
        if message.contains("gredy") {
            assert!(found[0].starts_with("`gredy` is not a policy of family `victim`"));
        } else {
            assert_eq!(found, [*message], "{set:?} {policy:?}");
        }
    }
    let deep = format!("{}=1", vec!["a"; 100_000].join("."));
    let deep = Case { file: GOOD.into(), set: &[&deep], ..Case::default() };
    assert_eq!(kinds(&deep.errors()), [ConfigErrorKind::Argument]);
    let seed = Case { file: GOOD.into(), seed: Some(u64::MAX), ..Case::default() };
    assert_eq!(kinds(&seed.errors()), [ConfigErrorKind::Argument]);
}

#[test]
fn several_texts_are_shown_together_and_in_colour() {
    let text = "base = \"agcr\"\n[geometry]\npage-size = \"1000B\"\n";
    file(text).shows(
        r#"
error[config::value]: a page of 1kB is not a multiple of a sector of 512B
  --> agcr:42:10
   |
42 | sector = "512B"
   |          ^^^^^^ the sector
   |
  ::: drive.toml:3:13
   |
 3 | page-size = "1000B"
   |             ------- the page
"#,
    );
    let errors = file(text).errors();
    assert!(render(&errors, true).contains("\u{1b}["));
    assert!(!render(&errors, false).contains('\u{1b}'));
    assert_eq!(render(&[], false), "");
}

//! The profile of a stand-in.

use std::fmt::Write as _;

use kernel::{Bytes, Dur};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::cascade::{Bursts, DEEPEST, HOURS};
use super::{MODEL, VERSION};

/// The first line of a profile: the meaning of its keys.
pub const SCHEMA: &str = "floatgate.stand-in/1";
/// Addresses are kept in sectors of 512 bytes in 32 bits.
pub(crate) const LARGEST_SPAN: u64 = 1 << 41;
/// As in traces: more in one request is a mistake.
const LARGEST_REQUEST: u64 = 1 << 30;
/// The number of sequential streams that are kept up at once.
pub(super) const RUNS: usize = 8;

/// The statistics of a trace that a stand-in reproduces. Shares are parts of 1.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Profile {
    /// [`SCHEMA`].
    pub schema: String,
    /// The trace that it represents.
    pub stands_for: String,
    /// The source of the statistics.
    pub fitted_to: String,
    /// The model that they are for.
    pub model: String,
    /// Its version.
    pub version: String,
    /// Values without a source that were assumed, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumed: Vec<String>,
    /// From the first to the last request.
    #[serde(serialize_with = "to_text", deserialize_with = "from_text")]
    pub duration: Dur,
    /// Reads in all.
    pub reads: u64,
    /// Writes in all.
    pub writes: u64,
    /// The address space.
    #[serde(serialize_with = "to_text", deserialize_with = "from_text")]
    pub span: Bytes,
    /// Mean distance between pieces of the address space that are begun one after the other,
    /// beyond their own length, in pages of 4 KiB.
    pub gap_pages: f64,
    /// Share of the reads that go to read-only pages which the stand-in itself writes before,
    /// among those of `read-only.reads`.
    #[serde(default, skip_serializing_if = "is_none")]
    pub created_reads: f64,
    /// When requests arrive.
    pub bursts: Bursts,
    /// Pages that are read.
    pub read_only: ProfileClass,
    /// Pages that are written.
    pub write_only: ProfileClass,
    /// Pages that are read and written.
    pub interleaved: ProfileClass,
}

/// Pages of one character (AGCR's, at 95 %).
#[derive(Clone, Default, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ProfileClass {
    /// How the number of touched pages grows with the number of requests: as its power.
    pub growth: f64,
    /// The reads of these pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<Stream>,
    /// The writes of these pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<Stream>,
}

/// The reads or the writes of a class.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Stream {
    /// Its share of all reads, or of all writes.
    pub share: f64,
    /// Pages of 4 KiB that it is the first to touch, over the whole trace.
    pub pages: u64,
    /// How often the next read (or write) stays in the class, beyond its share: 0 by chance, 1
    /// always.
    pub stay: f64,
    /// After a request that went where an earlier one had gone: how often the next request goes
    /// where that one's next went.
    pub follow: f64,
    /// Otherwise: how often it begins where one of the last eight sequential runs ended.
    pub proceed: f64,
    /// The choice among them: that of the latest request, the one before, …
    pub runs: Vec<f64>,
    /// Otherwise: how often it goes to pages that none has touched, instead of where an earlier
    /// request of the class had gone.
    pub fresh: f64,
    /// Of those that go where an earlier one had gone: how often it begins inside of it.
    pub inside: f64,
    /// How often a request that begins where an earlier one did has its size.
    pub same_size: f64,
    /// The same for requests that follow an earlier one's next.
    pub follow_same_size: f64,
    /// Sizes of requests to untouched pages.
    pub sizes: Vec<SizeShare>,
    /// Sizes of requests that go where an earlier one had gone.
    pub again_sizes: Vec<SizeShare>,
    /// Sizes of requests that follow an earlier one's next and have another size.
    pub follow_sizes: Vec<SizeShare>,
    /// Sizes of requests that go on with a run.
    pub run_sizes: Vec<SizeShare>,
    /// The beginning of requests to untouched pages in a page of 4 KiB, by sectors of 512 bytes.
    pub begins: Vec<f64>,
    /// Of the requests that begin where an earlier one of the class began: how often the latest
    /// of these was a read.
    pub after_read: f64,
    /// How many reads of the class ago that was: in 1, 2 to 3, 4 to 7, …
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ages_after_read: Vec<f64>,
    /// How many writes of the class ago, if it was a write.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ages_after_write: Vec<f64>,
}

/// A size and its share.
#[derive(Copy, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SizeShare(pub u64, pub f64);

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_none(share: &f64) -> bool {
    *share == 0.0
}

fn to_text<T: ToString, S: Serializer>(value: &T, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(&value.to_string())
}

fn from_text<'de, T: std::str::FromStr<Err: std::fmt::Display>, D: Deserializer<'de>>(
    from: D,
) -> Result<T, D::Error> {
    String::deserialize(from)?.parse().map_err(de::Error::custom)
}

/// Picks the reads or the writes of a class.
type Of = fn(&ProfileClass) -> &Option<Stream>;

impl Profile {
    /// Whether a text is meant to be a profile, correct or not.
    pub fn is_meant(text: &str) -> bool {
        text.lines().any(|line| {
            let line = line.trim_start();
            let of = line.strip_prefix("schema").map(str::trim_start);
            of.is_some_and(|rest| rest.starts_with('=') && rest.contains("floatgate.stand-in/"))
        })
    }

    /// Reads and checks a profile; an error names the line or the key.
    pub fn read(text: &str) -> Result<Self, String> {
        let profile: Self = toml::from_str(text).map_err(|e| e.to_string())?;
        profile.check()?;
        Ok(profile)
    }

    /// The profile as a file, which [`Profile::read`] reads.
    pub fn text(&self) -> String {
        let mut text = String::from(
            "# A profile: the statistics that a stand-in of a trace reproduces. A workload: run it, \
             describe it.\n",
        );
        let body = toml::to_string(self).expect("a profile is plain values");
        let _ = write!(text, "{body}");
        text
    }

    /// All classes, with their names.
    pub(super) fn classes(&self) -> [(&'static str, &ProfileClass); 3] {
        [
            ("read-only", &self.read_only),
            ("write-only", &self.write_only),
            ("interleaved", &self.interleaved),
        ]
    }

    /// Mean size of a write, in bytes, as far as the sizes of begun requests show it.
    pub(crate) fn mean_write(&self) -> f64 {
        let streams = self.classes().into_iter().filter_map(|(_, class)| class.writes.as_ref());
        streams.map(|s| s.share * s.sizes.iter().map(|x| x.0 as f64 * x.1).sum::<f64>()).sum()
    }

    /// All mistakes.
    pub fn check(&self) -> Result<(), String> {
        let mut wrong = Vec::new();
        let mut need = |holds: bool, what: String| {
            if !holds {
                wrong.push(what);
            }
        };
        let shown = &self.schema;
        need(shown == SCHEMA, format!("`schema` is `{shown}`; expected `{SCHEMA}`"));
        let (model, version) = (&self.model, &self.version);
        need(
            model == MODEL && version == VERSION,
            format!(
                "this is for version {version} of the model `{model}`; expected version {VERSION} \
                 of `{MODEL}`: fit the trace again"
            ),
        );
        need(self.reads + self.writes > 0, "no requests; expected `reads` or `writes`".into());
        need(self.reads.max(self.writes) < 1 << 48, "more than 2^48 requests".into());
        need(self.duration > Dur::ZERO, "`duration` is 0; expected a time above zero".into());
        let span = self.span.get();
        need(
            (1 << 20..=LARGEST_SPAN).contains(&span),
            format!("a `span` of {}; expected 1 MiB to 2 TiB", self.span),
        );
        need((0.0..1e9).contains(&self.gap_pages), format!("`gap-pages` is {}", self.gap_pages));
        let most = self.read_only.reads.as_ref().map_or(0.0, |reads| reads.share);
        need(
            (0.0..=most).contains(&self.created_reads),
            format!(
                "`created-reads` is {}; expected 0 to {most}, the share of the reads on read-only \
                 pages",
                self.created_reads
            ),
        );
        let b = &self.bursts;
        let lists = [&b.quiet, &b.busy].map(|l| [&l.reads, &l.writes, &l.together]).concat();
        need(
            lists.iter().all(|l| l.len() == lists[0].len() && l.len() <= DEEPEST),
            format!("the lists of `bursts` differ in length, or have more than {DEEPEST} numbers"),
        );
        let within = |x: &f64, least: f64| (least..=1.0).contains(x);
        need(
            lists.iter().enumerate().all(|(i, list)| {
                let least = if i % 3 == 2 { -1.0 } else { 0.0 };
                list.iter().all(|x| within(x, least))
            }),
            "the numbers of `bursts` lie from 0 to 1, those of `together` from -1 to 1".into(),
        );
        let of_day = b.daily.iter().all(|x| (0.0..1e6).contains(x));
        need(
            b.daily.is_empty() || b.daily.len() == HOURS && of_day,
            format!("`bursts.daily` has {} numbers; expected 24 or none", b.daily.len()),
        );
        for (name, class) in self.classes() {
            need(
                (0.05..=1.0).contains(&class.growth)
                    || class.reads.is_none() && class.writes.is_none(),
                format!("`{name}.growth` is {}; expected 0.05 to 1", class.growth),
            );
            for (op, stream) in [("reads", &class.reads), ("writes", &class.writes)] {
                if let Some(stream) = stream {
                    stream.check(&format!("{name}.{op}"), &mut need);
                }
            }
        }
        let ops: [(&str, u64, Of); 2] =
            [("reads", self.reads, |c| &c.reads), ("writes", self.writes, |c| &c.writes)];
        for (op, n, of) in ops {
            let share: f64 =
                self.classes().iter().filter_map(|c| of(c.1).as_ref()).map(|s| s.share).sum();
            need(
                n == 0 || (share - 1.0).abs() < 1e-3,
                format!("the shares of the {op} add up to {share}; expected 1"),
            );
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
    }
}

impl Stream {
    fn check(&self, name: &str, need: &mut impl FnMut(bool, String)) {
        let unit = |x: &f64| (0.0..=1.0).contains(x);
        need(self.pages <= LARGEST_SPAN >> 12, format!("`{name}.pages` is {}", self.pages));
        for (key, x) in [
            ("share", self.share),
            ("stay", self.stay),
            ("follow", self.follow),
            ("proceed", self.proceed),
            ("fresh", self.fresh),
            ("inside", self.inside),
            ("same-size", self.same_size),
            ("follow-same-size", self.follow_same_size),
            ("after-read", self.after_read),
        ] {
            need(unit(&x), format!("`{name}.{key}` is {x}; expected 0 to 1"));
        }
        for (key, list, most) in [
            ("runs", &self.runs, RUNS),
            ("begins", &self.begins, 8),
            ("ages-after-read", &self.ages_after_read, 64),
            ("ages-after-write", &self.ages_after_write, 64),
        ] {
            let sum: f64 = list.iter().sum();
            let right = list.iter().all(unit) && list.len() <= most;
            need(
                right && (list.is_empty() || (sum - 1.0).abs() < 1e-2),
                format!(
                    "`{name}.{key}`: expected at most {most} shares that add up to 1, not {sum}"
                ),
            );
        }
        for (key, sizes) in [
            ("sizes", &self.sizes),
            ("again-sizes", &self.again_sizes),
            ("follow-sizes", &self.follow_sizes),
            ("run-sizes", &self.run_sizes),
        ] {
            let sum: f64 = sizes.iter().map(|s| s.1).sum();
            let right = sizes.iter().all(|s| (1..=LARGEST_REQUEST).contains(&s.0) && unit(&s.1));
            need(
                right && (sum - 1.0).abs() < 1e-2,
                format!(
                    "`{name}.{key}`: expected pairs of a size from 1 B to 1 GiB and a share, the \
                     shares adding up to 1, not {sum}"
                ),
            );
        }
    }

    /// The largest of its sizes.
    pub(super) fn largest(&self) -> u64 {
        let all = [&self.sizes, &self.again_sizes, &self.follow_sizes, &self.run_sizes];
        all.into_iter().flatten().map(|s| s.0).max().unwrap_or(4096)
    }
}

//! The user's settings of a generator.

use kernel::{Bytes, Dur, Hint, Rng};
use serde::{Deserialize, Serialize};

use super::conversations::{self, Eviction, MEASURED, Offload};
use super::permutation::{PassOrder, Passes};
use super::spread::{SlotSpread, Zones};
use super::zipf::Zipf;
use super::{Arrivals, MixShare, Size};

/// The pattern of a generated workload.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// Writes at uniformly random aligned addresses.
    RandomWrite,
    /// Reads at uniformly random aligned addresses.
    RandomRead,
    /// Writes from the first byte to the last, again and again.
    SequentialWrite,
    /// Reads from the first byte to the last, again and again.
    SequentialRead,
    /// Writes whose addresses follow Zipf's law: the k-th most popular has weight k^-theta.
    Zipf,
    /// A share of the data takes a larger share of the accesses.
    HotCold,
    /// Writes that go once over every aligned address, in random order, again and again.
    Permutation,
    /// Reads and writes of the keys and values that a language model's server stores.
    KvOffload,
    /// The enterprise workload of JESD219.
    Jesd219Enterprise,
}

impl Pattern {
    /// Every pattern, in the order of the documentation.
    pub const ALL: [Self; 9] = [
        Self::RandomWrite,
        Self::RandomRead,
        Self::SequentialWrite,
        Self::SequentialRead,
        Self::Zipf,
        Self::HotCold,
        Self::Permutation,
        Self::KvOffload,
        Self::Jesd219Enterprise,
    ];

    /// The name used on the command line and in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RandomWrite => "random-write",
            Self::RandomRead => "random-read",
            Self::SequentialWrite => "sequential-write",
            Self::SequentialRead => "sequential-read",
            Self::Zipf => "zipf",
            Self::HotCold => "hot-cold",
            Self::Permutation => "permutation",
            Self::KvOffload => "kv-offload",
            Self::Jesd219Enterprise => "jesd219-enterprise",
        }
    }

    /// The pattern in a line.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::RandomWrite => "uniform random writes of 4 KiB",
            Self::RandomRead => "uniform random reads of 4 KiB",
            Self::SequentialWrite => "writes of 128 KiB from start to end, repeated",
            Self::SequentialRead => "reads of 128 KiB from start to end, repeated",
            Self::Zipf => "random writes of 4 KiB, popularity by Zipf's law (theta 0.99)",
            Self::HotCold => "random writes of 4 KiB, 20 % of the data takes 80 % of them",
            Self::Permutation => {
                "writes of 4 KiB, once to every address in random order, again and again"
            }
            Self::KvOffload => {
                "reads and few writes of 128 KiB: stored keys and values of language models"
            }
            Self::Jesd219Enterprise => {
                "40 % reads and 60 % writes of 512 B to 64 KiB in three zones (JESD219 enterprise)"
            }
        }
    }

    /// The pattern with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|p| p.name() == name)
    }

    pub(super) fn read_share(self) -> f64 {
        match self {
            Self::RandomRead | Self::SequentialRead => 1.0,
            Self::Jesd219Enterprise => 0.4,
            Self::KvOffload => MEASURED.hits(),
            Self::RandomWrite
            | Self::SequentialWrite
            | Self::Zipf
            | Self::HotCold
            | Self::Permutation => 0.0,
        }
    }

    pub(super) fn size(self) -> Size {
        match self {
            Self::SequentialWrite | Self::SequentialRead => Size::One(Bytes::kib(128)),
            Self::KvOffload => Size::One(conversations::REQUEST),
            Self::Jesd219Enterprise => Size::Mix(jesd219_sizes()),
            _ => Size::One(Bytes::kib(4)),
        }
    }

    /// When requests arrive, if the user does not say. `kv-offload` stands for measured rates.
    pub(super) fn arrivals(self) -> Arrivals {
        match self {
            Self::KvOffload => Arrivals::Poisson { iops: MEASURED.iops() },
            _ => Arrivals::AsFastAsPossible,
        }
    }
}

/// JESD219 enterprise, as fio's example job has it: 67 % of the requests are 4 KiB.
fn jesd219_sizes() -> Vec<MixShare> {
    [
        (512, 0.04),
        (1024, 0.01),
        (1536, 0.01),
        (2048, 0.01),
        (2560, 0.01),
        (3072, 0.01),
        (3584, 0.01),
        (4096, 0.67),
        (8192, 0.10),
        (16384, 0.07),
        (32768, 0.03),
        (65536, 0.03),
    ]
    .map(|(size, share)| MixShare { size: Bytes::new(size), share })
    .to_vec()
}

/// JESD219 enterprise: half of the accesses go to the first 5 % of the addresses, 30 % to the
/// next 15 %, the rest to the rest. Pairs of (share of the addresses, share of the accesses).
const JESD219_ZONES: [(f64, f64); 3] = [(0.05, 0.5), (0.15, 0.3), (0.80, 0.2)];

/// A generated workload as written. Only `pattern` must be given; a key that is left out has the
/// pattern's own value.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Generator {
    /// The addresses and operations of requests.
    pub pattern: Pattern,
    /// How many requests; at least 1. Flushes are not among them.
    #[serde(default = "a_million")]
    pub requests: u64,
    /// Stand-ins only: see [`Length`](crate::standin::Length). A generator goes by `requests`.
    #[serde(default, with = "text", skip_serializing_if = "Option::is_none")]
    pub duration: Option<Dur>,
    /// Stand-ins only: the share of the reads that go to read-only pages which they have written
    /// before, see [`Length`](crate::standin::Length).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_reads: Option<f64>,
    /// Size of a request, `"4KiB"`, or a list of sizes with shares that add up to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
    /// Random addresses are multiples of this; by default the size, or 4 KiB for a mix of sizes.
    #[serde(default, with = "text", skip_serializing_if = "Option::is_none")]
    pub align: Option<Bytes>,
    /// The addresses used run from 0 to this; by default the whole drive.
    #[serde(default, with = "text", skip_serializing_if = "Option::is_none")]
    pub span: Option<Bytes>,
    /// The share of reads, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_share: Option<f64>,
    /// The share of trims, 0 to 1; the rest of the requests that are not reads are writes.
    #[serde(default)]
    pub trim_share: f64,
    /// A flush after this number of writes, at least 1, at the time of the last of them, in
    /// addition to `requests`. `None`: no flushes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush_every: Option<u64>,
    /// The share of the writes that bypass volatile memory (FUA), 0 to 1.
    #[serde(default)]
    pub fua_share: f64,
    /// When requests arrive; by default as fast as possible, and for `kv-offload` at random times at
    /// the measured rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Arrivals>,
    /// Requests a second at exponentially distributed distances, instead of `arrivals`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// `zipf` only: the exponent, 0 < theta <= 10; by default 0.99.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theta: Option<f64>,
    /// `hot-cold` only: the share of the data that is hot, 0 < x < 1; by default 0.2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hot_data: Option<f64>,
    /// `hot-cold` only: the share of the requests that go to hot data, 0 <= x <= 1; by default
    /// 0.8. Reads and trims, if there are any, follow the same shares as writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hot_writes: Option<f64>,
    /// `permutation` only: each pass over the addresses draws a new order (fio with
    /// `randrepeat=0`), or all repeat that of the first (fio without). By default it draws.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<PassOrder>,
    /// `kv-offload` only: conversations at a time, at least 1; by default 16, or as many as there is
    /// room for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<u64>,
    /// `kv-offload` only: what is looked up, read and written as a whole, at most 1 GiB; by default
    /// 2 MiB.
    #[serde(default, with = "text", skip_serializing_if = "Option::is_none")]
    pub object_size: Option<Bytes>,
    /// `kv-offload` only: the share of the lookups whose object is on the drive, 0 to 1. The other
    /// objects are written. By default that of the measured traffic, 0.9947.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix_hits: Option<f64>,
    /// `kv-offload` only: whether ended conversations are trimmed or written over (the default).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eviction: Option<Eviction>,
    /// `kv-offload` only: sessions belong to this number of tenants in turn, and requests have hints
    /// from 1 on, one for each; at most 255, and by default 0: no hints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenants: Option<u64>,
    /// The seed; by default that of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The places of the whole drive for each place of a drive scaled down; no file says it.
    #[serde(skip, default = "one")]
    pub scale: u64,
}

fn one() -> u64 {
    1
}

fn a_million() -> u64 {
    1_000_000
}

/// A key, the mistake in its value, the expected value.
type Wrong = (&'static str, String, &'static str);

impl Generator {
    /// The pattern with all its defaults: a million requests, as fast as possible.
    pub fn new(pattern: Pattern) -> Self {
        Self {
            pattern,
            requests: a_million(),
            duration: None,
            created_reads: None,
            size: None,
            align: None,
            span: None,
            read_share: None,
            trim_share: 0.0,
            flush_every: None,
            fua_share: 0.0,
            arrivals: None,
            rate: None,
            theta: None,
            hot_data: None,
            hot_writes: None,
            order: None,
            sessions: None,
            object_size: None,
            prefix_hits: None,
            eviction: None,
            tenants: None,
            seed: None,
            scale: 1,
        }
    }

    /// Random addresses are multiples of this.
    pub(super) fn alignment(&self, size: &Size) -> Bytes {
        let own = || match self.pattern {
            Pattern::KvOffload => self.object(),
            _ => Bytes::new(size.alignment()),
        };
        self.align.unwrap_or_else(own)
    }

    fn object(&self) -> Bytes {
        self.object_size.unwrap_or(conversations::OBJECT)
    }

    /// The settings of `kv-offload` for a span of `objects`.
    fn offload(&self, objects: u64) -> Result<Offload, Wrong> {
        let only = "it for other patterns: objects are aligned to their size, and `prefix-hits` and \
                    `eviction` decide the operations";
        let others = [
            ("align", self.align.is_some()),
            ("read-share", self.read_share.is_some()),
            ("trim-share", self.trim_share != 0.0),
        ];
        if let Some((key, _)) = others.iter().find(|(_, given)| *given) {
            return Err((key, format!("`{key}` is given for {}", self.pattern.name()), only));
        }
        let object = self.object();
        if !(1..=super::sizes::LARGEST).contains(&object.get()) {
            return Err(("object-size", format!("objects of {object}"), "1 B to 1 GiB"));
        }
        let Size::One(request) = self.size.clone().unwrap_or_else(|| self.pattern.size()) else {
            return Err((
                "size",
                "a mix of sizes".into(),
                "one size: parts of an object are equal",
            ));
        };
        let sessions = self.sessions.unwrap_or_else(|| conversations::SESSIONS.min(objects));
        if !(1..=objects).contains(&sessions) {
            let found = format!("{sessions} sessions, and room for {objects} objects of {object}");
            return Err(("sessions", found, "at least one session, and an object for each"));
        }
        let hits = self.prefix_hits.unwrap_or_else(|| self.pattern.read_share());
        if !(0.0..=1.0).contains(&hits) {
            return Err(("prefix-hits", format!("prefix-hits = {hits}"), "0 <= prefix-hits <= 1"));
        }
        let tenants = self.tenants.unwrap_or(0);
        if tenants > u64::from(Hint::MAX).min(sessions) {
            let found = format!("{tenants} tenants and {sessions} sessions");
            return Err(("tenants", found, "at most 255 tenants, and a session for each"));
        }
        Ok(Offload {
            sessions,
            room: objects / sessions,
            object: object.get() as u32,
            request: request.get() as u32,
            hits_below: super::below_or_all(hits),
            eviction: self.eviction.unwrap_or_default(),
            tenants,
        })
    }

    /// How addresses spread over `slots` aligned places; `seed` is that of the workload.
    pub(super) fn spread(&self, slots: u64, seed: u64) -> Result<SlotSpread, Wrong> {
        let only = |key, given: bool, pattern: Pattern| {
            if given && self.pattern != pattern {
                let found = format!("`{key}` is given for {}", self.pattern.name());
                return Err((key, found, "it for its own pattern only"));
            }
            Ok(())
        };
        only("theta", self.theta.is_some(), Pattern::Zipf)?;
        only("hot-data", self.hot_data.is_some(), Pattern::HotCold)?;
        only("hot-writes", self.hot_writes.is_some(), Pattern::HotCold)?;
        only("order", self.order.is_some(), Pattern::Permutation)?;
        for (key, given) in [
            ("sessions", self.sessions.is_some()),
            ("object-size", self.object_size.is_some()),
            ("prefix-hits", self.prefix_hits.is_some()),
            ("eviction", self.eviction.is_some()),
            ("tenants", self.tenants.is_some()),
        ] {
            only(key, given, Pattern::KvOffload)?;
        }
        let zones = |shares: &[(f64, f64)]| {
            Zones::new(slots, shares).map(SlotSpread::Zones).ok_or_else(|| {
                let found = format!("{slots} aligned places cannot be split into the zones");
                ("span", found, "at least one place in every zone")
            })
        };
        match self.pattern {
            Pattern::RandomWrite | Pattern::RandomRead => Ok(SlotSpread::Uniform { slots }),
            Pattern::SequentialWrite | Pattern::SequentialRead => Ok(SlotSpread::Sequential),
            Pattern::Zipf => {
                let theta = self.theta.unwrap_or(0.99);
                if !(theta > 0.0 && theta <= 10.0) {
                    return Err(("theta", format!("theta = {theta}"), "0 < theta <= 10"));
                }
                Ok(SlotSpread::Zipf(Zipf::scaled(slots, self.scale, theta)))
            }
            Pattern::HotCold => {
                let (data, writes) = (self.hot_data.unwrap_or(0.2), self.hot_writes.unwrap_or(0.8));
                if !(data > 0.0 && data < 1.0) {
                    return Err(("hot-data", format!("hot-data = {data}"), "0 < hot-data < 1"));
                }
                if !(0.0..=1.0).contains(&writes) {
                    let found = format!("hot-writes = {writes}");
                    return Err(("hot-writes", found, "0 <= hot-writes <= 1"));
                }
                zones(&[(data, writes), (1.0 - data, 1.0 - writes)])
            }
            Pattern::Permutation => {
                let key = Rng::named(seed, "workload/permutation").bits();
                Ok(SlotSpread::Passes(Passes::new(slots, self.order.unwrap_or_default(), key)))
            }
            Pattern::KvOffload => self.offload(slots).map(SlotSpread::Offload),
            Pattern::Jesd219Enterprise => zones(&JESD219_ZONES),
        }
    }
}

/// Sizes and times are written as text with a unit; a bare number is an error.
pub(super) mod text {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    #[expect(clippy::ref_option, reason = "the signature that serde asks for")]
    pub(in super::super) fn serialize<T: Display, S: Serializer>(
        value: &Option<T>,
        out: S,
    ) -> Result<S::Ok, S::Error> {
        value.as_ref().map(T::to_string).serialize(out)
    }

    pub(in super::super) fn deserialize<'de, T: FromStr<Err: Display>, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<T>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        text.map(|t| t.parse().map_err(D::Error::custom)).transpose()
    }
}

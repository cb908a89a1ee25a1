//! Stand-ins against their profiles, with `describe` as the judge. The seeds are fixed, so a bound
//! either holds for ever or shows a fault.

use super::*;
use crate::catalogue::{Catalogue, Given, Quantity, published};
use crate::describe::{Description, Options, describe};
use crate::trace::drain;

fn profile(name: &str) -> Profile {
    Catalogue::built_in().published_profile(name).unwrap()
}

fn requests(profile: &Profile, length: Length, seed: u64) -> Vec<Request> {
    drain(&mut *profile.workload(length, seed).unwrap().open().unwrap()).unwrap()
}

fn first(requests: u64) -> Length {
    Length { requests: Some(requests), ..Length::default() }
}

fn described(profile: &Profile) -> Description {
    let stand_in = profile.workload(Length::default(), 1).unwrap();
    describe(&mut *stand_in.open().unwrap(), &Options::default()).unwrap()
}

/// The profile of a trace with the same shares but fewer requests, and pages in proportion.
fn smaller(mut profile: Profile, requests: u64) -> Profile {
    let part = requests as f64 / (profile.reads + profile.writes) as f64;
    let scaled = |n: u64| (n as f64 * part).round() as u64;
    (profile.reads, profile.writes) = (scaled(profile.reads), scaled(profile.writes));
    for class in [&mut profile.read_only, &mut profile.write_only, &mut profile.interleaved] {
        for stream in [&mut class.reads, &mut class.writes].into_iter().flatten() {
            stream.pages = scaled(stream.pages);
        }
    }
    profile
}

/// A fit sees neither flushes nor whether writes bypass the cache.
#[test]
fn flushes_are_not_fitted() {
    let plain = requests(&profile("msr:wdev_0"), first(3000), 3);
    let mut mixed = vec![Request { offset: 0, len: 0, op: Op::Flush, ..plain[0] }];
    for (i, r) in plain.iter().enumerate() {
        let bypasses = r.op == Op::Write && i % 3 == 0;
        mixed.push(Request { op: if bypasses { Op::WriteFua } else { r.op }, ..*r });
        mixed.push(Request { offset: 0, len: 0, op: Op::Flush, ..*r });
    }
    let fitted = |all| fit(&crate::List::new("l", all).unwrap()).unwrap().text();
    assert_eq!(fitted(mixed), fitted(plain));
}

#[test]
fn a_seed_means_the_same_requests_at_every_opening() {
    let profile = profile("msr:wdev_0");
    let one = profile.workload(first(20_000), 7).unwrap();
    let [again, once_more] = [(); 2].map(|()| drain(&mut *one.open().unwrap()).unwrap());
    assert_eq!(again, once_more);
    assert_eq!(again, requests(&profile, first(20_000), 7));
    assert_ne!(again, requests(&profile, first(20_000), 8));
    let digest = |length, seed| profile.workload(length, seed).unwrap().about().sha256.clone();
    assert_eq!(digest(first(20_000), 7), one.about().sha256);
    assert_ne!(digest(first(20_000), 8), one.about().sha256);
    assert_ne!(digest(first(20_001), 7), one.about().sha256);
}

#[test]
fn a_cut_stand_in_is_the_beginning_of_the_whole() {
    let profile = smaller(profile("msr:wdev_0"), 30_000);
    let whole = requests(&profile, Length::default(), 3);
    assert_eq!(whole.len() as u64, profile.reads + profile.writes);
    assert_eq!(requests(&profile, first(9_000), 3), whole[..9_000]);
    let half = Dur::ns(profile.duration.as_ns() / 2);
    let until = Length { duration: Some(half), ..Length::default() };
    let within = whole.iter().take_while(|r| r.at.as_ns() < half.as_ns()).count();
    assert!(within > 0 && within < whole.len());
    assert_eq!(requests(&profile, until, 3), whole[..within]);
    // Both bounds hold.
    let both = Length { requests: Some(100), ..until };
    assert_eq!(requests(&profile, both, 3), whole[..100]);
}

/// The share of reads on pages that the stand-in creates is measured by the independent definition of
/// `describe`, and all other shares stay as they are.
#[test]
fn created_pages_take_the_share_of_the_reads_that_is_asked_for() {
    for name in ["msr:hm_0", "msr:usr_2"] {
        let plain = smaller(profile(name), 300_000);
        assert!(plain.assumed.iter().any(|a| a.contains("created in the run")));
        let before = described(&plain).characters;
        assert!(before.reads_on_created.unwrap() < 0.06, "{name}: {before:?}");
        let share = 0.3;
        let made = Profile { created_reads: share, ..plain.clone() };
        let after = described(&made).characters;
        let own = before.reads_on_created.unwrap();
        let (found, least) = (after.reads_on_created.unwrap(), share * (1.0 - own));
        assert!((least - 0.03..share + own + 0.03).contains(&found), "{name}: {found}");
        let of_reads = [before, after].map(|c| c.reads_on_read_only.unwrap());
        assert!((of_reads[0] - of_reads[1]).abs() < 0.03, "{name}: {of_reads:?}");
        let set = Length { created_reads: Some(share), ..Length::default() };
        assert_eq!(requests(&plain, set, 3), requests(&made, Length::default(), 3));
        let none = Length { created_reads: Some(0.0), ..Length::default() };
        assert_eq!(requests(&plain, none, 3), requests(&plain, Length::default(), 3));
    }
    for share in [-0.1, 0.9, f64::NAN] {
        let set = Length { created_reads: Some(share), ..Length::default() };
        let error = profile("msr:hm_0").workload(set, 1).err().unwrap().to_string();
        assert!(error.contains("created-reads") && error.contains("0 to 0.85"), "{error}");
    }
}

/// READY's Figure 4 of exchange is met, by a stand-in and not only by the fit. A trace without such
/// a figure keeps the assumed demand, and says so.
#[test]
#[ignore = "slow: run by `make verify`"]
fn coarse_bursts_are_fitted_where_a_figure_says_how_even_demand_is() {
    let exchange = profile("msps:exchange");
    assert!((coarse::alike(&exchange.bursts, 86_400.0) - 0.85).abs() < 0.01);
    let alike = |profile: &Profile, seed| {
        let mut epochs = vec![0.0; (profile.duration.as_secs_f64() / 1800.0) as usize];
        for r in requests(profile, Length::default(), seed).iter().filter(|r| r.op == Op::Write) {
            let epoch = (r.at.as_secs_f64() / 1800.0) as usize;
            if let Some(bytes) = epochs.get_mut(epoch) {
                *bytes += f64::from(r.len);
            }
        }
        let like = |w: &&[f64]| (w[1] - w[0]).abs() < 0.3 * w[0];
        epochs.windows(2).filter(like).count() as f64 / (epochs.len() - 1) as f64
    };
    let mut small = smaller(exchange, 400_000);
    let mean = |profile: &Profile| (1..=12).map(|seed| alike(profile, seed)).sum::<f64>() / 12.0;
    assert!((mean(&small) - 0.85).abs() < 0.05, "{}", mean(&small));
    for levels in [&mut small.bursts.quiet, &mut small.bursts.busy] {
        levels.writes[..7].fill(0.35);
    }
    assert!(mean(&small) < 0.5, "without the fit it is not");
    let msnfs = profile("msps:msnfs");
    assert_eq!(msnfs.bursts.quiet.writes[..6], [0.35; 6]);
    assert!(msnfs.assumed.iter().any(|a| a.contains("not fitted")), "{:?}", msnfs.assumed);
}

#[test]
fn a_longer_one_goes_on_on_the_same_pages() {
    let profile = smaller(profile("msr:wdev_0"), 20_000);
    let whole = profile.reads + profile.writes;
    let twice = requests(&profile, first(2 * whole), 3);
    assert_eq!(twice.len() as u64, 2 * whole);
    assert_eq!(twice[..whole as usize], requests(&profile, Length::default(), 3));
    assert!(twice.windows(2).all(|w| w[0].at <= w[1].at));
    assert!(twice.last().unwrap().at.as_ns() > 3 * profile.duration.as_ns() / 2);
    let pages = |all: &[Request]| {
        let touched = all.iter().flat_map(|r| r.offset >> 12..=(r.end() - 1) >> 12);
        touched.collect::<std::collections::HashSet<u64>>().len() as f64
    };
    let (more, one) = (pages(&twice), pages(&twice[..whole as usize]));
    assert!(more < 1.2 * one, "{more} pages, {one} in the first round");
    let about = profile.workload(first(2 * whole), 3).unwrap().about().clone();
    assert!(about.notes.iter().any(|n| n.contains("more of the same kind")), "{:?}", about.notes);
}

/// Every trace of which enough is published: its stand-in, scaled to 60,000 requests, has the
/// published shares and sizes.
#[test]
fn stand_ins_have_the_statistics_that_they_are_made_from() {
    let catalogue = Catalogue::built_in();
    let mut judged = 0;
    for entry in catalogue.traces.iter().filter(|e| e.parts.is_empty()) {
        let Ok(whole) = published(entry, Given::default()) else { continue };
        judged += 1;
        let name = &entry.name;
        let profile = smaller(whole.clone(), 60_000);
        let found = described(&profile);
        let n = found.requests.all.requests;
        assert_eq!(
            (found.requests.read.requests, n),
            (profile.reads, profile.reads + profile.writes)
        );
        if let Some(known) = entry.known(Quantity::Requests) {
            assert_eq!(whole.reads + whole.writes, known.value as u64, "{name}");
        }
        if let Some(known) = entry.known(Quantity::ReadShare) {
            let share = profile.reads as f64 / n as f64;
            assert!((share - known.value).abs() < 1e-4, "{name}: {share} for {}", known.value);
        }
        if let Some(known) = entry.known(Quantity::MeanSize) {
            // Five standard errors, for which the sizes of a run are taken as one draw of ten
            // requests, and 2 % for requests that are cut at the end of an extent.
            let (sum, squares) = moments(&whole);
            let error = ((squares - sum * sum) / (n as f64 / 10.0)).sqrt();
            let mean = found.requests.all.mean_bytes.unwrap();
            let bound = 5.0 * error + 0.02 * known.value;
            assert!((mean - known.value).abs() < bound, "{name}: {mean} for {}", known.value);
        }
        let pages: u64 = [&profile.read_only, &profile.write_only, &profile.interleaved]
            .iter()
            .flat_map(|c| [&c.reads, &c.writes])
            .flatten()
            .map(|s| s.pages)
            .sum();
        let ratio = found.footprint.pages as f64 / pages as f64;
        assert!((0.8..1.25).contains(&ratio), "{name}: {ratio} of {pages} pages");
        // Shares are of touches; those of requests are drawn, and large requests touch more.
        for (of, found, touches) in [
            (&profile.read_only.reads, found.characters.reads_on_read_only, profile.reads),
            (&profile.write_only.writes, found.characters.writes_on_write_only, profile.writes),
        ] {
            if let (Some(stream), Some(share), true) = (of, found, touches > 2_000) {
                assert!((share - stream.share).abs() < 0.08, "{name}: {share}, {}", stream.share);
            }
        }
    }
    assert!(judged >= 34, "only {judged} traces have a stand-in");
}

/// Mean and mean square of the sizes of all requests.
fn moments(profile: &Profile) -> (f64, f64) {
    let n = (profile.reads + profile.writes) as f64;
    let mut out = (0.0, 0.0);
    for class in [&profile.read_only, &profile.write_only, &profile.interleaved] {
        for (stream, of) in [(&class.reads, profile.reads), (&class.writes, profile.writes)] {
            for size in stream.iter().flat_map(|s| s.sizes.iter().map(|x| (x.0, x.1 * s.share))) {
                let (bytes, part) = (size.0 as f64, size.1 * of as f64 / n);
                out.0 += bytes * part;
                out.1 += bytes * bytes * part;
            }
        }
    }
    out
}

#[test]
fn a_fit_finds_the_frequencies_of_the_decisions() {
    let made = smaller(profile("msr:usr_0"), 80_000);
    let found = fit(&*made.workload(Length::default(), 5).unwrap()).unwrap();
    assert_eq!((found.reads, found.writes), (made.reads, made.writes));
    let ratio = found.duration.as_secs_f64() / made.duration.as_secs_f64();
    assert!((0.9..=1.0).contains(&ratio), "{ratio}");
    let near = |name: &str, a: f64, b: f64, bound: f64| {
        assert!((a - b).abs() < bound, "{name}: {a} for {b}");
    };
    for (a, b) in [
        (&found.read_only.reads, &made.read_only.reads),
        (&found.write_only.writes, &made.write_only.writes),
    ] {
        let (a, b) = (a.as_ref().unwrap(), b.as_ref().unwrap());
        near("share", a.share, b.share, 0.06);
        near("stay", a.stay, b.stay, 0.12);
        near("proceed", a.proceed, b.proceed, 0.15);
        near("pages", a.pages as f64 / b.pages as f64, 1.0, 0.2);
    }
}

#[test]
fn a_profile_reads_back_as_it_was_written_and_says_what_is_wrong() {
    let good = profile("umass:financial1");
    assert_eq!(Profile::read(&good.text()).unwrap(), good);
    assert!(Profile::is_meant(&good.text()) && !Profile::is_meant("pattern = 'zipf'"));
    let wrong = |change: fn(&mut Profile), words: &[&str]| {
        let mut bad = good.clone();
        change(&mut bad);
        let error = Profile::read(&bad.text()).unwrap_err();
        for word in words {
            assert!(error.contains(word), "{word} is not in: {error}");
        }
    };
    wrong(|p| p.version = "0".into(), &["version 0", "fit the trace again"]);
    wrong(
        |p| {
            p.read_only.reads.as_mut().unwrap().share = 1.5;
            p.bursts.quiet.reads.pop();
        },
        &["read-only.reads.share", "1.5", "`bursts`"],
    );
    wrong(|p| p.read_only.reads.as_mut().unwrap().sizes.clear(), &["read-only.reads.sizes"]);
    let typo = good.text().replace("gap-pages", "gap-page");
    assert!(Profile::read(&typo).unwrap_err().contains("gap-page"));
}

#[test]
fn sizes_have_the_mean_that_is_asked_for() {
    for mean in [600.0, 2300.0, 4096.0, 6.8e3, 11.5e3, 31e3, 44e3, 200e3] {
        let sizes = published::sizes(mean);
        let found: f64 = sizes.iter().map(|s| s.0 as f64 * s.1).sum();
        assert!((found - mean).abs() < 1e-3 * mean, "{found} for {mean}");
    }
}

/// The assumptions that rest on the catalogue are its medians.
#[test]
fn what_is_assumed_is_what_the_catalogue_has() {
    let catalogue = Catalogue::built_in();
    let median = |mut all: Vec<f64>| {
        all.sort_by(f64::total_cmp);
        (all.len(), all[all.len() / 2])
    };
    let sizes = catalogue.traces.iter().filter_map(|e| Some(e.known(Quantity::MeanSize)?.value));
    let (n, size) = median(sizes.collect());
    assert!(n > 10 && (size / published::MEAN_SIZE - 1.0).abs() < 0.1, "{n}: {size}");
    let touches = catalogue.traces.iter().filter_map(|e| {
        let known = |q| e.known(q).map(|known| known.value);
        let written = known(Quantity::Writes)? * known(Quantity::MeanSize)? / 4096.0;
        Some(written / known(Quantity::PagesWritten)?)
    });
    let (n, touches) = median(touches.collect());
    assert!(n > 5 && (touches / published::WRITES_PER_PAGE - 1.0).abs() < 0.15, "{n}: {touches}");
}

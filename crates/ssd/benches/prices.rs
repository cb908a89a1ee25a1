//! What does a mechanism cost a drive that uses it?
//!
//! A plain drive and drives with one mechanism each serve the same requests. An instruction counter
//! (`make bench-count`) compares them: the instructions of a long run minus those of a short one
//! are those of the requests between. By itself the bench prints wall-clock figures. Arguments:
//! names of builds (see `BUILDS`; all, if none is named) and the number of requests.

#![allow(clippy::disallowed_methods)] // a bench reads the clock

use floatgate_ssd::config::{Drive, Layers, load, render};
use floatgate_ssd::sim::Sim;
use floatgate_ssd::{ftl_of, generator, precondition};
use ftl::Policies;
use policies::{Arbitration, Builtin};
use std::time::Instant;

/// A drive: its name, and the settings that the plain one lacks.
struct Build {
    name: &'static str,
    /// Settings, and policies behind the word `policy`.
    own: &'static [&'static str],
    recorded: bool,
}

const fn build(name: &'static str, own: &'static [&'static str]) -> Build {
    Build { name, own, recorded: false }
}

const LEVELS: &str = "timing.levels={ high = { program = \"800us\", read = \"70us\" }, medium = { \
                      program = \"600us\", read = \"170us\" }, low = { program = \"450us\", read = \
                      \"310us\" } }";

const BUS: &str = "timing.bus={ rate = \"333MT/s\", width-bits = 8, command = \"300ns\" }";
const READS: &str = "workload.read-share=0.5";
const SLC: &str = "slc={ read = \"25us\", program = \"150us\" }";
/// Twice the blocks, since each stream takes some of the spare.
const BLOCKS: &str = "geometry.blocks-per-plane=64";
const SUSPEND: &str = "timing.suspend={ pause = \"20us\", resume = \"20us\" }";

const BUILDS: [Build; 30] = [
    build("builtin", &[]),
    Build { name: "recorded", own: &[], recorded: true },
    build(
        "cells",
        &[
            "reliability.model=on",
            "reliability.initial-cycles=2000",
            "reliability.initial-retention=180d",
        ],
    ),
    build("bus", &[BUS]),
    build("register", &[BUS, "timing.cache=all"]),
    build("copyback", &[BUS, "ftl.copyback=3"]),
    build("planes", &["ftl.multi-plane=any"]),
    build("buffer", &["buffer.size=4MiB", "buffer.flush-above=0.5"]),
    build(
        "port",
        &["buffer.size=4MiB", "buffer.flush-above=0.5", "buffer.rate=4GB/s", "buffer.latency=4us"],
    ),
    build("link", &["link.rate=3GB/s", "link.latency=1us"]),
    build("controller", &["controller.read=1us", "controller.write=1us", "controller.rate=8GB/s"]),
    build("arbiter", &["policy arbitration=fair"]),
    build("levels", &[LEVELS, "policy cost=conflict"]),
    build("agcr", &[LEVELS, "policy cost=agcr"]),
    build("throttle", &["policy throttle=static"]),
    build("disturb", &["policy read-disturb=refresh"]),
    build("mango", &["policy page-choice=mango"]),
    build("wom", &["ftl.spare-factor=0.40", "policy coding=wom"]),
    build("wear", &["policy wear=static"]),
    build("priority", &["policy order=priority"]),
    build("superblock", &["ftl.superblock=drive"]),
    build("parity", &["ftl.superblock=drive", "ftl.parity=4"]),
    build("shared", &["policy separation=shared"]),
    build("dac", &[BLOCKS, "policy separation=dac"]),
    build("sepbit", &[BLOCKS, "policy separation=sepbit"]),
    build("fdp", &[BLOCKS, "ftl.fdp={ handles = 2, isolation = \"persistent\" }"]),
    build("slc-cache", &[BLOCKS, SLC, "policy slc-cache=static:size=2MiB:fold=both"]),
    // These have reads, and are compared with the first of them.
    build("reads", &[READS, "policy order=read-first"]),
    build("bounded", &[READS, "policy order=bounded-read-first"]),
    build("suspend", &[READS, "policy order=read-first", SUSPEND]),
];

fn drive(build: &Build, requests: u64) -> Drive {
    let requests = format!("workload.requests={requests}");
    let mut set: Vec<String> = [
        &*requests,
        "geometry.blocks-per-plane=32",
        "geometry.chips-per-channel=2",
        "host.mode=queue-depth",
        "precondition.fill=full",
        "precondition.age=random",
    ]
    .map(ToOwned::to_owned)
    .to_vec();
    if !build.own.iter().any(|s| s.starts_with("ftl.spare-factor")) {
        set.push("ftl.spare-factor=0.20".to_owned());
    }
    let mut policy = Vec::new();
    for own in build.own {
        match own.strip_prefix("policy ") {
            Some(choice) => policy.push(choice.to_owned()),
            None => set.push((*own).to_owned()),
        }
    }
    let file = ("bench.toml", "base = \"agcr\"\n");
    let layers = Layers { file, library: &|_| None, set: &set, policy: &policy, seed: None };
    load(&layers).unwrap_or_else(|e| panic!("{}: {}", build.name, render(&e, false)))
}

fn policies(drive: &Drive) -> Policies<Builtin> {
    drive.policies.build()
}

fn run(build: &Build, requests: u64) {
    let drive = &drive(build, requests);
    let workload = generator(drive, "random-write").expect("a known generator");
    let mut ftl = ftl_of::<Builtin>(drive, policies(drive));
    precondition(drive, &*workload, &mut ftl, &mut |_| true).expect("nobody stops it");
    ftl.begin_run(policies(drive));
    let mut sim = Sim::new(drive, ftl);
    if build.recorded {
        sim.record(drive.recording, Box::new(|_, _| true));
    }
    let arbiter = drive.policies.arbiter();
    if !arbiter.merges() {
        sim.arbitrate(&drive.host, arbiter, &[(1, u32::MAX)], Vec::new());
    }
    let start = Instant::now();
    let mut source = workload.open().expect("a generator opens");
    sim.run(&mut *source, None, &mut |_| true).expect("nobody stops it");
    let seconds = start.elapsed().as_secs_f64();
    let counts = sim.ftl().counts();
    let operations = counts.read.total() + counts.program.total();
    println!(
        "{:<10} {operations} page operations, {} events, {:.2} Mops/s",
        build.name,
        sim.stats().events,
        operations as f64 / seconds / 1e6
    );
}

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let requests = asked.iter().find_map(|a| a.parse::<u64>().ok()).unwrap_or(1_000_000);
    let names: Vec<&String> = asked.iter().filter(|a| a.parse::<u64>().is_err()).collect();
    if names.iter().any(|name| *name == "names") {
        for build in &BUILDS {
            println!("{}", build.name);
        }
        return;
    }
    for build in &BUILDS {
        if names.is_empty() || names.iter().any(|name| *name == build.name) {
            run(build, requests);
        }
    }
}

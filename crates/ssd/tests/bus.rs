//! Whose turn it is on a channel: a few operations, and times by hand.

mod common;

use common::{class_of, drive, read, serve};
use floatgate_ssd::Drive;

/// Three dies on one channel. A command takes 1 us of it, a page 10 us: 4096 transfers at 409.6 MT/s.
/// Reads sense for 20 us. Page `i` lies on die `i` modulo 3.
fn three_dies(first: &str) -> Drive {
    drive(&[
        "geometry.chips-per-channel=3",
        "timing.read=20us",
        "policy placement=static:order=cwdp",
        &format!("timing.bus={{ rate = \"409.6MT/s\", command = \"1us\"{first} }}"),
    ])
}

#[test]
fn commands_or_data_go_first() {
    // a and b are read at 0 from dies 0 and 1, c from die 0 when it is free, d at 12 us from die 2.
    //
    // Either way, in us: a's command 0-1, b's 1-2; sensed at 21 and 22; a sends 21-31 and is done. b
    // waits, and so does d from 33 on, whose command took 12-13.
    //
    // Commands first: c's 31-32, b sends 32-42, d 42-52; c has sensed at 52 and sends until 62.
    //   a 31, b 42, c 62, d 52 - 12 = 40.
    // Data first: b sends 31-41, d, which came after c's command but is data, 41-51; c's command 51-52,
    // sensed at 72, sent until 82.
    //   a 31, b 41, c 82, d 51 - 12 = 39.
    // First come, first served, c would have its command at 41-42 and d would end at 52.
    let commands = (31 + 42 + 62 + 40, 62);
    let data = (31 + 41 + 82 + 39, 82);
    for (first, (all, longest)) in
        [("", commands), (", first = \"commands\"", commands), (", first = \"data\"", data)]
    {
        let script = vec![read(0, 0), read(0, 1), read(0, 3), read(12_000, 2)];
        let value = serve(&three_dies(first), script);
        let reads = class_of(&value, "read");
        // c waits 31 us for its die; what is left is the bus and waiting for it.
        let parts = [all, 31, 0, all - 31 - 80, 80].map(|us: u64| us * 1000);
        assert_eq!(reads.totals(), parts.into(), "{first}");
        assert_eq!(reads.max, longest * 1000, "{first}");
    }
}

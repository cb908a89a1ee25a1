//! Messages of the clients of a live drive: the handshake, and commands after it. Cut into any
//! pieces, they mean the same; nothing is kept beyond one command, and every command is within the
//! export.

use std::sync::LazyLock;

use live::wire::{CommandKind, Decoder, Export, MAX_PAYLOAD, WireStep};

use crate::choice;

const SIZE: u64 = 1 << 40;
const SECTOR: u64 = 512;

// Made once: an input takes about a microsecond.
static EXPORT: LazyLock<Export> = LazyLock::new(|| {
    let (name, description) = ("small".to_owned(), "for a test".to_owned());
    Export { name, description, size: SIZE, sector: SECTOR as u32, preferred: 4096 }
});

static NEW: LazyLock<Decoder> = LazyLock::new(Decoder::new);

/// After a handshake, with structured replies and contexts.
static READY: LazyLock<Decoder> = LazyLock::new(|| {
    let mut decoder = Decoder::new();
    decoder.feed(&whole_handshake(7));
    let mut out = Vec::new();
    while decoder.next(&EXPORT, &mut out) != WireStep::More {}
    assert!(decoder.is_ready());
    decoder
});

/// The outcome of all bytes, in pieces of `piece` bytes: the steps, and the answers.
fn heard(mut decoder: Decoder, bytes: &[u8], piece: usize) -> (Vec<WireStep>, Vec<u8>, bool) {
    let (mut steps, mut out) = (Vec::new(), Vec::with_capacity(1024));
    for piece in bytes.chunks(piece) {
        decoder.feed(piece);
        loop {
            let step = decoder.next(&EXPORT, &mut out);
            match &step {
                WireStep::More => break,
                WireStep::Close => {
                    steps.push(step);
                    return (steps, out, decoder.is_ready());
                }
                // How often data are passed over depends on the pieces.
                WireStep::Said => {}
                WireStep::Command(_) | WireStep::Refused(..) => steps.push(step),
            }
        }
        assert!(decoder.pending() <= MAX_PAYLOAD as usize + (1 << 20), "{}", decoder.pending());
    }
    (steps, out, decoder.is_ready())
}

fn listen(start: &Decoder, bytes: &[u8]) -> bool {
    let (chosen, bytes) = choice(bytes);
    let whole = heard(start.clone(), bytes, usize::MAX);
    // In pieces one time in eight, as that takes longer than all else.
    if chosen < 32 {
        let pieces = heard(start.clone(), bytes, 1 + chosen);
        assert!(pieces == whole, "it depends on the pieces");
    }
    let (steps, out, ready) = whole;
    // An answer is a hundred bytes or two, and a question has at least four.
    assert!(out.len() <= 64 + 200 * (1 + bytes.len() / 4), "{} bytes said", out.len());
    for step in &steps {
        let WireStep::Command(command) = step else { continue };
        let moves = !matches!(command.kind, CommandKind::Flush | CommandKind::Disconnect);
        let end = command.offset.checked_add(command.len.into()).filter(|_| moves);
        assert!(!moves || end.is_some_and(|end| end <= SIZE), "{command:?}");
        assert!(!moves || command.offset % SECTOR == 0 && command.len > 0, "{command:?}");
        let payload = if command.kind == CommandKind::Write { command.len as usize } else { 0 };
        assert_eq!(command.data.len(), payload);
    }
    ready
}

/// From the first byte on.
pub(crate) fn handshake(bytes: &[u8]) -> bool {
    listen(&NEW, bytes)
}

/// After a handshake.
pub(crate) fn commands(bytes: &[u8]) -> bool {
    listen(&READY, bytes)
}

fn option(out: &mut Vec<u8>, number: u32, data: &[u8]) {
    out.extend(b"IHAVEOPT");
    out.extend(number.to_be_bytes());
    out.extend((data.len() as u32).to_be_bytes());
    out.extend(data);
}

/// A handshake with everything in it that ends with an option.
fn whole_handshake(last: u32) -> Vec<u8> {
    let mut out = 3_u32.to_be_bytes().to_vec();
    let query = [&[0; 7][..], &[1, 0, 0, 0, 15], b"base:allocation"].concat();
    option(&mut out, 5, &[]);
    option(&mut out, 3, &[]);
    option(&mut out, 8, &[]);
    option(&mut out, 9, &query);
    option(&mut out, 10, &query);
    option(&mut out, 6, b"\0\0\0\x05small\0\x03\0\x01\0\x03\0\x02");
    option(&mut out, last, if last == 1 { b"small" } else { &[0; 6] });
    out
}

fn command(out: &mut Vec<u8>, code: u16, flags: u16, offset: u64, len: u32, data: &[u8]) {
    out.extend(0x2560_9513_u32.to_be_bytes());
    out.extend(flags.to_be_bytes());
    out.extend(code.to_be_bytes());
    out.extend((offset ^ 0x1234).to_be_bytes());
    out.extend(offset.to_be_bytes());
    out.extend(len.to_be_bytes());
    out.extend(data);
}

fn some_commands() -> Vec<u8> {
    let mut out = Vec::new();
    command(&mut out, 0, 4, 4096, 4096, &[]);
    command(&mut out, 1, 1, 512, 512, &[7; 512]);
    command(&mut out, 1, 0, 3, 64, &[7; 64]);
    command(&mut out, 3, 0, 0, 0, &[]);
    command(&mut out, 4, 1, 8192, 1 << 30, &[]);
    command(&mut out, 6, 3, 0, 4096, &[]);
    command(&mut out, 7, 8, 0, 1 << 20, &[]);
    command(&mut out, 9, 0, 0, 0, &[]);
    command(&mut out, 2, 0, 0, 0, &[]);
    out
}

pub(crate) fn seeds_of_handshakes() -> Vec<Vec<u8>> {
    let with = |last| [&[1][..], &whole_handshake(last), &some_commands()].concat();
    let mut too_long = vec![9];
    too_long.extend(3_u32.to_be_bytes());
    option(&mut too_long, 6, &[0; 9000]);
    too_long.extend(&whole_handshake(7)[4..]);
    let mut all = vec![with(7), with(1), with(2), too_long];
    // Each option alone, so that damage hits it: short inputs are the quick ones.
    let contexts = |names: &[&[u8]]| {
        let mut data = vec![0; 4];
        data.extend((names.len() as u32).to_be_bytes());
        for name in names {
            data.extend((name.len() as u32).to_be_bytes());
            data.extend(*name);
        }
        data
    };
    let asked: [(u32, Vec<u8>); 16] = [
        (1, b"small".to_vec()),
        (1, Vec::new()),
        (2, Vec::new()),
        (3, Vec::new()),
        (5, Vec::new()),
        (6, vec![0; 6]),
        (6, b"\0\0\0\x05small\0\x03\0\x01\0\x03\0\x02".to_vec()),
        (6, b"\0\0\0\x05other\0\0".to_vec()),
        (7, vec![0; 6]),
        (7, b"\0\0\0\x05small\0\x01\0\x03".to_vec()),
        (8, Vec::new()),
        (9, contexts(&[])),
        (9, contexts(&[b"base:", b"qemu:"])),
        (10, contexts(&[b"base:allocation"])),
        (10, contexts(&[b"base:", b"base:allocation", b"x"])),
        (77, vec![1, 2, 3]),
    ];
    for (number, data) in asked {
        // In pieces or not.
        let mut bytes = vec![if all.len() % 8 == 0 { 5 } else { 200 }];
        bytes.extend(3_u32.to_be_bytes());
        if matches!(number, 9 | 10) {
            option(&mut bytes, 8, &[]);
        }
        option(&mut bytes, number, &data);
        all.push(bytes);
    }
    all
}

pub(crate) fn seeds_of_commands() -> Vec<Vec<u8>> {
    vec![[&[7][..], &some_commands()].concat(), [&[200][..], &some_commands()].concat()]
}

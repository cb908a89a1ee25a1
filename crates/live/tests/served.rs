//! The clients' view of the server: data, refusals, the handshake; and each recording replays.

#![allow(clippy::disallowed_methods, reason = "the real clock is one of the things under test")]

use crate::common::{
    self, Client, DISCONNECT, FLUSH, FUA, Folder, NO_HOLE, PAGE, READ, SECTOR, STATUS, Server,
    TRIM, WRITE, ZEROES, answers, drive, greet, option, take, u32_of,
};
use floatgate_live::store::FileStore;
use floatgate_live::{Address, Options, Progress, Ready, ServeError, Stage, TimePace};
use serde_json::json;
use ssd::kernel::Rng;
use ssd::workload::{FlowBy, ReadOptions, open_trace};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const EINVAL: u32 = 22;
const ENOSPC: u32 = 28;
const EIO: u32 = 5;
const ESHUTDOWN: u32 = 108;

#[test]
fn three_clients_read_what_they_wrote_and_the_recording_replays() {
    for settings in [&[][..], &["buffer.size=64KiB", "buffer.power-loss-protected=false"]] {
        let server = Server::new(&drive(settings));
        let mut clients: Vec<Client> = (0..3).map(|_| server.client()).collect();
        let mut rng = Rng::named(1, "clients");
        // Each has a third of the drive, and its commands inside do not overlap.
        let third = clients[0].size / 3 / PAGE * PAGE;
        let mut plain = vec![vec![0_u8; third as usize]; 3];
        for round in 0..300 {
            for (of, client) in clients.iter_mut().enumerate() {
                let mut inside = BTreeMap::new();
                for lane in 0..6 {
                    let room = third / 6 / SECTOR;
                    let len = (1 + u64::from(rng.below(24))).min(room);
                    let at = lane * room + u64::from(rng.below((room - len + 1) as u32));
                    let (from, bytes) = ((at * SECTOR) as usize, (len * SECTOR) as usize);
                    let mine = &mut plain[of][from..from + bytes];
                    let code = [READ, READ, WRITE, WRITE, TRIM, ZEROES][rng.below(6) as usize];
                    let flags = match code {
                        ZEROES => [0, FUA, NO_HOLE, NO_HOLE | FUA][rng.below(4) as usize],
                        WRITE | TRIM => [0, FUA][rng.below(2) as usize],
                        _ => 0,
                    };
                    let wanted = (code == READ).then(|| mine.to_vec());
                    match code {
                        WRITE => mine.iter_mut().for_each(|b| *b = rng.below(256) as u8),
                        TRIM | ZEROES => mine.fill(0),
                        _ => {}
                    }
                    let data = if code == WRITE { &mine[..] } else { &[] };
                    let offset = of as u64 * third + from as u64;
                    let cookie = client.send(code, flags, offset, bytes as u64, data);
                    inside.insert(cookie, wanted);
                }
                while !inside.is_empty() {
                    let reply = client.take(|c| inside[&c].as_ref().map_or(0, Vec::len));
                    let wanted = inside.remove(&reply.cookie).expect("it was sent");
                    assert_eq!(reply.error, 0);
                    assert_eq!(reply.data, wanted.unwrap_or_default(), "round {round}");
                }
                if rng.below(5) == 0 {
                    client.flush();
                }
            }
        }
        clients[0].send(DISCONNECT, 0, 0, 0, &[]);
        let mut rest = Vec::new();
        assert_eq!(clients[0].stream.read_to_end(&mut rest).unwrap(), 0);
        let result = server.end_and_replay();
        assert!(result["host"]["write"]["requests"].as_u64() > Some(1000));
    }
}

/// Clients that send in batches, and wait for all of one before the next, are not waited for after
/// each answer. Simulated time waits in vain once for each, and now and then if a batch came in
/// parts.
#[test]
fn batches_are_not_waited_for() {
    const BATCHES: u64 = 100;
    for (batch, clients) in [(2, 1), (32, 1), (2, 4), (32, 4)] {
        let server = Server::new(&drive(&["ftl.unmapped-read=flash"]));
        let begun = Instant::now();
        std::thread::scope(|scope| {
            for of in 0..clients {
                let mut client = server.client();
                scope.spawn(move || {
                    for round in 0..BATCHES {
                        client.read_batch((0..batch).map(|i| (of * 64 + round + i) % 256));
                    }
                });
            }
        });
        let took = begun.elapsed();
        let folder = Arc::clone(&server.folder);
        let (result, live) = server.end();
        assert_eq!(result["host"]["read"]["requests"], batch * clients * BATCHES);
        let expired = live["expired_waits"].as_u64().expect("a count");
        println!("{clients} clients, batches of {batch}: {expired} waits in vain, {took:?}");
        // With a wait after each answer there were (batch - 1) in each batch.
        assert!(expired <= BATCHES * clients / 4, "{expired} waits, {clients} clients of {batch}");
        drop(folder);
    }
}

/// A client that keeps 8 inside and asks again after each answer finds 8 inside. The drive of two
/// dies is never idle, and each request takes as long as four reads of a die.
#[test]
fn who_keeps_many_inside_is_waited_for() {
    const ALL: u64 = 2_000;
    let server = Server::new(&drive(&["ftl.unmapped-read=flash"]));
    let mut client = server.client();
    for page in 0..8 {
        client.send(READ, 0, page * PAGE, PAGE, &[]);
    }
    for page in 8..ALL + 8 {
        assert_eq!(client.take(|_| PAGE as usize).error, 0);
        if page < ALL {
            client.send(READ, 0, page % 256 * PAGE, PAGE, &[]);
        }
    }
    let (result, live) = server.end();
    let mean = result["host"]["read"]["latency_ns"]["mean"].as_f64().expect("reads");
    let expired = live["expired_waits"].as_u64().expect("a count");
    println!("{mean} ns, {expired} waits in vain");
    // If the client was kept from asking for a millisecond, nobody waits.
    assert!(mean > 0.5 * 4.0 * 50_000.0 || expired > ALL / 50, "{mean} ns, {expired} waits");
}

/// Three clients that ask 1, 2 and 3 times are flows of 1, 2 and 3 requests. The flush at the end,
/// which no client asked for, is the server's.
#[test]
fn each_connection_is_a_flow_of_the_recording() {
    let server = Server::new(&drive(&[]));
    for asks in 1..=3 {
        let mut client = server.client();
        for page in 0..asks {
            client.write(page * PAGE, &[1; 4096]);
        }
    }
    let (folder, of_drive) = (Arc::clone(&server.folder), server.drive.clone());
    server.end_and_replay();
    let path = folder.path("trace");
    let flow_by = Some(FlowBy::Process);
    let time_unit = Some("s".parse().unwrap());
    let of = |process: Option<&str>| {
        let process = process.map(Into::into);
        let how = ReadOptions { flow_by, time_unit, process, ..ReadOptions::default() };
        open_trace(&path, &how).unwrap()
    };
    let trace = of(None);
    let names: Vec<String> = trace.about().flows.iter().map(|flow| flow.name.clone()).collect();
    assert_eq!(names, ["connection-1", "connection-2", "connection-3", "server"]);
    for (name, requests) in names.iter().zip([1, 2, 3, 1]) {
        assert_eq!(of(Some(name)).about().requests, Some(requests), "{name}");
    }
    let report = ssd::run(&of_drive, trace, &mut ssd::NoCache, &mut |_| true).unwrap();
    for (name, writes) in names.iter().zip([1, 2, 3, 0]) {
        assert_eq!(report.value()["host"]["flows"][name]["write"]["requests"], writes, "{name}");
    }
}

/// The name of the export gives a connection its hint. All requests with data have it, and so has
/// the recording, of which a run gives the same result; a server that goes on with it does, too.
#[test]
fn a_connection_has_the_hint_of_its_export() {
    let folder = Arc::new(Folder::new());
    let store = Some(folder.path("store"));
    let serve = || Server::with(&drive(&[]), Arc::clone(&folder), store.clone(), TimePace::Fast);
    let names = [("", 0), (":hint=3", 3), ("small:hint=255", 255), ("small", 0), (":hint=0", 0)];
    let ask = |server: &Server, from: u64| {
        let mut expected = Vec::new();
        for (page, (name, hint)) in (from..).step_by(4).zip(names) {
            let mut client = Client::of(&server.folder.path("s"), name);
            client.write(page * PAGE, &[1; 4096]);
            assert_eq!(client.ask(WRITE, FUA, (page + 1) * PAGE, PAGE, &[2; 4096]).error, 0);
            client.read(page * PAGE, PAGE);
            assert_eq!(client.ask(TRIM, 0, (page + 1) * PAGE, PAGE, &[]).error, 0);
            client.flush();
            expected.extend([hint, hint, hint, hint, 0]);
        }
        expected
    };
    let server = serve();
    let mut expected = ask(&server, 0);
    for wrong in [":hint=256", ":hint=-1", ":hint=", ":hint=x", "other:hint=3", "small:hint"] {
        let mut stream = server.raw();
        greet(&mut stream);
        let length = (wrong.len() as u32).to_be_bytes();
        option(&mut stream, 7, &[&length[..], wrong.as_bytes(), &[0; 2]].concat());
        let (kind, why) = answers(&mut stream, 7).remove(0);
        assert_eq!(kind, 1 << 31 | 6, "{wrong}");
        let named = wrong.starts_with(":hint=");
        assert_eq!(String::from_utf8(why).unwrap().contains("from 0 to 255"), named, "{wrong}");
    }
    // The old way in has names, too.
    let mut stream = server.raw();
    greet(&mut stream);
    option(&mut stream, 1, b"small:hint=7");
    take::<10>(&mut stream);
    let mut client = Client { stream, size: 0, flags: 0, cookie: 0 };
    client.write(200 * PAGE, &[1; 4096]);
    expected.push(7);
    let hints = || {
        let time_unit = Some("s".parse().unwrap());
        let options = ReadOptions { time_unit, ..ReadOptions::default() };
        let trace = open_trace(&folder.path("trace"), &options).unwrap();
        let mut hints = Vec::new();
        let seen: Result<(), ssd::RunError> = trace.each_batch(|batch| {
            hints.extend(batch.iter().map(|r| r.hint));
            Ok(())
        });
        seen.unwrap();
        hints
    };
    server.end_and_replay();
    // The last flush is the server's own.
    expected.push(0);
    assert_eq!(hints(), expected);
    let server = serve();
    expected.extend(ask(&server, 100));
    server.end_and_replay();
    expected.push(0);
    assert_eq!(hints(), expected);
}

#[test]
fn what_cannot_be_done_is_refused_and_the_connection_goes_on() {
    let server = Server::new(&drive(&[]));
    let mut client = server.client();
    let size = client.size;
    assert_eq!(size, 256 * PAGE);
    // Flags, flush, FUA, trim, zeroes, several connections; and no reply has structure here.
    assert_eq!(client.flags, 0b1_0110_1101);
    let mut data = vec![7; 64 << 10];
    for (code, flags, offset, len, error) in [
        (READ, 0, 1, SECTOR, EINVAL),
        (READ, 0, 0, 100, EINVAL),
        (READ, 0, 0, 0, EINVAL),
        (READ, 0, size, SECTOR, EINVAL),
        (READ, 0, size - SECTOR, 2 * SECTOR, EINVAL),
        (READ, 0, u64::MAX - 511, SECTOR, EINVAL),
        (READ, 0, 0, 33 << 20, EINVAL),
        (READ, 1 << 7, 0, SECTOR, EINVAL),
        (WRITE, 0, 3, SECTOR, EINVAL),
        (WRITE, 0, size, SECTOR, ENOSPC),
        (WRITE, 0, size - SECTOR, 2 * SECTOR, ENOSPC),
        (WRITE, NO_HOLE, 0, SECTOR, EINVAL),
        (WRITE, 0, 0, 34 << 20, EINVAL),
        (TRIM, 0, size, PAGE, ENOSPC),
        (TRIM, 0, 0, 0, EINVAL),
        (ZEROES, 0, size, PAGE, ENOSPC),
        (FLUSH, 0, PAGE, 0, EINVAL),
        (STATUS, 0, 0, PAGE, EINVAL),
        (5, 0, 0, 0, EINVAL),
        (77, 0, 0, 0, EINVAL),
    ] {
        data.resize(len as usize, 7);
        let sent: &[u8] = if code == WRITE { &data } else { &[] };
        let cookie = client.send(code, flags, offset, len, sent);
        let reply = client.take(|_| 0);
        assert_eq!((reply.cookie, reply.error), (cookie, error), "{code} {flags} {offset} {len}");
    }
    client.write(0, &[9; 512]);
    assert_eq!(client.read(0, 1024), [[9; 512], [0; 512]].concat());
    // A message that is not a request ends the connection.
    client.stream.write_all(&[0; 28]).unwrap();
    assert_eq!(client.stream.read(&mut [0; 1]).unwrap(), 0);
    server.end_and_replay();
}

#[test]
fn options_are_answered_and_what_is_not_known_is_unsupported() {
    let server = Server::new(&drive(&[]));
    let mut stream = server.raw();
    greet(&mut stream);
    let unsupported = 1 << 31 | 1;
    // STARTTLS, the former PEEK_EXPORT, extended headers, and an unknown option.
    for unknown in [5, 4, 11, 4711] {
        option(&mut stream, unknown, &[]);
        assert_eq!(answers(&mut stream, unknown)[0].0, unsupported);
    }
    option(&mut stream, 3, &[]);
    let listed = answers(&mut stream, 3);
    assert_eq!(listed, [(2, b"\0\0\0\x05small".to_vec()), (1, Vec::new())]);
    // Contexts need structure first.
    let query = [&[0; 4][..], &[0, 0, 0, 1], &[0, 0, 0, 15], b"base:allocation"].concat();
    option(&mut stream, 10, &query);
    assert_eq!(answers(&mut stream, 10)[0].0, 1 << 31 | 3);
    option(&mut stream, 8, &[]);
    assert_eq!(answers(&mut stream, 8), [(1, Vec::new())]);
    for (to, number) in [(9, 0_u32), (10, 1)] {
        option(&mut stream, to, &query);
        let told = answers(&mut stream, to);
        assert_eq!(told[0], (4, [&number.to_be_bytes()[..], b"base:allocation"].concat()));
        assert_eq!(told[1], (1, Vec::new()));
    }
    // Too long, of another export, and cut short.
    option(&mut stream, 7, &vec![0; 9000]);
    assert_eq!(answers(&mut stream, 7)[0].0, 1 << 31 | 9);
    option(&mut stream, 6, b"\0\0\0\x03foo\0\0");
    assert_eq!(answers(&mut stream, 6)[0].0, 1 << 31 | 6);
    option(&mut stream, 6, b"\0\0\0\x09foo\0\0");
    assert_eq!(answers(&mut stream, 6)[0].0, 1 << 31 | 3);
    // By its name, with all that there is to know of it.
    option(&mut stream, 7, b"\0\0\0\x05small\0\x03\0\x01\0\x03\0\x02");
    let told = answers(&mut stream, 7);
    let kinds: Vec<u8> = told.iter().filter(|(k, _)| *k == 3).map(|(_, d)| d[1]).collect();
    assert_eq!(kinds, [0, 3, 1, 2]);
    assert_eq!(told[1].1[2..], [512_u32, 4096, 32 << 20].map(u32::to_be_bytes).concat());
    // Replies to reads have structure now, and ranges can be asked for.
    let mut client = Client::new(&server.folder.path("s"));
    client.write(8 * PAGE, &[1; 4096]);
    let mut ask = |code: u16, flags: u16, offset: u64, len: u32| {
        let mut out = 0x2560_9513_u32.to_be_bytes().to_vec();
        out.extend([flags.to_be_bytes(), code.to_be_bytes()].concat());
        out.extend([7_u64.to_be_bytes(), offset.to_be_bytes()].concat());
        out.extend(len.to_be_bytes());
        stream.write_all(&out).unwrap();
        assert_eq!(u32_of(&mut stream), 0x668e_33ef);
        let [done, kind] = [0, 0].map(|_: u8| u16::from_be_bytes(take(&mut stream)));
        assert_eq!((done, u64::from_be_bytes(take(&mut stream))), (1, 7));
        let len = u32_of(&mut stream);
        let mut data = vec![0; len as usize];
        stream.read_exact(&mut data).unwrap();
        (kind, data)
    };
    let (kind, data) = ask(READ, 4, 8 * PAGE, 512);
    assert_eq!((kind, &data[..8], &data[8..]), (1, &(8 * PAGE).to_be_bytes()[..], &[1; 512][..]));
    // The memory of the store comes in pieces of 64 KiB.
    let (kind, data) = ask(STATUS, 0, 0, 256 << 10);
    let words: Vec<u32> =
        data.chunks(4).map(|word| u32::from_be_bytes(word.try_into().unwrap())).collect();
    assert_eq!((kind, &words[..]), (5, &[1, 64 << 10, 0, 192 << 10, 3][..]));
    let (kind, data) = ask(STATUS, 8, 0, 256 << 10);
    assert_eq!((kind, data.len()), (5, 12));
    let (kind, data) = ask(READ, 0, 1, 512);
    assert_eq!((kind, &data[..4]), (1 << 15 | 1, &22_u32.to_be_bytes()[..]));
    // The old way in, and the way out.
    let mut stream = server.raw();
    greet(&mut stream);
    option(&mut stream, 1, b"small");
    assert_eq!(u64::from_be_bytes(take(&mut stream)), 256 * PAGE);
    take::<2>(&mut stream);
    let mut stream = server.raw();
    greet(&mut stream);
    option(&mut stream, 2, &[]);
    assert_eq!(answers(&mut stream, 2), [(1, Vec::new())]);
    assert_eq!(stream.read(&mut [0; 1]).unwrap(), 0);
    server.end();
}

#[test]
fn clients_that_hang_lie_or_flood_harm_nobody_else() {
    harm_nobody(TimePace::Fast);
}

#[test]
fn nor_do_they_under_the_real_clock() {
    harm_nobody(TimePace::Real { slowdown: 1.0 });
}

fn harm_nobody(pace: TimePace) {
    let server = Server::with(&drive(&[]), Arc::new(Folder::new()), None, pace);
    // One says nothing, one half a command, one promises more than it sends, one speaks nonsense.
    let silent = server.raw();
    let mut half = server.client();
    half.stream.write_all(&0x2560_9513_u32.to_be_bytes()).unwrap();
    let mut promising = server.client();
    promising.send(WRITE, 0, 0, 32 << 20, &[1; 1000]);
    let mut wrong = server.raw();
    wrong.write_all(&[0xff; 4096]).unwrap();
    // One asks for much and takes none of it.
    let mut flooding = server.client();
    flooding.stream.set_nonblocking(true).unwrap();
    let mut command = 0x2560_9513_u32.to_be_bytes().to_vec();
    command.extend([0; 20]);
    command.extend((1_u32 << 20).to_be_bytes());
    let mut sent = 0;
    while sent < 64 << 20 {
        match flooding.stream.write(&command) {
            Ok(n) => sent += n,
            Err(_) => break,
        }
    }
    // Too many knock.
    let crowd: Vec<_> = (0..70).map(|_| server.raw()).collect();
    drop(crowd);
    let mut good = server.client();
    for page in 0..64 {
        good.write(page * PAGE, &[page as u8; 4096]);
        assert_eq!(good.read(page * PAGE, PAGE), [page as u8; 4096]);
    }
    good.flush();
    // The server's memory for a flood is bounded: its answers, and a command beyond.
    let memory = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = memory.split(' ').nth(1).unwrap().parse().unwrap();
    assert!(pages * 4096 < 1 << 30, "{pages} pages");
    drop((silent, half, promising, flooding));
    server.end_and_replay();
}

/// One client wants the drive for 100 s of wall time and more; with its four places it has all of
/// them, and another is served all the same, in turn.
#[test]
fn a_client_with_a_long_queue_does_not_keep_others_out() {
    let drive = drive(&["host.queue-limit=4", "precondition.fill=full"]);
    let pace = TimePace::Real { slowdown: 1000.0 };
    let server = Server::with(&drive, Arc::new(Folder::new()), None, pace);
    let mut greedy = server.client();
    for _ in 0..2000 {
        greedy.send(READ, 0, 0, PAGE, &[]);
    }
    // Of a client that comes later, and of one that came before it.
    let mut good = server.client();
    for client in [&mut good, &mut server.client()] {
        for _ in 0..3 {
            assert_eq!(client.read(PAGE, PAGE).len(), PAGE as usize);
        }
    }
    let reads = server.control(&json!({ "do": "status" }))["host"]["read"]["requests"].as_u64();
    assert!((6..1000).contains(&reads.unwrap()), "{reads:?}");
    drop(greedy);
    server.end_and_replay();
}

/// A server that ends answers the commands that the drive has taken in, and refuses the others.
#[test]
fn whoever_asked_is_answered_when_the_server_ends() {
    let drive = drive(&["host.queue-limit=4", "precondition.fill=full"]);
    let pace = TimePace::Real { slowdown: 1000.0 };
    let server = Server::with(&drive, Arc::new(Folder::new()), None, pace);
    let mut client = server.client();
    let asked: Vec<u64> = (0..100).map(|_| client.send(READ, 0, 0, PAGE, &[])).collect();
    while server.control(&json!({ "do": "status" }))["inside"] != 4 {}
    let result = server.end_and_replay();
    let mut answered = Vec::new();
    let mut done = 0;
    for _ in &asked {
        let reply = client.take(|_| PAGE as usize);
        assert!([0, ESHUTDOWN].contains(&reply.error), "{reply:?}");
        done += u64::from(reply.error == 0);
        answered.push(reply.cookie);
    }
    answered.sort_unstable();
    assert_eq!(answered, asked);
    assert!((4..100).contains(&done), "{done}");
    assert_eq!(result["host"]["read"]["requests"], done);
    assert_eq!(client.stream.read(&mut [0; 1]).unwrap(), 0);
}

/// A handshake that does not end is ended after ten seconds.
#[test]
#[cfg_attr(not(feature = "verify"), ignore = "it takes ten seconds: `make verify`")]
fn a_silent_client_is_given_up() {
    let server = Server::new(&drive(&[]));
    let (mut silent, asked) = (server.raw(), Instant::now());
    let mut good = server.client();
    let mut heard = Vec::new();
    silent.read_to_end(&mut heard).unwrap();
    assert_eq!(heard.len(), 18, "a greeting");
    assert!(asked.elapsed() >= Duration::from_secs(10), "{:?}", asked.elapsed());
    good.write(0, &[1; 4096]);
    server.end_and_replay();
}

#[test]
fn forty_connections_are_served_at_once() {
    for pace in [TimePace::Fast, TimePace::Real { slowdown: 1.0 }] {
        let server = Server::with(&drive(&[]), Arc::new(Folder::new()), None, pace);
        let mut clients: Vec<Client> = (0..40).map(|_| server.client()).collect();
        for round in 0..5 {
            for (of, client) in clients.iter_mut().enumerate() {
                let data = [(of + 40 * round) as u8; 4096];
                client.send(WRITE, 0, of as u64 * PAGE, PAGE, &data);
                client.send(READ, 0, (of + 1) as u64 * PAGE, PAGE, &[]);
            }
            assert_eq!(server.control(&json!({ "do": "status" }))["clients"], 40);
            for client in &mut clients {
                // The second of each pair is the read.
                let read = |cookie: u64| cookie % 2 == 0;
                for _ in 0..2 {
                    let reply = client.take(|c| if read(c) { PAGE as usize } else { 0 });
                    assert_eq!(reply.error, 0);
                }
            }
            for (of, client) in clients.iter_mut().enumerate() {
                let page = client.read(of as u64 * PAGE, PAGE);
                assert_eq!(page, [(of + 40 * round) as u8; 4096]);
                client.send(DISCONNECT, 0, 0, 0, &[]);
                *client = server.client();
            }
        }
        let (_, how) = server.end();
        assert_eq!(how["connections"], 40 * 6);
    }
}

#[test]
fn a_drive_that_wears_out_refuses_writes_and_still_reads() {
    let server = Server::new(&drive(&["reliability.endurance=4"]));
    let mut client = server.client();
    let mut rng = Rng::named(9, "wear");
    let mut kept = BTreeMap::new();
    let error = loop {
        let page = u64::from(rng.below(200));
        let data = [rng.below(256) as u8; 4096];
        let reply = client.ask(WRITE, 0, page * PAGE, PAGE, &data);
        if reply.error != 0 {
            break reply.error;
        }
        kept.insert(page, data);
    };
    assert_eq!(error, ENOSPC);
    for again in [WRITE, TRIM, ZEROES] {
        let data = [0; 4096];
        let data: &[u8] = if again == WRITE { &data } else { &[] };
        assert_eq!(client.ask(again, 0, 0, PAGE, data).error, ENOSPC);
    }
    for (page, data) in &kept {
        assert_eq!(&client.read(page * PAGE, PAGE), data);
    }
    client.flush();
    let smart = server.control(&json!({ "do": "smart" }));
    assert_eq!(smart["critical_warning"].as_u64().unwrap() & 8, 8);
    let status = server.control(&json!({ "do": "status" }));
    assert_eq!(status["state"], "worn-out");
    let result = server.end_and_replay();
    assert_eq!(result["end"]["state"], "worn-out");
}

#[test]
fn reads_fail_where_a_fault_was_planted() {
    let server = Server::new(&drive(&[]));
    let mut client = server.client();
    client.write(0, &[5; 8192]);
    let fault = json!({ "do": "fault", "offset": 4096, "bytes": 512 });
    assert_eq!(server.control(&fault)["faults"], 1);
    assert_eq!(client.read(0, PAGE), [5; 4096]);
    assert_eq!(client.ask(READ, 0, 0, 2 * PAGE, &[]).error, EIO);
    assert_eq!(client.ask(READ, 0, PAGE, SECTOR, &[]).error, EIO);
    assert_eq!(client.read(PAGE + SECTOR, SECTOR), [5; 512]);
    assert_eq!(server.control(&json!({ "do": "smart" }))["media_errors"], 2);
    server.control(&json!({ "do": "heal" }));
    assert_eq!(client.read(0, 2 * PAGE), [5; 8192]);
    for (wrong, word) in [
        (json!({ "do": "what" }), "one of"),
        (json!({ "do": "fault", "offset": "x" }), "`offset`"),
        (json!([]), "one of"),
    ] {
        let said = server.control(&wrong)["error"].as_str().unwrap().to_owned();
        assert!(said.contains(word), "{said}");
    }
    let noted = std::fs::read_to_string(server.folder.path("trace.events")).unwrap();
    // How it begins, the fault, and its end.
    assert_eq!(noted.lines().count(), 3);
    server.end_and_replay();
}

#[test]
fn places_belong_to_the_user_and_nothing_is_taken_over() {
    let drive = drive(&[]);
    let server = Server::new(&drive);
    let folder = &server.folder;
    for socket in ["s", "c"] {
        let mode = std::fs::metadata(folder.path(socket)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{socket}");
    }
    for file in ["trace", "trace.toml", "trace.events"] {
        let mode = std::fs::metadata(folder.path(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
    let free = Options {
        address: Address::Unix(folder.path("other")),
        insecure: false,
        control: None,
        store: None,
        record: None,
        pace: TimePace::Fast,
    };
    std::fs::write(folder.path("mine"), "precious").unwrap();
    std::os::unix::fs::symlink(folder.path("mine"), folder.path("link")).unwrap();
    std::fs::write(folder.path("long"), vec![b'x'; 10_000]).unwrap();
    std::fs::create_dir(folder.path("folder")).unwrap();
    let unix = |name| Address::Unix(folder.path(name));
    let tcp = |at: &str| Address::Tcp(at.into());
    let of_store = |name| Options { store: Some(folder.path(name)), ..free.clone() };
    let of_trace = |name| Options { record: Some(folder.path(name)), ..free.clone() };
    for (options, word) in [
        (Options { address: unix("s"), ..free.clone() }, "a server listens there"),
        (Options { address: unix("mine"), ..free.clone() }, "not a socket"),
        (Options { control: Some(folder.path("c")), ..free.clone() }, "a server listens there"),
        (Options { address: tcp("0.0.0.0:0"), ..free.clone() }, "--insecure"),
        (Options { address: tcp("nonsense"), ..free.clone() }, "nonsense"),
        (of_store("mine"), "not a store"),
        (of_store("long"), "not a store"),
        (of_store("link"), "symbolic link"),
        (of_store("folder"), "folder"),
        (of_store("none/at/all"), "none/at/all"),
        (of_trace("mine"), "mine"),
        (of_trace("trace"), "trace"),
    ] {
        let error = Ready::new(&drive, &options).err().expect("it is refused").to_string();
        assert!(error.contains(word), "{error}");
    }
    assert!(!folder.path("other").exists(), "a socket that nobody serves is gone");
    assert_eq!(std::fs::read_to_string(folder.path("mine")).unwrap(), "precious");
    // The store of another drive, and one that is in use.
    let kept = Ready::new(&drive, &of_store("store")).unwrap_or_else(|e| panic!("{e}"));
    let again = Options { address: unix("second"), ..of_store("store") };
    let error = Ready::new(&drive, &again).err().expect("it is in use").to_string();
    assert!(error.contains("another server has this store open"), "{error}");
    drop(kept);
    assert!(!folder.path("store").exists(), "no drive was served from it");
    drop(FileStore::open(&folder.path("store"), ssd::capacity(&drive).get()).unwrap());
    let larger = common::drive(&["ftl.spare-factor=0.4"]);
    let error = Ready::new(&larger, &again).err().expect("it is smaller").to_string();
    assert!(error.contains("1048576 bytes"), "{error}");
    // An empty recording does not count as one.
    drop(Ready::new(&drive, &of_trace("unused")).unwrap_or_else(|e| panic!("{e}")));
    assert!(!folder.path("unused").exists());
    server.end();
}

#[test]
fn loopback_is_served_too() {
    let (drive, folder) = (drive(&[]), Folder::new());
    let options = Options {
        address: Address::Tcp("127.0.0.1:0".into()),
        insecure: false,
        control: Some(folder.path("c")),
        store: None,
        record: None,
        pace: TimePace::Fast,
    };
    let ready = Ready::new(&drive, &options).unwrap();
    let at = ready.uri().strip_prefix("nbd://").unwrap().to_owned();
    let mut stream = std::net::TcpStream::connect(at).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let session =
                ssd::open_session(&drive, ssd::Client::BlockDevice, &mut ssd::NoCache, &mut |_| {
                    true
                })
                .unwrap();
            ready.serve(session, &stop, &mut |_| true).unwrap();
        });
        let mut greeting = [0; 18];
        stream.read_exact(&mut greeting).unwrap();
        assert_eq!(&greeting[..16], b"NBDMAGICIHAVEOPT");
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

/// With the real clock answers come no sooner than they are due, and time passes while nobody asks.
/// How much later they come is the machine's affair.
#[test]
fn real_time_passes_as_slowly_as_is_said() {
    let drive = drive(&["precondition.fill=full"]);
    let pace = TimePace::Real { slowdown: 20.0 };
    let server = Server::with(&drive, Arc::new(Folder::new()), None, pace);
    let mut client = server.client();
    // The clock starts with the first request that the drive does not refuse.
    assert_eq!(client.ask(READ, 0, 1, SECTOR, &[]).error, EINVAL);
    std::thread::sleep(Duration::from_millis(30));
    for (pause, op) in [(0, READ), (10, WRITE), (0, READ), (40, READ)] {
        std::thread::sleep(Duration::from_millis(pause));
        let asked = Instant::now();
        let data = [1; 4096];
        let data: &[u8] = if op == WRITE { &data } else { &[] };
        assert_eq!(client.ask(op, 0, 0, PAGE, data).error, 0);
        let least = if op == WRITE { 600 } else { 50 };
        assert!(asked.elapsed() >= Duration::from_micros(20 * least), "{:?}", asked.elapsed());
    }
    let (result, how) = server.end();
    assert_eq!(result["host"]["read"]["requests"], 3);
    assert_eq!(result["host"]["read"]["latency_ns"]["max"], 50_000);
    // 50 ms of pauses and 15 ms of answers, at a twentieth.
    let end = result["simulated_seconds"].as_f64().unwrap();
    assert!(end >= 0.065 / 20.0, "{end}");
    assert!(how["late_share"].as_f64().is_some_and(|share| (0.0..=1.0).contains(&share)));
}

/// Cells that hold data for years, with more errors than the code corrects: reads fail, and each is
/// counted once.
#[test]
fn what_cannot_be_corrected_is_an_error() {
    let drive = drive(&[
        "precondition.fill=full",
        "reliability.model=on",
        "geometry.bits-per-cell=2",
        "reliability.endurance=3000",
        "reliability.initial-cycles=2999",
        "reliability.initial-retention=2y",
        "reliability.correctable=[1e-3, 2e-3, 4e-3]",
        "reliability.uncorrectable=keep",
    ]);
    let server = Server::new(&drive);
    let mut client = server.client();
    let errors: Vec<u32> =
        (0..256).map(|page| client.ask(READ, 0, page * PAGE, PAGE, &[]).error).collect();
    assert!(errors.iter().all(|error| [0, EIO].contains(error)));
    let failed = errors.iter().filter(|&&error| error == EIO).count() as u64;
    let smart = server.control(&json!({ "do": "smart" }));
    assert_eq!(smart["media_errors"], failed);
    assert!(failed > 0);
    // A read after its page was written anew is right.
    let page = errors.iter().position(|&error| error == EIO).unwrap() as u64;
    client.write(page * PAGE, &[3; 4096]);
    assert_eq!(client.read(page * PAGE, PAGE), [3; 4096]);
    let result = server.end_and_replay();
    assert_eq!(result["flash"]["uncorrectable"], failed);
}

/// The recording is replayed before clients are served, and the waiting user sees its progress. A
/// server that is stopped meanwhile leaves it unchanged.
#[test]
fn a_recording_is_found_again_in_sight_and_can_be_stopped() {
    let (drive, folder) = (drive(&[]), Arc::new(Folder::new()));
    let server =
        Server::with(&drive, Arc::clone(&folder), Some(folder.path("store")), TimePace::Fast);
    let mut client = server.client();
    // More than one batch of requests.
    for i in 0..5000 {
        client.write(i % 128 * PAGE, &[i as u8; PAGE as usize]);
    }
    server.end();
    let recorded = std::fs::read_to_string(folder.path("trace")).unwrap();
    let lines = recorded.lines().count() as u64;
    let again = |stop: bool, look: &mut dyn FnMut(Progress) -> bool| {
        let options = Options {
            address: Address::Unix(folder.path("s")),
            insecure: false,
            control: None,
            store: Some(folder.path("store")),
            record: Some(folder.path("trace")),
            pace: TimePace::Fast,
        };
        let session =
            ssd::open_session(&drive, ssd::Client::BlockDevice, &mut ssd::NoCache, &mut |_| true)
                .unwrap();
        let ready = Ready::new(&drive, &options).unwrap();
        ready.serve(session, &AtomicBool::new(stop), look)
    };
    let mut seen = 0;
    let stopped = again(true, &mut |p| {
        seen = p.done;
        true
    });
    assert!(matches!(stopped, Err(ServeError::Drive(ssd::RunError::Stopped))));
    assert!((1..lines).contains(&seen), "it ended after {seen} of {lines}");
    assert_eq!(std::fs::read_to_string(folder.path("trace")).unwrap(), recorded);
    let mut seen = Vec::new();
    let (_, how) = again(false, &mut |p| {
        seen.push((p.stage, p.done, p.total));
        p.stage == Stage::Recovering
    })
    .unwrap();
    assert_eq!(how["recovered_requests"], lines);
    let recovered = seen.iter().rfind(|(stage, ..)| *stage == Stage::Recovering).unwrap();
    assert_eq!(recovered, &(Stage::Recovering, lines, Some(lines)));
    assert_eq!(seen.last().unwrap().0, Stage::Serving);
}

/// Sets it at the end of a test, however that ends: a scope waits for its threads.
struct AtTheEnd<'a>(&'a AtomicBool);

impl Drop for AtTheEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A flood of the control socket does not block clients.
#[test]
fn a_flood_of_questions_keeps_nobody_out() {
    let server = Server::new(&drive(&[]));
    let mut client = server.client();
    let asks = UnixStream::connect(server.folder.path("c")).unwrap();
    asks.set_write_timeout(Some(Duration::from_millis(100))).unwrap();
    let mut hears = asks.try_clone().unwrap();
    hears.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let (over, heard) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let _end = AtTheEnd(&over);
        scope.spawn(|| {
            let lines = b"{}\n".repeat(10_000);
            let mut asks = &asks;
            while !over.load(Ordering::Relaxed) {
                // A part may be taken: then the next line is not JSON, and is answered too.
                let _ = asks.write(&lines);
            }
        });
        scope.spawn(|| {
            let mut piece = vec![0; 1 << 16];
            while !over.load(Ordering::Relaxed) {
                let n = hears.read(&mut piece).unwrap_or(0);
                heard.fetch_add(n as u64, Ordering::Relaxed);
            }
        });
        // It is under way, and goes on meanwhile.
        let flooded = |beyond: u64| {
            let end = Instant::now() + Duration::from_secs(60);
            while heard.load(Ordering::Relaxed) < beyond {
                assert!(Instant::now() < end, "nothing is answered");
                std::thread::yield_now();
            }
        };
        flooded(1 << 20);
        for i in 0..50 {
            let before = heard.load(Ordering::Relaxed);
            client.write(i * PAGE, &[i as u8; PAGE as usize]);
            flooded(before + 1);
        }
    });
    server.end();
}

/// Each line is answered, also more lines than one turn takes, and also if nothing more comes.
#[test]
fn many_lines_at_once_are_all_answered() {
    let server = Server::new(&drive(&[]));
    let mut stream = UnixStream::connect(server.folder.path("c")).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.write_all(&b"{\"do\": \"heal\"}\n".repeat(100)).unwrap();
    let answers = BufReader::new(&stream).lines().take(100);
    assert_eq!(answers.filter(|line| line.as_ref().unwrap().contains("faults")).count(), 100);
    server.end();
}

/// A store goes on with the recording that its data come from, as it was, and with no other.
#[test]
fn a_store_knows_its_recording() {
    let (drive, folder) = (drive(&[]), Arc::new(Folder::new()));
    let store = folder.path("store");
    let serve = |store: &Path| {
        let server =
            Server::with(&drive, Arc::clone(&folder), Some(store.to_owned()), TimePace::Fast);
        server.client().write(0, &[7; PAGE as usize]);
        server.end();
    };
    serve(&store);
    serve(&store);
    let options = |store: &Path, trace: &str| Options {
        address: Address::Unix(folder.path("s")),
        insecure: false,
        control: None,
        store: Some(store.to_owned()),
        record: Some(folder.path(trace)),
        pace: TimePace::Fast,
    };
    let refused = |store: &Path, trace: &str| {
        Ready::new(&drive, &options(store, trace)).err().map(|e| e.to_string())
    };
    let keep = |name: &str| {
        for ending in ["", ".toml", ".events"] {
            let from = folder.path(&format!("trace{ending}"));
            std::fs::copy(from, folder.path(&format!("{name}{ending}"))).unwrap();
        }
    };
    // A copy is as good as the recording; another one, and one that was changed, are not.
    keep("copy");
    assert_eq!(refused(&store, "copy"), None);
    let text = std::fs::read_to_string(folder.path("copy")).unwrap();
    std::fs::write(folder.path("copy"), &text[..=text.find('\n').unwrap()]).unwrap();
    let said = refused(&store, "copy").expect("it is shorter");
    assert!(said.contains("not what it was when the last server of the store ended"), "{said}");
    for ending in ["", ".toml", ".events"] {
        std::fs::remove_file(folder.path(&format!("trace{ending}"))).unwrap();
    }
    let other = folder.path("other-store");
    serve(&other);
    let said = refused(&store, "trace").expect("it is that of the other store");
    assert!(said.contains("not the recording that the data in the store come from"), "{said}");
    assert_eq!(refused(&other, "trace"), None);
}

/// If no control socket is named, it is next to that of the clients.
#[test]
fn there_is_always_a_control_socket() {
    let (drive, folder) = (drive(&[]), Folder::new());
    let options = Options {
        address: Address::Unix(folder.path("s")),
        insecure: false,
        control: None,
        store: None,
        record: None,
        pace: TimePace::Fast,
    };
    let ready = Ready::new(&drive, &options).unwrap();
    assert_eq!(ready.control(), folder.path("s.control"));
    assert!(UnixStream::connect(ready.control()).is_ok());
    drop(ready);
    assert!(!folder.path("s.control").exists());
    let long = Options { address: Address::Unix(folder.path(&"x".repeat(200))), ..options };
    let said = Ready::new(&drive, &long).err().expect("it is too long").to_string();
    assert!(said.contains("at most 107 bytes"), "{said}");
}

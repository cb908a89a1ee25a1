//! Calls as a program in C makes them, right ones and wrong ones.

use floatgate::{
    FLOATGATE_ABI_VERSION, FLOATGATE_NONE, FloatgateCompletion, FloatgateOptions, FloatgateRequest,
    FloatgateSession, Status, floatgate_advance, floatgate_capacity, floatgate_close,
    floatgate_last_error, floatgate_next_at, floatgate_now, floatgate_open, floatgate_outstanding,
    floatgate_result_json, floatgate_submit, floatgate_take,
};
use serde_json::Value;
use ssd::kernel::Rng;
use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr;

/// A drive of 512 KiB that is quick to open.
pub(crate) const SMALL: [&str; 8] = [
    "geometry.channels=2",
    "geometry.chips-per-channel=1",
    "geometry.planes-per-die=1",
    "geometry.blocks-per-plane=16",
    "geometry.pages-per-block=8",
    "geometry.page-size=4KiB",
    "ftl.spare-factor=0.5",
    "precondition.fill=full",
];

const HANDLE: c_int = Status::Handle as c_int;

fn words() -> String {
    // SAFETY: it is a text, until the next call.
    unsafe { CStr::from_ptr(floatgate_last_error()) }.to_str().expect("it is UTF-8").to_owned()
}

fn open_with(settings: &[&str], flows: &[&str]) -> Result<*mut FloatgateSession, c_int> {
    let owned = |texts: &[&str]| -> Vec<CString> {
        texts.iter().map(|text| CString::new(*text).expect("no zero")).collect()
    };
    let (settings, flows) = (owned(settings), owned(flows));
    let pointers =
        |texts: &[CString]| -> Vec<*const c_char> { texts.iter().map(|t| t.as_ptr()).collect() };
    let (of_settings, of_flows) = (pointers(&settings), pointers(&flows));
    let options = FloatgateOptions {
        abi_version: FLOATGATE_ABI_VERSION,
        flow_count: of_flows.len() as u32,
        seed: 7,
        settings: of_settings.as_ptr(),
        policies: ptr::null(),
        flows: of_flows.as_ptr(),
        record: ptr::null(),
        setting_count: of_settings.len() as u32,
        policy_count: 0,
        has_seed: 1,
        reserved: [0; 7],
    };
    let mut session = ptr::null_mut();
    // SAFETY: everything is as the header says.
    let code = unsafe { floatgate_open(c"agcr".as_ptr(), &raw const options, &raw mut session) };
    if code == 0 { Ok(session) } else { Err(code) }
}

fn request(op: u32, offset: u64, length: u64) -> FloatgateRequest {
    FloatgateRequest {
        at: FLOATGATE_NONE,
        offset,
        length,
        token: 0,
        op,
        flow: 0,
        hint: 0,
        urgent: 0,
        reserved: 0,
    }
}

fn submit(session: *mut FloatgateSession, request: &FloatgateRequest) -> Result<u64, c_int> {
    let mut at = 0;
    // SAFETY: both are places.
    match unsafe { floatgate_submit(session, request, &raw mut at) } {
        0 => Ok(at),
        code => Err(code),
    }
}

fn take(session: *mut FloatgateSession) -> Vec<FloatgateCompletion> {
    let mut all = Vec::new();
    loop {
        let mut some = [FloatgateCompletion { token: 0, at: 0, latency: 0 }; 3];
        let mut count = 0;
        // SAFETY: there is room for three.
        let code = unsafe { floatgate_take(session, some.as_mut_ptr(), 3, &raw mut count) };
        assert_eq!(code, 0);
        all.extend_from_slice(&some[..count]);
        if count < 3 {
            return all;
        }
    }
}

fn result(session: *mut FloatgateSession) -> Value {
    let mut json = ptr::null();
    // SAFETY: it is a place.
    assert_eq!(unsafe { floatgate_result_json(session, &raw mut json) }, 0, "{}", words());
    // SAFETY: it is a text.
    let text = unsafe { CStr::from_ptr(json) };
    serde_json::from_slice(text.to_bytes()).expect("it is JSON")
}

fn read(
    call: unsafe extern "C" fn(*mut FloatgateSession, *mut u64) -> c_int,
    of: *mut FloatgateSession,
) -> u64 {
    let mut value = 0;
    // SAFETY: it is a place.
    assert_eq!(unsafe { call(of, &raw mut value) }, 0);
    value
}

#[test]
fn a_read_of_one_page_takes_what_the_drive_says() {
    let session = open_with(&SMALL, &[]).expect("it opens");
    assert_eq!(submit(session, &FloatgateRequest { token: 9, ..request(0, 0, 4096) }), Ok(0));
    assert_eq!(read(floatgate_outstanding, session), 1);
    assert_eq!(read(floatgate_next_at, session), 170_000);
    assert_eq!(floatgate_advance(session, FLOATGATE_NONE), 0);
    let done = FloatgateCompletion { token: 9, at: 170_000, latency: 170_000 };
    assert_eq!(take(session), [done]);
    assert_eq!(read(floatgate_now, session), 170_000);
    let value = result(session);
    assert_eq!(value["host"]["read"]["latency_ns"]["max"], 170_000);
    assert_eq!(result(session), value);
    assert_eq!(submit(session, &request(0, 0, 4096)), Err(Status::Ended as c_int));
    assert_eq!(floatgate_close(session), 0);
    assert_eq!(floatgate_close(session), HANDLE);
    assert_eq!(words(), "this is not an open session");
}

#[test]
fn what_cannot_be_opened_is_an_error_with_its_reason() {
    for (settings, flows, reason) in [
        (&["precondition.fill=touched"][..], &[][..], "touched"),
        (&["host.mode=queue-depth"], &[], "host.mode"),
        (&["geometry.chanels=2"], &[], "chanels"),
        (&["precondition.fill=full"], &["a", "a"], "named twice"),
    ] {
        assert_eq!(open_with(settings, flows), Err(Status::Drive as c_int));
        assert!(words().contains(reason), "{}", words());
    }
    let mut session = ptr::null_mut();
    // SAFETY: a null is allowed everywhere.
    unsafe {
        assert_eq!(floatgate_open(ptr::null(), ptr::null(), &raw mut session), 2);
        assert_eq!(floatgate_open(c"agcr".as_ptr(), ptr::null(), ptr::null_mut()), 2);
        assert_eq!(floatgate_open(c"agrc".as_ptr(), ptr::null(), &raw mut session), 3);
    }
    assert!(words().contains("agcr"), "{}", words());
    assert!(session.is_null());
}

/// Wrong orders, handles, times and addresses, at random. Each is an error with the code for it, and the
/// session gives the same result as one without them.
pub(crate) fn random_calls(calls: u32) {
    let (good, twin) = (open_with(&SMALL, &[]), open_with(&SMALL, &[]));
    let (session, twin) = (good.expect("it opens"), twin.expect("it opens"));
    let capacity = read(floatgate_capacity, session);
    let closed = open_with(&SMALL, &[]).expect("it opens");
    assert_eq!(floatgate_close(closed), 0);
    let local = 0_u64;
    let mut rng = Rng::named(5, "wrong calls");
    let mut seen = [0_u32; 8];
    for _ in 0..calls {
        let now = read(floatgate_now, session);
        let code = match rng.below(16) {
            0 => {
                let wrong: [*mut FloatgateSession; 5] = [
                    ptr::null_mut(),
                    closed,
                    (&raw const local).cast_mut().cast(),
                    ptr::without_provenance_mut(usize::MAX),
                    ptr::without_provenance_mut(session.addr() ^ (1 << (32 + rng.below(30)))),
                ];
                let wrong = wrong[rng.below(5) as usize];
                if wrong == twin {
                    continue;
                }
                let code = match rng.below(3) {
                    0 => submit(wrong, &request(0, 0, 4096)).unwrap_err(),
                    1 => floatgate_advance(wrong, FLOATGATE_NONE),
                    _ if wrong.is_null() => HANDLE,
                    _ => floatgate_close(wrong),
                };
                assert_eq!(code, HANDLE);
                code
            }
            1 if now > 0 => {
                let at = u64::from(rng.below(now.min(1 << 30) as u32));
                let code = if rng.below(2) == 0 {
                    floatgate_advance(session, at)
                } else {
                    submit(session, &FloatgateRequest { at, ..request(1, 0, 512) }).unwrap_err()
                };
                assert_eq!(code, Status::Past as c_int);
                code
            }
            2 => {
                let beyond = capacity - u64::from(rng.below(4096));
                let code = submit(session, &request(rng.below(3), beyond, 4097)).unwrap_err();
                assert_eq!(code, Status::Capacity as c_int);
                code
            }
            3 => {
                let wrong = [
                    request(5 + rng.below(9), 0, 512),
                    request(0, 0, 0),
                    request(3, 0, 512),
                    request(1, 0, u64::MAX),
                    FloatgateRequest { flow: 1, ..request(0, 0, 512) },
                    FloatgateRequest { urgent: 2, ..request(0, 0, 512) },
                    FloatgateRequest { reserved: 1, ..request(0, 0, 512) },
                ];
                let code = submit(session, &wrong[rng.below(7) as usize]).unwrap_err();
                assert_eq!(code, Status::Argument as c_int);
                code
            }
            4 => {
                // SAFETY: null is refused.
                let code = unsafe { floatgate_next_at(session, ptr::null_mut()) };
                assert_eq!(code, Status::Argument as c_int);
                code
            }
            5 | 6 => {
                let until = now + u64::from(rng.below(300_000));
                assert_eq!(floatgate_advance(session, until), floatgate_advance(twin, until));
                assert_eq!(take(session), take(twin));
                0
            }
            kind => {
                let page = u64::from(rng.below((capacity / 4096) as u32)) * 4096;
                let op = [0, 0, 0, 1, 1, 2, 4][(kind - 7).min(6) as usize];
                let one = request(op, page, 4096);
                assert_eq!(submit(session, &one), submit(twin, &one));
                0
            }
        };
        seen[code as usize] += 1;
    }
    assert!(seen[..5].iter().enumerate().all(|(code, n)| *n > 0 || code == 3), "{seen:?}");
    let bare = |session| {
        let mut value = result(session);
        value["timing"] = Value::Null;
        assert_eq!(floatgate_close(session), 0);
        value
    };
    assert_eq!(bare(session), bare(twin));
}

#[test]
fn wrong_calls_are_errors_and_leave_the_session_as_it_was() {
    random_calls(20_000);
}

#[test]
#[ignore = "`make verify`: a million calls"]
fn a_million_calls() {
    random_calls(1_000_000);
}

/// The small drive under settings, as Rust has it.
fn drive(settings: &[&str], policies: &[String]) -> ssd::Drive {
    let text = ssd::presets().iter().find(|(name, _)| *name == "agcr").expect("there is one").1;
    let set: Vec<String> = ["host.mode=timestamps", "host.speed=1.0"]
        .iter()
        .chain(settings)
        .map(|text| (*text).to_owned())
        .collect();
    let layers = ssd::Layers {
        file: ("agcr", text),
        library: &|_| None,
        set: &set,
        policy: policies,
        seed: Some(7),
    };
    let mut drive = ssd::config::load(&layers).expect("it is right");
    drive.recording.requests = false;
    ssd::BUILD.clone_into(&mut drive.build);
    drive
}

/// Ten random drives: the result of a session in C is that of a run over the same requests.
#[test]
fn a_session_in_c_is_the_run_of_what_came() {
    use ssd::kernel::{Prio, Time};
    use ssd::workload::{About, Flow, List, Named, Op, Request, Workload};
    const OPS: [Op; 5] = [Op::Read, Op::Write, Op::Trim, Op::Flush, Op::WriteFua];
    let mut rng = Rng::named(51, "drives in C");
    for number in 0..10 {
        let mut pick = |of: &[&'static str]| of[rng.below(of.len() as u32) as usize];
        let arbiter = ["merge", "round-robin", "weighted", "fair"][number % 4];
        let policy = |family: &str, name: &str| format!("policies.{family}={name}");
        let own = [
            pick(&["buffer.size=0B", "buffer.size=64KiB"]),
            pick(&["host.queue-limit=2", "host.queue-limit=1024"]),
            pick(&["ftl.gc.background-stop=0", "ftl.gc.background-stop=4"]),
        ];
        let policies = [
            policy("arbitration", arbiter),
            policy("victim", pick(&["greedy", "fifo", "random"])),
            policy("wear", pick(&["none", "static"])),
            policy("order", pick(&["fifo", "read-first"])),
        ];
        let policies = policies.each_ref().map(String::as_str);
        let settings: Vec<&str> = [&SMALL[..], &own, &policies].concat();
        let flows: &[&str] = if number % 4 > 0 { &["a", "b"] } else { &[] };
        let session = open_with(&settings, flows).unwrap_or_else(|_| panic!("{}", words()));
        let capacity = read(floatgate_capacity, session);
        let mut came = Vec::new();
        for _ in 0..400 {
            let op = rng.below(5);
            let length = if op == 3 { 0 } else { [512, 4096, 12_288][rng.below(3) as usize] };
            let places = ((capacity - length) / 512) as u32;
            let offset = if op == 3 { 0 } else { u64::from(rng.below(places)) * 512 };
            let at = read(floatgate_now, session) + u64::from(rng.below(400_000));
            let flow = rng.below(flows.len().max(1) as u32) as u8;
            let urgent = u8::from(rng.below(8) == 0);
            let one = FloatgateRequest { at, flow, urgent, ..request(op, offset, length) };
            let arrived = submit(session, &one).unwrap_or_else(|_| panic!("{}", words()));
            came.push(Request {
                at: Time::from_ns(arrived),
                offset,
                len: length as u32,
                op: OPS[op as usize],
                prio: if urgent == 1 { Prio::High } else { Prio::Normal },
                flow,
                hint: 0,
            });
        }
        let mut ours = result(session);
        assert_eq!(floatgate_close(session), 0);
        let list = List::new("list", came).expect("they came in order");
        let flow = |name: &&str| Flow {
            name: (*name).to_owned(),
            weight: 1,
            depth: None,
            region: (0, capacity),
        };
        let about = About { flows: flows.iter().map(flow).collect(), ..list.about().clone() };
        let again = ssd::run(
            &drive(&settings, &[]),
            Box::new(Named::new(Box::new(list), about)),
            &mut ssd::NoCache,
            &mut |_| true,
        );
        // Read back as well, because reading rounds fractions.
        let text = again.expect("it runs").value().to_string();
        let mut again: Value = serde_json::from_str(&text).expect("it is JSON");
        for value in [&mut ours, &mut again] {
            value["timing"] = Value::Null;
            value["provenance"]["workload"] = Value::Null;
        }
        let keys = ours.as_object().expect("a result").keys();
        for key in keys {
            assert_eq!(ours[key], again[key], "drive {number}: {settings:?}");
        }
    }
}

#[test]
fn threads_have_sessions_and_errors_of_their_own() {
    let work = |number: u64| {
        let session = open_with(&SMALL, &["a", "b"]).expect("it opens");
        assert_eq!(submit(session, &request(0, number << 40, 512)), Err(Status::Capacity as c_int));
        for page in 0..100 {
            let of =
                FloatgateRequest { flow: (page % 2) as u8, ..request(1, page % 50 * 4096, 4096) };
            submit(session, &of).expect("it is taken");
        }
        std::thread::yield_now();
        assert!(words().contains(&(number << 40).to_string()), "{}", words());
        let mut value = result(session);
        assert_eq!(floatgate_close(session), 0);
        value["timing"] = Value::Null;
        value
    };
    let all: Vec<Value> = std::thread::scope(|scope| {
        let threads: Vec<_> = (1..5).map(|number| scope.spawn(move || work(number))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no check failed")).collect()
    });
    assert!(all.windows(2).all(|pair| pair[0] == pair[1]));
}

/// Nanoseconds of the quickest of some rounds.
fn quickest(mut round: impl FnMut() -> std::time::Duration) -> f64 {
    (0..7).map(|_| round().as_nanos() as f64).fold(f64::MAX, f64::min)
}

/// Requests that cost the drive little, by the C interface and by the session of Rust.
#[test]
#[ignore = "`make verify`: it measures time"]
#[expect(clippy::disallowed_methods, reason = "it measures time")]
fn a_request_costs_at_most_100_ns_more_than_in_rust() {
    use ssd::kernel::{Prio, Time};
    use ssd::workload::{Op, Request};
    use ssd::{Client, NoCache, open_session};
    use std::time::Instant;
    const REQUESTS: u64 = 100_000;
    let in_c = quickest(|| {
        let session = open_with(&SMALL, &[]).expect("it opens");
        let start = Instant::now();
        for token in 0..REQUESTS {
            let one = FloatgateRequest { token, ..request(0, token % 64 * 4096, 4096) };
            submit(session, &one).expect("it is taken");
            if token % 64 == 63 {
                assert_eq!(floatgate_advance(session, FLOATGATE_NONE), 0);
                assert_eq!(take(session).len(), 64);
            }
        }
        let took = start.elapsed();
        assert_eq!(floatgate_close(session), 0);
        took
    });
    let drive = drive(&SMALL, &[]);
    let in_rust = quickest(|| {
        let mut session = open_session(&drive, Client::Program(&[]), &mut NoCache, &mut |_| true)
            .expect("it opens");
        let start = Instant::now();
        for token in 0..REQUESTS {
            let one = Request {
                at: Time::ZERO,
                offset: token % 64 * 4096,
                len: 4096,
                op: Op::Read,
                prio: Prio::Normal,
                flow: 0,
                hint: 0,
            };
            session.arrive(&one, token as u32).expect("it is taken");
            if token % 64 == 63 {
                session.pass(None, &mut || true);
                while session.take_done().is_some() {}
            }
        }
        start.elapsed()
    });
    let more = (in_c - in_rust) / REQUESTS as f64;
    println!("{:.0} ns a request in Rust, {more:.0} ns more in C", in_rust / REQUESTS as f64);
    assert!(more <= 100.0, "{more} ns");
}

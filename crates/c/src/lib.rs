//! The C interface. `include/floatgate.h` is written by hand and describes each function;
//! `tests/header.rs` compares it with this file.
//!
//! No panic crosses the border: each function carries its work out in [`call`]. A handle is the number of
//! an entry in a table, so that a wrong one is an error and no access to memory.

#![allow(unsafe_code, reason = "C passes pointers")]
#![allow(clippy::disallowed_methods, reason = "the interface may read the clock")]

mod clock;
mod drive;
mod table;

use clock::SessionClock;
use ssd::kernel::Prio;
use ssd::workload::Op;
use ssd::{Client, Embedded, NoCache, Refusal, RunError, Submission};
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int};
use std::fs::{self, File};
use std::io::BufWriter;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::ptr;
use table::{Handle, SessionEntry};

/// The version of the interface: it changes with a function, a struct or a code.
pub const FLOATGATE_ABI_VERSION: u32 = 2;
/// No time.
pub const FLOATGATE_NONE: u64 = u64::MAX;

/// The outcome of a call that failed.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(i32)]
pub enum Status {
    /// The session is closed, or never was one.
    Handle = 1,
    /// A pointer is null, a text is not UTF-8, a value is out of range.
    Argument = 2,
    /// The drive, a setting or a policy is wrong.
    Drive = 3,
    /// A time has passed, or lies beyond the end of time.
    Past = 4,
    /// The request ends beyond the capacity.
    Capacity = 5,
    /// The life of the drive has ended.
    WornOut = 6,
    /// The session has its result.
    Ended = 7,
    /// A file cannot be read or written.
    File = 8,
    /// A bug of ours.
    Internal = 9,
}

/// A failure: its code and its message.
pub(crate) struct Failure(Status, String);

type Outcome = Result<(), Failure>;

fn failure<T>(status: Status, words: impl Into<String>) -> Result<T, Failure> {
    Err(Failure(status, words.into()))
}

/// A session, as C names it. Nothing is behind the pointer.
#[repr(C)]
pub struct FloatgateSession {
    _opaque: [u8; 0],
}

/// `floatgate_options`.
#[derive(Copy, Clone, Debug)]
#[repr(C)]
pub struct FloatgateOptions {
    /// [`FLOATGATE_ABI_VERSION`].
    pub abi_version: u32,
    /// Entries of `flows`.
    pub flow_count: u32,
    /// The seed, if `has_seed`.
    pub seed: u64,
    /// Settings.
    pub settings: *const *const c_char,
    /// Policies.
    pub policies: *const *const c_char,
    /// Names of flows.
    pub flows: *const *const c_char,
    /// The file for the requests, or null.
    pub record: *const c_char,
    /// Entries of `settings`.
    pub setting_count: u32,
    /// Entries of `policies`.
    pub policy_count: u32,
    /// Whether `seed` counts.
    pub has_seed: u8,
    /// 0.
    pub reserved: [u8; 7],
}

/// `floatgate_request`.
#[derive(Copy, Clone, Debug)]
#[repr(C)]
pub struct FloatgateRequest {
    /// The earliest arrival in ns, or [`FLOATGATE_NONE`].
    pub at: u64,
    /// The first byte.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
    /// The completion has it.
    pub token: u64,
    /// The operation, from 0 to 4.
    pub op: u32,
    /// The number of its flow.
    pub flow: u8,
    /// The hint about the data of a write; 0: none.
    pub hint: u8,
    /// 1: high priority.
    pub urgent: u8,
    /// 0.
    pub reserved: u8,
}

/// `floatgate_completion`.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct FloatgateCompletion {
    /// That of the request.
    pub token: u64,
    /// When it was done, in ns.
    pub at: u64,
    /// From its arrival until then, in ns.
    pub latency: u64,
}

thread_local! {
    static LAST_ERROR: RefCell<CString> = RefCell::new(CString::default());
}

/// Keeps the message of a failure for this thread, and returns its code.
fn failed(Failure(status, words): Failure) -> c_int {
    let words = CString::new(words.replace('\0', "\\0")).unwrap_or_default();
    // A thread that is ending has no place for it any more.
    let _ = LAST_ERROR.try_with(|last| last.replace(words));
    status as c_int
}

/// Carries out a call.
fn call(work: impl FnOnce() -> Outcome) -> c_int {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => 0,
        Ok(Err(failure)) => failed(failure),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            let text = text.unwrap_or("a check failed");
            failed(Failure(Status::Internal, format!("a bug of floatgate: {text}")))
        }
    }
}

/// Carries out a call on a session. One that panics leaves the session closed to all but `floatgate_close`.
fn on(session: *mut FloatgateSession, work: impl FnOnce(&mut HeldSession) -> Outcome) -> c_int {
    call(|| {
        let Some(entry) = table::find(Handle::of(session)) else {
            return failure(Status::Handle, "this is not an open session");
        };
        let mut guard = entry.lock();
        let state = &mut *guard;
        if matches!(state, HeldSession::Broken) {
            return failure(Status::Internal, "the session met a bug of floatgate; close it");
        }
        match catch_unwind(AssertUnwindSafe(|| work(state))) {
            Ok(outcome) => outcome,
            Err(panic) => {
                *state = HeldSession::Broken;
                drop(guard);
                std::panic::resume_unwind(panic)
            }
        }
    })
}

/// The state of a session.
pub(crate) enum HeldSession {
    /// It takes requests.
    Open(Box<Embedded>, Option<SessionFile>, SessionClock),
    /// It has its result.
    Ended(CString),
    /// A check of ours failed.
    Broken,
}

/// The file of the requests, removed unless it becomes whole.
pub(crate) struct SessionFile {
    unfinished: PathBuf,
    name: PathBuf,
}

impl Drop for SessionFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.unfinished);
    }
}

impl HeldSession {
    fn open(&mut self) -> Result<&mut Embedded, Failure> {
        match self {
            Self::Open(embedded, ..) => Ok(embedded),
            _ => failure(Status::Ended, "the session has its result and takes no more calls"),
        }
    }
}

fn of_refusal(refusal: &Refusal) -> Failure {
    let status = match refusal {
        Refusal::Past { .. } | Refusal::Late { .. } => Status::Past,
        Refusal::Beyond { .. } => Status::Capacity,
        Refusal::Length { .. } | Refusal::Flow { .. } | Refusal::Handle { .. } => Status::Argument,
        Refusal::WornOut { .. } => Status::WornOut,
        Refusal::Record(_) => Status::File,
    };
    Failure(status, refusal.to_string())
}

/// A text of C.
///
/// # Safety
/// The pointer is null, or that of a text with a zero at its end.
unsafe fn text<'a>(pointer: *const c_char, what: &str) -> Result<&'a str, Failure> {
    if pointer.is_null() {
        return failure(Status::Argument, format!("{what} is null"));
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().or_else(|_| failure(Status::Argument, format!("{what} is not UTF-8")))
}

/// A list of texts of C.
///
/// # Safety
/// The list has `count` pointers, each of which is null or that of a text.
unsafe fn texts(
    list: *const *const c_char,
    count: u32,
    what: &str,
) -> Result<Vec<String>, Failure> {
    if count == 0 {
        return Ok(Vec::new());
    }
    if list.is_null() {
        return failure(Status::Argument, format!("{what} is null, and there are {count}"));
    }
    let one = |at: usize| {
        // SAFETY: the caller's promise.
        unsafe { text(*list.add(at), &format!("{what}[{at}]")) }.map(str::to_owned)
    };
    (0..count as usize).map(one).collect()
}

/// Writes a value where C wants it.
///
/// # Safety
/// The pointer is null, or that of a place for it.
unsafe fn put<T>(place: *mut T, value: T, what: &str) -> Outcome {
    if place.is_null() {
        return failure(Status::Argument, format!("{what} is null"));
    }
    // SAFETY: the caller's promise.
    unsafe { place.write(value) };
    Ok(())
}

/// The version of the interface.
#[unsafe(no_mangle)]
pub extern "C" fn floatgate_abi_version() -> u32 {
    FLOATGATE_ABI_VERSION
}

/// The last failure on this thread.
#[unsafe(no_mangle)]
pub extern "C" fn floatgate_last_error() -> *const c_char {
    LAST_ERROR.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

/// Opens a drive.
///
/// # Safety
/// Texts end with a zero, lists have as many entries as they say, and `session` is a place for a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn floatgate_open(
    drive: *const c_char,
    options: *const FloatgateOptions,
    session: *mut *mut FloatgateSession,
) -> c_int {
    call(|| {
        // SAFETY: as promised.
        unsafe { put(session, ptr::null_mut(), "session") }?;
        // SAFETY: as promised.
        let drive = unsafe { text(drive, "drive") }?;
        // SAFETY: as promised.
        let options = unsafe { options.as_ref() };
        // SAFETY: as promised.
        let asked = options.map(|options| unsafe { read(options) }).transpose()?;
        let state = open(drive, asked.unwrap_or_default())?;
        let handle = table::add(SessionEntry::new(state));
        // SAFETY: it is not null.
        unsafe { session.write(handle.pointer()) };
        Ok(())
    })
}

/// Options, checked.
#[derive(Default)]
struct Asked {
    settings: Vec<String>,
    policies: Vec<String>,
    flows: Vec<String>,
    record: Option<PathBuf>,
    seed: Option<u64>,
}

/// # Safety
/// As for `floatgate_open`.
unsafe fn read(options: &FloatgateOptions) -> Result<Asked, Failure> {
    if options.abi_version != FLOATGATE_ABI_VERSION {
        let FloatgateOptions { abi_version, .. } = options;
        return failure(
            Status::Argument,
            format!(
                "options.abi_version is {abi_version}, and this library has {FLOATGATE_ABI_VERSION}"
            ),
        );
    }
    if options.reserved != [0; 7] {
        return failure(Status::Argument, "options.reserved is not 0");
    }
    // SAFETY: the caller's promise, for each of them.
    unsafe {
        let record = if options.record.is_null() {
            None
        } else {
            Some(PathBuf::from(text(options.record, "options.record")?))
        };
        Ok(Asked {
            settings: texts(options.settings, options.setting_count, "options.settings")?,
            policies: texts(options.policies, options.policy_count, "options.policies")?,
            flows: texts(options.flows, options.flow_count, "options.flows")?,
            record,
            seed: (options.has_seed != 0).then_some(options.seed),
        })
    }
}

fn open(name: &str, asked: Asked) -> Result<HeldSession, Failure> {
    let Asked { mut settings, policies, flows, record, seed } = asked;
    // Requests arrive when they are submitted, under any preset; a setting that contradicts this is
    // refused.
    settings.splice(..0, ["host.mode=timestamps".to_owned(), "host.speed=1.0".to_owned()]);
    let mut drive = drive::load(name, &settings, &policies, seed)
        .map_err(|words| Failure(Status::Drive, words))?;
    drive.recording.requests = false;
    let clock = SessionClock::start();
    let session = ssd::open_session(&drive, Client::Program(&flows), &mut NoCache, &mut |_| true);
    let mut embedded =
        Embedded::new(session.map_err(|e: RunError| Failure(Status::Drive, e.to_string()))?);
    let recording = record.map(|path| recorded(&mut embedded, path)).transpose()?;
    Ok(HeldSession::Open(Box::new(embedded), recording, clock.ready()))
}

fn recorded(embedded: &mut Embedded, name: PathBuf) -> Result<SessionFile, Failure> {
    let unusable = |why: String| Failure(Status::File, format!("{}: {why}", name.display()));
    if name.exists() {
        return Err(unusable("there is such a file already, and it is not replaced".into()));
    }
    let mut unfinished = name.clone().into_os_string();
    unfinished.push(".unfinished");
    let unfinished = PathBuf::from(unfinished);
    let file = File::create_new(&unfinished).map_err(|e| unusable(e.to_string()))?;
    embedded.record(Box::new(BufWriter::new(file)));
    Ok(SessionFile { unfinished, name })
}

/// Closes a session.
#[unsafe(no_mangle)]
pub extern "C" fn floatgate_close(session: *mut FloatgateSession) -> c_int {
    call(|| match table::remove(Handle::of(session)) {
        Some(_) => Ok(()),
        None if session.is_null() => Ok(()),
        None => failure(Status::Handle, "this is not an open session"),
    })
}

/// Bytes of the drive.
///
/// # Safety
/// `bytes` is null or a place for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn floatgate_capacity(
    session: *mut FloatgateSession,
    bytes: *mut u64,
) -> c_int {
    // SAFETY: as promised.
    on(session, |state| unsafe { put(bytes, state.open()?.capacity(), "bytes") })
}

/// Submits a request.
///
/// # Safety
/// `request` is null or that of a request, `arrival` null or a place for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn floatgate_submit(
    session: *mut FloatgateSession,
    request: *const FloatgateRequest,
    arrival: *mut u64,
) -> c_int {
    on(session, |state| {
        let embedded = state.open()?;
        // SAFETY: as promised.
        let Some(request) = (unsafe { request.as_ref() }) else {
            return failure(Status::Argument, "request is null");
        };
        let op = match request.op {
            0 => Op::Read,
            1 => Op::Write,
            2 => Op::Trim,
            3 => Op::Flush,
            4 => Op::WriteFua,
            other => return failure(Status::Argument, format!("op {other} is not from 0 to 4")),
        };
        let prio = match request.urgent {
            0 => Prio::Normal,
            1 => Prio::High,
            other => return failure(Status::Argument, format!("urgent {other} is not 0 or 1")),
        };
        if request.reserved != 0 {
            return failure(Status::Argument, "request.reserved is not 0");
        }
        let &FloatgateRequest { at, offset, length, token, flow, hint, .. } = request;
        let at = (at != FLOATGATE_NONE).then_some(at);
        let submission = Submission { op, offset, length, at, token, hint, flow, prio };
        let arrived = embedded.submit(&submission).map_err(|e| of_refusal(&e))?;
        if !arrival.is_null() {
            // SAFETY: as promised.
            unsafe { arrival.write(arrived) };
        }
        Ok(())
    })
}

/// Updates a placement handle.
///
/// # Safety
/// `updated` is null or a place for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn floatgate_update_handle(
    session: *mut FloatgateSession,
    handle: u32,
    at: u64,
    updated: *mut u64,
) -> c_int {
    on(session, |state| {
        let at = (at != FLOATGATE_NONE).then_some(at);
        let time = state.open()?.update_handle(handle.into(), at).map_err(|e| of_refusal(&e))?;
        if !updated.is_null() {
            // SAFETY: as promised.
            unsafe { updated.write(time) };
        }
        Ok(())
    })
}

/// When something happens next.
///
/// # Safety
/// `at` is null or a place for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn floatgate_next_at(session: *mut FloatgateSession, at: *mut u64) -> c_int {
    on(session, |state| {
        let next = state.open()?.next_at().unwrap_or(FLOATGATE_NONE);
        // SAFETY: as promised.
        unsafe { put(at, next, "at") }
    })
}

/// The simulated time.
///
/// # Safety
/// `now` is null or a place for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn floatgate_now(session: *mut FloatgateSession, now: *mut u64) -> c_int {
    // SAFETY: as promised.
    on(session, |state| unsafe { put(now, state.open()?.now(), "now") })
}

/// Requests that are not done.
///
/// # Safety
/// `count` is null or a place for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn floatgate_outstanding(
    session: *mut FloatgateSession,
    count: *mut u64,
) -> c_int {
    // SAFETY: as promised.
    on(session, |state| unsafe { put(count, state.open()?.outstanding() as u64, "count") })
}

/// Lets time pass.
#[unsafe(no_mangle)]
pub extern "C" fn floatgate_advance(session: *mut FloatgateSession, until: u64) -> c_int {
    on(session, |state| {
        let embedded = state.open()?;
        let until = (until != FLOATGATE_NONE).then_some(until);
        embedded.advance(until, &mut || true).map_err(|e| of_refusal(&e))?;
        match embedded.worn_out_at() {
            Some(at) => failure(Status::WornOut, format!("the drive wore out at {at} ns")),
            None => Ok(()),
        }
    })
}

/// Takes completions.
///
/// # Safety
/// `completions` is a place for `most` completions, `count` for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn floatgate_take(
    session: *mut FloatgateSession,
    completions: *mut FloatgateCompletion,
    most: usize,
    count: *mut usize,
) -> c_int {
    on(session, |state| {
        let done = state.open()?.done();
        if completions.is_null() && most > 0 || count.is_null() {
            return failure(Status::Argument, "completions or count is null");
        }
        let taken = most.min(done.len());
        for (at, one) in done.drain(..taken).enumerate() {
            let completion = FloatgateCompletion {
                token: one.token,
                at: one.at.as_ns(),
                latency: one.latency.as_ns(),
            };
            // SAFETY: there is a place for `most`.
            unsafe { completions.add(at).write(completion) };
        }
        // SAFETY: it is not null.
        unsafe { count.write(taken) };
        Ok(())
    })
}

/// Ends the session; its result.
///
/// # Safety
/// `json` is null or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn floatgate_result_json(
    session: *mut FloatgateSession,
    json: *mut *const c_char,
) -> c_int {
    on(session, |state| {
        if json.is_null() {
            return failure(Status::Argument, "json is null");
        }
        if let HeldSession::Open(..) = state {
            let HeldSession::Open(embedded, recording, clock) =
                std::mem::replace(state, HeldSession::Broken)
            else {
                unreachable!("it is open")
            };
            let name = recording.as_ref().and_then(|r| r.name.file_name());
            let name = name.map_or("session".into(), |name| name.to_string_lossy());
            let mut report = embedded.finish(&name).map_err(|e| of_refusal(&e))?;
            report.set_timing(clock.times());
            let text = CString::new(report.value().to_string()).expect("JSON has no zero");
            *state = HeldSession::Ended(text);
            if let Some(recording) = &recording {
                fs::rename(&recording.unfinished, &recording.name).map_err(|e| {
                    Failure(Status::File, format!("{}: {e}", recording.name.display()))
                })?;
            }
        }
        let HeldSession::Ended(text) = state else { unreachable!("it has ended") };
        // SAFETY: it is not null.
        unsafe { json.write(text.as_ptr()) };
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No known input makes the engine panic, so the panic is planted.
    #[test]
    fn a_panic_is_an_error_and_ends_the_session() {
        let settings =
            [c"precondition.fill=none".as_ptr(), c"geometry.blocks-per-plane=64".as_ptr()];
        let options = FloatgateOptions {
            abi_version: FLOATGATE_ABI_VERSION,
            flow_count: 0,
            seed: 0,
            settings: settings.as_ptr(),
            policies: ptr::null(),
            flows: ptr::null(),
            record: ptr::null(),
            setting_count: 2,
            policy_count: 0,
            has_seed: 0,
            reserved: [0; 7],
        };
        let mut session = ptr::null_mut();
        // SAFETY: everything is as the header says.
        let code =
            unsafe { floatgate_open(c"agcr".as_ptr(), &raw const options, &raw mut session) };
        assert_eq!(code, 0);
        assert_eq!(floatgate_advance(session, 10), 0);
        let internal = Status::Internal as c_int;
        assert_eq!(on(session, |_| panic!("planted {}", 7)), internal);
        // SAFETY: it is a text until the next call.
        let words = unsafe { CStr::from_ptr(floatgate_last_error()) };
        assert_eq!(words, c"a bug of floatgate: planted 7");
        assert_eq!(floatgate_advance(session, 20), internal);
        assert_eq!(floatgate_close(session), 0);
        assert_eq!(floatgate_advance(session, 20), Status::Handle as c_int);
        assert_eq!(call(|| panic!("alone")), internal);
    }
}

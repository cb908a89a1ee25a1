//! The NBD protocol as a function of bytes: the bytes of a client go in, and commands and answers
//! come out. It knows no sockets, and nothing that a client sends makes it panic, or keep more than
//! one command.
//!
//! Fixed newstyle negotiation, simple and structured replies, and the context `base:allocation`, as
//! the protocol document of the project that maintains NBD describes them.

use ssd::kernel::Hint;

/// The most bytes of data in one command.
pub const MAX_PAYLOAD: u32 = 32 << 20;
/// The most bytes of data of one option.
const MAX_OPTION: u32 = 8 << 10;
/// The bytes of a longer one that are skipped before the client is given up.
const MAX_SKIPPED: u32 = 1 << 20;

const GREETING: u64 = u64::from_be_bytes(*b"NBDMAGIC");
const OPTION: u64 = u64::from_be_bytes(*b"IHAVEOPT");
const OPTION_REPLY: u64 = 0x0003_e889_0455_65a9;
const REQUEST: u32 = 0x2560_9513;
const SIMPLE_REPLY: u32 = 0x6744_6698;
const STRUCTURED_REPLY: u32 = 0x668e_33ef;

/// The handshake of server and client: fixed newstyle, and no zeroes after an export.
const FIXED_NEWSTYLE: u16 = 1;
const NO_ZEROES: u16 = 2;

mod option {
    pub(super) const EXPORT_NAME: u32 = 1;
    pub(super) const ABORT: u32 = 2;
    pub(super) const LIST: u32 = 3;
    pub(super) const INFO: u32 = 6;
    pub(super) const GO: u32 = 7;
    pub(super) const STRUCTURED_REPLY: u32 = 8;
    pub(super) const LIST_META_CONTEXT: u32 = 9;
    pub(super) const SET_META_CONTEXT: u32 = 10;
}

mod reply {
    pub(super) const ACK: u32 = 1;
    pub(super) const SERVER: u32 = 2;
    pub(super) const INFO: u32 = 3;
    pub(super) const META_CONTEXT: u32 = 4;
    const ERROR: u32 = 1 << 31;
    pub(super) const UNSUPPORTED: u32 = ERROR | 1;
    pub(super) const INVALID: u32 = ERROR | 3;
    pub(super) const UNKNOWN: u32 = ERROR | 6;
    pub(super) const TOO_BIG: u32 = ERROR | 9;
}

mod info {
    pub(super) const EXPORT: u16 = 0;
    pub(super) const NAME: u16 = 1;
    pub(super) const DESCRIPTION: u16 = 2;
    pub(super) const BLOCK_SIZE: u16 = 3;
}

/// The properties of the export: it has flags, flush, FUA, trim, write zeroes, several connections.
const FLAGS: u16 = 1 | 1 << 2 | 1 << 3 | 1 << 5 | 1 << 6 | 1 << 8;
/// And "do not fragment", once replies are structured.
const SEND_DF: u16 = 1 << 7;

mod flag {
    pub(super) const FUA: u16 = 1;
    pub(super) const NO_HOLE: u16 = 1 << 1;
    pub(super) const DF: u16 = 1 << 2;
    pub(super) const REQ_ONE: u16 = 1 << 3;
}

/// The number of the context `base:allocation` on the wire.
const ALLOCATION: u32 = 1;
const ALLOCATION_NAME: &str = "base:allocation";

/// Why a command failed, as the protocol numbers it.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Errno {
    /// Data could not be read or kept.
    Io = 5,
    /// The export does not allow the command.
    Invalid = 22,
    /// There is no space.
    NoSpace = 28,
    /// The server is about to end.
    Shutdown = 108,
}

/// The hint of a connection follows this in the name of the export.
const HINT: &[u8] = b":hint=";

/// The facts of the drive for clients.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Export {
    /// Its name; the empty name means it too. Either, and `:hint=3` behind it, gives the requests of a
    /// connection that hint about their data.
    pub name: String,
    /// One line about it.
    pub description: String,
    /// Its size in bytes, a multiple of `sector`.
    pub size: u64,
    /// The unit of addresses and lengths, in bytes: a power of two.
    pub sector: u32,
    /// The unit that is best, in bytes.
    pub preferred: u32,
}

/// The kind of a command.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum CommandKind {
    /// Data go to the client.
    Read,
    /// Data come from the client.
    Write,
    /// The client no longer needs the data.
    Trim,
    /// The range is to read as zero; without a hole it keeps its pages.
    Zero {
        /// It must not become a hole.
        no_hole: bool,
    },
    /// Earlier answered writes are to survive a loss of power.
    Flush,
    /// The ranges that hold data.
    Status {
        /// One range is enough.
        one: bool,
    },
    /// The client goes.
    Disconnect,
}

/// A command, complete and within the export.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NbdCommand {
    /// The content of its reply.
    pub cookie: u64,
    /// Its kind.
    pub kind: CommandKind,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub len: u32,
    /// It is done when its effect survives a loss of power.
    pub fua: bool,
    /// The data to write.
    pub data: Vec<u8>,
}

/// The result of the bytes so far.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WireStep {
    /// More bytes are needed.
    More,
    /// Something was said during the handshake.
    Said,
    /// A command.
    Command(NbdCommand),
    /// A command that cannot be carried out, whose data were passed over; its cookie, whether its
    /// reply is that of a read, and the error.
    Refused(u64, bool, Errno),
    /// The connection is to be closed.
    Close,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Phase {
    /// The client's flags come.
    Flags,
    /// Options come.
    Options,
    /// Data of an option that is too long are passed over.
    Skipping(u32),
    /// Commands come.
    Commands,
    /// Data of a command that was refused are passed over.
    Draining { left: u32, cookie: u64, errno: Errno },
    /// Nothing more is heard.
    Closed,
}

/// One connection's half of the protocol.
#[derive(Clone, Debug)]
pub struct Decoder {
    phase: Phase,
    input: Vec<u8>,
    /// The used part of the input.
    at: usize,
    no_zeroes: bool,
    structured: bool,
    allocation: bool,
    /// The hint of its requests about their data.
    hint: Hint,
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

/// Big-endian numbers from a slice; nothing if it is too short.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (first, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(first)
    }

    fn u16(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.take(2)?.try_into().ok()?))
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    fn u64(&mut self) -> Option<u64> {
        Some(u64::from_be_bytes(self.take(8)?.try_into().ok()?))
    }

    /// A text with its length before it.
    fn text(&mut self) -> Option<&'a [u8]> {
        let n = self.u32()?;
        self.take(n as usize)
    }
}

impl Decoder {
    /// A connection that has just been made.
    pub fn new() -> Self {
        Self {
            phase: Phase::Flags,
            input: Vec::new(),
            at: 0,
            no_zeroes: false,
            structured: false,
            allocation: false,
            hint: 0,
        }
    }

    /// The greeting of the server.
    pub fn greet(out: &mut Vec<u8>) {
        out.extend(GREETING.to_be_bytes());
        out.extend(OPTION.to_be_bytes());
        out.extend((FIXED_NEWSTYLE | NO_ZEROES).to_be_bytes());
    }

    /// Whether the handshake is over.
    pub fn is_ready(&self) -> bool {
        matches!(self.phase, Phase::Commands | Phase::Draining { .. })
    }

    /// Whether replies to reads have structure.
    pub fn is_structured(&self) -> bool {
        self.structured
    }

    /// The hint of its requests about their data, 0 (none) to 255.
    pub fn hint(&self) -> Hint {
        self.hint
    }

    /// Bytes that were taken and not used.
    pub fn pending(&self) -> usize {
        self.input.len() - self.at
    }

    /// The number of further bytes worth reading before [`Decoder::next`] is called: a command with
    /// its data, and some that follow.
    pub fn room(&self) -> usize {
        let most = MAX_PAYLOAD as usize + (64 << 10);
        most.saturating_sub(self.pending())
    }

    /// Takes the bytes of the client.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.at > 0 && (self.at == self.input.len() || self.at >= 1 << 20) {
            self.input.drain(..self.at);
            self.at = 0;
        }
        self.input.extend_from_slice(bytes);
        if self.input.is_empty() && self.input.capacity() > 1 << 20 {
            self.input = Vec::new();
        }
    }

    /// Uses up some bytes.
    fn take(&mut self, n: usize) -> Option<std::ops::Range<usize>> {
        let from = self.at;
        (self.pending() >= n).then(|| {
            self.at += n;
            from..from + n
        })
    }

    /// The meaning of the next bytes; answers go to `out`.
    pub fn next(&mut self, export: &Export, out: &mut Vec<u8>) -> WireStep {
        match self.phase {
            Phase::Flags => self.client_flags(),
            Phase::Options => self.option(export, out),
            Phase::Skipping(left) => self.skip(left),
            Phase::Commands => self.command(export),
            Phase::Draining { left, cookie, errno } => self.drain(left, cookie, errno),
            Phase::Closed => WireStep::Close,
        }
    }

    fn close(&mut self) -> WireStep {
        self.phase = Phase::Closed;
        WireStep::Close
    }

    // ── Handshake ───────────────────────────────────────────────────────────────────────────────

    fn client_flags(&mut self) -> WireStep {
        let Some(range) = self.take(4) else { return WireStep::More };
        let flags = u32::from_be_bytes(self.input[range].try_into().expect("four bytes"));
        let known = u32::from(FIXED_NEWSTYLE | NO_ZEROES);
        if flags & !known != 0 || flags & u32::from(FIXED_NEWSTYLE) == 0 {
            return self.close();
        }
        self.no_zeroes = flags & u32::from(NO_ZEROES) != 0;
        self.phase = Phase::Options;
        WireStep::Said
    }

    fn skip(&mut self, left: u32) -> WireStep {
        let n = self.pending().min(left as usize);
        if n == 0 {
            return WireStep::More;
        }
        self.at += n;
        let left = left - n as u32;
        self.phase = if left == 0 { Phase::Options } else { Phase::Skipping(left) };
        WireStep::Said
    }

    fn option(&mut self, export: &Export, out: &mut Vec<u8>) -> WireStep {
        let mut head = Fields(&self.input[self.at..]);
        let (Some(magic), Some(option), Some(len)) = (head.u64(), head.u32(), head.u32()) else {
            return WireStep::More;
        };
        if magic != OPTION {
            return self.close();
        }
        if len > MAX_OPTION {
            if len > MAX_SKIPPED || option == option::EXPORT_NAME {
                return self.close();
            }
            self.at += 16;
            answer(out, option, reply::TOO_BIG, b"options have 8 KiB at most");
            self.phase = Phase::Skipping(len);
            return WireStep::Said;
        }
        let Some(range) = self.take(16 + len as usize) else { return WireStep::More };
        let input = std::mem::take(&mut self.input);
        let step = self.chosen(option, &input[range.start + 16..range.end], export, out);
        self.input = input;
        step
    }

    fn chosen(&mut self, option: u32, data: &[u8], export: &Export, out: &mut Vec<u8>) -> WireStep {
        match option {
            option::EXPORT_NAME => {
                let Ok(hint) = export.hint_of(data) else { return self.close() };
                self.hint = hint;
                out.extend(export.size.to_be_bytes());
                out.extend(self.flags().to_be_bytes());
                if !self.no_zeroes {
                    out.extend([0; 124]);
                }
                self.phase = Phase::Commands;
            }
            option::ABORT => {
                answer(out, option, reply::ACK, b"");
                return self.close();
            }
            option::LIST if data.is_empty() => {
                let mut name = Vec::new();
                put_text(&mut name, export.name.as_bytes());
                answer(out, option, reply::SERVER, &name);
                answer(out, option, reply::ACK, b"");
            }
            option::INFO | option::GO => self.inform(option, data, export, out),
            option::STRUCTURED_REPLY if data.is_empty() => {
                self.structured = true;
                answer(out, option, reply::ACK, b"");
            }
            option::LIST_META_CONTEXT | option::SET_META_CONTEXT => {
                self.contexts(option, data, export, out);
            }
            option::LIST | option::STRUCTURED_REPLY => {
                answer(out, option, reply::INVALID, b"this option has no data");
            }
            _ => answer(out, option, reply::UNSUPPORTED, b""),
        }
        WireStep::Said
    }

    fn flags(&self) -> u16 {
        if self.structured { FLAGS | SEND_DF } else { FLAGS }
    }

    fn inform(&mut self, option: u32, data: &[u8], export: &Export, out: &mut Vec<u8>) {
        let mut fields = Fields(data);
        let (name, count) = (fields.text(), fields.u16());
        let (Some(name), Some(count)) = (name, count) else {
            return answer(out, option, reply::INVALID, b"a name and a list are needed");
        };
        if fields.0.len() != 2 * usize::from(count) {
            return answer(out, option, reply::INVALID, b"the list is not as long as it says");
        }
        let hint = match export.hint_of(name) {
            Ok(hint) => hint,
            Err(why) => return answer(out, option, reply::UNKNOWN, why),
        };
        let mut reply = |what: u16, parts: &[&[u8]]| {
            let mut data = what.to_be_bytes().to_vec();
            for part in parts {
                data.extend_from_slice(part);
            }
            answer(out, option, reply::INFO, &data);
        };
        let (size, flags) = (export.size.to_be_bytes(), self.flags().to_be_bytes());
        reply(info::EXPORT, &[&size, &flags]);
        let sizes = [export.sector, export.preferred, MAX_PAYLOAD].map(u32::to_be_bytes);
        reply(info::BLOCK_SIZE, &[&sizes[0], &sizes[1], &sizes[2]]);
        let mut told = [false; 2];
        while let Some(wanted) = fields.u16() {
            // Each once, even if it is asked for several times.
            match wanted {
                info::NAME if !std::mem::replace(&mut told[0], true) => {
                    reply(info::NAME, &[export.name.as_bytes()]);
                }
                info::DESCRIPTION if !std::mem::replace(&mut told[1], true) => {
                    reply(info::DESCRIPTION, &[export.description.as_bytes()]);
                }
                _ => {}
            }
        }
        answer(out, option, reply::ACK, b"");
        if option == option::GO {
            self.hint = hint;
            self.phase = Phase::Commands;
        }
    }

    fn contexts(&mut self, option: u32, data: &[u8], export: &Export, out: &mut Vec<u8>) {
        let sets = option == option::SET_META_CONTEXT;
        if !self.structured {
            return answer(out, option, reply::INVALID, b"structured replies come first");
        }
        let mut fields = Fields(data);
        let (name, count) = (fields.text(), fields.u32());
        let (Some(name), Some(count)) = (name, count) else {
            return answer(out, option, reply::INVALID, b"a name and a list are needed");
        };
        // Listing without a query lists all; setting without one sets none.
        let mut wanted = !sets && count == 0;
        for _ in 0..count {
            let Some(query) = fields.text() else {
                return answer(out, option, reply::INVALID, b"the list is not as long as it says");
            };
            wanted |= query == ALLOCATION_NAME.as_bytes() || !sets && query == b"base:";
        }
        if !fields.0.is_empty() {
            return answer(out, option, reply::INVALID, b"the list is not as long as it says");
        }
        if let Err(why) = export.hint_of(name) {
            return answer(out, option, reply::UNKNOWN, why);
        }
        if wanted {
            let number = if sets { ALLOCATION } else { 0 };
            let mut data = number.to_be_bytes().to_vec();
            data.extend_from_slice(ALLOCATION_NAME.as_bytes());
            answer(out, option, reply::META_CONTEXT, &data);
        }
        if sets {
            self.allocation = wanted;
        }
        answer(out, option, reply::ACK, b"");
    }

    // ── Transmission ────────────────────────────────────────────────────────────────────────────

    fn command(&mut self, export: &Export) -> WireStep {
        let mut head = Fields(&self.input[self.at..]);
        let fields = (head.u32(), head.u16(), head.u16(), head.u64(), head.u64(), head.u32());
        let (Some(magic), Some(flags), Some(code), Some(cookie), Some(offset), Some(len)) = fields
        else {
            return WireStep::More;
        };
        if magic != REQUEST {
            return self.close();
        }
        let meant = self.meant(export, code, flags, offset, len);
        let payload = if code == 1 { len } else { 0 };
        match meant {
            Ok(kind) => {
                let Some(range) = self.take(28 + payload as usize) else { return WireStep::More };
                if kind == CommandKind::Disconnect {
                    self.phase = Phase::Closed;
                }
                let data = self.input[range.start + 28..range.end].to_vec();
                let fua = flags & flag::FUA != 0;
                WireStep::Command(NbdCommand { cookie, kind, offset, len, fua, data })
            }
            Err(errno) => {
                self.at += 28;
                if payload == 0 {
                    return WireStep::Refused(cookie, matches!(code, 0 | 7), errno);
                }
                self.drain(payload, cookie, errno)
            }
        }
    }

    /// The request of a command, or the reason for a refusal.
    fn meant(
        &self,
        export: &Export,
        code: u16,
        flags: u16,
        offset: u64,
        len: u32,
    ) -> Result<CommandKind, Errno> {
        let (kind, allowed) = match code {
            0 => (CommandKind::Read, if self.structured { flag::DF } else { 0 }),
            1 => (CommandKind::Write, 0),
            2 => return Ok(CommandKind::Disconnect),
            3 => (CommandKind::Flush, 0),
            4 => (CommandKind::Trim, 0),
            6 => (CommandKind::Zero { no_hole: flags & flag::NO_HOLE != 0 }, flag::NO_HOLE),
            7 if self.allocation => {
                (CommandKind::Status { one: flags & flag::REQ_ONE != 0 }, flag::REQ_ONE)
            }
            _ => return Err(Errno::Invalid),
        };
        if flags & !(allowed | flag::FUA) != 0 {
            return Err(Errno::Invalid);
        }
        if kind == CommandKind::Flush {
            return if offset == 0 && len == 0 { Ok(kind) } else { Err(Errno::Invalid) };
        }
        let writes =
            matches!(kind, CommandKind::Write | CommandKind::Trim | CommandKind::Zero { .. });
        let moves_data = matches!(kind, CommandKind::Read | CommandKind::Write);
        let sector = u64::from(export.sector);
        if len == 0
            || moves_data && len > MAX_PAYLOAD
            || !offset.is_multiple_of(sector)
            || !u64::from(len).is_multiple_of(sector)
        {
            return Err(Errno::Invalid);
        }
        match offset.checked_add(len.into()).is_some_and(|end| end <= export.size) {
            true => Ok(kind),
            false if writes => Err(Errno::NoSpace),
            false => Err(Errno::Invalid),
        }
    }

    fn drain(&mut self, left: u32, cookie: u64, errno: Errno) -> WireStep {
        let n = self.pending().min(left as usize);
        self.at += n;
        let left = left - n as u32;
        if left > 0 {
            self.phase = Phase::Draining { left, cookie, errno };
            return WireStep::More;
        }
        self.phase = Phase::Commands;
        WireStep::Refused(cookie, false, errno)
    }

    /// Appends the answer to a read. Its data are zeroes, which `fill` changes.
    pub fn put_data<E>(
        &self,
        out: &mut Vec<u8>,
        command: &NbdCommand,
        fill: impl FnOnce(&mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let before = out.len();
        if self.structured {
            put_chunk(out, 1, command.cookie, 8 + command.len);
            out.extend(command.offset.to_be_bytes());
        } else {
            put_simple(out, command.cookie, 0);
        }
        let from = out.len();
        out.resize(from + command.len as usize, 0);
        fill(&mut out[from..]).inspect_err(|_| out.truncate(before))
    }

    /// Appends the answer to a question for the status of ranges: the length of each, and whether
    /// it holds data.
    pub fn put_status(out: &mut Vec<u8>, cookie: u64, ranges: &[(u32, bool)]) {
        put_chunk(out, 5, cookie, 4 + 8 * ranges.len() as u32);
        out.extend(ALLOCATION.to_be_bytes());
        for &(len, holds) in ranges {
            out.extend(len.to_be_bytes());
            // Otherwise a hole that reads as zero.
            out.extend(if holds { 0_u32 } else { 3 }.to_be_bytes());
        }
    }

    /// Appends the answer to a command without data in its answer.
    pub fn put_done(out: &mut Vec<u8>, cookie: u64) {
        put_simple(out, cookie, 0);
    }

    /// Appends the answer to a command that failed. `as_read`: it was a read, or asked for a
    /// status.
    pub fn put_error(&self, out: &mut Vec<u8>, cookie: u64, as_read: bool, errno: Errno) {
        if self.structured && as_read {
            put_chunk(out, 1 << 15 | 1, cookie, 6);
            out.extend((errno as u32).to_be_bytes());
            out.extend(0_u16.to_be_bytes());
        } else {
            put_simple(out, cookie, errno as u32);
        }
    }
}

impl Export {
    /// The hint that a connection asks for by the name of the export; `Err`: the name means another.
    fn hint_of(&self, name: &[u8]) -> Result<Hint, &'static [u8]> {
        if name.is_empty() || name == self.name.as_bytes() {
            return Ok(0);
        }
        let at = name.windows(HINT.len()).rposition(|window| window == HINT);
        let (name, hint) =
            at.map_or((name, None), |at| (&name[..at], Some(&name[at + HINT.len()..])));
        if !name.is_empty() && name != self.name.as_bytes() {
            return Err(b"there is no such export");
        }
        let digits = hint.filter(|hint| hint.iter().all(u8::is_ascii_digit));
        let hint = digits.and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
        hint.ok_or(b"a hint is a number from 0 to 255, as in :hint=3")
    }
}

fn put_text(out: &mut Vec<u8>, text: &[u8]) {
    out.extend((text.len() as u32).to_be_bytes());
    out.extend_from_slice(text);
}

/// The reply to an option.
fn answer(out: &mut Vec<u8>, option: u32, kind: u32, data: &[u8]) {
    out.extend(OPTION_REPLY.to_be_bytes());
    out.extend(option.to_be_bytes());
    out.extend(kind.to_be_bytes());
    put_text(out, data);
}

fn put_simple(out: &mut Vec<u8>, cookie: u64, errno: u32) {
    out.extend(SIMPLE_REPLY.to_be_bytes());
    out.extend(errno.to_be_bytes());
    out.extend(cookie.to_be_bytes());
}

/// The head of the only chunk of a reply.
fn put_chunk(out: &mut Vec<u8>, kind: u16, cookie: u64, len: u32) {
    out.extend(STRUCTURED_REPLY.to_be_bytes());
    out.extend(1_u16.to_be_bytes());
    out.extend(kind.to_be_bytes());
    out.extend(cookie.to_be_bytes());
    out.extend(len.to_be_bytes());
}

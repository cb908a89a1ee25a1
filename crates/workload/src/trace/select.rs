//! Slices of a trace: some of its devices, one of its processes, one event of each request.

use super::fields::Fault;
use super::names::Names;
use super::options::{Event, FlowBy, ReadOptions};
use super::reader::MOST_DEVICES;
use super::record::Parser;

/// The devices that the user asked for.
#[derive(Debug)]
pub(crate) struct Selection {
    /// Their names, and whether they occurred.
    names: Vec<(String, bool)>,
    /// Every device that occurred, ascending, and whether it is one of them.
    known: Vec<(u32, bool)>,
    /// The device of the last record: often that of the next.
    last: (u32, bool),
}

impl Selection {
    /// `None` if all devices are requested.
    pub(crate) fn new(names: &[String]) -> Option<Self> {
        let requested = names.iter().map(|name| (name.clone(), false)).collect();
        let selection = Self { names: requested, known: Vec::new(), last: (u32::MAX, false) };
        (!names.is_empty()).then_some(selection)
    }

    #[inline]
    pub(crate) fn takes<P: Parser>(&mut self, parser: &P, device: u32) -> bool {
        if device != self.last.0 || self.known.is_empty() {
            self.last = (device, self.look_up(parser, device));
        }
        self.last.1
    }

    fn look_up<P: Parser>(&mut self, parser: &P, device: u32) -> bool {
        match self.known.binary_search_by_key(&device, |k| k.0) {
            Ok(i) => self.known[i].1,
            Err(i) => {
                let label = parser.label(device);
                let name = self.names.iter().position(|(name, _)| *name == label);
                let requested = name.is_some();
                if let Some(name) = name {
                    self.names[name].1 = true;
                }
                // A misread column has new devices all the time; only this number of them is
                // remembered.
                if self.known.len() < MOST_DEVICES {
                    self.known.insert(i, (device, requested));
                }
                requested
            }
        }
    }

    /// A requested device that did not occur, and some that did.
    pub(crate) fn missing<P: Parser>(&self, parser: &P) -> Option<(String, Vec<String>)> {
        const SHOWN: usize = 10;
        let missing = self.names.iter().find(|(_, met)| !met)?.0.clone();
        let labels = self.known.iter().map(|k| parser.label(k.0));
        Some((missing, labels.take(SHOWN).collect()))
    }
}

/// The process whose requests are kept.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    name: Box<[u8]>,
    number: Option<u64>,
}

impl Process {
    pub(crate) fn new(text: &str) -> Self {
        Self { name: text.as_bytes().into(), number: text.parse().ok() }
    }

    #[inline]
    pub(crate) fn is(&self, name: &[u8], number: Option<u64>) -> bool {
        number.is_some() && self.number == number || *self.name == *name
    }
}

/// The processes of a trace: the requested one, and the numbers of all if flows go by them.
#[derive(Debug)]
pub(crate) struct Processes {
    requested: Option<Process>,
    names: Option<Names>,
    /// The process of the record read last.
    last: u32,
}

impl Processes {
    pub(crate) fn new(options: &ReadOptions) -> Self {
        Self {
            requested: options.process.as_deref().map(Process::new),
            names: (options.flow_by == Some(FlowBy::Process)).then(Names::default),
            last: 0,
        }
    }

    /// Whether the process of a request matters.
    #[inline]
    pub(crate) fn matter(&self) -> bool {
        self.requested.is_some() || self.names.is_some()
    }

    /// Whether requests of this process are kept; `named`: it is the one that asked.
    #[inline]
    pub(crate) fn takes(&self, name: &[u8], number: Option<u64>, named: bool) -> bool {
        self.requested.as_ref().is_none_or(|requested| named && requested.is(name, number))
    }

    /// Notes that a request of this process was read.
    #[inline]
    pub(crate) fn note(&mut self, name: &[u8], number: u64) -> Result<(), Box<Fault>> {
        if let Some(names) = &mut self.names {
            self.last = if name.is_empty() {
                names.number(number.to_string().as_bytes())?
            } else {
                names.number(name)?
            };
        }
        Ok(())
    }

    /// The process of the record read last.
    #[inline]
    pub(crate) fn last(&self) -> u32 {
        self.last
    }

    /// The user's name of a process.
    pub(crate) fn label(&self, number: u32) -> String {
        self.names.as_ref().map_or_else(String::new, |names| names.name(number))
    }
}

/// The event that represents a request, in formats that record several.
#[derive(Debug)]
pub(crate) struct Events {
    chosen: Event,
    specified: bool,
    /// From the one that is read by default to the one that is read last.
    order: [Event; 3],
    /// Requests seen with each event, in the order of `order`.
    seen: [u64; 3],
}

impl Events {
    pub(crate) fn new(requested: Option<Event>, order: [Event; 3]) -> Self {
        Self {
            chosen: requested.unwrap_or(order[0]),
            specified: requested.is_some(),
            order,
            seen: [0; 3],
        }
    }

    /// Counts a request with `event`. Returns whether it is to be given out.
    #[inline]
    pub(crate) fn take(&mut self, event: Event) -> bool {
        for (seen, known) in self.seen.iter_mut().zip(self.order) {
            *seen += u64::from(event == known);
        }
        event == self.chosen
    }

    /// Whether requests arrive with this event.
    #[inline]
    pub(crate) fn reads(&self, event: Event) -> bool {
        event == self.chosen
    }

    /// The event to read instead, if the default one did not occur and another did.
    pub(crate) fn instead(&self) -> Option<Event> {
        if self.specified || self.seen[0] > 0 {
            return None;
        }
        (1..3).find(|&i| self.seen[i] > 0).map(|i| self.order[i])
    }

    /// The number of each event, and the event that was read.
    pub(crate) fn note(&self) -> String {
        let counts = self.order.iter().zip(self.seen).map(|(e, n)| format!("{n} {e}"));
        format!(
            "requests arrive with the event {}, of {}; `--event` names another",
            self.chosen,
            counts.collect::<Vec<_>>().join(", ")
        )
    }
}

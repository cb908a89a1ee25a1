//! The flows of a workload with a drive's settings: their weights and priorities, and which of them
//! are sent at all.

use crate::config::Host;
use kernel::{Hint, Prio, nearest};
use workload::{About, Flow, Flows, Loop, Request, RequestSource, TraceError};

/// The flows of a run.
pub(crate) struct RunFlows {
    pub(crate) flows: Vec<Flow>,
    /// The settings of the requests of each.
    said: Vec<OfRequests>,
    /// The only flow that is sent.
    only: Option<u8>,
}

/// The settings of all requests of a flow.
#[derive(Copy, Clone, Default, PartialEq, Eq)]
struct OfRequests {
    /// Their priority.
    prio: Option<Prio>,
    /// The hint of those that have none.
    hint: Hint,
}

impl OfRequests {
    #[inline]
    fn apply(self, request: &mut Request) {
        request.prio = self.prio.unwrap_or(request.prio);
        if request.hint == 0 && request.has_extent() {
            request.hint = self.hint;
        }
    }
}

impl RunFlows {
    /// `merges`: there are no queues of flows.
    ///
    /// # Errors
    /// A setting names a flow that the workload does not have, or needs queues.
    pub(crate) fn of(settings: &Host, about: &About, merges: bool) -> Result<Self, String> {
        let mut flows = about.flows.clone();
        let hints = settings.hints_of(&flows).into_iter();
        let mut said: Vec<_> = hints.map(|hint| OfRequests { prio: None, hint }).collect();
        let mut wrong = Vec::new();
        let mut find = |key: &str, name: &str| {
            let found = flows.iter().position(|flow| flow.name == name);
            if found.is_none() {
                let names: Vec<&str> = flows.iter().map(|flow| flow.name.as_str()).collect();
                let near = nearest(name, names.iter().copied());
                let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                wrong.push(match names.len() {
                    0 => format!(
                        "`{key}` names the flow `{name}`, and {} is one flow without a name: \
                         `--flow` gives names, and so do files of parts",
                        about.name
                    ),
                    _ => format!(
                        "`{key}` names the flow `{name}`, and {} has {}{hint}",
                        about.name,
                        names.join(", ")
                    ),
                });
            }
            found
        };
        let only = settings.only.as_ref().and_then(|name| find("host.only", name));
        let found: Vec<_> =
            settings.flow.iter().map(|flow| find("host.flow", &flow.name)).collect();
        if !wrong.is_empty() {
            return Err(wrong.join("\n"));
        }
        for (flow, at) in settings.flow.iter().zip(found.into_iter().flatten()) {
            flows[at].weight = flow.weight.unwrap_or(flows[at].weight);
            flows[at].depth = flow.queue_depth.or(flows[at].depth);
            said[at].prio = flow.priority;
        }
        if let Some(flow) = flows.iter().find(|flow| merges && flow.depth.is_some()) {
            return Err(format!(
                "the flow `{}` has a depth in the drive, and `arbitration=merge` has no queues in which \
                 others could pass it; expected a policy that has, such as \
                 `--policy arbitration=round-robin`",
                flow.name
            ));
        }
        Ok(Self { flows, said, only: only.map(|at| at as u8) })
    }

    /// The weight of each flow, and the most of its requests inside. A workload without flows is
    /// one flow.
    pub(crate) fn shares(&self) -> Vec<(u32, u32)> {
        let shares = self.flows.iter().map(|flow| (flow.weight, flow.depth.unwrap_or(u32::MAX)));
        let shares: Vec<_> = shares.collect();
        if shares.is_empty() { vec![(1, u32::MAX)] } else { shares }
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.flows.iter().map(|flow| flow.name.clone()).collect()
    }

    /// Gives a request the priority and the hint that the settings give its flow.
    #[inline]
    pub(crate) fn apply(&self, request: &mut Request) {
        if let Some(said) = self.said.get(usize::from(request.flow)) {
            said.apply(request);
        }
    }

    /// The streams of the flows that are sent, with their priorities and hints.
    pub(crate) fn heard(&self, Flows { open, closed }: Flows) -> Flows {
        if self.only.is_none() && self.said.iter().all(|said| *said == OfRequests::default()) {
            return Flows { open, closed };
        }
        let heard = |inner| -> Box<dyn RequestSource> {
            Box::new(Heard { inner, only: self.only, said: self.said.clone() })
        };
        let mut closed = closed;
        closed.retain(|l| self.only.is_none_or(|only| l.flow == only));
        let closed = closed.into_iter().map(|l| Loop { source: heard(l.source), ..l }).collect();
        Flows { open: heard(open), closed }
    }
}

/// A stream of which only some flows are sent.
struct Heard {
    inner: Box<dyn RequestSource>,
    only: Option<u8>,
    said: Vec<OfRequests>,
}

impl RequestSource for Heard {
    fn fill(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        loop {
            self.inner.fill(batch)?;
            if batch.is_empty() {
                return Ok(());
            }
            batch.retain(|r| self.only.is_none_or(|only| r.flow == only));
            for r in batch.iter_mut() {
                self.said[usize::from(r.flow)].apply(r);
            }
            if !batch.is_empty() {
                return Ok(());
            }
        }
    }

    fn skipped(&self) -> u64 {
        self.inner.skipped()
    }
}

//! `fair`: start-time fair queueing. Each request has a start tag: the virtual time at which its
//! flow has received its share so far. The least tag goes first. So a flow with few requests hardly
//! waits, and an idle flow saves nothing up.
//!
//! A request's tag is the later of two virtual times: that of its arrival, and the end of its
//! flow's previous request. Its own end is later than the tag by its cost over the flow's weight.
//! Virtual time is the tag of the last request that went.

use super::{Arbitration, HeadView};
use crate::info::{Family, PolicyInfo, Wanted};
use crate::params::{ParamInfo, ParamKind, Params};
use ftl::Watch;
use kernel::Time;

/// The entry in the list.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "fair",
    summary: "Start-time fair queueing: whose share is furthest behind goes next.",
    paper: "Goyal, Vin and Cheng, SIGCOMM 1996; with several requests inside: Jin, Chase and Kaur, \
            SIGMETRICS 2004",
    params: &[ParamInfo {
        name: "cost",
        kind: ParamKind::Word(&["bytes", "requests"]),
        default: "bytes",
        doc: "The unit of shares: the bytes of requests, or requests.",
    }],
    wants: |_| Some(Wanted::Flows),
    ..PolicyInfo::of(Family::Arbitration)
};

/// The unit of tags: so fine that dividing by any weight loses nothing that counts.
const FINE: u128 = 1 << 32;

/// By start tags.
#[derive(Clone, Debug)]
pub struct Fair {
    by_bytes: bool,
    /// The tag of the request that went last.
    now: u128,
    /// For each flow, the end of its last request and the tag of its waiting request.
    flows: Vec<(u128, Option<u128>)>,
}

pub(crate) fn new(params: &Params) -> Fair {
    let by_bytes = params.word("cost") == "bytes";
    Fair { by_bytes, now: 0, flows: vec![(0, None); 256] }
}

impl Watch for Fair {}

impl Arbitration for Fair {
    fn pick(&mut self, heads: &[HeadView], _: Time) -> usize {
        let (flows, now) = (&mut self.flows, self.now);
        let mut tag = |h: &HeadView| {
            let (end, tag) = &mut flows[usize::from(h.flow)];
            *tag.get_or_insert(now.max(*end))
        };
        let tags = heads.iter().enumerate().map(|(i, h)| (tag(h), h.arrived, i));
        let (tag, _, next) = tags.min().expect("asked only when something waits");
        let head = &heads[next];
        // A flush has no bytes, but still costs something.
        let cost = if self.by_bytes { head.bytes.max(1) } else { 1 };
        let end = tag + u128::from(cost) * FINE / u128::from(head.weight);
        self.flows[usize::from(head.flow)] = (end, None);
        self.now = tag;
        next
    }
}

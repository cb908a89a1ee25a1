//! Workloads one after the other, on the same devices.

use std::sync::Arc;

use kernel::{Dur, Time};

use crate::{About, Draws, Request, RequestSource, TraceError, Workload};

/// Workloads one after the other: each begins at a time of its own, or when the one before has
/// ended if that is later.
pub(crate) struct Chain {
    links: Arc<[ChainLink]>,
    about: About,
}

/// One of the workloads of a chain.
pub(crate) struct ChainLink {
    pub(crate) workload: Box<dyn Workload>,
    /// The earliest time at which its first request arrives.
    pub(crate) begins: Dur,
}

impl Chain {
    /// `about` is that of the whole.
    pub(crate) fn new(links: Vec<ChainLink>, about: About) -> Self {
        Self { links: links.into(), about }
    }
}

impl Workload for Chain {
    fn about(&self) -> &About {
        &self.about
    }

    fn open_pass(&self, pass: u64) -> Result<Box<dyn RequestSource>, TraceError> {
        let links = Arc::clone(&self.links);
        let source = links[0].workload.open_pass(pass)?;
        let (begins, latest) = (Time::ZERO, Time::ZERO);
        Ok(Box::new(Chained { links, pass, at: 0, source, begins, latest, skipped: 0 }))
    }

    fn draws(&self) -> Draws {
        Draws::of(self.links.iter().map(|link| &*link.workload))
    }
}

/// One opening of a chain.
struct Chained {
    links: Arc<[ChainLink]>,
    pass: u64,
    /// The link that is being read.
    at: usize,
    source: Box<dyn RequestSource>,
    /// When it began.
    begins: Time,
    /// The arrival of the latest request.
    latest: Time,
    /// By the links before.
    skipped: u64,
}

impl RequestSource for Chained {
    fn fill(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        loop {
            self.source.fill(batch)?;
            if !batch.is_empty() || self.at + 1 == self.links.len() {
                break;
            }
            self.skipped += self.source.skipped();
            self.at += 1;
            let link = &self.links[self.at];
            self.source = link.workload.open_pass(self.pass)?;
            self.begins = self.latest.max(Time::ZERO + link.begins);
        }
        let shift = self.begins - Time::ZERO;
        for r in &mut *batch {
            r.at += shift;
        }
        self.latest = batch.last().map_or(self.latest, |r| r.at);
        Ok(())
    }

    fn skipped(&self) -> u64 {
        self.skipped + self.source.skipped()
    }
}

//! A workload held in memory.

use std::sync::Arc;

use crate::error::{Spot, detail};
use crate::source::Listed;
use crate::{About, Request, RequestSource, TraceError, Workload};

/// Requests given as a list: those of a program, or of a test.
#[derive(Clone, Debug)]
pub struct List {
    about: About,
    requests: Arc<[Request]>,
}

impl List {
    /// Checks that the requests are in order of time, none but flushes is empty, those have no address,
    /// and none ends beyond 2^63.
    pub fn new(name: &str, requests: Vec<Request>) -> Result<Self, TraceError> {
        let bad = |i: usize, found: &str, expected: &str| {
            let spot = Spot::Request(i as u64 + 1);
            TraceError::Record(detail(&name.into(), spot, found, expected, ""))
        };
        if requests.is_empty() {
            return Err(bad(0, "no request at all", "at least one request"));
        }
        if let Some(i) = requests.windows(2).position(|w| w[1].at < w[0].at) {
            return Err(bad(i + 1, "time runs backwards", "requests in order of time"));
        }
        if let Some(i) = requests.iter().position(|r| r.len == 0 && r.has_extent()) {
            return Err(bad(i, "a request of size 0", "a size above zero"));
        }
        if let Some(i) =
            requests.iter().position(|r| !r.has_extent() && (r.len, r.offset) != (0, 0))
        {
            return Err(bad(i, "a flush of some addresses", "offset 0 and size 0"));
        }
        if let Some(i) = requests.iter().position(|r| r.offset >> 62 != 0) {
            return Err(bad(i, "an address beyond 2^62", "an address in bytes"));
        }
        let about = About {
            name: name.into(),
            format: "list".into(),
            sha256: None,
            reading: None,
            requests: Some(requests.len() as u64),
            span: requests.iter().map(Request::end).max(),
            timed: true,
            closed: Vec::new(),
            flows: Vec::new(),
            stand_in: None,
            notes: Vec::new(),
        };
        Ok(Self { about, requests: requests.into() })
    }
}

impl Workload for List {
    fn about(&self) -> &About {
        &self.about
    }

    fn open_pass(&self, _pass: u64) -> Result<Box<dyn RequestSource>, TraceError> {
        Ok(Box::new(Listed::new(&self.requests)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Op, trace::drain};
    use kernel::{Prio, Time};

    #[test]
    fn a_list_comes_back_in_batches_and_bad_ones_are_refused() {
        let at = |ns, len| Request {
            at: Time::from_ns(ns),
            offset: ns * 512,
            len,
            op: Op::Write,
            prio: Prio::Normal,
            flow: 0,
            hint: 0,
        };
        let requests: Vec<_> = (0..10_000).map(|i| at(i, 512)).collect();
        let list = List::new("l", requests.clone()).unwrap();
        assert_eq!(drain(&mut *list.open().unwrap()).unwrap(), requests);
        let flush = Request { op: Op::Flush, ..at(0, 0) };
        let both = vec![flush, at(3, 512), Request { op: Op::WriteFua, ..at(3, 512) }];
        let list = List::new("l", both.clone()).unwrap();
        assert_eq!(drain(&mut *list.open().unwrap()).unwrap(), both);
        assert_eq!((list.about().requests, list.about().span), (Some(3), Some(4 * 512)));
        for (bad, word) in [
            (vec![], "no request"),
            (vec![at(1, 0)], "size 0"),
            (vec![at(0, 1), Request { len: 1, ..flush }], "request 2: a flush of some addresses"),
            (vec![Request { offset: 1, ..flush }], "a flush of some addresses"),
            (vec![at(5, 1), at(4, 1)], "request 2: time runs backwards"),
        ] {
            let message = List::new("l", bad).unwrap_err().to_string();
            assert!(message.contains(word), "{message}");
        }
    }
}

//! The order of requests, by hand.

use super::*;
use crate::params::Params;
use serde_json::{Map, Value, json};

fn head(flow: u8, weight: u32) -> HeadView {
    HeadView { flow, weight, prio: Prio::Normal, arrived: Time::ZERO, bytes: 4096, inside: 0 }
}

fn params(of: Value) -> Params {
    let Value::Object(map) = of else { unreachable!() };
    Params::complete(Map::from_iter(map))
}

/// The order of flows that always have something to send.
fn order(policy: &mut dyn Arbitration, heads: &[HeadView], n: usize) -> Vec<u8> {
    (0..n).map(|_| heads[policy.pick(heads, Time::ZERO)].flow).collect()
}

#[test]
fn in_turns() {
    let heads = [head(0, 1), head(3, 7), head(200, 1)];
    let mut one = round_robin::new(&params(json!({ "burst": 1 })));
    assert_eq!(order(&mut one, &heads, 7), [0, 3, 200, 0, 3, 200, 0]);
    let mut two = round_robin::new(&params(json!({ "burst": 2 })));
    assert_eq!(order(&mut two, &heads, 7), [0, 0, 3, 3, 200, 200, 0]);
    // A turn ends when there is nothing left to send in it.
    assert_eq!(order(&mut two, &heads[1..], 3), [3, 3, 200]);
}

#[test]
fn as_often_as_weights_say() {
    let heads = [head(0, 1), head(1, 2), head(2, 4)];
    let mut one = weighted::new(&params(json!({ "burst": 1 })));
    assert_eq!(order(&mut one, &heads, 8), [0, 1, 2, 1, 2, 2, 2, 0]);
    let mut four = weighted::new(&params(json!({ "burst": 4 })));
    assert_eq!(order(&mut four, &heads, 8), [0, 1, 1, 2, 2, 2, 2, 0]);
    // Urgent requests go first, each flow's in its turn, and cost no credit.
    let urgent = |flow| HeadView { prio: Prio::High, ..head(flow, 1) };
    let mixed = [head(0, 1), urgent(1), urgent(2)];
    assert_eq!(order(&mut four, &mixed, 4), [1, 2, 1, 2]);
    assert_eq!(order(&mut four, &heads, 2), [1, 1]);
}

/// Two flows of 4096 bytes and weights 1 and 2: tags 0, 4096, 8192 and 0, 2048, 4096 and so on. A third
/// that comes late begins at the virtual time, and has saved nothing up.
#[test]
fn by_start_tags() {
    let mut fair = fair::new(&params(json!({ "cost": "bytes" })));
    let heads = [head(0, 1), head(1, 2)];
    assert_eq!(order(&mut fair, &heads, 6), [0, 1, 1, 0, 1, 1]);
    let three = [head(0, 1), head(1, 2), head(2, 1)];
    let late = order(&mut fair, &three, 400);
    let of = |flow| late.iter().map(|f| usize::from(*f == flow)).sum::<usize>();
    assert_eq!((of(0), of(1), of(2)), (100, 200, 100));
    // Requests of twice the size go half as often; counted as requests, as often.
    let long = [head(0, 1), HeadView { bytes: 8192, ..head(1, 1) }];
    let mut bytes = fair::new(&params(json!({ "cost": "bytes" })));
    let mut requests = fair::new(&params(json!({ "cost": "requests" })));
    let first = |order: Vec<u8>| order.iter().map(|f| usize::from(*f == 0)).sum::<usize>();
    assert_eq!(first(order(&mut bytes, &long, 300)), 200);
    assert_eq!(first(order(&mut requests, &long, 300)), 150);
}

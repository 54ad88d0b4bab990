//! The roads of `docs/migration.md`, decision by decision: what each list of strategies offers and how it is registered,
//! what the group picks, what its members claim and hold then, and what the leader withholds.
//!
//! The mock cluster never negotiates, so no group of it can walk them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kafka_sticky_protocol::{MemberClaims, Strategy as Kind, Subscription};

use crate::assignor::Assignor;
use crate::ffi::Names;
use crate::member::{Member, Place};
use crate::membership::Assigned;
use crate::round::{Round, RoundMember, RoundTopic};
use crate::shared::{Claims, Shared};
use crate::sticky::{CooperativeSticky, Sticky};
use crate::strategy::RebalanceProtocol::{self, Cooperative, Eager};
use crate::strategy::Strategies;

const RANGE: &str = "range";
const STICKY: &str = "sticky";
const COOPERATIVE: &str = "cooperative-sticky";
const STICKY_OR_RANGE: &str = "sticky,range";
const COOPERATIVE_OR_RANGE: &str = "cooperative-sticky,range";
const COOPERATIVE_OR_STICKY: &str = "cooperative-sticky,sticky";

/// What a member offers with this configuration, and how all of that is registered.
fn offered(list: &str) -> (Vec<String>, RebalanceProtocol) {
    let strategies = Strategies::parse(list, &[Arc::new(Sticky::new()), Arc::new(CooperativeSticky::new())]);
    let strategies = strategies.unwrap();
    let names = strategies.offered.iter().map(|strategy| strategy.name().to_str().unwrap().to_owned());
    (names.collect(), strategies.protocol)
}

/// What the coordinator picks for members with these configurations, as Kafka's does: each votes for the first of its
/// strategies that all offer, and most votes win. `None` where they have none in common, and somebody is refused.
fn picked(lists: &[&str]) -> Option<String> {
    let offers: Vec<Vec<String>> = lists.iter().map(|list| offered(list).0).collect();
    let mut votes = BTreeMap::<&String, usize>::new();
    for offer in &offers {
        let vote = offer.iter().find(|name| offers.iter().all(|other| other.contains(name)))?;
        *votes.entry(vote).or_default() += 1;
    }
    votes.into_iter().max_by_key(|(_, votes)| *votes).map(|(name, _)| name.clone())
}

/// What a member was given of `orders`, by whatever strategy: nobody asks which.
fn given(generation: i32, partitions: &[i32]) -> Assigned {
    Assigned::new(RANGE, generation, vec![("orders".into(), partitions.to_vec())])
}

/// The assignor of one of the two strategies.
fn assignor(kind: Kind) -> Arc<dyn Assignor> {
    match kind {
        Kind::Sticky => Arc::new(Sticky::new()),
        Kind::CooperativeSticky => Arc::new(CooperativeSticky::new()),
    }
}

/// The subscription of a member with this configuration, for one of the strategies that it offers, if it was given this
/// last and nothing has been taken from it since.
fn subscription(list: &str, kind: Kind, last: Option<&Assigned>) -> Vec<u8> {
    let shared = Arc::new(Shared::new(Names::default(), Vec::new(), None));
    let member = Member::new(assignor(kind), offered(list).1, Place::First, shared);
    let owned = last.map_or(&[][..], |last| &last.partitions);
    let claims = last.map_or(Claims::Nothing, |last| Claims::Given(Arc::new(last.clone())));
    member.subscription(&["orders".to_owned()], owned, &claims, None).unwrap()
}

/// The partitions of `orders` that a subscription claims, their generation, and those that it holds.
fn said(kind: Kind, subscription: &[u8]) -> (Vec<i32>, Option<i32>, Vec<i32>) {
    let subscription = Subscription::read(subscription).unwrap();
    let said = MemberClaims::read(kind, &subscription);
    let numbers =
        |pairs: &mut dyn Iterator<Item = (&str, i32)>| pairs.map(|(_, partition)| partition).collect();
    (numbers(&mut said.claims().pairs()), said.claims_generation(), numbers(&mut said.holds().pairs()))
}

/// What the leader of generation 8 gives members of these configurations for now, of `orders` with six partitions, if
/// they were given this in generation 7.
fn led(kind: Kind, members: &[(&str, &[i32])]) -> Vec<BTreeSet<u32>> {
    let ids = ["a", "b", "c"];
    let members = ids.into_iter().zip(members).map(|(id, (list, had))| {
        let last = given(7, had);
        let subscription = subscription(list, kind, (!had.is_empty()).then_some(&last));
        let (claims, generation, holds) = said(kind, &subscription);
        let member =
            RoundMember::new(id).subscribe(["orders"]).claim("orders", claims, generation.unwrap_or(-1));
        member.hold("orders", holds, generation.unwrap_or(-1))
    });
    let round = Round::new(8, [RoundTopic::new("orders", 6)], members);
    let plan = assignor(kind).assign(&round).unwrap();
    plan.check(&round).unwrap();
    (0..round.members.len())
        .map(|member| plan.given(member).map(|(_, partition)| partition).collect())
        .collect()
}

fn set<const N: usize>(partitions: [u32; N]) -> BTreeSet<u32> {
    BTreeSet::from(partitions)
}

#[test]
fn each_list_is_offered_in_its_order_and_registered_eager_if_any_of_it_is() {
    for (list, names, protocol) in [
        (STICKY_OR_RANGE, &[STICKY, RANGE][..], Eager),
        (STICKY, &[STICKY], Eager),
        (COOPERATIVE_OR_RANGE, &[COOPERATIVE, RANGE], Eager),
        ("cooperative-sticky, roundrobin", &[COOPERATIVE, "roundrobin"], Eager),
        (COOPERATIVE_OR_STICKY, &[COOPERATIVE, STICKY], Eager),
        (COOPERATIVE, &[COOPERATIVE], Cooperative),
    ] {
        assert_eq!(
            offered(list),
            (names.iter().map(|name| (*name).to_owned()).collect(), protocol),
            "{list}"
        );
    }
}

/// Walks a road one member at a time, from the first list to the last, and back, and says what the group picks with none,
/// one, two and all of the three members at the next list.
fn walked(from: &str, to: &str) -> Vec<Option<String>> {
    (0..=3).map(|moved| picked(&[vec![to; moved], vec![from; 3 - moved]].concat())).collect()
}

fn picks(names: [&str; 4]) -> Vec<Option<String>> {
    names.map(|name| Some(name.to_owned())).to_vec()
}

#[test]
fn a_range_group_picks_sticky_when_the_last_member_offers_it_and_range_again_with_the_first_that_does_not() {
    assert_eq!(walked(RANGE, STICKY_OR_RANGE), picks([RANGE, RANGE, RANGE, STICKY]));
    assert_eq!(walked(STICKY_OR_RANGE, STICKY), picks([STICKY; 4]));
    assert_eq!(walked(STICKY_OR_RANGE, RANGE), picks([STICKY, RANGE, RANGE, RANGE]));
}

#[test]
fn an_eager_group_picks_cooperative_sticky_at_the_end_of_the_first_restart_and_keeps_it_through_the_second() {
    for old in [RANGE, "roundrobin", STICKY] {
        let both = format!("{COOPERATIVE},{old}");
        assert_eq!(walked(old, &both), picks([old, old, old, COOPERATIVE]));
        assert_eq!(walked(&both, COOPERATIVE), picks([COOPERATIVE; 4]));
        assert_eq!(walked(COOPERATIVE, &both), picks([COOPERATIVE; 4]));
        assert_eq!(walked(&both, old), picks([COOPERATIVE, old, old, old]));
    }
}

#[test]
fn members_without_a_strategy_in_common_are_refused() {
    for lists in [[RANGE, STICKY], [COOPERATIVE, RANGE], [COOPERATIVE, STICKY]] {
        assert_eq!(picked(&lists), None, "{lists:?}");
    }
}

#[test]
fn a_member_just_started_claims_nothing() {
    let joining = subscription(STICKY_OR_RANGE, Kind::Sticky, None);
    assert_eq!(said(Kind::Sticky, &joining), (vec![], None, vec![]));
}

#[test]
fn a_member_of_a_mixed_list_claims_what_it_had_and_holds_nothing() {
    let last = given(7, &[0, 1]);
    let joining = subscription(STICKY_OR_RANGE, Kind::Sticky, Some(&last));
    assert_eq!(said(Kind::Sticky, &joining), (vec![0, 1], Some(7), vec![]));
    for list in [COOPERATIVE_OR_RANGE, COOPERATIVE_OR_STICKY] {
        let joining = subscription(list, Kind::CooperativeSticky, Some(&last));
        assert_eq!(said(Kind::CooperativeSticky, &joining), (vec![0, 1], Some(7), vec![]), "{list}");
    }
}

#[test]
fn a_cooperative_member_holds_what_it_claims() {
    let last = given(7, &[0, 1]);
    let joining = subscription(COOPERATIVE, Kind::CooperativeSticky, Some(&last));
    assert_eq!(said(Kind::CooperativeSticky, &joining), (vec![0, 1], Some(7), vec![0, 1]));
}

#[test]
fn a_group_of_mixed_lists_moves_in_one_generation_and_keeps_the_rest() {
    for (kind, list) in [
        (Kind::Sticky, STICKY_OR_RANGE),
        (Kind::CooperativeSticky, COOPERATIVE_OR_RANGE),
        (Kind::CooperativeSticky, COOPERATIVE_OR_STICKY),
    ] {
        let shares = led(kind, &[(list, &[0, 1, 2]), (list, &[3, 4, 5]), (list, &[])]);
        assert_eq!(shares.iter().map(BTreeSet::len).collect::<Vec<_>>(), [2, 2, 2], "{list}");
        assert!(shares[0].is_subset(&set([0, 1, 2])) && shares[1].is_subset(&set([3, 4, 5])), "{list}");
    }
}

#[test]
fn in_the_second_restart_what_a_cooperative_member_holds_is_withheld_and_what_an_eager_one_had_is_not() {
    // `a` has been restarted already and goes on processing; `b` has revoked everything; `c` has just been started.
    let members = [(COOPERATIVE, &[0, 1, 2][..]), (COOPERATIVE_OR_RANGE, &[3, 4, 5]), (COOPERATIVE, &[])];
    let shares = led(Kind::CooperativeSticky, &members);
    assert_eq!((shares[0].len(), shares[1].len(), shares[2].len()), (2, 2, 1));
    assert!(shares[0].is_subset(&set([0, 1, 2])) && shares[1].is_subset(&set([3, 4, 5])));
    // One of the two that go to `c` waits until `a` has revoked it.
    assert!(shares[2].is_subset(&set([3, 4, 5])));
    let given: BTreeSet<u32> = shares.into_iter().flatten().collect();
    assert_eq!(given.len(), 5);
}

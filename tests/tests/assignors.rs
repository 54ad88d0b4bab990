//! Assignors of the user's own: what becomes of their plans, and of their group when they fail.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use kafka_sticky_rdkafka_adapter::{
    Assigned, Assignor, AssignorError, Assignors, Event, Joining, Plan, RebalanceProtocol, Round,
};
use kafka_sticky_tests::manners::{Honest, Silent};
use kafka_sticky_tests::mixed::{Generation, Mixed};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

const TOPICS: &[&str; 2] = &["orders", "payments"];
const SIZES: &[(&str, i32)] = &[("orders", 7), ("payments", 4)];
const NAME: &str = "mine";
const PATIENCE: Duration = Duration::from_secs(60);
const BOTH: [RebalanceProtocol; 2] = [RebalanceProtocol::Eager, RebalanceProtocol::Cooperative];

/// The methods and reasons of all failures, in order.
fn failures(events: &[Event]) -> Vec<(&'static str, String)> {
    let failed = |event: &Event| match event {
        Event::AssignorFailed { assignor, method, reason, .. } => {
            assert_eq!(assignor, NAME);
            Some((*method, reason.clone()))
        }
        _ => None,
    };
    events.iter().filter_map(failed).collect()
}

fn failed(events: &[Event], method: &str) -> usize {
    failures(events).iter().filter(|(of, _)| *of == method).count()
}

/// How often this member led.
fn led(events: &[Event]) -> usize {
    events.iter().filter(|event| matches!(event, Event::Assigned(assigned) if assigned.led.is_some())).count()
}

fn assigned(events: &[Event]) -> usize {
    events.iter().filter(|event| matches!(event, Event::Assigned(_))).count()
}

/// A group in which one of ours leads, with this assignor, and another follows, with the same; members come and go.
///
/// The judge holds the group to the optimum, which is what core assigns in the place of an assignor that fails.
async fn a_group_of<A: Assignor + Clone>(assignor: &A) -> Result<(Mixed, Generation)> {
    let mut group = Mixed::new(NAME, SIZES)?;
    let assignors = Assignors::new().with(assignor.clone());
    let config = group.config();
    group.join_with("leader", TOPICS, &config, &assignors)?;
    group.settle().await?;
    group.join_with("follower", TOPICS, &config, &assignors)?;
    group.settle().await?;
    group.join_raw("raw", TOPICS, None, Silent::with(3, TOPICS, None));
    let generation = group.settle().await?;
    Ok((group, generation))
}

#[derive(Debug, Clone, Copy)]
struct Panics(RebalanceProtocol);

impl Assignor for Panics {
    fn name(&self) -> &str {
        NAME
    }

    fn rebalance_protocol(&self) -> RebalanceProtocol {
        self.0
    }

    fn user_data(&self, _: &Joining<'_>) -> Result<Option<Vec<u8>>, AssignorError> {
        panic!("in user_data")
    }

    fn assign(&self, _: &Round<'_>) -> Result<Plan, AssignorError> {
        panic!("in assign")
    }

    fn assigned(&self, _: &Assigned) {
        panic!("in assigned")
    }
}

/// The events of a member whose assignor fails at every assignment too, once it has failed at the last.
async fn events_up_to_a_failure(group: &Mixed, member: &str) -> Result<Vec<Event>> {
    let failed = async {
        loop {
            let events = group.events(member);
            if matches!(events.last(), Some(Event::AssignorFailed { method: "assigned", .. })) {
                return events;
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, failed).await.with_context(|| format!("{:#?}", group.events(member)))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_whose_assignor_panics_on_every_call_stays_assigned_and_hears_of_each() -> Result<()> {
    for protocol in BOTH {
        let (group, generation) = a_group_of(&Panics(protocol)).await?;
        assert_eq!(generation.loads(), [3, 4, 4], "{protocol}");
        let events = events_up_to_a_failure(&group, "leader").await?;
        assert!(led(&events) >= 3, "{protocol}: {events:#?}");
        assert_eq!(failed(&events, "assign"), led(&events), "{protocol}: {events:#?}");
        assert_eq!(failed(&events, "assigned"), assigned(&events), "{protocol}: {events:#?}");
        assert!(failed(&events, "user_data") >= assigned(&events), "{protocol}: {events:#?}");
        for (method, reason) in failures(&events) {
            assert_eq!(reason, format!("it panicked: in {method}"), "{protocol}");
        }
        let follower = events_up_to_a_failure(&group, "follower").await?;
        assert_eq!(failed(&follower, "assign"), 0, "{protocol}: {follower:#?}");
        assert_eq!(failed(&follower, "assigned"), assigned(&follower), "{protocol}: {follower:#?}");
    }
    Ok(())
}

#[derive(Debug, Clone, Copy)]
struct Errs(RebalanceProtocol);

impl Assignor for Errs {
    fn name(&self) -> &str {
        NAME
    }

    fn rebalance_protocol(&self) -> RebalanceProtocol {
        self.0
    }

    fn user_data(&self, _: &Joining<'_>) -> Result<Option<Vec<u8>>, AssignorError> {
        Err("nothing to say".into())
    }

    fn assign(&self, _: &Round<'_>) -> Result<Plan, AssignorError> {
        Err("no idea".into())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_whose_assignor_errs_is_assigned_by_core() -> Result<()> {
    for protocol in BOTH {
        let (group, generation) = a_group_of(&Errs(protocol)).await?;
        assert_eq!(generation.loads(), [3, 4, 4], "{protocol}");
        let events = group.events("leader");
        assert_eq!(failed(&events, "assign"), led(&events), "{protocol}: {events:#?}");
        assert!(failed(&events, "user_data") >= assigned(&events), "{protocol}: {events:#?}");
        for (method, reason) in failures(&events) {
            assert_eq!(reason, if method == "assign" { "no idea" } else { "nothing to say" });
        }
        let report = generation.ours["leader"].led.as_ref().and_then(|led| led.report);
        assert!(report.is_some_and(|report| report.proven.balance), "{protocol}: {report:?}");
    }
    Ok(())
}

/// Plans that are wrong in one way each.
#[derive(Debug, Clone, Copy)]
struct Invalid {
    protocol: RebalanceProtocol,
    plan: fn(&Round<'_>) -> Plan,
}

impl Assignor for Invalid {
    fn name(&self) -> &str {
        NAME
    }

    fn rebalance_protocol(&self) -> RebalanceProtocol {
        self.protocol
    }

    fn assign(&self, round: &Round<'_>) -> Result<Plan, AssignorError> {
        Ok((self.plan)(round))
    }
}

/// Everything to the first subscriber.
fn to_the_first(round: &Round<'_>) -> Plan {
    let mut plan = Plan::new(round);
    for (index, topic) in round.topics.iter().enumerate() {
        let subscriber = round.members.iter().position(|member| member.subscription.contains(&topic.name));
        let subscriber = subscriber.expect("a topic of the round has a subscriber");
        (0..topic.partitions).for_each(|partition| plan.give(subscriber, index, partition));
    }
    plan
}

/// The index of a topic that is of no use to everybody, and the member that does not subscribe to it.
fn stranger(round: &Round<'_>) -> Option<(usize, usize)> {
    let strange = |topic: usize| {
        let name = round.topics[topic].name;
        round.members.iter().position(|member| !member.subscription.contains(&name))
    };
    (0..round.topics.len()).find_map(|topic| Some((topic, strange(topic)?)))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_is_wrong_in_any_way_is_replaced_by_core_and_the_event_says_what_is_wrong() -> Result<()>
{
    type Wrong = (&'static str, fn(&Round<'_>) -> Plan, fn(&str) -> bool);
    let wrong: [Wrong; 6] = [
        (
            "another round",
            |_| Plan::new(&Round::new(1, [], [])),
            |reason| reason.contains("shares for 0 members"),
        ),
        (
            "no such topic",
            |round| {
                let mut plan = to_the_first(round);
                plan.give(0, round.topics.len(), 0);
                plan
            },
            |reason| reason.contains("which does not exist"),
        ),
        (
            "no such partition",
            |round| {
                let mut plan = to_the_first(round);
                plan.give(0, 0, round.topics[0].partitions);
                plan
            },
            |reason| reason.contains("which does not exist"),
        ),
        (
            "not subscribed",
            |round| {
                let mut plan = to_the_first(round);
                match stranger(round) {
                    Some((topic, member)) => plan.give(member, topic, 0),
                    // Nobody is a stranger while the leader is alone.
                    None => plan.give(0, usize::MAX, 0),
                }
                plan
            },
            |reason| reason.contains("does not subscribe to") || reason.contains(&usize::MAX.to_string()),
        ),
        (
            "given twice",
            |round| {
                let mut plan = to_the_first(round);
                let twice = plan.given(0).next();
                let (topic, partition) = twice.expect("the first member has something");
                plan.give(0, topic, partition);
                plan
            },
            |reason| reason.contains("was given to"),
        ),
        (
            "forgotten",
            // The last topic is held by nobody when the group is new; later everything may be.
            |round| {
                let mut plan = Plan::new(round);
                if round.members.iter().any(|member| !member.holds.is_empty()) {
                    plan.give(0, usize::MAX, 0);
                }
                plan
            },
            |reason| reason.contains("given to nobody") || reason.contains(&usize::MAX.to_string()),
        ),
    ];
    let mut groups = JoinSet::new();
    for protocol in BOTH {
        for (name, plan, says) in wrong {
            groups.spawn(async move {
                let assigned = a_group_whose_plans_are_wrong(Invalid { protocol, plan }, says).await;
                assigned.with_context(|| format!("{name}, {protocol}"))
            });
        }
    }
    while let Some(group) = groups.join_next().await {
        group??;
    }
    Ok(())
}

async fn a_group_whose_plans_are_wrong(assignor: Invalid, says: fn(&str) -> bool) -> Result<()> {
    let mut group = Mixed::new(NAME, SIZES)?;
    let config = group.config();
    group.join_with("leader", TOPICS, &config, &Assignors::new().with(assignor))?;
    group.settle().await?;
    group.join_raw("raw", &["orders"], None, Honest(&["orders"]));
    let generation = group.settle_unchecked().await?;
    ensure!(generation.loads() == [5, 6], "{generation:#?}");
    let events = group.events("leader");
    let failures = failures(&events);
    ensure!(failures.len() == led(&events), "{events:#?}");
    for (method, reason) in failures {
        ensure!(method == "assign" && says(&reason), "{method}: {reason}");
    }
    Ok(())
}

/// Gives everything to the member whose user data is the greatest, tells each who that was, and passes on what it hears.
#[derive(Debug, Clone)]
struct Auction {
    bid: u8,
    heard: mpsc::UnboundedSender<(u8, Arc<Assigned>)>,
}

impl Assignor for Auction {
    fn name(&self) -> &str {
        NAME
    }

    fn rebalance_protocol(&self) -> RebalanceProtocol {
        RebalanceProtocol::Eager
    }

    fn user_data(&self, joining: &Joining<'_>) -> Result<Option<Vec<u8>>, AssignorError> {
        assert_eq!((joining.topics, joining.owned.len()), (&TOPICS.map(ToOwned::to_owned)[..], 0));
        Ok(Some(vec![self.bid]))
    }

    fn assign(&self, round: &Round<'_>) -> Result<Plan, AssignorError> {
        let best = (0..round.members.len()).max_by_key(|member| round.members[*member].user_data);
        let best = best.ok_or("a round without members")?;
        let mut plan = Plan::new(round);
        for (index, topic) in round.topics.iter().enumerate() {
            (0..topic.partitions).for_each(|partition| plan.give(best, index, partition));
        }
        for member in 0..round.members.len() {
            plan.tell(member, format!("{} won", round.members[best].id).into_bytes());
        }
        Ok(plan)
    }

    fn assigned(&self, assigned: &Assigned) {
        // The test may have heard enough.
        let _ = self.heard.send((self.bid, Arc::new(assigned.clone())));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_is_used_and_user_data_reaches_the_leader_and_the_members() -> Result<()> {
    let (heard, mut hears) = mpsc::unbounded_channel();
    let auction = |bid| Assignors::new().with(Auction { bid, heard: heard.clone() });
    let mut group = Mixed::new(NAME, SIZES)?;
    let config = group.config();
    group.join_with("leader", TOPICS, &config, &auction(3))?;
    group.settle_unchecked().await?;
    group.join_with("rich", TOPICS, &config, &auction(9))?;
    group.join_raw("poor", TOPICS, None, Silent::with(3, TOPICS, Some(&[1])));
    let generation = group.settle_unchecked().await?;
    assert_eq!(generation.shares["rich"].len(), 11);
    assert_eq!(generation.loads(), [0, 0, 11]);
    assert_eq!(generation.ours["leader"].led.as_ref().map(|led| led.report), Some(None));
    let winner = generation.ours["rich"].member_id.clone();
    assert_eq!(generation.told["poor"], Some(format!("{winner} won").into_bytes()));
    for name in ["leader", "rich"] {
        assert_eq!(failures(&group.events(name)), []);
    }

    group.leave("rich").await?;
    let generation = group.settle_unchecked().await?;
    assert_eq!(generation.shares["leader"].len(), 11);
    drop(heard);
    let mut told: BTreeSet<(u8, i32, usize)> = BTreeSet::new();
    while !told.contains(&(3, generation.number, 11)) {
        let next = timeout(PATIENCE, hears.recv()).await?;
        let (bid, assigned) = next.context("the assignor was not told")?;
        told.insert((bid, assigned.generation, assigned.load()));
    }
    assert!(told.iter().any(|(bid, _, load)| (*bid, *load) == (9, 11)), "{told:?}");
    Ok(())
}

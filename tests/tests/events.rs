//! What members hear of their groups: each event is caused, by a cluster that fails, a group that changes, or a
//! neighbour that misbehaves.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use kafka_sticky_rdkafka_adapter::mocking::GroupCluster;
use kafka_sticky_rdkafka_adapter::{
    Assigned, Assignors, CooperativeSticky, CreateConsumer, Event, Events, Led, Membership, Reason, Sticky,
};
use kafka_sticky_tests::manners::{Honest, Silent};
use kafka_sticky_tests::mixed::{Mixed, share_of};
use kafka_sticky_tests::ours::Ours;
use kafka_sticky_tests::raw;
use kafka_sticky_tests::seen::Partition;
use rdkafka::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer, StreamConsumer};
use rdkafka::types::{RDKafkaApiKey, RDKafkaErrorCode, RDKafkaRespErr};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep, timeout};

const TOPICS: &[&str; 2] = &["orders", "payments"];
const SIZES: &[(&str, i32)] = &[("orders", 7), ("payments", 4)];
const PATIENCE: Duration = Duration::from_secs(60);

/// A cluster with both topics, and the configuration of a member with these strategies.
fn cluster(strategies: &str) -> Result<(GroupCluster, ClientConfig)> {
    let cluster = GroupCluster::start(1)?;
    for (topic, partitions) in SIZES {
        cluster.create_topic(topic, *partitions)?;
    }
    let mut config = cluster.consumer_config("group");
    config.set("partition.assignment.strategy", strategies);
    Ok((cluster, config))
}

/// What `find` finds among the events of a member, once there is something.
async fn wait_for<T>(member: &Ours, find: impl Fn(&[Event]) -> Option<T>) -> Result<T> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = find(&member.events()) {
            return Ok(found);
        }
        ensure!(Instant::now() < deadline, "it does not come: {:#?}", member.events());
        sleep(Duration::from_millis(20)).await;
    }
}

fn assigned(event: &Event) -> Option<&Arc<Assigned>> {
    match event {
        Event::Assigned(assigned) => Some(assigned),
        _ => None,
    }
}

fn partitions(listed: &[(String, Vec<i32>)]) -> BTreeSet<Partition> {
    let by_topic = listed.iter();
    by_topic.flat_map(|(topic, numbers)| numbers.iter().map(|number| (topic.clone(), *number))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_assignment_says_what_was_kept_gained_and_lost() -> Result<()> {
    for strategy in ["sticky", "cooperative-sticky", "range"] {
        let mut group = Mixed::new(strategy, SIZES)?;
        group.join("a", TOPICS)?;
        group.settle_unchecked().await?;
        group.join("b", TOPICS)?;
        group.settle_unchecked().await?;
        group.leave("b").await?;
        group.settle_unchecked().await?;
        let events = group.events("a");
        let assigned: Vec<&Arc<Assigned>> = events.iter().filter_map(assigned).collect();
        let mut before = BTreeSet::new();
        for now in &assigned {
            let share = share_of(now);
            let gained: BTreeSet<_> = share.difference(&before).cloned().collect();
            let lost: BTreeSet<_> = before.difference(&share).cloned().collect();
            assert_eq!(
                (partitions(&now.gained), partitions(&now.lost)),
                (gained, lost),
                "{strategy}: {now:#?}"
            );
            assert_eq!(now.kept(), share.intersection(&before).count(), "{strategy}");
            assert_eq!(now.subscription, TOPICS, "{strategy}");
            assert!(now.took > Duration::ZERO, "{strategy}");
            before = share;
        }
        assert!(assigned.iter().any(|assigned| !assigned.lost.is_empty()), "{strategy}: {assigned:#?}");
    }
    Ok(())
}

/// What was done in the last generation in which anything moved.
fn last_moves(events: &[Event]) -> Option<Led> {
    let led = events.iter().rev().filter_map(assigned).filter_map(|assigned| assigned.led.clone());
    led.into_iter().find(|led| !led.changes.is_empty())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_leader_says_what_changes_hands_and_why() -> Result<()> {
    let mut group = Mixed::new("sticky", SIZES)?;
    group.join("ours", TOPICS)?;
    let first = group.settle().await?;
    let led = first.ours["ours"].led.clone().context("it is alone")?;
    assert_eq!((led.members, led.changes.len()), (1, 0), "nobody had anything: {led:#?}");
    let matching = led.matching.context("the metadata has just been read")?;
    assert!(matching < PATIENCE, "{matching:?}");

    group.join_raw("raw", TOPICS, None, Honest(TOPICS));
    let second = group.settle().await?;
    let ours = &second.ours["ours"].member_id;
    let raw = group.past("raw").last().context("joined")?.member_id.clone();
    // A second rebalance may follow, for nothing, where a member synced after the leader.
    let moved = last_moves(&group.events("ours")).context("5 partitions moved")?;
    let changed: BTreeSet<Partition> =
        moved.changes.iter().map(|change| (change.topic.to_string(), change.partition)).collect();
    assert_eq!(changed, second.shares["raw"]);
    for change in &moved.changes {
        assert_eq!((change.from.as_deref(), &*change.to), (Some(ours.as_str()), raw.as_str()), "{change}");
        assert_eq!(change.reason, Reason::Balance, "{change}");
    }
    assert_eq!(moved.report.map(|report| report.moved), Some(changed.len() as u64));

    // Whose member is gone nobody claims, but the leader knows whose they were.
    group.leave("raw").await?;
    group.settle().await?;
    let moved = last_moves(&group.events("ours")).context("what it had moved")?;
    let changed: BTreeSet<Partition> =
        moved.changes.iter().map(|change| (change.topic.to_string(), change.partition)).collect();
    assert_eq!(changed, second.shares["raw"]);
    for change in &moved.changes {
        assert_eq!(
            (change.from.as_deref(), change.reason),
            (Some(raw.as_str()), Reason::Unclaimed),
            "{change}"
        );
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn joins_and_revocations_are_told_in_their_order() -> Result<()> {
    for strategy in ["sticky", "cooperative-sticky", "range"] {
        let mut group = Mixed::new(strategy, SIZES)?;
        group.join("a", TOPICS)?;
        let alone = group.settle_unchecked().await?;
        group.join("b", TOPICS)?;
        group.settle_unchecked().await?;
        let events = group.events("a");
        let Some(Event::Joining { member_id: None, topics: 2, attempt: 1, after_loss: None, .. }) =
            events.first()
        else {
            bail!("{strategy}: {events:#?}");
        };
        let revoked = events.iter().position(|event| matches!(event, Event::Revoked { .. }));
        let revoked = revoked.with_context(|| format!("{strategy}: {events:#?}"))?;
        let Event::Revoked { generation, member_id, partitions: given_up, lost, .. } = &events[revoked]
        else {
            bail!("found above");
        };
        assert!(!lost, "{strategy}: {events:#?}");
        assert_eq!(*member_id, alone.ours["a"].member_id, "{strategy}");
        let given_up = partitions(given_up);
        if strategy == "cooperative-sticky" {
            // Only what moves, and once that is settled.
            assert_eq!(given_up.len(), 5, "{events:#?}");
        } else {
            assert_eq!((*generation, given_up), (alone.number, alone.shares["a"].clone()), "{strategy}");
            let next = events[revoked + 1..].iter().find(|event| assigned(event).is_none());
            let Some(Event::Joining { member_id: Some(joins_as), attempt: 1, .. }) = next else {
                bail!("{strategy}: {events:#?}");
            };
            assert_eq!(joins_as, member_id, "{strategy}");
        }
    }
    Ok(())
}

fn loss(events: &[Event]) -> Option<(i32, usize)> {
    events.iter().find_map(|event| match event {
        Event::Revoked { generation, partitions: lost, lost: true, .. } => {
            Some((*generation, partitions(lost).len()))
        }
        _ => None,
    })
}

/// Why it joins again after a loss.
fn after_loss(events: &[Event]) -> Option<String> {
    events.iter().find_map(|event| match event {
        Event::Joining { after_loss, .. } => after_loss.clone(),
        _ => None,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_member_loses_since_the_group_has_forgotten_it_is_called_lost() -> Result<()> {
    for strategy in ["sticky", "cooperative-sticky"] {
        let (cluster, config) = cluster(strategy)?;
        let member = Ours::join(&config, &Assignors::new(), TOPICS)?;
        let before = wait_for(&member, |events| events.iter().find_map(assigned).cloned()).await?;
        let forgotten = [RDKafkaRespErr::RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID];
        cluster.mock().request_errors(RDKafkaApiKey::Heartbeat, &forgotten);
        assert_eq!(wait_for(&member, loss).await?, (before.generation, 11), "{strategy}");
        let reason = wait_for(&member, after_loss).await?;
        assert!(reason.contains("member-id"), "{strategy}: {reason}");
        member.leave().await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_member_loses_since_it_was_not_polled_in_time_is_called_lost() -> Result<()> {
    let (_cluster, mut config) = cluster("sticky")?;
    config.set("max.poll.interval.ms", "2000");
    let consumer: BaseConsumer = config.create_consumer()?;
    let membership = Membership::of(&consumer).context("of ours")?;
    let mut events = membership.events();
    consumer.subscribe(TOPICS)?;
    let events = spawn_blocking(move || {
        while membership.assigned().is_none() {
            consumer.poll(Duration::from_millis(50));
        }
        consumer.poll(Duration::from_millis(50));
        std::thread::sleep(Duration::from_millis(2500));
        let mut told = Vec::new();
        let deadline = Instant::now() + PATIENCE;
        while after_loss(&told).is_none() {
            assert!(Instant::now() < deadline, "{told:#?}");
            consumer.poll(Duration::from_millis(50));
            told.extend(std::iter::from_fn(|| events.try_next()));
        }
        told
    });
    let events = events.await?;
    assert_eq!(loss(&events).map(|(_, lost)| lost), Some(11), "{events:#?}");
    let reason = after_loss(&events).context("waited for")?;
    assert!(reason.contains("max.poll.interval.ms"), "{reason}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_that_the_group_refuses_hears_why_and_what_it_offers() -> Result<()> {
    let (cluster, config) = cluster("sticky, range")?;
    let member = Ours::join(&config, &Assignors::new(), TOPICS)?;
    wait_for(&member, |events| events.iter().find_map(assigned).cloned()).await?;
    let refusal = [RDKafkaRespErr::RD_KAFKA_RESP_ERR_INCONSISTENT_GROUP_PROTOCOL; 4];
    cluster.mock().request_errors(RDKafkaApiKey::JoinGroup, &refusal);
    let forgotten = [RDKafkaRespErr::RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID];
    cluster.mock().request_errors(RDKafkaApiKey::Heartbeat, &forgotten);
    let refused = wait_for(&member, |events| {
        events.iter().find(|event| matches!(event, Event::Refused { .. })).cloned()
    });
    let refused = refused.await?;
    let Event::Refused { code, offered, last_used, .. } = &refused else { bail!("found above") };
    assert_eq!(*code, RDKafkaErrorCode::InconsistentGroupProtocol);
    assert_eq!(
        (&offered[..], last_used.as_deref()),
        (&["sticky".into(), "range".into()][..], Some("sticky"))
    );
    for said in ["sticky, range", "the group used sticky", "partition.assignment.strategy"] {
        assert!(refused.to_string().contains(said), "{refused}");
    }

    // It goes on trying, and says so in time.
    let still = wait_for(&member, |events| {
        events.iter().find_map(|event| match event {
            Event::StillUnassigned { joins, since, refused, .. } => Some((*joins, *since, *refused)),
            _ => None,
        })
    });
    let (joins, since, refused) = still.await?;
    assert_eq!((joins, refused), (4, Some(RDKafkaErrorCode::InconsistentGroupProtocol)));
    assert!(since > Duration::ZERO);
    let again = wait_for(&member, |events| {
        let still = events.iter().position(|event| matches!(event, Event::StillUnassigned { .. }))?;
        events[still..].iter().find_map(assigned).cloned()
    });
    assert!(again.await?.took >= since);
    member.leave().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_with_more_topics_than_a_leader_takes_hears_of_it() -> Result<()> {
    let (cluster, mut config) = cluster("sticky")?;
    // librdkafka compares each with each.
    config.set("topic.metadata.refresh.interval.ms", "60000");
    let topics: Vec<String> = (0..10_001).map(|topic| format!("many-{topic}")).collect();
    raw::create_topics(&cluster.bootstrap_servers(), &topics).await?;
    let topics: Vec<&str> = topics.iter().map(String::as_str).collect();
    let member = Ours::join(&config, &Assignors::new(), &topics)?;
    let topics = wait_for(&member, |events| {
        events.iter().find_map(|event| match event {
            Event::TooManyTopics { topics, .. } => Some(*topics),
            _ => None,
        })
    });
    assert_eq!(topics.await?, 10_001);
    member.leave().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_comes_to_the_bound_on_its_work_says_what_is_not_proven() -> Result<()> {
    let bounded = [
        Assignors::new().with(Sticky::new().budget(0)),
        Assignors::new().with(CooperativeSticky::new().budget(0)),
    ];
    for (strategy, assignors) in ["sticky", "cooperative-sticky"].into_iter().zip(bounded) {
        let mut group = Mixed::new(strategy, SIZES)?;
        let config = group.config();
        group.join_with("ours", TOPICS, &config, &assignors)?;
        group.settle_unchecked().await?;
        group.join_raw("orders", &["orders"], None, Honest(&["orders"]));
        let generation = group.settle_unchecked().await?;
        let events = group.events("ours");
        let unproven = events.iter().find_map(|event| match event {
            Event::Unproven { generation, proven, .. } => Some((*generation, *proven)),
            _ => None,
        });
        let (of, proven) = unproven.with_context(|| format!("{strategy}: {generation:#?}, {events:#?}"))?;
        assert!(!proven.all(), "{strategy}");
        let led = events.iter().filter_map(assigned).find(|assigned| assigned.generation == of);
        let report = led.and_then(|assigned| assigned.led.as_ref()?.report).context("it led")?;
        assert_eq!(report.proven, proven, "{strategy}");
        // As even as it gets all the same, in a group as small as this.
        assert_eq!(generation.shares.values().map(BTreeSet::len).sum::<usize>(), 11);
    }
    Ok(())
}

async fn ends(mut events: Events) -> Result<Vec<Event>> {
    let mut read = Vec::new();
    let all = async {
        while let Some(event) = events.next().await {
            read.push(event);
        }
    };
    timeout(PATIENCE, all).await.context("the events do not end")?;
    Ok(read)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_events_end_with_the_consumer_and_the_last_are_its_leaving() -> Result<()> {
    let (_cluster, config) = cluster("sticky")?;
    let consumer: StreamConsumer = config.create_consumer()?;
    let membership = Membership::of(&consumer).context("of ours")?;
    let reader = tokio::spawn(ends(membership.events()));
    consumer.subscribe(TOPICS)?;
    let reading = timeout(PATIENCE, async {
        while membership.assigned().is_none() {
            tokio::select! {
                message = consumer.recv() => drop(message),
                () = sleep(Duration::from_millis(20)) => {}
            }
        }
    });
    reading.await.context("it is given nothing")?;
    assert!(!reader.is_finished());
    spawn_blocking(move || drop(consumer)).await?;
    let read = reader.await??;
    let Some(Event::Revoked { partitions: given_up, lost: false, .. }) = read.last() else {
        bail!("{read:#?}")
    };
    assert_eq!(partitions(given_up).len(), 11);
    // And for who comes later there is nothing to wait for.
    assert_eq!(ends(membership.events()).await?.len(), 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_never_reads_does_not_hold_up_its_group() -> Result<()> {
    let (cluster, config) = cluster("sticky")?;
    let consumer: StreamConsumer = config.create_consumer()?;
    let membership = Membership::of(&consumer).context("of ours")?;
    // Each of them half way through a read, too.
    let mut never_read: Vec<Events> = (0..1000).map(|_| membership.events()).collect();
    drop(consumer);
    for events in &mut never_read {
        assert!(events.try_next().is_none());
    }
    let member = Ours::join(&config, &Assignors::new(), TOPICS)?;
    let unread: Vec<Events> = (0..1000).map(|_| member.membership.events()).collect();
    for generations in 1..=3 {
        wait_for(&member, |events| (events.iter().filter_map(assigned).count() >= generations).then_some(()))
            .await?;
        let forgotten = [RDKafkaRespErr::RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID];
        cluster.mock().request_errors(RDKafkaApiKey::Heartbeat, &forgotten);
    }
    drop(unread);
    member.leave().await
}

#[tokio::test(flavor = "multi_thread")]
async fn unreadable_user_data_is_reported_with_the_id_of_its_member() -> Result<()> {
    let mut group = Mixed::new("sticky", SIZES)?;
    group.join("ours", TOPICS)?;
    group.settle().await?;
    group.join_raw("garbage", TOPICS, None, Silent::with(3, TOPICS, Some(&[0xff; 5])));
    group.settle().await?;
    let id = group.past("garbage").last().context("joined")?.member_id.clone();
    let events = group.events("ours");
    let told = events.iter().find(|event| matches!(event, Event::UserDataUnreadable { .. }));
    let told = told.with_context(|| format!("{events:#?}"))?;
    assert!(matches!(told, Event::UserDataUnreadable { member_id, .. } if *member_id == id), "{told}");
    Ok(())
}

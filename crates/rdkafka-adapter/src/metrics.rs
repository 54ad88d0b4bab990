//! Events as numbers, through the `metrics` facade, named as Prometheus would have it.

use std::collections::BTreeMap;

use metrics::{Label, Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};

use crate::events::Event;
use crate::ffi::Names;
use crate::membership::{Assigned, Led};
use crate::partitions;

const JOINS: &str = "kafka_sticky_joins_total";
const JOIN_ATTEMPTS: &str = "kafka_sticky_join_attempts";
const REFUSALS: &str = "kafka_sticky_refusals_total";
const ASSIGNMENTS: &str = "kafka_sticky_assignments_total";
const GENERATION: &str = "kafka_sticky_generation";
const PARTITIONS: &str = "kafka_sticky_partitions";
const CHANGES: &str = "kafka_sticky_partition_changes_total";
const REBALANCE: &str = "kafka_sticky_rebalance_duration_seconds";
const REVOCATIONS: &str = "kafka_sticky_revocations_total";
const REVOKED: &str = "kafka_sticky_revoked_partitions_total";
const LEADER: &str = "kafka_sticky_leader";
const MEMBERS: &str = "kafka_sticky_group_members";
const LEAST: &str = "kafka_sticky_group_least_partitions";
const MOST: &str = "kafka_sticky_group_most_partitions";
const MISMATCHES: &str = "kafka_sticky_group_rack_mismatches";
const MOVES: &str = "kafka_sticky_group_moves_total";
const ASSIGN: &str = "kafka_sticky_assign_duration_seconds";
const MATCHING: &str = "kafka_sticky_matching_duration_seconds";
const REMEMBERED: &str = "kafka_sticky_remembered_members_total";
const UNREADABLE: &str = "kafka_sticky_unreadable_user_data_total";
const UNPROVEN: &str = "kafka_sticky_unproven_assignments_total";
const FAILURES: &str = "kafka_sticky_assignor_failures_total";
const TOO_MANY: &str = "kafka_sticky_too_many_topics_total";

const COUNTERS: &[(&str, &str)] = &[
    (JOINS, "JoinGroup requests of this member"),
    (REFUSALS, "JoinGroup requests that the group refused, by error code"),
    (ASSIGNMENTS, "generations that this member was given a share of, by strategy"),
    (CHANGES, "partitions kept, gained and lost from one assignment of this member to the next"),
    (REVOCATIONS, "times that this member gave partitions up, or lost them"),
    (REVOKED, "partitions that this member gave up, or lost"),
    (MOVES, "on the leader: partitions that changed hands in the group, by reason"),
    (REMEMBERED, "on the leader: members whose claims it remembered for them"),
    (UNREADABLE, "on the leader: subscriptions with user data in no known form"),
    (UNPROVEN, "on the leader: assignments that came to the bound on the work"),
    (FAILURES, "calls in which an assignor failed, by assignor and method"),
    (TOO_MANY, "JoinGroup requests with more topics than librdkafka's leaders take"),
];
const GAUGES: &[(&str, &str)] = &[
    (JOIN_ATTEMPTS, "times that this member has joined since it was last given something"),
    (GENERATION, "the generation that this member was last given a share of"),
    (PARTITIONS, "partitions that this member was last given"),
    (LEADER, "1 where this member leads its group"),
    (MEMBERS, "on the leader: members of the group"),
    (LEAST, "on the leader: partitions of the member that has fewest"),
    (MOST, "on the leader: partitions of the member that has most"),
    (MISMATCHES, "on the leader: partitions at a member whose rack has no replica of them"),
];
const HISTOGRAMS: &[(&str, &str)] = &[
    (REBALANCE, "from this member's JoinGroup to its assignment"),
    (ASSIGN, "on the leader: computing an assignment, on librdkafka's main thread"),
    (MATCHING, "on the leader: librdkafka's matching of members and topics before that, on the same thread"),
];

/// Says what there is; as often as one likes.
pub(crate) fn describe() {
    COUNTERS.iter().for_each(|&(name, text)| describe_counter!(name, Unit::Count, text));
    GAUGES.iter().for_each(|&(name, text)| describe_gauge!(name, Unit::Count, text));
    HISTOGRAMS.iter().for_each(|&(name, text)| describe_histogram!(name, Unit::Seconds, text));
}

/// Counts an event.
pub(crate) fn record(names: &Names, event: &Event) {
    let own = own_labels(names);
    let with = |more: Vec<Label>| own.iter().cloned().chain(more).collect::<Vec<_>>();
    match event {
        Event::Joining { attempt, .. } => {
            counter!(JOINS, own.iter()).increment(1);
            gauge!(JOIN_ATTEMPTS, own.iter()).set(*attempt);
        }
        Event::Assigned(now) => assigned(names, now),
        Event::Revoked { partitions: which, lost, .. } => {
            let labels = with(vec![Label::new("lost", lost.to_string())]);
            counter!(REVOCATIONS, labels.iter()).increment(1);
            counter!(REVOKED, labels.iter()).increment(partitions::count(which) as u64);
            if *lost {
                gauge!(PARTITIONS, own.iter()).set(0);
            }
        }
        Event::Refused { code, .. } => {
            counter!(REFUSALS, with(vec![Label::new("code", format!("{code:?}"))])).increment(1);
        }
        Event::AssignorFailed { assignor, method, .. } => {
            let labels = vec![Label::new("assignor", assignor.clone()), Label::new("method", *method)];
            counter!(FAILURES, with(labels)).increment(1);
        }
        Event::UserDataUnreadable { .. } => counter!(UNREADABLE, own.iter()).increment(1),
        Event::Remembered { member_ids, .. } => {
            counter!(REMEMBERED, own.iter()).increment(member_ids.len() as u64);
        }
        Event::Unproven { .. } => counter!(UNPROVEN, own.iter()).increment(1),
        Event::TooManyTopics { .. } => counter!(TOO_MANY, own.iter()).increment(1),
        // The gauge of attempts has it already.
        Event::StillUnassigned { .. } => {}
        Event::Resuming { .. } | Event::StateIgnored { .. } | Event::Missed(_) => {}
    }
}

/// A member that is gone has nothing, and leads nobody.
pub(crate) fn ended(names: &Names) {
    let own = own_labels(names);
    gauge!(PARTITIONS, own.iter()).set(0);
    gauge!(JOIN_ATTEMPTS, own.iter()).set(0);
    group(names, None);
}

fn own_labels(Names { group, client_id }: &Names) -> [Label; 2] {
    [Label::new("group", group.clone()), Label::new("client_id", client_id.clone())]
}

fn assigned(names: &Names, assigned: &Assigned) {
    let own = own_labels(names);
    let with = |key: &'static str, value: &str| {
        own.iter().cloned().chain([Label::new(key, value.to_owned())]).collect::<Vec<_>>()
    };
    counter!(ASSIGNMENTS, with("strategy", &assigned.strategy)).increment(1);
    gauge!(JOIN_ATTEMPTS, own.iter()).set(0);
    gauge!(GENERATION, own.iter()).set(assigned.generation);
    gauge!(PARTITIONS, own.iter()).set(assigned.load() as f64);
    let changes = [
        ("kept", assigned.kept()),
        ("gained", partitions::count(&assigned.gained)),
        ("lost", partitions::count(&assigned.lost)),
    ];
    for (change, count) in changes {
        counter!(CHANGES, with("change", change)).increment(count as u64);
    }
    histogram!(REBALANCE, own.iter()).record(assigned.took);
    group(names, assigned.led.as_ref());
}

/// What only the leader knows.
fn group(names: &Names, led: Option<&Led>) {
    let own = own_labels(names);
    let report = led.and_then(|led| led.report).unwrap_or_default();
    let gauges = [
        (LEADER, u64::from(led.is_some())),
        (MEMBERS, led.map_or(0, |led| led.members as u64)),
        (LEAST, report.min_load),
        (MOST, report.max_load),
        (MISMATCHES, report.rack_mismatches),
    ];
    gauges.into_iter().for_each(|(name, value)| gauge!(name, own.iter()).set(value as f64));
    let Some(led) = led else { return };
    histogram!(ASSIGN, own.iter()).record(led.took);
    if let Some(matching) = led.matching {
        histogram!(MATCHING, own.iter()).record(matching);
    }
    // Counted here first: looking a metric up for each of many changes takes long on librdkafka's main thread.
    let mut moves = BTreeMap::<&'static str, u64>::new();
    led.changes.iter().for_each(|change| *moves.entry(change.reason.as_str()).or_default() += 1);
    for (reason, count) in moves {
        let labels: Vec<Label> = own.iter().cloned().chain([Label::new("reason", reason)]).collect();
        counter!(MOVES, labels).increment(count);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;
    use std::time::Duration;

    use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};

    use super::*;
    use crate::event_log::EventLog;

    const DOCS: &str = include_str!("../../../docs/operations.md");

    fn names() -> Names {
        Names { group: "billing".into(), client_id: "billing-1".into() }
    }

    /// Each metric with its labels but for those that all have, as Prometheus shows it.
    fn taken(snapshotter: &Snapshotter) -> BTreeMap<String, f64> {
        let metrics = snapshotter.snapshot().into_vec().into_iter();
        let read = metrics.map(|(key, _, _, value)| {
            let (name, labels) = key.key().clone().into_parts();
            let labels: Vec<String> =
                labels.iter().map(|label| format!("{}={}", label.key(), label.value())).collect();
            assert_eq!(labels[..2], ["group=billing", "client_id=billing-1"]);
            let value = match value {
                DebugValue::Counter(count) => count as f64,
                DebugValue::Gauge(value) => value.into_inner(),
                DebugValue::Histogram(values) => values.into_iter().map(|value| value.into_inner()).sum(),
            };
            (format!("{}{{{}}}", name.as_str(), labels[2..].join(",")), value)
        });
        read.collect()
    }

    #[test]
    fn an_assignment_is_counted() {
        let recorder = DebuggingRecorder::new();
        let snapshotter = recorder.snapshotter();
        metrics::with_local_recorder(&recorder, || {
            let mut now = Assigned::new("sticky", 7, vec![("orders".into(), vec![0, 1, 2])]);
            now.gained = vec![("orders".into(), vec![2])];
            now.lost = vec![("payments".into(), vec![4, 5])];
            now.took = Duration::from_millis(1500);
            EventLog::new(names()).add(Event::Assigned(Arc::new(now)));
        });
        let taken = taken(&snapshotter);
        let expected = [
            ("kafka_sticky_assignments_total{strategy=sticky}", 1.0),
            ("kafka_sticky_generation{}", 7.0),
            ("kafka_sticky_partitions{}", 3.0),
            ("kafka_sticky_partition_changes_total{change=kept}", 2.0),
            ("kafka_sticky_partition_changes_total{change=gained}", 1.0),
            ("kafka_sticky_partition_changes_total{change=lost}", 2.0),
            ("kafka_sticky_rebalance_duration_seconds{}", 1.5),
            ("kafka_sticky_leader{}", 0.0),
        ];
        for (name, value) in expected {
            assert_eq!(taken.get(name), Some(&value), "{name} in {taken:#?}");
        }
    }

    #[test]
    fn what_is_lost_is_told_apart_and_leaves_nothing() {
        let recorder = DebuggingRecorder::new();
        let snapshotter = recorder.snapshotter();
        metrics::with_local_recorder(&recorder, || {
            let log = EventLog::new(names());
            let partitions = vec![("orders".to_owned(), vec![0, 1, 2])];
            log.add(Event::Assigned(Arc::new(Assigned::new("sticky", 7, partitions.clone()))));
            log.add(Event::Revoked { generation: 7, member_id: "a".into(), partitions, lost: true });
        });
        let taken = taken(&snapshotter);
        assert_eq!(taken["kafka_sticky_revocations_total{lost=true}"], 1.0);
        assert_eq!(taken["kafka_sticky_revoked_partitions_total{lost=true}"], 3.0);
        assert_eq!(taken["kafka_sticky_partitions{}"], 0.0);
    }

    #[test]
    fn the_docs_name_each_metric_and_no_other() {
        let ours: BTreeSet<&str> =
            [COUNTERS, GAUGES, HISTOGRAMS].concat().into_iter().map(|(name, _)| name).collect();
        let word = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
        let named: BTreeSet<&str> = DOCS
            .split(word)
            .filter(|name| name.starts_with("kafka_sticky_") && *name != "kafka_sticky_rdkafka_adapter")
            .collect();
        assert_eq!(named, ours);
    }
}

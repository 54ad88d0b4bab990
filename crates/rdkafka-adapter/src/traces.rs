//! Events as `tracing` has them.

use crate::events::Event;
use crate::ffi::Names;
use crate::membership::{Assigned, Led};
use crate::partitions::ByTopic;

/// Where all of them are.
const TARGET: &str = "kafka_sticky_rdkafka_adapter::events";

/// One line for an event; for a generation that this member led, at the level `debug` one more for each change.
pub(crate) fn trace(Names { group, client_id }: &Names, event: &Event) {
    macro_rules! line {
        ($level:ident, $($rest:tt)*) => {
            tracing::$level!(target: TARGET, group, client_id, $($rest)*)
        };
    }
    match event {
        Event::Joining { member_id, topics, attempt, after_loss } => {
            line!(debug, member_id, topics, attempt, after_loss, "joining")
        }
        Event::Resuming { generation, claimed, dropped } => {
            line!(info, generation, claimed, dropped, "resuming");
        }
        Event::StateIgnored { group: of } => line!(warn, of, "the saved state is of another group"),
        Event::Assigned(assigned) => {
            line!(
                info,
                generation = assigned.generation,
                member_id = assigned.member_id,
                strategy = assigned.strategy,
                leader = assigned.led.is_some(),
                load = assigned.load(),
                kept = assigned.kept(),
                gained = %ByTopic(&assigned.gained),
                lost = %ByTopic(&assigned.lost),
                took = ?assigned.took,
                "assigned"
            );
            if let Some(led) = &assigned.led {
                led_by(group, client_id, assigned, led);
            }
        }
        Event::Revoked { generation, member_id, partitions, lost: false } => {
            line!(info, generation, member_id, partitions = %ByTopic(partitions), "revoked");
        }
        Event::Revoked { generation, member_id, partitions, lost: true } => {
            line!(warn, generation, member_id, partitions = %ByTopic(partitions), "lost");
        }
        Event::Refused { code, offered, last_used } => {
            line!(error, ?code, ?offered, last_used, "{event}");
        }
        Event::StillUnassigned { joins, since, refused } => {
            line!(warn, joins, ?since, ?refused, "joins again and again and is given nothing");
        }
        Event::AssignorFailed { assignor, method, reason } => {
            line!(error, assignor, method, reason, "an assignor failed and was replaced");
        }
        Event::UserDataUnreadable { member_id, reason } => {
            line!(warn, member_id, reason, "a member's user data is unreadable");
        }
        Event::Remembered { member_ids } => line!(info, ?member_ids, "remembered what members had"),
        Event::Unproven { generation, proven } => {
            line!(warn, generation, ?proven, "at the bound on the work of one assignment");
        }
        Event::TooManyTopics { topics } => {
            line!(
                error,
                topics,
                "librdkafka leaves members with more than 10,000 topics out of the assignment"
            );
        }
        Event::Missed(_) => {}
    }
}

fn led_by(group: &str, client_id: &str, assigned: &Assigned, led: &Led) {
    let generation = assigned.generation;
    let report = led.report.unwrap_or_default();
    tracing::info!(
        target: TARGET,
        group,
        client_id,
        generation,
        members = led.members,
        partitions = report.partitions,
        owned = report.owned,
        moved = report.moved,
        min_load = report.min_load,
        max_load = report.max_load,
        rack_mismatches = report.rack_mismatches,
        remembered = led.remembered,
        took = ?led.took,
        matching = ?led.matching,
        "led"
    );
    for change in &led.changes {
        tracing::debug!(
            target: TARGET,
            group,
            client_id,
            generation,
            topic = &*change.topic,
            partition = change.partition,
            from = change.from.as_deref(),
            to = &*change.to,
            reason = change.reason.as_str(),
            "changed hands"
        );
    }
}

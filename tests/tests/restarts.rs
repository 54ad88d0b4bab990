//! A member that is restarted with the state that its predecessor saved, and without.

use anyhow::{Context as _, Result, bail, ensure};
use kafka_sticky_rdkafka_adapter::{Assigned, Assignors, Event, SavedState};
use kafka_sticky_tests::mixed::{Mixed, share_of};

const TOPICS: &[&str; 2] = &["orders", "payments"];
/// Twenty for each of three.
const SIZES: &[(&str, i32)] = &[("orders", 40), ("payments", 20)];
const NAMES: [&str; 3] = ["a", "b", "c"];

/// How many of its partitions a member of three has again, after it was gone long enough for the others to share them out
/// and came back with this state.
async fn kept(strategy: &str, restarted: &str, with_state: bool) -> Result<usize> {
    let mut group = Mixed::new(strategy, SIZES)?;
    let mut settled = None;
    for name in NAMES {
        group.join(name, TOPICS)?;
        settled = Some(group.settle().await?);
    }
    let before = settled.context("three joined")?.shares[restarted].clone();
    assert_eq!(before.len(), 20);
    let state = group.saved_state(restarted).context("it was given something")?;
    group.leave(restarted).await?;
    let without = group.settle().await?;
    assert_eq!(without.loads(), [30, 30], "{strategy}: all is shared out");

    // Through bytes, as a file would have them.
    let state = SavedState::from_bytes(&state.to_bytes()?)?;
    let assignors = if with_state { Assignors::new().resuming(state) } else { Assignors::new() };
    let config = group.config();
    group.join_with("restarted", TOPICS, &config, &assignors)?;
    // The judge holds the rest to the optimum: nobody pays for it with a move.
    let after = group.settle().await?;
    assert_eq!(after.loads(), [20, 20, 20]);
    let events = group.events("restarted");
    let resuming = events.iter().find_map(|event| match event {
        Event::Resuming { claimed, dropped, .. } => Some((*claimed, *dropped)),
        _ => None,
    });
    assert_eq!(resuming, with_state.then_some((20, 0)), "{events:#?}");
    let kept = after.shares["restarted"].intersection(&before).count();
    if with_state && strategy == "sticky" {
        let first = events.iter().find_map(|event| match event {
            Event::Assigned(assigned) => Some(assigned),
            _ => None,
        });
        assert_eq!(first.map(|first| first.kept()), Some(kept), "at once: {events:#?}");
    }
    Ok(kept)
}

async fn a_restarted_member_gets_back_what_it_had(strategy: &str, restarted: &str) -> Result<()> {
    assert_eq!(kept(strategy, restarted, true).await?, 20, "{strategy}, {restarted}");
    // The same group without the state: what it is given then is as good as any other.
    let without = kept(strategy, restarted, false).await?;
    ensure!(without < 20, "{strategy}, {restarted}: {without} without a state");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sticky_follower_gets_back_what_it_had_by_its_saved_state() -> Result<()> {
    a_restarted_member_gets_back_what_it_had("sticky", "b").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sticky_leader_gets_back_what_it_had_by_its_saved_state() -> Result<()> {
    a_restarted_member_gets_back_what_it_had("sticky", "a").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cooperative_member_gets_back_what_it_had_by_its_saved_state() -> Result<()> {
    a_restarted_member_gets_back_what_it_had("cooperative-sticky", "b").await
}

/// What is withheld from one that comes back is nobody's in the rebalance that gives it out.
#[tokio::test(flavor = "multi_thread")]
async fn cooperative_members_that_are_restarted_together_get_back_each_its_own() -> Result<()> {
    let mut group = Mixed::new("cooperative-sticky", SIZES)?;
    let mut settled = None;
    for name in ["a", "b", "c", "d"] {
        group.join(name, TOPICS)?;
        settled = Some(group.settle().await?);
    }
    let before = settled.context("four joined")?;
    let mut states = Vec::new();
    for name in ["c", "d"] {
        states.push(group.saved_state(name).context("it was given something")?);
        group.leave(name).await?;
    }
    assert_eq!(group.settle().await?.loads(), [30, 30]);

    let config = group.config();
    for (name, state) in ["c again", "d again"].into_iter().zip(states) {
        group.join_with(name, TOPICS, &config, &Assignors::new().resuming(state))?;
    }
    let after = group.settle().await?;
    for name in ["c", "d"] {
        assert_eq!(
            after.shares[&format!("{name} again")],
            before.shares[name],
            "{name}: {before:#?} {after:#?}"
        );
    }
    Ok(())
}

/// A state that says whatever one likes.
fn state(group: &str, generation: i32, partitions: &[(&str, std::ops::Range<i32>)]) -> SavedState {
    let partitions = partitions.iter();
    let partitions = partitions.map(|(topic, numbers)| ((*topic).to_owned(), numbers.clone().collect()));
    SavedState::of(group, &Assigned::new("sticky", generation, partitions.collect()))
}

/// What happens to a member that comes with this state to a group of two that keep what balance lets them keep.
async fn comes_with(strategy: &str, state: SavedState) -> Result<Vec<Event>> {
    let mut group = Mixed::new(strategy, SIZES)?;
    group.join("a", TOPICS)?;
    group.settle().await?;
    group.join("b", TOPICS)?;
    let before = group.settle().await?;
    let config = group.config();
    group.join_with("c", TOPICS, &config, &Assignors::new().resuming(state))?;
    // The least moves for the claims of a and b alone.
    let after = group.settle().await?;
    assert_eq!(after.loads(), [20, 20, 20]);
    for name in ["a", "b"] {
        assert!(after.shares[name].is_subset(&before.shares[name]), "{name}: {after:#?}");
    }
    Ok(group.events("c"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_that_claims_everything_for_ever_takes_nothing_from_anybody() -> Result<()> {
    for strategy in ["sticky", "cooperative-sticky"] {
        let forged = state("group", i32::MAX, &[("nowhere", 0..9), ("orders", 0..100), ("payments", 0..20)]);
        let events = comes_with(strategy, forged).await?;
        let told = events.iter().find(|event| matches!(event, Event::Resuming { .. }));
        let Some(Event::Resuming { generation: i32::MAX, claimed: 60, dropped: 69, .. }) = told else {
            bail!("{strategy}: {events:#?}");
        };
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_of_another_group_is_not_claimed() -> Result<()> {
    let events = comes_with("sticky", state("elsewhere", 1, &[("orders", 0..40)])).await?;
    let ignored = |event: &Event| matches!(event, Event::StateIgnored { group, .. } if group == "elsewhere");
    assert_eq!(events.iter().filter(|event| ignored(event)).count(), 1, "{events:#?}");
    assert!(!events.iter().any(|event| matches!(event, Event::Resuming { .. })), "{events:#?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_is_what_was_given_last_and_before_that_what_is_resumed() -> Result<()> {
    let mut group = Mixed::new("sticky", SIZES)?;
    let config = group.config();
    let resumed = state("group", 1, &[("orders", 0..3)]);
    group.join_with("a", TOPICS, &config, &Assignors::new().resuming(resumed.clone()))?;
    // It cannot have been given anything as quickly.
    assert_eq!(group.saved_state("a"), Some(resumed));
    let settled = group.settle().await?;
    let state = group.saved_state("a").context("it was given something")?;
    assert_eq!((state.group(), state.generation()), ("group", settled.number));
    assert_eq!(share_of(&Assigned::new("", 0, state.partitions().to_vec())), settled.shares["a"]);
    Ok(())
}

//! A leader of ours among members that speak other dialects, cannot claim, lie, or send garbage.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use kafka_sticky_protocol::StickyUserData;
use kafka_sticky_rdkafka_adapter::{Assignors, Event};
use kafka_sticky_tests::claims::Claimed;
use kafka_sticky_tests::manners::{Cooperative, Honest, Silent, Stubborn, Topics};
use kafka_sticky_tests::mixed::{Generation, Mixed};
use kafka_sticky_tests::raw::{Manner, Stay, Word};
use kafka_sticky_tests::said::{Listed, Said, framed, listed, sticky};
use kafka_sticky_tests::seen::Partition;

const STICKY: &str = "sticky";
const COOPERATIVE: &str = "cooperative-sticky";
const TOPICS: Topics = &["orders", "payments"];
const SIZES: &[(&str, i32)] = &[("orders", 11), ("payments", 6)];

/// Nothing that any strategy says: a count of topics that no message could hold, a topic cut short, a name of
/// negative length.
const GARBAGE: [&[u8]; 3] = [
    &[0xde, 0xad, 0xbe, 0xef, 0xff, 0x00],
    &[0, 0, 0, 1, 0, 9, b'o', b'r', b'd'],
    &[0, 0, 0, 1, 0xff, 0xfe, 0, 0, 0, 1, 0, 0, 0, 0],
];

fn partitions(topic: &str, numbers: impl IntoIterator<Item = i32>) -> BTreeSet<Partition> {
    numbers.into_iter().map(|number| (topic.to_owned(), number)).collect()
}

/// What a leader tells its members with their shares: `sticky` what they will claim, `cooperative-sticky` nothing at all,
/// which is not the same as no bytes.
fn check_told(strategy: &str, generation: &Generation) -> Result<()> {
    for (name, told) in &generation.told {
        if strategy == COOPERATIVE {
            assert_eq!(*told, None, "{name}");
            continue;
        }
        let told = told.as_ref().with_context(|| format!("{name} was told nothing"))?;
        let told = StickyUserData::read(told)?;
        let pairs = told.previous_assignment().pairs();
        let share: BTreeSet<Partition> = pairs.map(|(topic, number)| (topic.to_owned(), number)).collect();
        assert_eq!(share, generation.shares[name], "{name}");
        assert_eq!((told.version(), told.generation()), (1, Some(generation.number)), "{name}");
    }
    Ok(())
}

/// The members whose user data a leader could not read.
fn unreadable(events: &[Event]) -> BTreeSet<String> {
    let id = |event: &Event| match event {
        Event::UserDataUnreadable { member_id, .. } => Some(member_id.clone()),
        _ => None,
    };
    events.iter().filter_map(id).collect()
}

/// The members that a leader remembered.
fn remembered(events: &[Event]) -> BTreeSet<String> {
    let ids = |event: &Event| match event {
        Event::Remembered { member_ids, .. } => Some(member_ids.clone()),
        _ => None,
    };
    events.iter().filter_map(ids).flatten().collect()
}

fn member_id(group: &Mixed, name: &str) -> Result<String> {
    Ok(group.past(name).last().context("it never joined")?.member_id.clone())
}

async fn members_that_send_no_claims(strategy: &str) -> Result<()> {
    let mut group = Mixed::new(strategy, SIZES)?;
    group.join("ours", TOPICS)?;
    group.settle().await?;
    for (index, garbage) in GARBAGE.into_iter().enumerate() {
        group.join_raw(&format!("garbage {index}"), TOPICS, None, Silent::with(3, TOPICS, Some(garbage)));
    }
    group.join_raw("empty", TOPICS, None, Silent::with(2, TOPICS, Some(&[])));
    group.join_raw("null", TOPICS, None, Silent::with(3, &["payments"], None));
    group.join_raw("version 0", TOPICS, None, Silent::with(0, TOPICS, None));
    // A topic whose name is no UTF-8 can be read, but does not exist.
    let user_data = Some([&[0, 0, 0, 1, 0, 2, 0xff, 0xfe][..], &[0, 0, 0, 1, 0, 0, 0, 0]].concat());
    let said = Said { user_data, ..Said::to(3, TOPICS) };
    let claims = Claimed { generation: -1, partitions: partitions("\u{fffd}\u{fffd}", [0]) };
    group.join_raw("no UTF-8", TOPICS, None, Stubborn { said, claims });
    check_told(strategy, &group.settle().await?)?;

    // What they had is known all the same, since the leader gave it.
    group.join("newcomer", TOPICS)?;
    check_told(strategy, &group.settle().await?)?;
    group.leave("garbage 1").await?;
    let generation = group.settle().await?;
    check_told(strategy, &generation)?;

    let events = group.events("ours");
    let unreadable = unreadable(&events);
    for name in ["garbage 0", "garbage 2"] {
        assert!(unreadable.contains(&member_id(&group, name)?), "{name}: {events:#?}");
    }
    for name in ["empty", "null", "version 0", "no UTF-8"] {
        assert!(!unreadable.contains(&member_id(&group, name)?), "{name}: {events:#?}");
    }
    let remembered = remembered(&events);
    for name in ["garbage 0", "garbage 2", "empty", "null", "version 0"] {
        assert!(remembered.contains(&member_id(&group, name)?), "{name}: {events:#?}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn sticky_members_that_send_no_claims_that_can_be_read_keep_what_they_had() -> Result<()> {
    members_that_send_no_claims(STICKY).await
}

#[tokio::test(flavor = "multi_thread")]
async fn cooperative_members_that_send_no_claims_that_can_be_read_keep_what_they_had() -> Result<()> {
    members_that_send_no_claims(COOPERATIVE).await
}

/// Four members that had three partitions each under another leader, and say so each in its own way: nobody can remember
/// it for them.
#[tokio::test(flavor = "multi_thread")]
async fn sticky_claims_are_read_in_every_form() -> Result<()> {
    const TOPICS: Topics = &["payments"];
    let mut group = Mixed::new(STICKY, &[("orders", 2), ("payments", 12)])?;
    group.join("ours", &["orders"])?;
    group.settle().await?;
    let had = [[0, 5, 7], [1, 2, 9], [3, 4, 6], [8, 10, 11]].map(|had| partitions("payments", had));
    let [java, old, kafka_python, sarama] = &had;
    let said = |version, user_data| Said { user_data: Some(user_data), ..Said::to(version, TOPICS) };
    let said = [
        ("Java", java, said(3, sticky(&listed(java), Some(1))), 1),
        ("version 0", old, said(0, sticky(&listed(old), None)), -1),
        ("kafka-python 3", kafka_python, said(0, framed(&listed(kafka_python), 1)), 1),
        // The subscription's own owned partitions say nothing under `sticky`.
        (
            "Sarama",
            sarama,
            Said { owned: listed(java), generation: 1, ..said(2, sticky(&listed(sarama), Some(1))) },
            1,
        ),
    ];
    for (name, had, said, generation) in said {
        let claims = Claimed { generation, partitions: had.clone() };
        group.join_raw(name, TOPICS, None, Stubborn { said, claims });
    }
    let generation = group.settle().await?;
    check_told(STICKY, &generation)?;
    for (name, had) in
        [("Java", java), ("version 0", old), ("kafka-python 3", kafka_python), ("Sarama", sarama)]
    {
        assert_eq!(generation.shares[name], *had, "{name}");
    }
    assert_eq!(unreadable(&group.events("ours")), BTreeSet::new());
    Ok(())
}

/// Everything there is and much that there is not, some of it twice.
fn lie() -> Listed {
    let orders = (-3..11).chain([0, 0, i32::MAX, i32::MIN, 11]).collect();
    let payments = (0..6).chain(0..6).collect();
    vec![
        ("orders".to_owned(), orders),
        ("nowhere".to_owned(), vec![0, -1]),
        ("payments".to_owned(), payments),
        ("orders".to_owned(), vec![4, 4]),
        (String::new(), vec![0]),
    ]
}

fn lied() -> BTreeSet<Partition> {
    lie().into_iter().flat_map(|(topic, numbers)| partitions(&topic, numbers)).collect()
}

/// From the generation being formed (3 or later, as ours was alone in one before) on, or before the first one.
const LIED_GENERATIONS: [i32; 4] = [i32::MAX, 1_000_000, i32::MIN, -7];

#[tokio::test(flavor = "multi_thread")]
async fn sticky_members_that_forge_claims_take_nothing_from_anybody() -> Result<()> {
    let mut group = Mixed::new(STICKY, SIZES)?;
    group.join("ours", TOPICS)?;
    group.settle().await?;
    group.join_raw("honest", TOPICS, None, Honest(TOPICS));
    group.settle().await?;
    for generation in LIED_GENERATIONS {
        let said =
            Said { user_data: Some(sticky(&lie(), Some(generation))), generation, ..Said::to(3, TOPICS) };
        let claims = Claimed { generation, partitions: lied() };
        group.join_raw(&format!("forger {generation}"), TOPICS, None, Stubborn { said, claims });
    }
    let generation = group.settle().await?;
    check_told(STICKY, &generation)?;
    assert_eq!(generation.loads(), [2, 3, 3, 3, 3, 3]);
    // Those who tell the truth keep all that balance lets them keep.
    assert!(generation.question.optimum().moves > 0);

    group.join_raw("late", TOPICS, None, Honest(TOPICS));
    check_told(STICKY, &group.settle().await?)
}

#[tokio::test(flavor = "multi_thread")]
async fn cooperative_members_that_forge_claims_take_nothing_from_anybody() -> Result<()> {
    let mut group = Mixed::new(COOPERATIVE, SIZES)?;
    group.join("ours", TOPICS)?;
    group.settle().await?;
    group.join_raw("honest", TOPICS, None, Cooperative::new(TOPICS));
    group.settle().await?;
    for generation in LIED_GENERATIONS {
        // They let go of what they never had once they are told.
        let said = Said { owned: lie(), generation, ..Said::to(3, TOPICS) };
        let claims = Claimed { generation, partitions: lied() };
        group.join_raw(
            &format!("forger {generation}"),
            TOPICS,
            None,
            Cooperative::saying(TOPICS, said, claims),
        );
    }
    let generation = group.settle().await?;
    check_told(COOPERATIVE, &generation)?;
    assert_eq!(generation.loads(), [2, 3, 3, 3, 3, 3]);

    group.join_raw("late", TOPICS, None, Cooperative::new(TOPICS));
    check_told(COOPERATIVE, &group.settle().await?)
}

/// Two members that say of each other's partitions that they had them in the same generation, and one that had all of them
/// earlier.
#[tokio::test(flavor = "multi_thread")]
async fn of_several_claimants_the_latest_wins_and_equals_cancel() -> Result<()> {
    const TOPICS: Topics = &["payments"];
    let mut group = Mixed::new(STICKY, &[("orders", 2), ("payments", 6)])?;
    group.join("ours", &["orders"])?;
    group.settle().await?;
    let claimants = [("a", 0..4, 1), ("b", 2..6, 1), ("c", 0..6, 0)];
    for (name, had, generation) in claimants {
        let claims = Claimed { generation, partitions: partitions("payments", had) };
        let user_data = Some(sticky(&listed(&claims.partitions), Some(generation)));
        group.join_raw(
            name,
            TOPICS,
            None,
            Stubborn { said: Said { user_data, ..Said::to(3, TOPICS) }, claims },
        );
    }
    let generation = group.settle().await?;
    assert_eq!(generation.shares["a"], partitions("payments", [0, 1]));
    assert_eq!(generation.shares["b"], partitions("payments", [4, 5]));
    assert_eq!(generation.shares["c"], partitions("payments", [2, 3]));
    Ok(())
}

/// On this group librdkafka's own leader reads freed memory.
#[tokio::test(flavor = "multi_thread")]
async fn the_group_that_crashes_the_builtin_is_assigned() -> Result<()> {
    let sizes =
        [("topic-0", 5), ("topic-1", 4), ("topic-2", 5), ("topic-3", 4), ("topic-4", 5), ("elsewhere", 1)];
    let mut group = Mixed::new(COOPERATIVE, &sizes)?;
    group.join("ours", &["elsewhere"])?;
    group.settle().await?;
    let m00 = partitions("topic-3", 0..4);
    let m01 = [("topic-1", 4), ("topic-2", 5), ("topic-4", 5)];
    let m01 = m01.into_iter().flat_map(|(topic, count)| partitions(topic, 0..count)).collect();
    let m02 = partitions("topic-0", 0..5);
    let members: [(&str, Topics, BTreeSet<Partition>); 3] = [
        ("m00", &["topic-3"], m00),
        ("m01", &["topic-1", "topic-2", "topic-3", "topic-4"], m01),
        ("m02", &["topic-0"], m02),
    ];
    for (name, topics, had) in members {
        group.join_raw(name, topics, None, Cooperative::having(topics, &had, 1));
    }
    const NEW: Topics = &["topic-0", "topic-1", "topic-2"];
    group.join_raw("n00", NEW, None, Cooperative::new(NEW));
    let generation = group.settle().await?;
    check_told(COOPERATIVE, &generation)
}

/// Its subscription has no owned partitions, where librdkafka's own leader follows a null pointer.
#[tokio::test(flavor = "multi_thread")]
async fn a_cooperative_member_of_version_0_is_assigned_and_claims_by_user_data() -> Result<()> {
    const TOPICS: Topics = &["payments"];
    let mut group = Mixed::new(COOPERATIVE, &[("orders", 2), ("payments", 6)])?;
    group.join("ours", &["orders"])?;
    group.settle().await?;
    let had = partitions("payments", [1, 3, 5]);
    let said = Said { user_data: Some(sticky(&listed(&had), Some(1))), ..Said::to(0, TOPICS) };
    let claims = Claimed { generation: 1, partitions: had.clone() };
    group.join_raw("version 0", TOPICS, None, Stubborn { said, claims });
    group.join_raw("version 3", TOPICS, None, Cooperative::new(TOPICS));
    let generation = group.settle().await?;
    check_told(COOPERATIVE, &generation)?;
    assert_eq!(generation.shares["version 0"], had);
    Ok(())
}

/// As franz-go under an eager strategy: it forgets what it had when it revokes it, and says later only since when.
struct Forgetful(Topics);

impl Manner for Forgetful {
    fn word(&mut self, past: &[Stay]) -> Word {
        let user_data = match past.last() {
            None => sticky(&Listed::new(), None),
            Some(last) => sticky(&Listed::new(), Some(last.generation)),
        };
        Word {
            subscription: Said { user_data: Some(user_data), ..Said::to(1, self.0) }.bytes(),
            claims: None,
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_that_forgets_keeps_what_it_had_when_another_joins() -> Result<()> {
    let mut group = Mixed::new(STICKY, SIZES)?;
    group.join("ours", TOPICS)?;
    group.settle().await?;
    group.join_raw("franz", TOPICS, None, Forgetful(TOPICS));
    let before = group.settle().await?.shares["franz"].clone();
    group.join_raw("honest", TOPICS, None, Honest(TOPICS));
    let generation = group.settle().await?;
    // 17 partitions: 8 or 9 before, 5 or 6 now.
    assert!(generation.shares["franz"].is_subset(&before), "{before:?}, then {generation:#?}");
    assert_eq!(remembered(&group.events("ours")), BTreeSet::from([member_id(&group, "franz")?]));
    assert_eq!(generation.ours["ours"].led.as_ref().map(|led| led.remembered), Some(1));
    assert_eq!(unreadable(&group.events("ours")), BTreeSet::new());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_static_member_that_comes_back_with_another_member_id_gets_what_it_had() -> Result<()> {
    let mut group = Mixed::new(STICKY, SIZES)?;
    group.join("ours", TOPICS)?;
    group.settle().await?;
    group.join_raw("static", TOPICS, Some("billing-1"), Honest(TOPICS));
    group.join_raw("other", TOPICS, Some("billing-2"), Honest(TOPICS));
    let before = group.settle().await?;
    let old_id = member_id(&group, "static")?;

    // The rebalance that its leaving starts ends only after it is back. There may be another: the mock cluster starts one
    // where a member syncs after the leader.
    group.leave("static").await?;
    group.join_raw("restarted", TOPICS, Some("billing-1"), Honest(TOPICS));
    let generation = group.settle_unchecked().await?;
    for (now, then) in [("restarted", "static"), ("other", "other"), ("ours", "ours")] {
        assert_eq!(generation.shares[now], before.shares[then], "{now}");
    }
    let id = member_id(&group, "restarted")?;
    assert_ne!(id, old_id);
    assert_eq!(remembered(&group.events("ours")), BTreeSet::from([id]));
    Ok(())
}

/// Says what `Honest` says and, as the leader, gives everything to itself.
struct Greedy(Honest);

impl Manner for Greedy {
    fn word(&mut self, past: &[Stay]) -> Word {
        self.0.word(past)
    }

    fn lead(&mut self, members: &[(String, bytes::Bytes)]) -> Option<Vec<(String, Vec<u8>)>> {
        // An assignment of version 0 has the layout of sticky user data between its version and its user data, null here.
        let assignment = |listed: &Listed| [&[0, 0], &sticky(listed, None)[..], &[0xff; 4]].concat();
        let everything =
            SIZES.iter().map(|(topic, count)| ((*topic).to_owned(), (0..*count).collect())).collect();
        // It joined last, as the smallest of the static members.
        let (me, others) = members.split_last()?;
        let nothing = others.iter().map(|(id, _)| (id.clone(), assignment(&Listed::new())));
        Some(nothing.chain([(me.0.clone(), assignment(&everything))]).collect())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_remembered_where_another_led_in_between() -> Result<()> {
    let mut group = Mixed::new(STICKY, SIZES)?;
    // Of static members the mock cluster lets the smallest lead.
    let mut config = group.config();
    config.set("group.instance.id", "b");
    group.join_with("ours", TOPICS, &config, &Assignors::new())?;
    group.settle().await?;
    group.join_raw("franz", TOPICS, None, Forgetful(TOPICS));
    assert!(group.settle().await?.ours["ours"].led.is_some());
    group.join_raw("greedy", TOPICS, Some("a"), Greedy(Honest(TOPICS)));
    let led_by_another = group.settle_unchecked().await?;
    assert_eq!(led_by_another.shares["greedy"].len(), 17);
    assert_eq!(led_by_another.ours["ours"].led, None);

    group.leave("greedy").await?;
    let generation = group.settle().await?;
    assert_eq!(generation.ours["ours"].led.as_ref().map(|led| led.remembered), Some(0));
    assert_eq!(remembered(&group.events("ours")), BTreeSet::new());
    Ok(())
}

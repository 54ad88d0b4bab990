//! Properties that need a second group to show: joiners, restarts of static members, and a bound on the work.

use kafka_sticky_core::Options;

use crate::{
    case::{Case, Member},
    generate::{Size, Structure, group},
    judge::{invalid_or_misreported, judged, judged_by},
    optimum::by_flow,
    rules::{facts, score},
    seeded::Seeded,
    subject::{self, flags},
};

/// Groups of every structure, small ones mostly.
fn groups(each: u64) -> impl Iterator<Item = (Structure, u64, Case)> {
    Structure::ALL.into_iter().flat_map(move |structure| {
        (0..each).map(move |seed| {
            let size = if seed % 8 == 0 { Size::MEDIUM } else { Size::SMALL };
            (structure, seed, group(structure, size, 1_000_000 + seed))
        })
    })
}

#[test]
fn a_joiner_of_a_balanced_group_gets_its_share_and_nothing_else_moves() {
    let mut joined = 0;
    for (_, _, case) in groups(400).filter(|(structure, ..)| *structure == Structure::Identical) {
        if case.members.is_empty() {
            continue;
        }
        let case = without_racks(case);
        let first = judged(&case).outcome;
        let mut next = case.fed_back(&first.target, 8);
        let subscription = case.members[0].subscription.clone();
        next.members.push(Member { id: "joiner".to_owned(), subscription, ..Member::default() });
        let after = judged(&next).outcome;
        let share = first.report.partitions / next.members.len() as u64;
        let got = after.target.values().filter(|to| *to == "joiner").count() as u64;
        assert_eq!((after.report.moved, got), (share, share), "\n{next}");
        joined += 1;
    }
    assert!(joined > 380);
}

#[test]
fn fresh_groups_with_identical_subscriptions_spread_each_topic_as_evenly_as_can_be() {
    for seed in 0..600 {
        let mut case = without_racks(group(Structure::Identical, Size::MEDIUM, 2_000_000 + seed));
        case.members.iter_mut().for_each(|member| member.claims.clear());
        let judged = judged(&case);
        assert_eq!(judged.score, judged.best, "\n{case}");
    }
}

#[test]
fn whatever_the_subscriptions_a_joiner_without_neighbours_moves_nothing() {
    for (_, _, case) in groups(60) {
        let first = judged(&case).outcome;
        let mut next = case.fed_back(&first.target, 8);
        next.members.push(Member { id: "joiner".to_owned(), ..Member::default() });
        let after = judged(&next).outcome;
        assert_eq!((after.report.moved, after.target), (0, first.target), "\n{next}");
    }
}

#[test]
fn the_restart_of_static_members_changes_nothing() {
    for (structure, seed, mut case) in groups(150) {
        let rng = &mut Seeded::new(seed);
        for (index, member) in case.members.iter_mut().enumerate() {
            member.instance = Some(format!("s{index:02}"));
        }
        let before = subject::assign(&case);
        let mut restarted = case.clone();
        let mut names: Vec<usize> = (0..case.members.len()).collect();
        rng.shuffle(&mut names);
        for (member, name) in restarted.members.iter_mut().zip(&names) {
            member.id = format!("restarted-{name:02}");
        }
        let after = subject::assign(&restarted);
        let old_id = |id: &String| {
            let index = restarted.members.iter().position(|member| member.id == *id).expect("a member");
            case.members[index].id.clone()
        };
        let renamed = after.target.iter().map(|(partition, id)| (partition.clone(), old_id(id))).collect();
        assert_eq!(before.target, renamed, "{structure:?} {seed}\n{case}");
        assert_eq!((before.withheld, before.report), (after.withheld, after.report));
    }
}

#[test]
fn past_the_budget_results_are_valid_and_what_they_call_proven_is() {
    let mut unproven = [0; 4];
    for (_, seed, case) in groups(250) {
        let budget = Seeded::new(seed).below(400) as u64;
        let found = judged_by(&case, &format!("within {budget}: "), |case| {
            let facts = facts(case);
            let outcome = subject::assign_with(case, &Options::default().with_budget(budget));
            invalid_or_misreported(case, &facts, &outcome)?;
            let proven = flags(&outcome.report.proven);
            let (best, _) = by_flow(case, &facts);
            let found = score(case, &facts, &outcome.target);
            let wrong = (0..4).find(|at| proven[*at] && found.exact()[..=*at] != best.exact()[..=*at]);
            if let Some(objective) = wrong {
                let number = objective + 1;
                return Err(format!("objective {number} is called proven: {found:?}, {best:?} is possible"));
            }
            if !proven.is_sorted_by(|earlier, later| earlier >= later) {
                return Err(format!("proven after something unproven: {proven:?}"));
            }
            let verdict = subject::verify(case, &outcome.target, &outcome.certificate);
            if verdict != Ok(proven) {
                return Err(format!("reported as {proven:?}, verified as {verdict:?}"));
            }
            let again = subject::assign_with(case, &Options::default().with_budget(budget));
            if again.target != outcome.target {
                return Err("another result for the same group and budget".to_owned());
            }
            Ok(proven)
        });
        for at in 0..4 {
            unproven[at] += usize::from(!found[at]);
        }
    }
    println!("unproven past the budget, by objective: {unproven:?}");
    assert!(
        unproven.iter().all(|count| *count > 0),
        "the budgets are too generous to test anything: {unproven:?}"
    );
}

fn without_racks(mut case: Case) -> Case {
    case.members.iter_mut().for_each(|member| member.rack = None);
    case
}

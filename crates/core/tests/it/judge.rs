//! What every result must be, whatever the group.

use std::{
    cell::Cell,
    collections::BTreeSet,
    panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook},
    sync::Once,
};

use kafka_sticky_core::{Certificate, Report};

use crate::{
    case::{Case, Target, loads},
    optimum::by_flow,
    rules::{self, Facts, Score, facts, invalid, score},
    seeded::Seeded,
    shrink::shrunk,
    subject::{self, Outcome},
};

/// A result that passed, with its score and the best there is.
#[derive(Debug)]
pub(crate) struct Judged {
    pub(crate) outcome: Outcome,
    pub(crate) score: Score,
    pub(crate) best: Score,
}

/// Judges what the crate makes of `case`; panics with a minimal failing group.
#[track_caller]
pub(crate) fn judged(case: &Case) -> Judged {
    judged_by(case, "", judge)
}

/// As [`judged`], but with a judgement of one's own; `context` goes before what went wrong.
#[track_caller]
pub(crate) fn judged_by<T>(case: &Case, context: &str, judge: impl Fn(&Case) -> Result<T, String>) -> T {
    let quietly = |case: &Case| quiet(|| catch_unwind(AssertUnwindSafe(|| judge(case))));
    match quietly(case) {
        Ok(Ok(judged)) => judged,
        failure => {
            let smallest = shrunk(case, |case| !matches!(quietly(case), Ok(Ok(_))));
            let why = |failure| match failure {
                Ok(Ok(_)) => unreachable!("only failures are shrunk"),
                Ok(Err(why)) => why,
                Err(panic) => format!("panicked: {}", message(&panic)),
            };
            panic!(
                "{context}{}\n\n{smallest}\noriginally: {}\n\n{case}",
                why(quietly(&smallest)),
                why(failure)
            );
        }
    }
}

/// All properties at once, or the first that does not hold.
pub(crate) fn judge(case: &Case) -> Result<Judged, String> {
    let facts = facts(case);
    let outcome = subject::assign(case);
    invalid_or_misreported(case, &facts, &outcome)?;
    let (best, oracle) = by_flow(case, &facts);
    let score = score(case, &facts, &outcome.target);
    if score.exact() != best.exact() {
        return Err(format!(
            "not optimal: {score:?}, but {best:?} is possible:\n{oracle:?}\n{:?}",
            outcome.target
        ));
    }
    if score < best {
        return Err(format!("better than the oracle: {score:?}, {best:?}"));
    }
    is_proven(case, &outcome)?;
    does_not_depend_on_order(case, &outcome)?;
    let again = stays_when_fed_back(case, &outcome)?;
    let certificates = [outcome.certificate.clone(), again.certificate];
    nothing_worse_is_proven(case, &facts, &outcome, best, &certificates)?;
    Ok(Judged { outcome, score, best })
}

/// What holds of any result, optimal or not.
pub(crate) fn invalid_or_misreported(case: &Case, facts: &[Facts], outcome: &Outcome) -> Result<(), String> {
    if let Some(why) = invalid(case, facts, &outcome.target) {
        return Err(format!("invalid: {why}"));
    }
    reports_what_is(case, facts, outcome)?;
    withholds_what_it_must(case, outcome)?;
    explains_itself(case, facts, outcome)
}

/// Every number of the report, from the rules.
fn reports_what_is(case: &Case, facts: &[Facts], outcome: &Outcome) -> Result<(), String> {
    let score = score(case, facts, &outcome.target);
    let loads = loads(case, &outcome.target);
    let owned = facts.iter().filter(|partition| partition.owner.is_some()).count() as u64;
    let Report {
        members,
        partitions,
        unassignable,
        min_load,
        max_load,
        sum_of_squares,
        topic_sum_of_squares,
        rack_mismatches,
        owned: reported_owned,
        kept,
        moved,
        proven: _,
    } = outcome.report;
    let subscribed = outcome.target.len() as u64;
    let pairs = [
        ("members", members, case.members.len() as u64),
        ("partitions", partitions, subscribed),
        ("unassignable", unassignable, facts.len() as u64 - subscribed),
        ("min_load", min_load, loads.iter().copied().min().unwrap_or(0)),
        ("max_load", max_load, loads.iter().copied().max().unwrap_or(0)),
        ("sum_of_squares", sum_of_squares, score.sum_of_squares),
        ("topic_sum_of_squares", topic_sum_of_squares, score.topic_sum_of_squares),
        ("rack_mismatches", rack_mismatches, score.rack_mismatches),
        ("owned", reported_owned, owned),
        ("kept", kept, owned - score.taken),
        ("moved", moved, score.taken),
    ];
    match pairs.iter().find(|(_, reported, is)| reported != is) {
        Some((field, reported, is)) => Err(format!("{field} is {is}, but reported as {reported}")),
        None => Ok(()),
    }
}

fn withholds_what_it_must(case: &Case, outcome: &Outcome) -> Result<(), String> {
    let must: BTreeSet<_> = rules::withheld(case, &outcome.target);
    if outcome.withheld != must {
        return Err(format!("withholds {:?} instead of {must:?}\n{:?}", outcome.withheld, outcome.target));
    }
    Ok(())
}

fn explains_itself(case: &Case, facts: &[Facts], outcome: &Outcome) -> Result<(), String> {
    let changes = rules::changes(case, facts, &outcome.target);
    if outcome.changes != changes {
        return Err(format!("gives as reasons {:?} instead of {changes:?}", outcome.changes));
    }
    Ok(())
}

/// All properties that need no oracle: the certificate stands for it.
pub(crate) fn judge_by_certificate(case: &Case) -> Result<(), String> {
    let outcome = subject::assign(case);
    invalid_or_misreported(case, &facts(case), &outcome)?;
    is_proven(case, &outcome)?;
    does_not_depend_on_order(case, &outcome)?;
    stays_when_fed_back(case, &outcome)?;
    Ok(())
}

fn is_proven(case: &Case, outcome: &Outcome) -> Result<(), String> {
    let verdict = subject::verify(case, &outcome.target, &outcome.certificate);
    if verdict != Ok([true; 4]) {
        return Err(format!("not proven: {verdict:?}\n{:?}\n{:?}", outcome.target, outcome.certificate));
    }
    if !outcome.report.proven.all() {
        return Err(format!("proven, but reported otherwise: {:?}", outcome.report.proven));
    }
    Ok(())
}

fn does_not_depend_on_order(case: &Case, outcome: &Outcome) -> Result<(), String> {
    let rng = &mut seeded_by(case);
    let mut shuffled = case.clone();
    rng.shuffle(&mut shuffled.topics);
    rng.shuffle(&mut shuffled.members);
    for racks in shuffled.topics.iter_mut().filter_map(|topic| topic.racks.as_mut()).flatten() {
        rng.shuffle(racks);
    }
    for member in &mut shuffled.members {
        rng.shuffle(&mut member.subscription);
        rng.shuffle(&mut member.claims);
        rng.shuffle(&mut member.holds);
    }
    let other = subject::assign(&shuffled);
    if other.target != outcome.target
        || other.withheld != outcome.withheld
        || other.changes != outcome.changes
    {
        return Err(format!("in another order, this comes out:\n{:?}\n{:?}", other.target, outcome.target));
    }
    if other.report != outcome.report {
        return Err(format!("in another order, the report is {:?}, not {:?}", other.report, outcome.report));
    }
    Ok(())
}

fn stays_when_fed_back(case: &Case, outcome: &Outcome) -> Result<Outcome, String> {
    let formed = case.generation.filter(|forming| *forming >= 0).unwrap_or(8);
    let next = case.fed_back(&outcome.target, formed);
    let again = subject::assign(&next);
    if again.target != outcome.target {
        return Err(format!("fed back, it moves:\n{:?}\n{:?}", outcome.target, again.target));
    }
    if again.report.moved != 0 || !again.withheld.is_empty() || !again.changes.is_empty() {
        return Err(format!("fed back, it says that something moves: {again:?}"));
    }
    Ok(again)
}

/// No worse assignment is taken for an optimum, whatever certificate comes with it.
fn nothing_worse_is_proven(
    case: &Case,
    facts: &[Facts],
    outcome: &Outcome,
    best: Score,
    certificates: &[Certificate],
) -> Result<(), String> {
    let rng = &mut seeded_by(case);
    let mut others: Vec<Target> = vec![outcome.target.clone()];
    for _ in 0..4 {
        others.push(altered(case, facts, &outcome.target, rng));
    }
    let mut certificates = certificates.to_vec();
    certificates.push(subject::altered(&certificates[0], rng));
    certificates.push(subject::altered(&certificates[1], rng));
    certificates.push(Certificate::default());
    for target in &others {
        let found = score(case, facts, target).exact();
        for certificate in &certificates {
            let Ok(proven) = subject::verify(case, target, certificate) else { continue };
            let wrong = (0..4).find(|at| proven[*at] && found[..=*at] != best.exact()[..=*at]);
            if let Some(objective) = wrong {
                return Err(format!(
                    "objective {} is called proven, at {found:?} where {best:?} is possible\n{target:?}\n{certificate:?}",
                    objective + 1
                ));
            }
        }
    }
    let missing = outcome.target.keys().next().cloned();
    if let Some(missing) = missing {
        let mut incomplete = outcome.target.clone();
        incomplete.remove(&missing);
        if let Ok(proven) = subject::verify(case, &incomplete, &outcome.certificate) {
            return Err(format!("an assignment without {missing:?} is called {proven:?}"));
        }
        let stranger = case.members.iter().find(|member| !member.subscription.contains(&missing.0));
        if let Some(stranger) = stranger {
            incomplete.insert(missing.clone(), stranger.id.clone());
            if let Ok(proven) = subject::verify(case, &incomplete, &outcome.certificate) {
                return Err(format!("{missing:?} at {}, not subscribed, is called {proven:?}", stranger.id));
            }
        }
    }
    Ok(())
}

/// Another valid assignment: a few partitions elsewhere, or all of them anywhere.
fn altered(case: &Case, facts: &[Facts], target: &Target, rng: &mut Seeded) -> Target {
    let mut altered = target.clone();
    let open: Vec<&Facts> = facts.iter().filter(|partition| !partition.subscribers.is_empty()).collect();
    if open.is_empty() {
        return altered;
    }
    let many = rng.percent(20);
    for _ in 0..if many { open.len() } else { rng.between(1, 2) } {
        let partition = rng.pick(&open);
        let name = (case.topics[partition.topic].name.clone(), partition.number);
        altered.insert(name, case.members[*rng.pick(&partition.subscribers)].id.clone());
    }
    if rng.percent(30) {
        let (a, b) = (rng.pick(&open), rng.pick(&open));
        let [a, b] = [a, b].map(|partition| (case.topics[partition.topic].name.clone(), partition.number));
        let (to_a, to_b) = (altered[&b].clone(), altered[&a].clone());
        let reads = |member: &str, topic: &String| case.member(member).subscription.contains(topic);
        if reads(&to_a, &a.0) && reads(&to_b, &b.0) {
            altered.insert(a, to_a);
            altered.insert(b, to_b);
        }
    }
    altered
}

fn seeded_by(case: &Case) -> Seeded {
    let claims: usize =
        case.members.iter().map(|member| member.claims.len() + member.subscription.len()).sum();
    Seeded::new((case.partition_count() as usize * 1009 + case.members.len() * 101 + claims) as u64)
}

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` without a word from the panic hook: what fails is told once, when it is small.
fn quiet<T>(work: impl FnOnce() -> T) -> T {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |info| {
            if !QUIET.get() {
                usual(info);
            }
        }));
    });
    QUIET.set(true);
    let done = work();
    QUIET.set(false);
    done
}

fn message(panic: &Box<dyn std::any::Any + Send>) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

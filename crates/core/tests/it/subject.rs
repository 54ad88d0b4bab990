//! The crate under test, by plain data: the only place that calls it for a `Case`.

use std::collections::BTreeSet;

use kafka_sticky_core::{
    Certificate, Group, Member, Options, Proven, Report, Topic,
    dense::{MemberId, Target as DenseTarget, TopicId},
    verify as verify_dense,
};

use crate::{
    case::{Case, Claim, Partition, Target},
    rules::{Change, Reason},
    seeded::Seeded,
};

/// Everything that comes out for a group.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) target: Target,
    pub(crate) withheld: BTreeSet<Partition>,
    pub(crate) report: Report,
    pub(crate) changes: Vec<Change>,
    pub(crate) certificate: Certificate,
}

pub(crate) fn assign(case: &Case) -> Outcome {
    assign_with(case, &Options::default())
}

pub(crate) fn assign_with(case: &Case, options: &Options) -> Outcome {
    let group = group_of(case);
    let assignment = group.assign_with(options);
    let mut target = Target::new();
    let mut withheld = BTreeSet::new();
    let mut assigned = BTreeSet::new();
    for share in assignment.members() {
        for (topic, number) in share.target().flat_map(numbered) {
            let before = target.insert((topic.to_owned(), number), share.id().to_owned());
            assert_eq!(before, None, "{topic}:{number} has two targets");
        }
        let mut waits = share.withheld().flat_map(numbered).map(|(topic, number)| (topic.to_owned(), number));
        withheld.extend(waits.by_ref());
        assigned
            .extend(share.assigned().flat_map(numbered).map(|(topic, number)| (topic.to_owned(), number)));
    }
    let all: BTreeSet<Partition> = target.keys().cloned().collect();
    assert!(withheld.is_disjoint(&assigned), "both withheld and assigned");
    assert_eq!(
        all,
        withheld.union(&assigned).cloned().collect(),
        "withheld and assigned are the target together"
    );
    let changes = assignment.changes(&group).into_iter().map(|change| Change {
        partition: (change.topic.to_owned(), number_of(change.partition)),
        from: change.from.map(str::to_owned),
        to: change.to.to_owned(),
        reason: match change.reason {
            kafka_sticky_core::Reason::Rack => Reason::Rack,
            kafka_sticky_core::Reason::Balance => Reason::Balance,
            kafka_sticky_core::Reason::Contested => Reason::Contested,
            kafka_sticky_core::Reason::Unsubscribed => Reason::Unsubscribed,
            kafka_sticky_core::Reason::Unclaimed => Reason::Unclaimed,
        },
    });
    let changes = changes.collect();
    let (report, certificate) = (*assignment.report(), assignment.certificate().clone());
    Outcome { target, withheld, report, changes, certificate }
}

/// Which of the objectives 1 to 4 the certificate proves of `target`, or what is wrong with that assignment.
pub(crate) fn verify(case: &Case, target: &Target, certificate: &Certificate) -> Result<[bool; 4], String> {
    let group = group_of(case);
    let ids: Vec<&str> = group.member_ids().collect();
    let mut members = Vec::new();
    for (topic, name) in group.topics().iter().enumerate() {
        for number in 0..group.dense().partitions_of(TopicId(topic as u32)).len() as u32 {
            let owner = target.get(&((*name).to_owned(), number));
            let position =
                |owner: &String| ids.iter().position(|id| id == owner).expect("a member of the group");
            members.push(owner.map(|owner| MemberId(position(owner) as u32)));
        }
    }
    let verdict = verify_dense(group.dense(), &DenseTarget::from_members(members), certificate);
    verdict.map(|verdict| flags(&verdict.proven)).map_err(|flaw| flaw.to_string())
}

pub(crate) fn flags(proven: &Proven) -> [bool; 4] {
    [proven.balance, proven.racks, proven.moves, proven.returns]
}

/// A certificate that is a little wrong.
pub(crate) fn altered(certificate: &Certificate, rng: &mut Seeded) -> Certificate {
    let mut potentials = certificate.potentials().to_vec();
    for _ in 0..rng.below(4) {
        if !potentials.is_empty() {
            let member = rng.below(potentials.len());
            let number = &mut potentials[member][rng.below(4)];
            *number = number.saturating_add(*rng.pick(&[-2, -1, 1, 2, i64::MAX, i64::MIN]));
        }
    }
    if rng.percent(10) {
        potentials.pop();
    }
    Certificate::new(potentials)
}

fn group_of(case: &Case) -> Group<'_> {
    let topics = case.topics.iter().map(|topic| {
        let named = Topic::new(&topic.name, topic.partitions);
        match &topic.racks {
            Some(racks) => named.with_racks(racks.iter().map(|racks| racks.iter().map(String::as_str))),
            None => named,
        }
    });
    let members = case.members.iter().map(|said| {
        let mut member = Member::new(&said.id).subscribe(said.subscription.iter().map(String::as_str));
        if let Some(instance) = &said.instance {
            member = member.instance_id(instance);
        }
        if let Some(rack) = &said.rack {
            member = member.rack(rack);
        }
        for (topic, partitions, generation) in runs(&said.claims) {
            member.add_claim(topic, partitions, generation);
        }
        for (topic, partitions, generation) in runs(&said.holds) {
            member.add_hold(topic, partitions, generation);
        }
        member
    });
    Group::new_forming(case.generation.unwrap_or(-1), topics, members).expect("names are unique")
}

fn runs(claims: &[Claim]) -> impl Iterator<Item = (&str, impl Iterator<Item = i32>, Option<i32>)> {
    claims.chunk_by(|a, b| a.topic == b.topic && a.generation == b.generation).map(|run| {
        let partitions = run.iter().map(|claim| claim.partition);
        (run[0].topic.as_str(), partitions, run[0].generation)
    })
}

fn numbered<'a>((topic, numbers): (&'a str, &'a [i32])) -> impl Iterator<Item = (&'a str, u32)> {
    assert!(!numbers.is_empty(), "no list is empty");
    assert!(numbers.is_sorted_by(|a, b| a < b), "{topic} {numbers:?} is not sorted");
    numbers.iter().map(move |number| (topic, number_of(*number)))
}

fn number_of(partition: i32) -> u32 {
    u32::try_from(partition).expect("no partition number is negative")
}

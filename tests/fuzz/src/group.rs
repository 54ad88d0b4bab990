//! A whole group, from what its members sent to what each of them is given.

use arbitrary::{Result, Unstructured};
use kafka_sticky_core::Options;
use kafka_sticky_protocol::Strategy;

use crate::leader::{Existing, Heard, Round, partitions_of};
use crate::spoken::{self, EXISTING, NAMES, RACKS, one_of};

/// Reads a group from bytes, assigns it, and assigns it again with everything in another order.
pub fn group(bytes: &[u8]) {
    let from = &mut Unstructured::new(bytes);
    let Ok((mut round, options)) = question(from) else { return };
    let outcome = round.assigned(options);
    outcome.shares.values().for_each(|share| drop(partitions_of(share)));

    round.topics.reverse();
    round.members.reverse();
    assert_eq!(round.assigned(options), outcome, "depends on the order of arrival\n{round:#?}");
}

fn question(from: &mut Unstructured<'_>) -> Result<(Round, Options)> {
    let strategy = one_of(&[Strategy::Sticky, Strategy::CooperativeSticky], from)?;
    let forming = spoken::generation(from)?;
    let budget = match from.arbitrary::<u8>()? {
        scarce @ 0..32 => u64::from(scarce) * 8,
        _ => Options::DEFAULT_BUDGET,
    };
    let topics = topics(from)?;
    let count = from.int_in_range(0..=10)?;
    let members = (0..count).map(|index| heard(index, from)).collect::<Result<_>>()?;
    Ok((Round { strategy, forming, topics, members }, Options::default().with_budget(budget)))
}

fn topics(from: &mut Unstructured<'_>) -> Result<Vec<Existing>> {
    let count = from.int_in_range(0..=EXISTING)?;
    let topic = |name: &&'static str| {
        let partitions = from.int_in_range(0..=14)?;
        let mut racks = None;
        if from.ratio(1u8, 3u8)? {
            racks = Some((0..partitions).map(|_| replicas(from)).collect::<Result<_>>()?);
        }
        Ok(Existing { name, partitions, racks })
    };
    NAMES[..count].iter().map(topic).collect()
}

fn replicas(from: &mut Unstructured<'_>) -> Result<Vec<&'static str>> {
    let bits: u8 = from.arbitrary()?;
    Ok((0..RACKS.len()).filter(|rack| bits >> rack & 1 == 1).map(|rack| RACKS[rack]).collect())
}

fn heard(index: usize, from: &mut Unstructured<'_>) -> Result<Heard> {
    let number: u8 = from.arbitrary()?;
    // Two static members of one instance id can be heard of, where a broker does not fence the first.
    let instance_id = (number >= 192).then(|| format!("static-{}", number % 8));
    Ok(Heard {
        id: format!("{}-{index}", number % 64),
        instance_id,
        subscription: spoken::subscription(from)?,
    })
}

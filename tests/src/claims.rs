//! Who owns a partition by what members claim: the rules of Java's since KAFKA-12984, written down once more for the judge.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::seen::Partition;

/// What one member says it had.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Claimed {
    /// Since which generation; negative where it does not say.
    pub generation: i32,
    /// The partitions, whether they exist or not.
    pub partitions: BTreeSet<Partition>,
}

/// The owners by these claims in the generation being formed: of the claimants of a partition the one of the latest
/// generation, and nobody where two say the same one. A generation that is yet to come counts as none.
pub fn owners(claims: &BTreeMap<String, Claimed>, forming: i32) -> BTreeMap<Partition, String> {
    let mut latest: BTreeMap<&Partition, (i32, Vec<&String>)> = BTreeMap::new();
    for (name, claimed) in claims {
        let generation = if claimed.generation >= forming { -1 } else { claimed.generation.max(-1) };
        for partition in &claimed.partitions {
            let (of, claimants) = latest.entry(partition).or_insert((generation, Vec::new()));
            if generation > *of {
                (*of, *claimants) = (generation, Vec::new());
            }
            if generation == *of {
                claimants.push(name);
            }
        }
    }
    let only = |(partition, (_, claimants)): (&Partition, (i32, Vec<&String>))| match claimants[..] {
        [only] => Some((partition.clone(), only.clone())),
        _ => None,
    };
    latest.into_iter().filter_map(only).collect()
}

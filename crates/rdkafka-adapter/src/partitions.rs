//! Lists of partitions, topic by topic, both sorted.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Topics with their partition numbers.
pub(crate) type Listed = [(String, Vec<i32>)];

/// Each partition once; a negative one is none.
pub(crate) fn sorted<'t>(pairs: impl IntoIterator<Item = (&'t str, i32)>) -> Vec<(String, Vec<i32>)> {
    let mut topics: BTreeMap<&str, BTreeSet<i32>> = BTreeMap::new();
    for (topic, partition) in pairs {
        if partition >= 0 {
            topics.entry(topic).or_default().insert(partition);
        }
    }
    topics
        .into_iter()
        .map(|(topic, partitions)| (topic.to_owned(), partitions.into_iter().collect()))
        .collect()
}

pub(crate) fn count(listed: &Listed) -> usize {
    listed.iter().map(|(_, partitions)| partitions.len()).sum()
}

/// What is in one list and not in the other. Linear, but for a search per topic.
pub(crate) fn less(listed: &Listed, other: &Listed) -> Vec<(String, Vec<i32>)> {
    let mut rest = Vec::new();
    for (topic, partitions) in listed {
        let found = other.binary_search_by(|(name, _)| name.cmp(topic));
        let taken = found.map_or(&[][..], |at| &other[at].1);
        let left: Vec<i32> =
            partitions.iter().filter(|partition| taken.binary_search(partition).is_err()).copied().collect();
        if !left.is_empty() {
            rest.push((topic.clone(), left));
        }
    }
    rest
}

/// As in a sentence: `orders 0 3 4, payments 1`, at most some of them.
pub(crate) struct ByTopic<'p>(pub(crate) &'p Listed);

impl ByTopic<'_> {
    const MOST: usize = 20;
}

impl fmt::Display for ByTopic<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = count(self.0);
        if count > Self::MOST {
            return write!(f, "{count} partitions of {} topics", self.0.len());
        }
        if count == 0 {
            return f.write_str("nothing");
        }
        for (index, (topic, partitions)) in self.0.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { ", " })?;
            f.write_str(topic)?;
            partitions.iter().try_for_each(|partition| write!(f, " {partition}"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(topics: &[(&str, &[i32])]) -> Vec<(String, Vec<i32>)> {
        topics.iter().map(|(topic, partitions)| ((*topic).to_owned(), partitions.to_vec())).collect()
    }

    #[test]
    fn what_is_left_of_a_list_is_what_the_other_has_not() {
        let before = listed(&[("a", &[0, 1, 2]), ("b", &[0]), ("c", &[5])]);
        let after = listed(&[("a", &[1, 3]), ("c", &[5])]);
        assert_eq!(less(&before, &after), listed(&[("a", &[0, 2]), ("b", &[0])]));
        assert_eq!(less(&after, &before), listed(&[("a", &[3])]));
        assert_eq!(less(&before, &before), []);
    }

    #[test]
    fn many_are_counted_and_few_are_named() {
        assert_eq!(ByTopic(&listed(&[("a", &[0, 2]), ("b", &[7])])).to_string(), "a 0 2, b 7");
        let many: Vec<i32> = (0..21).collect();
        assert_eq!(ByTopic(&listed(&[("a", &many)])).to_string(), "21 partitions of 1 topics");
        assert_eq!(ByTopic(&[]).to_string(), "nothing");
    }
}

//! The racks of replicas: a list for each partition, of which few differ.

use std::{collections::HashMap, fmt};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{SeqAccess, Visitor},
};

use super::entries::Name;

/// Racks by partition number, each list kept once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RackLists<'a> {
    lists: Vec<Vec<Name<'a>>>,
    /// Which of the lists, by partition number.
    of: Vec<u32>,
}

impl<'a> RackLists<'a> {
    pub(crate) fn len(&self) -> usize {
        self.of.len()
    }

    /// In order of partition number.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[Name<'a>]> {
        self.of.iter().map(|list| &self.lists[*list as usize][..])
    }

    /// To so many partitions; the racks of new ones are not known.
    pub(crate) fn grow(&mut self, count: usize) {
        if count > self.of.len() {
            self.lists.push(Vec::new());
            self.of.resize(count, self.lists.len() as u32 - 1);
        }
    }
}

impl Serialize for RackLists<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for RackLists<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ListsVisitor;

        impl<'de> Visitor<'de> for ListsVisitor {
            type Value = RackLists<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of lists of racks")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut given: A) -> Result<Self::Value, A::Error> {
                let mut lists = RackLists::default();
                let mut known: HashMap<Vec<Name<'de>>, u32> = HashMap::new();
                while let Some(Racks(list)) = given.next_element()? {
                    let next = lists.lists.len() as u32;
                    let number = known.get(&list).copied().unwrap_or(next);
                    if number == next {
                        lists.lists.push(list.clone());
                        known.insert(list, next);
                    }
                    lists.of.push(number);
                }
                Ok(lists)
            }
        }

        deserializer.deserialize_seq(ListsVisitor)
    }
}

#[derive(Deserialize)]
#[serde(transparent)]
struct Racks<'a>(#[serde(borrow)] Vec<Name<'a>>);

//! The bytes of subscriptions and of sticky user data, written by hand: also those that no writer would write.

use bytes::{BufMut as _, BytesMut};

use crate::seen::Partition;

/// Topic by topic, partition numbers, in any order and as often as one likes.
pub type Listed = Vec<(String, Vec<i32>)>;

/// A subscription message.
#[derive(Debug, Clone, Default)]
pub struct Said {
    /// Its version; what a version does not have is not written.
    pub version: i16,
    /// The topics.
    pub topics: Vec<String>,
    /// The user data; `None` is null.
    pub user_data: Option<Vec<u8>>,
    /// From version 1: the owned partitions.
    pub owned: Listed,
    /// From version 2: the generation.
    pub generation: i32,
    /// From version 3: the rack.
    pub rack: Option<String>,
}

impl Said {
    /// To these topics, in this version, without anything else.
    pub fn to(version: i16, topics: &[&str]) -> Self {
        let topics = topics.iter().map(|topic| (*topic).to_owned()).collect();
        Self { version, topics, generation: -1, ..Self::default() }
    }

    /// The message.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = BytesMut::new();
        bytes.put_i16(self.version);
        bytes.put_i32(self.topics.len() as i32);
        self.topics.iter().for_each(|topic| put_string(&mut bytes, topic));
        match &self.user_data {
            None => bytes.put_i32(-1),
            Some(user_data) => {
                bytes.put_i32(user_data.len() as i32);
                bytes.put_slice(user_data);
            }
        }
        if self.version >= 1 {
            put_listed(&mut bytes, &self.owned);
        }
        if self.version >= 2 {
            bytes.put_i32(self.generation);
        }
        if self.version >= 3 {
            match &self.rack {
                None => bytes.put_i16(-1),
                Some(rack) => put_string(&mut bytes, rack),
            }
        }
        bytes.to_vec()
    }
}

/// Sticky user data: version 0 without a generation, else version 1.
pub fn sticky(listed: &Listed, generation: Option<i32>) -> Vec<u8> {
    let mut bytes = BytesMut::new();
    put_listed(&mut bytes, listed);
    if let Some(generation) = generation {
        bytes.put_i32(generation);
    }
    bytes.to_vec()
}

/// Version 1 as kafka-python 3 frames it: the version as an int16 comes first.
pub fn framed(listed: &Listed, generation: i32) -> Vec<u8> {
    let mut bytes = BytesMut::new();
    bytes.put_i16(1);
    bytes.put_slice(&sticky(listed, Some(generation)));
    bytes.to_vec()
}

/// Partitions, topic by topic.
pub fn listed<'p>(partitions: impl IntoIterator<Item = &'p Partition>) -> Listed {
    let mut listed = Listed::new();
    for (topic, number) in partitions {
        match listed.last_mut() {
            Some((last, numbers)) if last == topic => numbers.push(*number),
            _ => listed.push((topic.clone(), vec![*number])),
        }
    }
    listed
}

fn put_listed(bytes: &mut BytesMut, listed: &Listed) {
    bytes.put_i32(listed.len() as i32);
    for (topic, partitions) in listed {
        put_string(bytes, topic);
        bytes.put_i32(partitions.len() as i32);
        partitions.iter().for_each(|partition| bytes.put_i32(*partition));
    }
}

fn put_string(bytes: &mut BytesMut, text: &str) {
    bytes.put_i16(text.len() as i16);
    bytes.put_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// As three clients were seen to send it.
    #[test]
    fn is_what_was_seen_on_the_wire() {
        let had = vec![("bar".to_owned(), vec![7]), ("foo".to_owned(), vec![1, 0])];
        let java = "000000020003626172000000010000000700\
                    03666f6f00000002000000010000000000000005";
        assert_eq!(hex(&sticky(&had, Some(5))), java);
        assert_eq!(hex(&framed(&had, 5)), format!("0001{java}"));
        let kafka_python = Said { user_data: Some(Vec::new()), ..Said::to(0, &["bar", "foo"]) };
        assert_eq!(hex(&kafka_python.bytes()), "00000000000200036261720003666f6f00000000");
    }
}

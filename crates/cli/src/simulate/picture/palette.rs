//! Colours and labels of topics.

use super::scene::Scene;

/// A colour to fill with, and whether writing on it must be light.
#[derive(Clone)]
pub(super) struct Colour {
    pub(super) fill: String,
    pub(super) is_dark: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ink {
    Full,
    Pale,
    None,
}

/// One colour and one label for each topic.
pub(super) struct Palette {
    codes: Vec<String>,
}

/// Okabe and Ito's colours, which people tell apart however they see colours (<https://jfly.uni-koeln.de/color/>), and
/// whether they are dark.
const COLOURS: [([u8; 3], bool); 8] = [
    ([0x56, 0xb4, 0xe9], false),
    ([0xe6, 0x9f, 0x00], false),
    ([0x00, 0x9e, 0x73], true),
    ([0xcc, 0x79, 0xa7], false),
    ([0xf0, 0xe4, 0x42], false),
    ([0x00, 0x72, 0xb2], true),
    ([0xd5, 0x5e, 0x00], true),
    ([0x99, 0x99, 0x99], false),
];

impl Palette {
    pub(super) fn of(scene: &Scene<'_>) -> Self {
        Self { codes: codes(&scene.topics) }
    }

    pub(super) fn colour(&self, topic: usize, ink: Ink) -> Colour {
        let (full, is_dark) = COLOURS[topic % COLOURS.len()];
        let [r, g, b] = match ink {
            Ink::Full => full,
            // A third of it, on white.
            Ink::Pale => full.map(|part| (255 - (255 - u16::from(part)) / 3) as u8),
            Ink::None => [255; 3],
        };
        Colour { fill: format!("#{r:02x}{g:02x}{b:02x}"), is_dark: is_dark && ink == Ink::Full }
    }

    /// What stands on a partition of the topic: the number, and before it which topic where there are several.
    pub(super) fn code(&self, topic: usize, partition: i32) -> String {
        format!("{}{partition}", self.codes[topic])
    }

    pub(super) fn topic_code(&self, topic: usize) -> &str {
        &self.codes[topic]
    }

    /// Of the longest code, in characters.
    pub(super) fn longest(&self, scene: &Scene<'_>) -> usize {
        let chips = scene.cells().flat_map(|cell| cell.slots.iter().flatten());
        chips.map(|chip| self.code(chip.topic, chip.partition).chars().count()).max().unwrap_or(1)
    }
}

/// Sorted topics get the shortest beginning that tells them apart where that is short and ends in a letter, else
/// letters from a to z.
fn codes(topics: &[&str]) -> Vec<String> {
    if topics.len() == 1 {
        return vec![String::new()];
    }
    let beginnings: Option<Vec<String>> = topics.iter().map(|topic| beginning(topic, topics)).collect();
    beginnings.unwrap_or_else(|| (0..topics.len()).map(letters).collect())
}

fn beginning(topic: &str, topics: &[&str]) -> Option<String> {
    let told_apart =
        |beginning: &str| topics.iter().filter(|other| other.starts_with(beginning)).count() == 1;
    let beginnings = topic.char_indices().take(3).map(|(at, last)| (&topic[..at + last.len_utf8()], last));
    let mut usable = beginnings.filter(|(beginning, last)| last.is_alphabetic() && told_apart(beginning));
    usable.next().map(|(beginning, _)| beginning.to_owned())
}

/// a, b, …, z, aa, ab, …
fn letters(mut number: usize) -> String {
    let mut letters = Vec::new();
    loop {
        letters.push(b'a' + (number % 26) as u8);
        if number < 26 {
            break;
        }
        number = number / 26 - 1;
    }
    letters.iter().rev().map(|letter| char::from(*letter)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_are_told_apart_by_their_beginning_or_by_letters() {
        assert_eq!(codes(&["orders"]), [""]);
        assert_eq!(codes(&["clicks", "orders"]), ["c", "o"]);
        assert_eq!(codes(&["clicks", "clocks", "orders"]), ["cli", "clo", "o"]);
        assert_eq!(codes(&["t1", "t2", "t3"]), ["a", "b", "c"]);
        assert_eq!(codes(&["order", "orders"]), ["a", "b"]);
    }

    #[test]
    fn there_are_letters_for_any_number_of_topics() {
        let some = [0, 25, 26, 27, 701, 702].map(letters);
        assert_eq!(some, ["a", "z", "aa", "ab", "zz", "aaa"]);
    }
}

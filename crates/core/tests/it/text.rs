//! A group as text, one line a thing, for scenarios to be read and failures to be pasted back:
//!
//! ```text
//! generation 8
//! topic t1 3
//! topic t2 2 racks a+b,-
//! member c1 [t1 t2] owns t1:0..2@7 rack a static s1
//! member c2 [t2] claims t2:0,1@7 t2:0@6 holds t1:1
//! ```
//!
//! `owns` is claims and holds both, `0..2` includes 2, and `@7` is the generation.

use std::fmt::{Display, Formatter, Result, Write};

use crate::case::{Case, Claim, Member, Topic};

/// Reads a group; panics where the text is wrong, as only tests write it.
pub(crate) fn case(text: &str) -> Case {
    let mut case = Case::default();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (kind, rest) = line.split_once(' ').unwrap_or_else(|| panic!("what is {line:?}?"));
        match kind {
            "generation" => case.generation = Some(number(rest)),
            "topic" => case.topics.push(topic(rest)),
            "member" => case.members.push(member(rest)),
            _ => panic!("what is {line:?}?"),
        }
    }
    case
}

fn topic(text: &str) -> Topic {
    let words: Vec<&str> = text.split_whitespace().collect();
    let racks = match words[2..] {
        [] => None,
        ["racks", list] => Some(list.split(',').map(replicas).collect()),
        _ => panic!("what is topic {text:?}?"),
    };
    Topic { name: words[0].to_owned(), partitions: number(words[1]), racks }
}

fn replicas(text: &str) -> Vec<String> {
    if text == "-" { Vec::new() } else { text.split('+').map(str::to_owned).collect() }
}

fn member(text: &str) -> Member {
    let (id, rest) = text.split_once(" [").unwrap_or_else(|| panic!("no subscription in {text:?}"));
    let (subscription, rest) = rest.split_once(']').expect("the subscription ends with ]");
    let mut member = Member {
        id: id.to_owned(),
        subscription: subscription.split_whitespace().map(str::to_owned).collect(),
        ..Member::default()
    };
    let mut keyword = "";
    for word in rest.split_whitespace() {
        match (keyword, word) {
            (_, "rack") => {
                keyword = word;
                member.rack = Some(String::new());
            }
            (_, "claims" | "holds" | "owns" | "static") => keyword = word,
            ("rack", rack) => member.rack = Some(rack.to_owned()),
            ("static", instance) => member.instance = Some(instance.to_owned()),
            ("claims", said) => member.claims.extend(claims(said)),
            ("holds", said) => member.holds.extend(claims(said)),
            ("owns", said) => {
                member.claims.extend(claims(said));
                member.holds.extend(claims(said));
            }
            _ => panic!("what is {word:?} in {text:?}?"),
        }
    }
    member
}

/// `topic:0,2..4@generation`, the generation optional.
pub(crate) fn claims(text: &str) -> Vec<Claim> {
    let (topic, rest) = text.rsplit_once(':').unwrap_or_else(|| panic!("no partitions in {text:?}"));
    let (numbers, generation) = match rest.split_once('@') {
        Some((numbers, generation)) => (numbers, Some(number(generation))),
        None => (rest, None),
    };
    let mut claims = Vec::new();
    for range in numbers.split(',') {
        let (first, last) = range.split_once("..").unwrap_or((range, range));
        for partition in number::<i32>(first)..=number(last) {
            claims.push(Claim { topic: topic.to_owned(), partition, generation });
        }
    }
    claims
}

fn number<N: std::str::FromStr>(text: &str) -> N {
    text.parse().unwrap_or_else(|_| panic!("{text:?} is not a number"))
}

impl Display for Case {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if let Some(generation) = self.generation {
            writeln!(f, "generation {generation}")?;
        }
        for topic in &self.topics {
            write!(f, "topic {} {}", topic.name, topic.partitions)?;
            if let Some(racks) = topic.racks.as_ref().filter(|racks| !racks.is_empty()) {
                let lists: Vec<String> = racks.iter().map(|racks| written_replicas(racks)).collect();
                write!(f, " racks {}", lists.join(","))?;
            }
            writeln!(f)?;
        }
        for member in &self.members {
            write!(f, "member {} [{}]", member.id, member.subscription.join(" "))?;
            if member.claims == member.holds {
                f.write_str(&written_claims("owns", &member.claims))?;
            } else {
                f.write_str(&written_claims("claims", &member.claims))?;
                f.write_str(&written_claims("holds", &member.holds))?;
            }
            if let Some(rack) = &member.rack {
                write!(f, " rack {rack}")?;
            }
            if let Some(instance) = &member.instance {
                write!(f, " static {instance}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

fn written_replicas(racks: &[String]) -> String {
    if racks.is_empty() { "-".to_owned() } else { racks.join("+") }
}

fn written_claims(keyword: &str, claims: &[Claim]) -> String {
    let mut text = String::new();
    let runs = claims.chunk_by(|a, b| a.topic == b.topic && a.generation == b.generation);
    for run in runs {
        let numbers: Vec<String> = run.iter().map(|claim| claim.partition.to_string()).collect();
        write!(text, " {}:{}", run[0].topic, numbers.join(",")).expect("writing to a string");
        if let Some(generation) = run[0].generation {
            write!(text, "@{generation}").expect("writing to a string");
        }
    }
    if text.is_empty() { text } else { format!(" {keyword}{text}") }
}

#[test]
fn what_is_printed_reads_back_the_same() {
    let text = "generation 8\n\
                topic t1 3\n\
                topic t2 2 racks a+b,-\n\
                member c1 [t1 t2] owns t1:0,1,2@7 rack a static s1\n\
                member c2 [t2] claims t2:0,-1@7 t2:0@-6 holds t1:1\n\
                member c3 [] rack \n";
    assert_eq!(case(text).to_string(), text);
    assert_eq!(case("member c1 [] owns t:0..2@7"), case("member c1 [] owns t:0,1,2@7"));
}

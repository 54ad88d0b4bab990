//! How neighbours behave: honest ones, forgetful ones, liars.

use std::collections::BTreeSet;

use crate::claims::Claimed;
use crate::raw::{Manner, Stay, Word, last_share};
use crate::said::{Said, listed, sticky};
use crate::seen::Partition;

/// Topics that a member subscribes to.
pub type Topics = &'static [&'static str];

/// Says in `sticky`'s way what it was last given, as Java does.
#[derive(Debug)]
pub struct Honest(pub Topics);

impl Manner for Honest {
    fn word(&mut self, past: &[Stay]) -> Word {
        let Some((generation, partitions)) = last_share(past) else {
            return Word { subscription: Said::to(3, self.0).bytes(), claims: None };
        };
        let user_data = Some(sticky(&listed(&partitions), Some(generation)));
        let said = Said { user_data, generation, ..Said::to(3, self.0) };
        Word { subscription: said.bytes(), claims: Some(Claimed { generation, partitions }) }
    }
}

/// Says the same whatever happens but for the generation that it was in last, in a message that claims nothing.
#[derive(Debug)]
pub struct Silent(pub Said);

impl Silent {
    /// With this user data.
    pub fn with(version: i16, topics: Topics, user_data: Option<&[u8]>) -> Self {
        Self(Said { user_data: user_data.map(<[u8]>::to_vec), ..Said::to(version, topics) })
    }
}

impl Manner for Silent {
    fn word(&mut self, past: &[Stay]) -> Word {
        let generation = last_share(past).map_or(-1, |(generation, _)| generation);
        Word { subscription: Said { generation, ..self.0.clone() }.bytes(), claims: None }
    }
}

/// Says the same whatever happens, in a message that claims something.
#[derive(Debug)]
pub struct Stubborn {
    /// What it says.
    pub said: Said,
    /// What that claims.
    pub claims: Claimed,
}

impl Manner for Stubborn {
    fn word(&mut self, _: &[Stay]) -> Word {
        Word { subscription: self.said.bytes(), claims: Some(self.claims.clone()) }
    }
}

/// A cooperative member: says what it owns, and joins again at once where it lost something.
#[derive(Debug)]
pub struct Cooperative {
    topics: Topics,
    /// What it says the first time.
    first: Said,
    first_claims: Option<Claimed>,
}

impl Cooperative {
    /// A new one.
    pub fn new(topics: Topics) -> Self {
        Self { topics, first: Said::to(3, topics), first_claims: None }
    }

    /// One that says `first` when it comes, which claims this.
    pub fn saying(topics: Topics, first: Said, claims: Claimed) -> Self {
        Self { topics, first, first_claims: Some(claims) }
    }

    /// One that comes with what it had in a generation.
    pub fn having(topics: Topics, partitions: &BTreeSet<Partition>, generation: i32) -> Self {
        let first = Said { owned: listed(partitions), generation, ..Said::to(3, topics) };
        Self::saying(topics, first, Claimed { generation, partitions: partitions.clone() })
    }
}

impl Manner for Cooperative {
    fn word(&mut self, past: &[Stay]) -> Word {
        let Some((generation, partitions)) = last_share(past) else {
            return Word { subscription: self.first.bytes(), claims: self.first_claims.clone() };
        };
        let user_data = Some(generation.to_be_bytes().to_vec());
        let said = Said { user_data, owned: listed(&partitions), generation, ..Said::to(3, self.topics) };
        Word { subscription: said.bytes(), claims: Some(Claimed { generation, partitions }) }
    }

    fn joins_again(&mut self, past: &[Stay]) -> bool {
        let owned = past.last().and_then(|stay| stay.word.claims.as_ref());
        let share = last_share(past);
        let lost = |owned: &Claimed| share.is_some_and(|(_, share)| !owned.partitions.is_subset(&share));
        owned.is_some_and(lost)
    }
}

//! What a group settled on, and whether that is as it should be.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use anyhow::{Result, bail, ensure};

use crate::claims::{Claimed, owners};
use crate::heard;
use crate::history::{Name, Record};
use crate::interop::client::Client;
use crate::interop::described::Described;
use crate::optimum::Question;
use crate::seen::{LedRound, Partition};

/// A generation in which all members were assigned, by what they say and by what the coordinator says.
#[derive(Debug, Clone)]
pub struct Settled {
    /// The generation.
    pub generation: i32,
    /// The strategy that the group uses.
    pub strategy: String,
    /// Who computed it.
    pub leader: Option<Name>,
    /// The members.
    pub members: BTreeMap<Name, SettledMember>,
}

/// A member of a settled generation.
#[derive(Debug, Clone)]
pub struct SettledMember {
    /// What it is made of.
    pub client: Client,
    /// The id that it was given.
    pub member_id: String,
    /// The topics that it subscribes to.
    pub subscription: BTreeSet<String>,
    /// What it has.
    pub given: BTreeSet<Partition>,
    /// What it claimed when it joined, by the bytes that it sent.
    pub claims: Claimed,
    /// Whether it listed owned partitions, which a cooperative member holds.
    pub holds: bool,
    /// What it had before the rebalance, and since when, if it was a member then: under an eager strategy in the last
    /// generation before, under a cooperative one in the last that was settled, since it takes several.
    pub had: Option<Claimed>,
}

impl Settled {
    /// What a group has settled on whose members are these; else what is missing.
    ///
    /// # Errors
    ///
    /// What is missing.
    pub fn of(
        described: &Described,
        clients: &BTreeMap<Name, Client>,
        record: &Record,
        before: Option<&Self>,
    ) -> Result<Self, String> {
        let mut generations = BTreeSet::new();
        let mut leader = None;
        let mut members = BTreeMap::new();
        for member in &described.members {
            let name = &member.name;
            let assigned = record.assignments.get(name).and_then(|all| all.last());
            let Some(assigned) = assigned.filter(|last| last.member_id == member.member_id) else {
                return Err(format!("{name} has not said what it was given"));
            };
            if assigned.partitions != member.given {
                return Err(format!("{name} has {:?}, of {:?}", assigned.partitions, member.given));
            }
            generations.insert(assigned.generation);
            if assigned.leader {
                leader = Some(name.clone());
            }
            let earlier = record.before(name, assigned.generation).map(|last| {
                (
                    &last.member_id,
                    Claimed { generation: last.generation, partitions: last.partitions.clone() },
                )
            });
            let settled = before.and_then(|before| {
                let member = before.members.get(name)?;
                let had = Claimed { generation: before.generation, partitions: member.given.clone() };
                Some((&member.member_id, had))
            });
            let had = if is_cooperative(&described.strategy) { settled } else { earlier };
            let settled = SettledMember {
                client: clients[name],
                member_id: member.member_id.clone(),
                subscription: member.said.topics.iter().cloned().collect(),
                given: member.given.clone(),
                claims: heard::claims(&described.strategy, &member.said),
                holds: !member.said.owned.is_empty(),
                had: had.filter(|(id, _)| **id == member.member_id).map(|(_, had)| had),
            };
            members.insert(name.clone(), settled);
        }
        let mut generations = generations.into_iter();
        match (generations.next(), generations.next()) {
            (Some(generation), None) => {
                Ok(Self { generation, strategy: described.strategy.clone(), leader, members })
            }
            (first, second) => Err(format!("there are members in generations {first:?} and {second:?}")),
        }
    }

    /// What its leader is made of.
    pub fn leading(&self) -> Option<Client> {
        Some(self.members[self.leader.as_ref()?].client)
    }

    /// How many partitions each has, sorted.
    pub fn loads(&self) -> Vec<usize> {
        let mut loads: Vec<usize> = self.members.values().map(|member| member.given.len()).collect();
        loads.sort_unstable();
        loads
    }

    /// Of the partitions that `name` had and that there are still, how many it kept, and how many it could have kept while
    /// it has as many as it was given. `None` where it was no member before.
    pub fn kept(&self, name: &str, topics: &BTreeMap<String, i32>) -> Option<(usize, usize)> {
        let member = &self.members[name];
        let had = &member.had.as_ref()?.partitions;
        let had: BTreeSet<&Partition> = had.iter().filter(|partition| exists(topics, partition)).collect();
        let kept = had.iter().filter(|partition| member.given.contains(**partition)).count();
        Some((kept, had.len().min(member.given.len())))
    }

    /// Checks all that must be so, whoever leads, and what is promised besides where one of ours leads or follows.
    ///
    /// # Errors
    ///
    /// What is not so.
    pub fn judge(
        &self,
        record: &Record,
        topics: &BTreeMap<String, i32>,
        before: Option<&Self>,
    ) -> Result<()> {
        self.judge_whoever_leads()?;
        self.ours_claim_what_they_had()?;
        self.ours_are_understood(record)?;
        match self.leading() {
            Some(client) if client.is_ours() => self.moves_least_by_what_members_had(topics, before),
            _ => self.ours_keep_what_balance_allows(topics),
        }
    }

    /// Checks what must be so whatever the strategy and whoever leads.
    ///
    /// # Errors
    ///
    /// What is not so.
    pub fn judge_whoever_leads(&self) -> Result<()> {
        self.one_owner_each()?;
        // The others look at one topic at a time, or deal without looking.
        if self.alike() && matches!(self.strategy.as_str(), "sticky" | "cooperative-sticky") {
            let loads = self.loads();
            ensure!(loads.last() <= loads.first().map(|least| least + 1).as_ref(), "loads {loads:?}: {self}");
        }
        Ok(())
    }

    fn one_owner_each(&self) -> Result<()> {
        let mut owner: BTreeMap<&Partition, &Name> = BTreeMap::new();
        for (name, member) in &self.members {
            for partition in &member.given {
                if let Some(other) = owner.insert(partition, name) {
                    bail!("{partition:?} belongs to {other} and to {name}: {self}");
                }
                ensure!(
                    member.subscription.contains(&partition.0),
                    "{name} does not subscribe to {partition:?}"
                );
            }
        }
        Ok(())
    }

    /// Whether all members subscribe to the same.
    fn alike(&self) -> bool {
        let mut subscriptions = self.members.values().map(|member| &member.subscription);
        let first = subscriptions.next();
        subscriptions.all(|other| Some(other) == first)
    }

    /// What a member of ours says when it joins an eager group is what it was given last.
    fn ours_claim_what_they_had(&self) -> Result<()> {
        if is_cooperative(&self.strategy) {
            return Ok(());
        }
        for (name, member) in self.members.iter().filter(|(_, member)| member.client.is_ours()) {
            // It may have been given more since, without having been called back for it.
            let Some(had) = member.had.as_ref().filter(|had| had.generation >= member.claims.generation)
            else {
                continue;
            };
            ensure!(member.claims == *had, "{name} claims {:?}, and had {had:?}", member.claims);
        }
        Ok(())
    }

    /// Where the leader shows what it read, that is what those of ours said whom it understands, and what everybody said
    /// where one of ours leads.
    fn ours_are_understood(&self, record: &Record) -> Result<()> {
        let (Some(leader), Some(leading)) = (&self.leader, self.leading()) else { return Ok(()) };
        let last = record.led.iter().rfind(|(name, _)| name == leader).map(|(_, led)| led);
        let Some(led) = last else { return Ok(()) };
        let Some(read) = &led.claims else { return Ok(()) };
        let spoken_for = |id: &String| led.round.as_ref().is_some_and(|round| round.remembered.contains(id));
        for (name, member) in &self.members {
            let judged =
                leading.is_ours() || (member.client.is_ours() && understands(leading, member.client));
            // What a cooperative member only claims, having lost it or come back with a state, others pass over.
            let passed_over = is_cooperative(&self.strategy) && !member.holds && !leading.is_ours();
            // A member that was given nothing may claim that, in a generation that means nothing then.
            if !judged || passed_over || member.claims.partitions.is_empty() {
                continue;
            }
            ensure!(!spoken_for(&member.member_id), "{leader} did not listen to {name}: {self}");
            let understood = read.get(&member.member_id);
            ensure!(
                understood == Some(&member.claims),
                "{leader} took {name} to have had {understood:?}, and it said {:?}",
                member.claims
            );
        }
        Ok(())
    }

    /// Where one of ours leads that led before as well, nobody loses more than balance asks for: not even who cannot say
    /// what it had.
    fn moves_least_by_what_members_had(
        &self,
        topics: &BTreeMap<String, i32>,
        before: Option<&Self>,
    ) -> Result<()> {
        let led_before = |before: &&Self| {
            before.leader == self.leader
                && before
                    .leader
                    .as_ref()
                    .is_some_and(|leader| before.members[leader].member_id == self.members[leader].member_id)
        };
        if before.filter(led_before).is_none() {
            return Ok(());
        }
        let Some(had) = self.had() else { return Ok(()) };
        let question = Question {
            subscriptions: self.subscriptions(),
            topics: topics.clone(),
            owners: owners(&had, self.generation),
            ..Question::default()
        };
        let given = self.members.iter().map(|(name, member)| (name.clone(), member.given.clone())).collect();
        let (cost, least) = (question.cost(&given), question.optimum());
        ensure!(cost == least, "{cost:?}, at best {least:?}: {self}");
        Ok(())
    }

    /// What members had before, if it was all in one generation: who missed one on the way was given what it never heard of.
    fn had(&self) -> Option<BTreeMap<Name, Claimed>> {
        let had = self.members.iter().filter_map(|(name, member)| Some((name.clone(), member.had.clone()?)));
        let had: BTreeMap<Name, Claimed> = had.collect();
        let mut generations = had.values().map(|had| had.generation);
        let first = generations.next()?;
        generations.all(|generation| generation == first).then_some(had)
    }

    fn subscriptions(&self) -> BTreeMap<Name, BTreeSet<String>> {
        self.members.iter().map(|(name, member)| (name.clone(), member.subscription.clone())).collect()
    }

    /// Under another leader, a member of ours that it understands keeps what it had, as far as it has as many still.
    ///
    /// Not to the last partition where the leader itself is no better: Sarama's answer to the same question differs from
    /// one time to the next, and kafka-python's search moves more than it must where members name their topics in different
    /// orders.
    fn ours_keep_what_balance_allows(&self, topics: &BTreeMap<String, i32>) -> Result<()> {
        let Some(leading) = self.leading().filter(|_| self.alike()) else { return Ok(()) };
        let exact = !matches!(leading, Client::Sarama | Client::KafkaPython);
        // Who lost its session claims what it had, under another id. There were several rebalances then, one without it.
        let lost = |member: &SettledMember| member.had.is_none() && !member.claims.partitions.is_empty();
        if self.members.values().any(lost) {
            return Ok(());
        }
        for (name, member) in &self.members {
            if !member.client.is_ours() || !understands(leading, member.client) {
                continue;
            }
            if let Some((kept, possible)) = self.kept(name, topics) {
                let enough = if exact { kept == possible } else { 2 * kept >= possible };
                ensure!(enough, "{name} kept {kept} of {possible}: {self}");
            }
        }
        Ok(())
    }
}

impl fmt::Display for Settled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "generation {} of {}, led by {:?}", self.generation, self.strategy, self.leader)?;
        for (name, SettledMember { client, given, claims, had, .. }) in &self.members {
            writeln!(f, "    {name} ({client}) has {given:?}")?;
            writeln!(f, "        had {had:?}")?;
            writeln!(f, "        claimed {claims:?}")?;
        }
        Ok(())
    }
}

/// Whether a leader of one client reads what a member of another claims under `sticky`.
pub fn understands(leading: Client, member: Client) -> bool {
    match (leading, member) {
        (Client::Ours | Client::OursFramed, _) => true,
        (Client::KafkaPython, _) => matches!(member, Client::KafkaPython | Client::OursFramed),
        _ => !matches!(member, Client::KafkaPython | Client::OursFramed),
    }
}

/// The partitions that somebody subscribes to, and nobody has.
pub fn uncovered(settled: &Settled, topics: &BTreeMap<String, i32>) -> BTreeSet<Partition> {
    let question =
        Question { subscriptions: settled.subscriptions(), topics: topics.clone(), ..Question::default() };
    let mut missing = question.partitions();
    for partition in settled.members.values().flat_map(|member| &member.given) {
        // One that there is no more means that somebody has not heard of it yet.
        if !missing.remove(partition) && !exists(topics, partition) {
            missing.insert(partition.clone());
        }
    }
    missing
}

/// Each assignment that one of ours computed and that was not the best, by what it was told and by what it remembered.
pub fn not_the_best(record: &Record) -> Vec<String> {
    let rounds =
        record.led.iter().filter_map(|(name, led)| Some((name, led.claims.as_ref()?, led.round.as_ref()?)));
    let mut faults = Vec::new();
    for (name, claims, round) in rounds {
        let question = question_of(round, claims);
        let (cost, least) = (question.cost(&round.plan), question.optimum());
        // What somebody still holds is given to nobody for now, and adds to nobody's load.
        let withheld = round.plan.values().map(BTreeSet::len).sum::<usize>() < question.partitions().len();
        if cost != least && !(withheld && cost.moves == least.moves) {
            faults.push(format!("{name} planned {cost:?}, at best {least:?}, by {claims:?}: {round:?}"));
        }
    }
    faults
}

/// Partitions that a cooperative member was given in the very generation that another joined while it still had them.
pub fn taken_while_held(record: &Record) -> Vec<String> {
    let mut faults = Vec::new();
    let all =
        record.assignments.iter().flat_map(|(name, all)| all.iter().map(move |assigned| (name, assigned)));
    for (name, assigned) in all {
        let generation = assigned.generation;
        let had = |name: &str| record.before(name, generation).map(|before| &before.partitions);
        for (other, _) in record.in_generation(generation) {
            // Who lost what it had does not hold it.
            if other == name || record.losers.contains(other) {
                continue;
            }
            let gained =
                assigned.partitions.iter().filter(|of| !had(name).is_some_and(|had| had.contains(*of)));
            let taken: Vec<&Partition> =
                gained.filter(|of| had(other).is_some_and(|had| had.contains(*of))).collect();
            if !taken.is_empty() {
                faults.push(format!("{name} got {taken:?} in generation {generation}, which {other} had"));
            }
        }
    }
    faults
}

fn question_of(round: &LedRound, claims: &BTreeMap<String, Claimed>) -> Question {
    Question {
        subscriptions: round.subscriptions.clone(),
        topics: round.topics.clone(),
        owners: owners(claims, round.generation),
        racks: round.racks.clone(),
        replicas: round.replicas.iter().cloned().collect(),
    }
}

fn is_cooperative(strategy: &str) -> bool {
    strategy == "cooperative-sticky"
}

fn exists(topics: &BTreeMap<String, i32>, (topic, number): &Partition) -> bool {
    topics.get(topic).is_some_and(|count| number < count)
}

/// How much members kept, by strategy, by who led and by what they are.
#[derive(Debug, Default)]
pub struct Tally {
    kept: BTreeMap<(String, Client, Client), (usize, usize)>,
}

impl Tally {
    /// Adds what a group of equal subscriptions settled on.
    pub fn add(&mut self, settled: &Settled, topics: &BTreeMap<String, i32>) {
        let Some(leading) = settled.leading().filter(|_| settled.alike()) else { return };
        if settled.had().is_none() {
            return;
        }
        for (name, member) in &settled.members {
            if let Some((kept, possible)) = settled.kept(name, topics) {
                let so_far = self.kept.entry((settled.strategy.clone(), leading, member.client)).or_default();
                *so_far = (so_far.0 + kept, so_far.1 + possible);
            }
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ((strategy, leading, member), (kept, possible)) in &self.kept {
            writeln!(f, "{strategy:<20} led by {leading:<14} {member:<14} kept {kept:>4} of {possible:>4}")?;
        }
        Ok(())
    }
}

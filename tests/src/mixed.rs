//! A group of ours and of raw members, and its judge.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use kafka_sticky_rdkafka_adapter::mocking::GroupCluster;
use kafka_sticky_rdkafka_adapter::{Assigned, Assignors, Event, SavedState};
use rdkafka::ClientConfig;
use rdkafka::mocking::MockCoordinator;
use tokio::time::{Instant, sleep};

use crate::claims::{Claimed, owners};
use crate::optimum::Question;
use crate::ours::Ours;
use crate::raw::{Manner, RawMember, Seat, Stay};
use crate::seen::Partition;

const GROUP: &str = "group";
/// How long a group may take to settle before it counts as stuck.
const PATIENCE: Duration = Duration::from_secs(60);
/// A rebalance takes a second less.
const SESSION_TIMEOUT: Duration = Duration::from_millis(2500);
const HEARTBEAT_INTERVAL: Duration = Duration::from_millis(50);
/// What each answer takes. On the mock cluster members must sync before their leader does; a leader asks for metadata
/// first, and so gives them this long.
const ROUND_TRIP: Duration = Duration::from_millis(60);

/// A group on a cluster of its own.
#[derive(Debug)]
pub struct Mixed {
    /// The racks of the members that have one, for the judge.
    pub racks: BTreeMap<String, String>,
    /// The racks of each partition's replicas, for the judge.
    pub replicas: BTreeMap<Partition, BTreeSet<String>>,
    cluster: GroupCluster,
    strategy: String,
    topics: BTreeMap<String, i32>,
    ours: BTreeMap<String, Ours>,
    raw: BTreeMap<String, RawMember>,
    subscriptions: BTreeMap<String, BTreeSet<String>>,
    settled: i32,
}

/// A generation that everybody is in and that covers everything.
#[derive(Debug)]
pub struct Generation {
    /// Its number.
    pub number: i32,
    /// The first generation since the one settled before that everybody is in: what was claimed then decided this one.
    pub first: i32,
    /// Who has what.
    pub shares: BTreeMap<String, BTreeSet<Partition>>,
    /// What the raw members were told with it.
    pub told: BTreeMap<String, Option<Vec<u8>>>,
    /// What was claimed in `first`.
    pub claims: BTreeMap<String, Claimed>,
    /// The assignments of those of ours.
    pub ours: BTreeMap<String, Arc<Assigned>>,
    /// Who subscribes to what, who owned what, and what there is.
    pub question: Question,
}

impl Generation {
    /// Every partition has one owner, loads are as even as possible, and the fewest partitions were taken from their owner.
    ///
    /// # Errors
    ///
    /// What is not so.
    pub fn check(&self) -> Result<()> {
        let mut owner: BTreeMap<&Partition, &String> = BTreeMap::new();
        for (name, share) in &self.shares {
            for partition in share {
                if let Some(other) = owner.insert(partition, name) {
                    bail!("{partition:?} belongs to {other} and to {name}");
                }
            }
        }
        let (cost, least) = (self.question.cost(&self.shares), self.question.optimum());
        let Self { number, first, shares, claims, question, .. } = self;
        let owners = &question.owners;
        ensure!(
            cost == least,
            "generation {number}: {cost:?}, at best {least:?}; {shares:?}; by the claims {claims:?} of generation {first} \
             they owned {owners:?}"
        );
        Ok(())
    }

    /// How many partitions each has, sorted.
    pub fn loads(&self) -> Vec<usize> {
        let mut loads: Vec<usize> = self.shares.values().map(BTreeSet::len).collect();
        loads.sort_unstable();
        loads
    }
}

impl Mixed {
    /// A cluster of one broker with these topics, and a group that uses this strategy.
    ///
    /// # Errors
    ///
    /// Where the cluster cannot be started.
    pub fn new(strategy: &str, topics: &[(&str, i32)]) -> Result<Self> {
        let cluster = GroupCluster::start(1)?;
        for (topic, partitions) in topics {
            cluster.create_topic(topic, *partitions)?;
        }
        Self::on(cluster, strategy, topics)
    }

    /// On a cluster that has these topics already.
    ///
    /// # Errors
    ///
    /// Where the cluster cannot be configured.
    pub fn on(cluster: GroupCluster, strategy: &str, topics: &[(&str, i32)]) -> Result<Self> {
        cluster.mock().coordinator(MockCoordinator::Group(GROUP.into()), 1)?;
        cluster.mock().broker_round_trip_time(1, ROUND_TRIP)?;
        Ok(Self {
            racks: BTreeMap::new(),
            replicas: BTreeMap::new(),
            cluster,
            strategy: strategy.to_owned(),
            topics: topics.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect(),
            ours: BTreeMap::new(),
            raw: BTreeMap::new(),
            subscriptions: BTreeMap::new(),
            settled: -1,
        })
    }

    /// The configuration of a member of ours.
    pub fn config(&self) -> ClientConfig {
        let mut config = self.cluster.consumer_config(GROUP);
        config.set("partition.assignment.strategy", &self.strategy);
        config.set("session.timeout.ms", SESSION_TIMEOUT.as_millis().to_string());
        config
    }

    /// One of ours joins.
    ///
    /// # Errors
    ///
    /// Where its consumer cannot be created.
    pub fn join(&mut self, name: &str, topics: &[&str]) -> Result<()> {
        self.join_with(name, topics, &self.config(), &Assignors::new())
    }

    /// One of ours joins, configured like this and with these assignors.
    ///
    /// # Errors
    ///
    /// Where its consumer cannot be created.
    pub fn join_with(
        &mut self,
        name: &str,
        topics: &[&str],
        config: &ClientConfig,
        assignors: &Assignors,
    ) -> Result<()> {
        self.ours.insert(name.to_owned(), Ours::join(config, assignors, topics)?);
        self.subscribes(name, topics);
        Ok(())
    }

    /// A raw member joins. `topics` are those that its manner subscribes to.
    pub fn join_raw(&mut self, name: &str, topics: &[&str], instance_id: Option<&str>, manner: impl Manner) {
        let coordinator = self.cluster.bootstrap_servers().split(',').next().unwrap_or_default().to_owned();
        let seat = Seat {
            coordinator,
            group: GROUP.to_owned(),
            strategy: self.strategy.clone(),
            session_timeout: SESSION_TIMEOUT,
            heartbeat_interval: HEARTBEAT_INTERVAL,
            instance_id: instance_id.map(ToOwned::to_owned),
        };
        self.raw.insert(name.to_owned(), RawMember::join(seat, manner));
        self.subscribes(name, topics);
    }

    fn subscribes(&mut self, name: &str, topics: &[&str]) {
        let topics = topics.iter().map(|topic| (*topic).to_owned()).collect();
        self.subscriptions.insert(name.to_owned(), topics);
    }

    /// A member leaves, properly.
    ///
    /// # Errors
    ///
    /// What it came to grief over.
    pub async fn leave(&mut self, name: &str) -> Result<()> {
        self.subscriptions.remove(name);
        self.racks.remove(name);
        if let Some(ours) = self.ours.remove(name) {
            return ours.leave().await;
        }
        self.raw.remove(name).with_context(|| format!("{name} is no member"))?.leave().await
    }

    /// What happened to one of ours.
    pub fn events(&self, name: &str) -> Vec<Event> {
        self.ours[name].events()
    }

    /// What one of ours would leave to the process after it.
    pub fn saved_state(&self, name: &str) -> Option<SavedState> {
        self.ours[name].membership.saved_state()
    }

    /// What a raw member came to.
    pub fn past(&self, name: &str) -> Vec<Stay> {
        self.raw[name].past()
    }

    /// Waits until everybody is in one generation, later than the last one settled, and all is covered; checks it.
    ///
    /// # Errors
    ///
    /// When that takes longer than anybody would wait, or [`Generation::check`] fails.
    pub async fn settle(&mut self) -> Result<Generation> {
        let generation = self.settle_unchecked().await?;
        generation.check()?;
        Ok(generation)
    }

    /// As [`settle`](Self::settle), without the check.
    ///
    /// # Errors
    ///
    /// When that takes longer than anybody would wait.
    pub async fn settle_unchecked(&mut self) -> Result<Generation> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(generation) = self.settled()? {
                self.settled = generation.number;
                return Ok(generation);
            }
            ensure!(Instant::now() < deadline, "the group does not settle: {}", self.outline());
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// Where everybody stands.
    fn outline(&self) -> String {
        let ours = self.ours.iter().map(|(name, member)| format!("{name}: {:?}", member.events().last()));
        let raw = self.raw.iter().map(|(name, member)| {
            let stay = |stay: Stay| (stay.generation, stay.share());
            format!("{name}: {:?}", member.last().map(stay))
        });
        ours.chain(raw).collect::<Vec<_>>().join("; ")
    }

    fn settled(&self) -> Result<Option<Generation>> {
        let Some(number) = self.common_generation() else { return Ok(None) };
        let mut shares = BTreeMap::new();
        let mut told = BTreeMap::new();
        let mut ours = BTreeMap::new();
        for (name, member) in &self.raw {
            let Some(stay) = member.last() else { return Ok(None) };
            let Some(share) = stay.share()? else { return Ok(None) };
            shares.insert(name.clone(), share);
            told.insert(name.clone(), stay.told()?);
        }
        for (name, member) in &self.ours {
            let Some(assigned) = member.assignments().last().cloned() else { return Ok(None) };
            shares.insert(name.clone(), share_of(&assigned));
            ours.insert(name.clone(), assigned);
        }
        let first = (self.settled + 1..=number).find(|of| self.everybody_is_in(*of)).unwrap_or(number);
        let claims = self.claims(first);
        let question = Question {
            subscriptions: self.subscriptions.clone(),
            topics: self.topics.clone(),
            owners: owners(&claims, first),
            racks: self.racks.clone(),
            replicas: self.replicas.clone(),
        };
        let covered: BTreeSet<Partition> = shares.values().flatten().cloned().collect();
        // In steps, what changes hands is withheld at first.
        if covered != question.partitions() {
            return Ok(None);
        }
        Ok(Some(Generation { number, first, shares, told, claims, ours, question }))
    }

    fn common_generation(&self) -> Option<i32> {
        let ours = self.ours.values().map(|member| Some(member.assignments().last()?.generation));
        let raw = self.raw.values().map(|member| Some(member.last()?.generation));
        let mut generations = ours.chain(raw);
        let first = generations.next()??;
        (first > self.settled && generations.all(|generation| generation == Some(first))).then_some(first)
    }

    fn everybody_is_in(&self, generation: i32) -> bool {
        let stays = |member: &RawMember| member.past().iter().any(|stay| stay.generation == generation);
        let assigned = |member: &Ours| member.assignments().iter().any(|of| of.generation == generation);
        self.raw.values().all(stays) && self.ours.values().all(assigned)
    }

    /// What everybody claimed in `generation`, or was remembered to have had.
    fn claims(&self, generation: i32) -> BTreeMap<String, Claimed> {
        let mut claims = BTreeMap::new();
        for (name, member) in &self.ours {
            let before = member.assignments().into_iter().rfind(|before| before.generation < generation);
            let claimed =
                before.map(|before| Claimed { generation: before.generation, partitions: share_of(&before) });
            claims.extend(claimed.map(|claimed| (name.clone(), claimed)));
        }
        let led = |of: &Ours| {
            let assignments = of.assignments();
            assignments.iter().any(|before| before.generation == generation - 1 && before.led.is_some())
                && assignments.iter().any(|this| this.generation == generation && this.led.is_some())
        };
        let remembers = self.ours.values().any(led);
        for (name, member) in &self.raw {
            let past = member.past();
            let said = past
                .iter()
                .rfind(|stay| stay.generation == generation)
                .and_then(|stay| stay.word.claims.clone());
            if let Some(said) = said.filter(|said| !said.partitions.is_empty()) {
                claims.insert(name.clone(), said);
            } else if let Some(stay) = past.iter().rfind(|stay| stay.generation == generation - 1)
                && remembers
                && let Ok(Some(partitions)) = stay.share()
            {
                claims.insert(name.clone(), Claimed { generation: generation - 1, partitions });
            }
        }
        claims
    }
}

/// What an assignment gives.
pub fn share_of(assigned: &Assigned) -> BTreeSet<Partition> {
    let by_topic = assigned.partitions.iter();
    by_topic.flat_map(|(topic, numbers)| numbers.iter().map(move |number| (topic.clone(), *number))).collect()
}

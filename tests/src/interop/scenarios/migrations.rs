//! The roads of `docs/migration.md`, walked by three members one after the other while messages flow.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use anyhow::{Result, ensure};

use crate::history::Name;
use crate::interop::client::Client::{self, Java, Ours};
use crate::interop::group::LiveGroup;
use crate::interop::road::{Protocol, Road, Step};
use crate::interop::scenario::{Scenario, Stage};
use crate::interop::verdict::Settled;
use crate::judge;
use crate::writer::Writer;

const TO_STICKY: &str = "From range or roundrobin to sticky";
const FROM_JAVA: &str = "Taking over a sticky group from Java";
const TO_COOPERATIVE: &str = "To cooperative-sticky by two rolling restarts";
const BACK: &str = "Back from cooperative-sticky";

/// What the three members are made of, before the first step and from the first step on.
#[derive(Debug, Clone, Copy)]
struct Made {
    now: [Client; 3],
    then: [Client; 3],
}

pub(super) fn scenarios() -> Vec<Scenario> {
    let road = |name: String, sections: &'static [&str], old: &'static str, made: Made| {
        Scenario::new(name, move |stage| walk(stage, sections, old, made))
    };
    let taken_over = Made { now: [Java; 3], then: [Ours; 3] };
    let mut scenarios = vec![
        road("java-range-to-sticky".into(), &[TO_STICKY], "range", taken_over),
        road("java-roundrobin-to-sticky".into(), &[TO_STICKY], "roundrobin", taken_over),
        road("java-sticky-taken-over".into(), &[FROM_JAVA], "sticky", taken_over),
    ];
    for old in ["range", "roundrobin", "sticky"] {
        let there_and_back = &[TO_COOPERATIVE, BACK];
        let alone = Made { now: [Ours; 3], then: [Ours; 3] };
        scenarios.push(road(format!("{old}-to-cooperative-and-back"), there_and_back, old, alone));
        // Ours leads at first in the one, and Java's in the other, until both have been restarted.
        for (name, made) in [("java", [Ours, Java, Ours]), ("mostly-java", [Java, Ours, Java])] {
            let made = Made { now: made, then: made };
            scenarios.push(road(
                format!("{old}-to-cooperative-and-back-with-{name}"),
                there_and_back,
                old,
                made,
            ));
        }
    }
    scenarios
}

/// Walks the roads of these sections of the guide, each from where the one before ends.
async fn walk(stage: Rc<Stage>, sections: &[&str], old: &str, made: Made) -> Result<()> {
    let roads: Vec<Road> = sections.iter().map(|section| Road::of(section, old)).collect::<Result<_>>()?;
    let mut group = stage.group(&[]);
    group.create_topic("orders", 11).await?;
    group.create_topic("payments", 4).await?;
    let feed = group.fed()?;
    let only_ours = made.now.iter().chain(&made.then).all(|client| client.is_ours());
    let mut walkers =
        Walkers { group, present: [const { None }; 3], lives: 0, cooperative: BTreeSet::new(), only_ours };
    let mut at = &roads[0].now;
    walkers.restart_each(at, made.now, None).await?;
    for road in &roads {
        ensure!(road.now.setting == at.setting, "this road begins elsewhere: {:?}", at.setting);
        for step in &road.steps {
            walkers.restart_each(step, made.then, at.used(3, 3)).await?;
            at = step;
        }
        if at.protocol == Protocol::Cooperative {
            walkers.have_a_visitor(at).await?;
        }
    }
    walkers.arrive(feed).await
}

/// Three members on their way. A restarted one is another process, and goes by another name.
struct Walkers {
    group: LiveGroup,
    present: [Option<Name>; 3],
    lives: usize,
    /// Those that ever were.
    cooperative: BTreeSet<Name>,
    only_ours: bool,
}

impl Walkers {
    /// Restarts each member with the setting of this step, or starts it, and checks what the group makes of it.
    async fn restart_each(
        &mut self,
        step: &Step,
        clients: [Client; 3],
        used_before: Option<&str>,
    ) -> Result<()> {
        for (place, client) in clients.into_iter().enumerate() {
            if let Some(name) = self.present[place].take() {
                self.group.leave(&name).await?;
            }
            self.lives += 1;
            let name = format!("{}-{}", ["a", "b", "c"][place], self.lives);
            self.group.join_as(&name, client, |place| place.strategies.clone_from(&step.setting))?;
            if step.protocol == Protocol::Cooperative {
                self.cooperative.insert(name.clone());
            }
            self.present[place] = Some(name);
            let settled = self.group.settle_whoever_leads().await?;
            let to_be_used = step.used(place + 1, clients.len()).or(used_before);
            ensure!(
                Some(settled.strategy.as_str()) == to_be_used,
                "{} of {} have {:?}, so {to_be_used:?} is to be used: {settled}",
                place + 1,
                clients.len(),
                step.setting
            );
            self.ours_claim_what_they_had(&settled)?;
        }
        Ok(())
    }

    /// One more joins and leaves again. Restarts hand on what somebody has already left; this one's share has to come from
    /// members that go on with what they have.
    async fn have_a_visitor(&mut self, step: &Step) -> Result<()> {
        let name = "visitor";
        self.group.join_as(name, Ours, |place| place.strategies.clone_from(&step.setting))?;
        self.cooperative.insert(name.to_owned());
        let settled = self.group.settle_whoever_leads().await?;
        ensure!(!settled.members[name].given.is_empty(), "the visitor was given nothing: {settled}");
        self.group.leave(name).await?;
        self.group.settle_whoever_leads().await?;
        Ok(())
    }

    /// Eager members of ours claim what they were given last, whatever the strategy that gave it.
    fn ours_claim_what_they_had(&self, settled: &Settled) -> Result<()> {
        if !matches!(settled.strategy.as_str(), "sticky" | "cooperative-sticky") {
            return Ok(());
        }
        let record = self.group.history().record();
        for (name, member) in settled.members.iter().filter(|(_, member)| member.client.is_ours()) {
            let Some(last) = record.before(name, settled.generation) else { continue };
            // It may have been given something since that it was not called back for.
            if self.cooperative.contains(name) || last.generation < member.claims.generation {
                continue;
            }
            ensure!(member.claims.partitions == last.partitions, "{name} had {last:?}: {settled}");
        }
        Ok(())
    }

    /// All messages arrive, once, and nobody was ever given what another had yet to give up.
    async fn arrive(self, feed: Writer) -> Result<()> {
        let written = feed.stop().await?;
        self.group.reads_all(&written).await?;
        let history = Arc::clone(self.group.history());
        self.group.end().await?;
        let record = history.record();
        let mut faults = judge::given_while_held(&record, &self.cooperative);
        faults.extend(judge::eager_by_halves(&record, &self.cooperative));
        faults.extend(judge::read_again_for_no_reason(&record, &self.cooperative));
        // First, since they say why something is read twice.
        ensure!(faults.is_empty(), "{}", faults.join("\n"));
        let (unread, repeated) = judge::unread_and_repeated(&record, &written);
        ensure!(unread == 0, "{unread} messages were not read");
        // Ours commit before they give up partitions. Java's try, and let it be where the group rebalances again already.
        ensure!(repeated == 0 || !self.only_ours, "{repeated} messages were read twice");
        let mut failures = record.failures.iter();
        let refused = failures.find(|(_, reason)| reason.contains("InconsistentGroupProtocol"));
        ensure!(refused.is_none(), "{refused:?}");
        Ok(())
    }
}

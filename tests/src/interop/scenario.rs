//! A scenario: what happens to a group, and what must come of it.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use tokio::time::timeout;

use crate::interop::client::Programs;
use crate::interop::cluster::Cluster;
use crate::interop::group::{LiveGroup, fresh};
use crate::interop::verdict::Tally;

/// How long a scenario may take, on a machine that does other things as well.
const PATIENCE: Duration = Duration::from_secs(600);

type Run = Box<dyn FnOnce(Rc<Stage>) -> Pin<Box<dyn Future<Output = Result<()>>>>>;

/// What happens to a group, under a name of its own.
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// The brokers that it needs.
    pub brokers: Brokers,
    run: Run,
}

/// The brokers that a scenario needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Brokers {
    /// One, that others use as well.
    Shared,
    /// Some that are its own, one for each of these racks: it may do with them as it likes.
    Own(Vec<Option<&'static str>>),
}

/// Where a scenario takes place.
#[derive(Debug)]
pub struct Stage {
    /// The scenario's name.
    pub name: String,
    /// The brokers.
    pub cluster: Rc<Cluster>,
    /// Where the clients' programs are.
    pub programs: Programs,
    /// What is written here is kept where the scenario fails.
    pub folder: PathBuf,
    /// When it began.
    pub start: Instant,
    /// How much members kept, over all scenarios.
    pub tally: Rc<RefCell<Tally>>,
    groups: Cell<usize>,
}

impl Scenario {
    /// One that is content with the broker that others use.
    pub fn new<F>(name: impl Into<String>, run: impl FnOnce(Rc<Stage>) -> F + 'static) -> Self
    where
        F: Future<Output = Result<()>> + 'static,
    {
        Self { name: name.into(), brokers: Brokers::Shared, run: Box::new(|stage| Box::pin(run(stage))) }
    }

    /// With brokers of its own, one for each of these racks.
    pub fn with_brokers(self, racks: &[Option<&'static str>]) -> Self {
        Self { brokers: Brokers::Own(racks.to_vec()), ..self }
    }

    /// Runs it, and gives the seconds that it took.
    ///
    /// # Errors
    ///
    /// What is not as it should be.
    pub async fn run(self, stage: Stage) -> Result<f64> {
        let start = stage.start;
        match timeout(PATIENCE, (self.run)(Rc::new(stage))).await {
            Ok(result) => result.map(|()| start.elapsed().as_secs_f64()),
            Err(_) => bail!("it is not over after {PATIENCE:?}"),
        }
    }
}

impl fmt::Debug for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scenario").field("name", &self.name).field("brokers", &self.brokers).finish()
    }
}

impl Stage {
    /// A stage on these brokers, with a folder of its own in `folder`.
    ///
    /// # Errors
    ///
    /// Where that cannot be created.
    pub fn new(
        name: &str,
        cluster: &Rc<Cluster>,
        programs: &Programs,
        folder: &Path,
        tally: &Rc<RefCell<Tally>>,
    ) -> Result<Self> {
        let folder = folder.join(name);
        fresh(&folder)?;
        Ok(Self {
            name: name.to_owned(),
            cluster: Rc::clone(cluster),
            programs: programs.clone(),
            folder,
            start: Instant::now(),
            tally: Rc::clone(tally),
            groups: Cell::new(0),
        })
    }

    /// A new group, without members and topics, whose members use these strategies.
    pub fn group(self: &Rc<Self>, strategies: &[&str]) -> LiveGroup {
        self.groups.set(self.groups.get() + 1);
        LiveGroup::new(self, format!("{}-{}", self.name, self.groups.get()), strategies)
    }
}

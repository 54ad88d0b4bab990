//! All scenarios, in the order in which they are run. A file here is a theme, and gives its scenarios by a function.
//!
//! A scenario is an async function of a [`Stage`](crate::interop::scenario::Stage):
//!
//! ```no_run
//! # use std::rc::Rc;
//! # use anyhow::Result;
//! # use kafka_sticky_tests::interop::client::Client;
//! # use kafka_sticky_tests::interop::scenario::{Scenario, Stage};
//! async fn one_joins(stage: Rc<Stage>) -> Result<()> {
//!     let mut group = stage.group(&["sticky"]);
//!     group.create_topic("orders", 12).await?;
//!     group.join("a", Client::Ours)?;
//!     group.settle().await?;
//!     group.join("b", Client::Java)?;
//!     // Waits until all is assigned, and judges it.
//!     let settled = group.settle().await?;
//!     assert_eq!(settled.loads(), [6, 6]);
//!     // Ends all members, and judges what they saw from the beginning.
//!     group.end().await
//! }
//!
//! let scenario = Scenario::new("one-joins", one_joins);
//! // With three brokers of its own, to do with as it likes: `stage.cluster` stops them and starts them again.
//! let scenario = Scenario::new("one-joins-racks", one_joins).with_brokers(&[Some("a"), Some("b"), None]);
//! ```

use crate::interop::scenario::Scenario;

mod brokers;
mod command;
mod cooperative;
mod eager;
mod faults;
mod migrations;
mod several;
mod static_members;

/// Every scenario there is.
pub fn all() -> Vec<Scenario> {
    let themes = [
        several::scenarios(),
        cooperative::scenarios(),
        eager::scenarios(),
        command::scenarios(),
        migrations::scenarios(),
        faults::scenarios(),
        static_members::scenarios(),
        brokers::scenarios(),
    ];
    themes.into_iter().flatten().collect()
}

//! The steps of a migration, read from the tables of `docs/migration.md`: what is written there is what is walked.

use anyhow::{Context as _, Result, bail, ensure};

const GUIDE: &str = include_str!("../../../docs/migration.md");
/// What the guide says for the strategy that the group comes from, or goes back to.
const OLD: &str = "OLD";

/// What one section of the guide says to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Road {
    /// How things are before the first step.
    pub now: Step,
    /// What to do, one after the other.
    pub steps: Vec<Step>,
}

/// Every member is restarted with this setting, one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// `partition.assignment.strategy`, in order of preference.
    pub setting: Vec<String>,
    /// What the group uses meanwhile.
    uses: Uses,
    /// How those rebalance that have this setting.
    pub protocol: Protocol,
}

/// Whether members go on with what they have while their group rebalances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// They give up everything before they join.
    Eager,
    /// They give up only what they are told to.
    Cooperative,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Uses {
    Always(String),
    UntilTheLast { before: String, then: String },
    FromTheFirst(String),
}

impl Road {
    /// The table of the section with this title, for a group whose old strategy is this one.
    ///
    /// # Errors
    ///
    /// Where there is none, or it says what cannot be followed.
    pub fn of(section: &str, old: &str) -> Result<Self> {
        Self::read(GUIDE, section, old).with_context(|| format!("\"{section}\" in docs/migration.md"))
    }

    fn read(guide: &str, section: &str, old: &str) -> Result<Self> {
        let heading = format!("## {section}");
        let lines = guide.lines().skip_while(|line| *line != heading).skip(1);
        let lines = lines.take_while(|line| !line.starts_with("## "));
        // The first two rows are the heads of the columns and a rule.
        let mut rows = lines.filter(|line| line.starts_with('|')).skip(2);
        let now = rows.next().context("there is no table")?;
        let (is_now, now) = row(now, old)?;
        ensure!(is_now == "now", "the first row is not how things are now");
        let steps: Vec<Step> = rows.map(|line| Ok(row(line, old)?.1)).collect::<Result<_>>()?;
        ensure!(!steps.is_empty(), "there are no steps");
        Ok(Self { now, steps })
    }
}

impl Step {
    /// What the group uses when `restarted` of its `members` have this setting, and what it uses before any has.
    pub fn used(&self, restarted: usize, members: usize) -> Option<&str> {
        match &self.uses {
            Uses::Always(strategy) => Some(strategy),
            Uses::UntilTheLast { then, .. } if restarted == members => Some(then),
            Uses::UntilTheLast { before, .. } => Some(before),
            // Before the first, what it used until then.
            Uses::FromTheFirst(strategy) => (restarted > 0).then_some(strategy),
        }
    }
}

/// What a row calls its step, and what it says.
fn row(line: &str, old: &str) -> Result<(String, Step)> {
    let line = line.replace(OLD, old);
    let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
    let (name, setting, uses, are) = match cells[..] {
        [name, setting, uses] => (name, setting, uses, None),
        [name, setting, uses, are] => (name, setting, uses, Some(are)),
        _ => bail!("a row of {} cells: {line}", cells.len()),
    };
    let setting = match quoted(setting)? {
        (setting, "" | ", one member after the other") => setting.split(", ").map(str::to_owned).collect(),
        (_, how) => bail!("nobody knows how to follow \"{how}\""),
    };
    let protocol = match are {
        None | Some("eager" | "eager, each once it is restarted") => Protocol::Eager,
        Some("cooperative" | "cooperative, each once it is restarted") => Protocol::Cooperative,
        Some(other) => bail!("nobody knows what \"{other}\" is"),
    };
    Ok((name.to_owned(), Step { setting, uses: used(uses)?, protocol }))
}

fn used(cell: &str) -> Result<Uses> {
    let (strategy, when) = quoted(cell)?;
    if let Some(then) = when.strip_prefix(", as long as one member offers nothing else; then ") {
        let (then, rest) = quoted(then)?;
        ensure!(rest.is_empty(), "nobody knows when \"{rest}\" is");
        return Ok(Uses::UntilTheLast { before: strategy.to_owned(), then: then.to_owned() });
    }
    match when {
        "" => Ok(Uses::Always(strategy.to_owned())),
        ", from the first of them on" => Ok(Uses::FromTheFirst(strategy.to_owned())),
        _ => bail!("nobody knows when \"{when}\" is"),
    }
}

/// What stands in back quotes at the beginning, and what follows.
fn quoted(cell: &str) -> Result<(&str, &str)> {
    let inner = cell.strip_prefix('`').and_then(|rest| rest.split_once('`'));
    inner.with_context(|| format!("\"{cell}\" does not begin with a setting"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_how_to_get_to_cooperative_sticky() -> Result<()> {
        let road = Road::of("To cooperative-sticky by two rolling restarts", "range")?;
        assert_eq!(road.now.setting, ["range"]);
        let settings: Vec<&[String]> = road.steps.iter().map(|step| &step.setting[..]).collect();
        assert_eq!(
            settings,
            [&["cooperative-sticky".to_owned(), "range".to_owned()][..], &["cooperative-sticky".to_owned()]]
        );
        assert_eq!(
            [0, 2, 3].map(|restarted| road.steps[0].used(restarted, 3)),
            [Some("range"), Some("range"), Some("cooperative-sticky")]
        );
        assert_eq!(
            road.steps.iter().map(|step| step.protocol).collect::<Vec<_>>(),
            [Protocol::Eager, Protocol::Cooperative]
        );
        Ok(())
    }

    #[test]
    fn reads_the_way_back() -> Result<()> {
        let road = Road::of("Back from cooperative-sticky", "sticky")?;
        assert_eq!(road.now.protocol, Protocol::Cooperative);
        assert_eq!(road.steps[0].used(1, 3), Some("cooperative-sticky"));
        assert_eq!(
            [0, 1, 3].map(|restarted| road.steps[1].used(restarted, 3)),
            [None, Some("sticky"), Some("sticky")]
        );
        Ok(())
    }

    #[test]
    fn refuses_what_it_cannot_follow() {
        let guide = |row: &str| format!("## A\n| step | setting | uses |\n|---|---|---|\n{row}\n");
        for row in [
            "| 1 | `range` | `range` |",
            "| now | range | `range` |",
            "| now | `range`, all at once | `range` |",
            "| now | `range` | `range`, mostly |",
            "| now | `range` | `range` | eager, by and large |",
            "| now | `range` | `range` |",
        ] {
            assert!(Road::read(&guide(row), "A", "range").is_err(), "{row}");
        }
        let followed = guide("| now | `range` | `range` |\n| 1 | `sticky` | `sticky` |");
        assert!(Road::read(&followed, "A", "range").is_ok());
        assert!(Road::read(&followed, "B", "range").is_err());
    }
}

//! `partition.assignment.strategy`: which strategies a consumer offers to its group.

use std::ffi::{CStr, CString};
use std::fmt;
use std::sync::Arc;

use crate::assignor::Assignor;
use crate::error::Error;

/// Whether members give up everything before a rebalance (KIP-429).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RebalanceProtocol {
    /// Every member revokes all its partitions, then joins, then gets its new share.
    Eager,
    /// Members keep processing; what changes hands is revoked in one rebalance and assigned in the next.
    Cooperative,
}

impl fmt::Display for RebalanceProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Eager => "eager",
            Self::Cooperative => "cooperative",
        })
    }
}

/// librdkafka's strategies that nothing of ours stands in for; both are eager.
const BUILTIN: [&CStr; 2] = [c"range", c"roundrobin"];

/// A strategy that a consumer offers.
#[derive(Clone)]
pub(crate) enum Strategy {
    Builtin(&'static CStr),
    Ours { name: CString, assignor: Arc<dyn Assignor> },
}

impl Strategy {
    pub(crate) fn name(&self) -> &CStr {
        match self {
            Self::Builtin(name) => name,
            Self::Ours { name, .. } => name,
        }
    }

    fn protocol(&self) -> RebalanceProtocol {
        match self {
            Self::Builtin(_) => RebalanceProtocol::Eager,
            Self::Ours { assignor, .. } => assignor.rebalance_protocol(),
        }
    }
}

/// The strategies of one consumer, in order of preference: at least one, and none twice.
pub(crate) struct Strategies {
    pub(crate) offered: Vec<Strategy>,
    /// With which protocol all of them are registered: one eager strategy makes the others eager too, whichever the group
    /// picks, as in Java (KIP-429). That is what lets a running group move from the one to the other, member by member.
    pub(crate) protocol: RebalanceProtocol,
}

impl Strategies {
    /// librdkafka's default for `partition.assignment.strategy`.
    pub(crate) const DEFAULT: &'static str = "range,roundrobin";

    /// Reads the value of `partition.assignment.strategy`: names separated by commas, a repeated one counting once. A
    /// name is one of `assignors`, else one of librdkafka's.
    pub(crate) fn parse(configured: &str, assignors: &[Arc<dyn Assignor>]) -> Result<Self, Error> {
        let mut offered: Vec<Strategy> = Vec::new();
        for name in configured.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let strategy = Self::named(name, assignors)?;
            if offered.iter().all(|other| other.name() != strategy.name()) {
                offered.push(strategy);
            }
        }
        if offered.is_empty() {
            return Err(Error::NoStrategy);
        }
        let eager = offered.iter().any(|strategy| strategy.protocol() == RebalanceProtocol::Eager);
        let protocol = if eager { RebalanceProtocol::Eager } else { RebalanceProtocol::Cooperative };
        Ok(Self { offered, protocol })
    }

    fn named(name: &str, assignors: &[Arc<dyn Assignor>]) -> Result<Strategy, Error> {
        let unknown = || {
            let ours = assignors.iter().map(|assignor| assignor.name().to_owned());
            let builtin = BUILTIN.iter().map(|name| name.to_string_lossy().into_owned());
            let known: Vec<String> = ours.chain(builtin).collect();
            Error::UnknownStrategy { name: name.to_owned(), known: known.join(", ") }
        };
        // The one added last stands in for others of its name.
        if let Some(assignor) = assignors.iter().rev().find(|assignor| assignor.name() == name) {
            let name = CString::new(name).map_err(|_| unknown())?;
            return Ok(Strategy::Ours { name, assignor: Arc::clone(assignor) });
        }
        let builtin = BUILTIN.into_iter().find(|builtin| builtin.to_bytes() == name.as_bytes());
        builtin.map(Strategy::Builtin).ok_or_else(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sticky::{CooperativeSticky, Sticky};

    fn parse(configured: &str) -> Result<(Vec<String>, RebalanceProtocol), Error> {
        let strategies =
            Strategies::parse(configured, &[Arc::new(Sticky::new()), Arc::new(CooperativeSticky::new())])?;
        let names = strategies.offered.iter().map(|strategy| strategy.name().to_string_lossy().into_owned());
        Ok((names.collect(), strategies.protocol))
    }

    #[test]
    fn keeps_the_order_of_preference_and_drops_repeats_and_blanks() {
        let (names, protocol) = parse(" sticky , range,,sticky ").unwrap();
        assert_eq!(
            (&names[..], protocol),
            (&["sticky".to_owned(), "range".to_owned()][..], RebalanceProtocol::Eager)
        );
    }

    #[test]
    fn is_cooperative_only_where_every_strategy_is() {
        assert_eq!(parse("cooperative-sticky").unwrap().1, RebalanceProtocol::Cooperative);
        for list in ["cooperative-sticky,range", "sticky,cooperative-sticky", "roundrobin,cooperative-sticky"]
        {
            assert_eq!(parse(list).unwrap().1, RebalanceProtocol::Eager, "{list}");
        }
    }

    #[test]
    fn refuses_an_unknown_name_and_says_which_would_do() {
        let error = parse("range,stikcy").unwrap_err();
        assert!(matches!(&error, Error::UnknownStrategy { name, .. } if name == "stikcy"), "{error:?}");
        assert!(error.to_string().contains("sticky, cooperative-sticky, range, roundrobin"), "{error}");
    }

    #[test]
    fn refuses_to_offer_nothing() {
        assert!(matches!(parse(" , "), Err(Error::NoStrategy)));
    }

    #[test]
    fn knows_the_default_of_librdkafka() {
        assert_eq!(parse(Strategies::DEFAULT).unwrap().0, ["range", "roundrobin"]);
    }
}

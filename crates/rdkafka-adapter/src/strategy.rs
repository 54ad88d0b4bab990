//! `partition.assignment.strategy`: which strategies a consumer offers to its group.

use std::ffi::CStr;
use std::fmt;

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

/// A strategy by its name in `partition.assignment.strategy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strategy {
    /// Ours.
    Sticky,
    /// librdkafka's.
    Range,
    /// librdkafka's.
    RoundRobin,
    /// librdkafka's.
    CooperativeSticky,
}

impl Strategy {
    const ALL: [Self; 4] = [Self::Sticky, Self::Range, Self::RoundRobin, Self::CooperativeSticky];

    pub(crate) const fn name(self) -> &'static CStr {
        match self {
            Self::Sticky => c"sticky",
            Self::Range => c"range",
            Self::RoundRobin => c"roundrobin",
            Self::CooperativeSticky => c"cooperative-sticky",
        }
    }

    fn protocol(self) -> RebalanceProtocol {
        match self {
            Self::Sticky | Self::Range | Self::RoundRobin => RebalanceProtocol::Eager,
            Self::CooperativeSticky => RebalanceProtocol::Cooperative,
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|strategy| strategy.name().to_bytes() == name.as_bytes())
    }

    fn display_name(self) -> String {
        self.name().to_string_lossy().into_owned()
    }
}

/// The strategies of one consumer, in order of preference: at least one, none twice, all of one rebalance protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Strategies(Vec<Strategy>);

impl Strategies {
    /// librdkafka's default for `partition.assignment.strategy`.
    pub(crate) const DEFAULT: &'static str = "range,roundrobin";

    /// Reads the value of `partition.assignment.strategy`: names separated by commas, a repeated one counting once.
    pub(crate) fn parse(configured: &str) -> Result<Self, Error> {
        let mut strategies = Vec::new();
        for name in configured.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let Some(strategy) = Strategy::named(name) else {
                let known = Strategy::ALL.map(Strategy::display_name).join(", ");
                return Err(Error::UnknownStrategy { name: name.to_owned(), known });
            };
            if !strategies.contains(&strategy) {
                strategies.push(strategy);
            }
        }
        let Some(&first) = strategies.first() else { return Err(Error::NoStrategy) };
        if let Some(other) = strategies.iter().find(|other| other.protocol() != first.protocol()) {
            return Err(Error::MixedProtocols {
                first: first.display_name(),
                first_protocol: first.protocol(),
                other: other.display_name(),
                other_protocol: other.protocol(),
            });
        }
        Ok(Self(strategies))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Strategy> + '_ {
        self.0.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_order_of_preference_and_drops_repeats_and_blanks() {
        let strategies = Strategies::parse(" sticky , range,,sticky ").unwrap();
        assert_eq!(strategies.0, [Strategy::Sticky, Strategy::Range]);
    }

    #[test]
    fn refuses_an_unknown_name_and_says_which_would_do() {
        let error = Strategies::parse("range,stikcy").unwrap_err();
        assert!(matches!(&error, Error::UnknownStrategy { name, .. } if name == "stikcy"), "{error:?}");
        assert!(error.to_string().contains("sticky, range, roundrobin, cooperative-sticky"), "{error}");
    }

    #[test]
    fn refuses_strategies_of_different_rebalance_protocols_together() {
        let error = Strategies::parse("sticky,cooperative-sticky").unwrap_err();
        assert!(matches!(error, Error::MixedProtocols { .. }), "{error:?}");
        assert!(error.to_string().contains("\"sticky\" is eager, \"cooperative-sticky\" is cooperative"), "{error}");
    }

    #[test]
    fn refuses_to_offer_nothing() {
        assert!(matches!(Strategies::parse(" , "), Err(Error::NoStrategy)));
    }

    #[test]
    fn knows_the_default_of_librdkafka() {
        let strategies = Strategies::parse(Strategies::DEFAULT).unwrap();
        assert_eq!(strategies.0, [Strategy::Range, Strategy::RoundRobin]);
    }
}

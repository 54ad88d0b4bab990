//! What proves an assignment optimal.

/// The price of a member, one number for each of the objectives 1 to 4, compared in that order.
///
/// Let a partition's cost at a member be `(0, rack mismatch, taken from its owner, taken from its
/// owner and not returned to its earlier owner)`, each 0 or 1, and let the `n`-th partition of a
/// member cost `(2n − 1, 0, 0, 0)` more, which adds up to the square of its load. Prices prove an
/// assignment optimal if every partition is at a member where cost plus price is least, and every
/// price lies between the cost of the member's last partition and that of one more. This is the
/// duality of linear programming; that vectors are compared in order changes nothing in it. The
/// first `k` numbers alone prove the first `k` objectives.
pub type Potential = [i64; 4];

/// One [`Potential`] for each member, in order of id. [`crate::verify()`] judges it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Certificate {
    potentials: Vec<Potential>,
}

impl Certificate {
    /// A certificate from the potential of each member.
    #[must_use]
    pub fn new(potentials: Vec<Potential>) -> Self {
        Self { potentials }
    }

    /// The potential of each member.
    #[must_use]
    pub fn potentials(&self) -> &[Potential] {
        &self.potentials
    }
}

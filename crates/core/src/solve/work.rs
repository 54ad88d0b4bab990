//! The bound on the work.

/// How many arcs may still be looked at. Counts, not time, so that the result is the same
/// everywhere.
#[derive(Debug)]
pub(super) struct Work {
    left: u64,
}

impl Work {
    pub(super) fn new(budget: u64) -> Self {
        Self { left: budget }
    }

    pub(super) fn scan(&mut self, arcs: usize) {
        self.left = self.left.saturating_sub(arcs as u64);
    }

    pub(super) fn is_exhausted(&self) -> bool {
        self.left == 0
    }
}

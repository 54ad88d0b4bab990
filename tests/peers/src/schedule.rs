//! How often a call is timed, the same in every peer.

use std::time::{Duration, Instant};

use cpu_time::ProcessTime;

const MOST_CALLS: usize = 1000;

/// After its first time a call is made until `warm` has passed since the first began, untimed; then for `measure`,
/// timed, and at least three times unless these take five seconds. There are no such calls if `measure` is zero.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Schedule {
    pub(crate) warm: Duration,
    pub(crate) measure: Duration,
}

impl Schedule {
    /// Each group is assigned once.
    pub(crate) const ONCE: Self = Self { warm: Duration::ZERO, measure: Duration::ZERO };

    /// The wall times of the calls after the first, which began at `start`, and the mean CPU time that all threads
    /// together took meanwhile.
    pub(crate) fn run(self, start: Instant, mut call: impl FnMut()) -> (Vec<Duration>, Duration) {
        let mut times = Vec::new();
        if self.measure.is_zero() {
            return (times, Duration::ZERO);
        }
        while start.elapsed() < self.warm {
            call();
        }
        let (measuring, cpu) = (Instant::now(), ProcessTime::now());
        let few = |times: &Vec<_>| times.len() < 3 && measuring.elapsed() < Duration::from_secs(5);
        while times.len() < MOST_CALLS && (measuring.elapsed() < self.measure || few(&times)) {
            let began = Instant::now();
            call();
            times.push(began.elapsed());
        }
        let cpu = cpu.elapsed() / times.len() as u32;
        (times, cpu)
    }
}

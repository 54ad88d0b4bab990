//! Which groups are timed, and what is hoped for.

use crate::peer::Peer;
use crate::shapes::{Shape, Sizes, Step, Subscriptions};

/// From how many partitions on a group counts as large.
const LARGE: u32 = 100_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Small groups, to see that everything runs.
    Test,
    /// The groups that the goals name, and the racks.
    Quick,
    /// Those, other clients' own benchmarks, and Java's grid.
    All,
}

/// The shapes of a scope, small ones first, and the steps of each.
pub(crate) fn shapes(scope: Scope) -> Vec<(Shape, &'static [Step])> {
    let with = |steps: &'static [Step]| move |shape| (shape, steps);
    match scope {
        Scope::Test => tiny().into_iter().map(with(&Step::ALL)).collect(),
        Scope::Quick => named().into_iter().map(with(&Step::USUAL)).collect(),
        Scope::All => {
            let mut all: Vec<Shape> = named();
            all.extend(others());
            all.extend(grid());
            let mut seen = std::collections::HashSet::new();
            all.retain(|shape| seen.insert(shape.clone()));
            all.into_iter().map(with(&Step::ALL)).collect()
        }
    }
}

fn tiny() -> Vec<Shape> {
    vec![
        Shape::new(10, 20, 10, Subscriptions::Identical),
        Shape::new(10, 20, 10, Subscriptions::Random(30)),
        Shape::new(10, 18, 9, Subscriptions::Identical).with_racks(1),
    ]
}

fn named() -> Vec<Shape> {
    use Subscriptions::{Halves, Identical, OneOdd, Random};
    vec![
        Shape::new(10, 100, 50, Identical),
        Shape::new(30, 100, 450, Identical),
        Shape::new(30, 100, 450, Identical).with_racks(1),
        Shape::new(30, 100, 450, Identical).with_racks(2),
        Shape::new(1_000, 10, 1_000, Random(10)),
        Shape::new(100, 200, 500, Halves),
        Shape::new(1_000, 100, 2_000, Random(10)),
        Shape::new(50, 2_000, 2_000, Identical).with_racks(1),
        Shape::new(50, 2_000, 2_000, Identical).with_racks(2),
        Shape::new(500, 2_000, 2_000, Identical),
        Shape::new(500, 2_000, 2_000, OneOdd),
        Shape::new(1_000, 1_000, 10_000, Identical),
    ]
}

/// franz-go's own benchmarks, and sizes between those named.
fn others() -> Vec<Shape> {
    use Subscriptions::{Identical, OneOdd, Random};
    let large = Shape { sizes: Sizes::Below(500), ..Shape::new(100, 1, 100, Identical) };
    vec![
        large,
        Shape::new(50, 800, 800, Identical),
        Shape::new(50, 800, 801, OneOdd),
        Shape::new(50, 1_000, 1_000, Identical),
        Shape::new(50, 1_000, 1_001, OneOdd),
        Shape::new(500, 2_000, 2_001, OneOdd),
        Shape::new(50, 200, 200, Identical),
        Shape::new(100, 1_000, 1_000, Identical),
        Shape::new(100, 10, 50, Random(10)),
    ]
}

/// The grid of Java's benchmark of assignors, with the kinds of subscriptions beside the identical one.
fn grid() -> impl Iterator<Item = Shape> {
    use Subscriptions::{Buckets, Identical, Random};
    let sizes = [100, 1_000, 10_000]
        .into_iter()
        .flat_map(|members| [10, 50].map(|each| (members, members * each)))
        .flat_map(|(members, partitions)| {
            [10, 100, 1_000].map(|topics| (members, partitions / topics, topics))
        });
    sizes.flat_map(|(members, each, topics)| {
        [Identical, Buckets, Random(10), Random(30), Random(50)]
            .map(|subscriptions| Shape::new(topics, each, members, subscriptions))
    })
}

/// How many times faster than this peer ours should be.
pub(crate) fn goal(peer: Peer, shape: &Shape, step: Step) -> f64 {
    let large = shape.partitions() >= LARGE;
    let comes_or_goes = matches!(step, Step::Leaves | Step::Joins);
    match (peer, shape.subscriptions, step) {
        _ if !large => 1.0,
        (Peer::FranzGo, ..) => 3.0,
        (Peer::JavaSticky | Peer::JavaCooperative, Subscriptions::Identical, _) if comes_or_goes => 200.0,
        (Peer::JavaSticky | Peer::JavaCooperative, Subscriptions::Random(_), Step::Fresh) => 1_000.0,
        (Peer::JavaSticky | Peer::JavaCooperative, ..) => 10.0,
        _ => 1.0,
    }
}

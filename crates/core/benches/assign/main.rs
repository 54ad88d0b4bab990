//! How long an assignment takes. Every result is verified once, outside the timed part.

use std::{cell::LazyCell, time::Duration};

use criterion::{Criterion, criterion_group, criterion_main};
use kafka_sticky_core::{dense::Group, verify};

use shapes::{Random, Shape, chains, grid, ring, ten_become_401, two_halves};

mod names;
mod shapes;

/// Assigns and verifies once, if the filter lets it, then measures.
fn measure(criterion: &mut Criterion, title: &str, name: &str, shape: impl FnOnce() -> Shape) {
    let input = LazyCell::new(|| {
        let group = shape().group();
        assert!(verified(&group, &format!("{title}, {name}")), "{title}, {name}: not proven");
        group
    });
    let mut benches = criterion.benchmark_group(title);
    benches.sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    benches.bench_function(name, |bencher| {
        let input = &*input;
        bencher.iter(|| input.assign());
    });
    benches.finish();
}

/// Verifies what is reported as proven; returns whether that is all of it.
fn verified(group: &Group, name: &str) -> bool {
    let assignment = group.assign();
    let report = assignment.report();
    let verdict = verify(group, assignment.target(), assignment.certificate()).expect("valid");
    assert_eq!(report.proven, verdict.proven, "{name}: {:?}", verdict.gap);
    println!(
        "{name}: loads {} to {}, {} of {} owned partitions moved, {} mismatches, {:?}",
        report.min_load, report.max_load, report.moved, report.owned, report.rack_mismatches, report.proven
    );
    report.proven.all()
}

/// Fresh, then after one left and after one joined.
fn fresh_leave_join(criterion: &mut Criterion, title: &str, shape: &Shape) {
    let settled = LazyCell::new(|| shape.settled());
    measure(criterion, title, "fresh", || shape.clone());
    measure(criterion, title, "one leaves", || settled.clone().without(1));
    measure(criterion, title, "one joins", || settled.clone().with_joiners(1));
}

fn identical(criterion: &mut Criterion) {
    fresh_leave_join(criterion, "identical 1M x 10k", &Shape::identical(1_000, 1_000, 10_000));
    let plain = Shape::identical(500, 2_000, 2_000);
    fresh_leave_join(criterion, "identical 1M x 2k", &plain);
    fresh_leave_join(criterion, "identical 1M x 2k, racks", &plain.clone().with_racks(6, 3));
    measure(criterion, "identical 1M x 2k, returns", "one joins", || {
        plain.settled().with_earlier_owners(10).with_joiners(1)
    });
}

/// Fresh, then after one left, after one joined and after a tenth joined.
fn mixed(criterion: &mut Criterion, title: &str, shape: &Shape, topics_each: usize) {
    let settled = LazyCell::new(|| shape.settled());
    measure(criterion, title, "fresh", || shape.clone());
    measure(criterion, title, "one leaves", || settled.clone().without(1));
    let joined_by = |joiners: usize| {
        let mut joined = settled.clone();
        joined.join_random(joiners, topics_each, &mut Random(4));
        joined
    };
    measure(criterion, title, "one joins", || joined_by(1));
    measure(criterion, title, "a tenth joins", || joined_by(shape.members.len() / 10));
}

fn random_subscriptions(criterion: &mut Criterion) {
    let tenth = Shape::random(1_000, 100, 2_000, 100, &mut Random(1));
    mixed(criterion, "random tenth 100k x 2k", &tenth, 100);
    mixed(criterion, "random tenth 100k x 2k, racks", &tenth.clone().with_racks(6, 3), 100);
    measure(criterion, "random tenth 100k x 2k, returns", "one leaves", || {
        tenth.settled().with_earlier_owners(10).without(1)
    });
    let hundredth = Shape::random(10_000, 100, 10_000, 100, &mut Random(2));
    mixed(criterion, "random hundredth 1M x 10k", &hundredth, 100);
    fresh_leave_join(criterion, "two halves 20k x 500", &two_halves(100, 200, 500));
}

/// What must not fall off a cliff.
fn cliffs(criterion: &mut Criterion) {
    let mut odd = Shape::identical(500, 2_000, 2_000);
    odd.members[1_999] = odd.members[0][..1].into();
    fresh_leave_join(criterion, "identical 1M x 2k, one odd member", &odd);
    measure(criterion, "40k partitions, three kinds of members", "10 become 401", ten_become_401);
}

/// What is contrived to be slow: bounded, and honest about what stays unproven.
fn contrived(criterion: &mut Criterion) {
    let shapes: [(&str, fn() -> Shape); 3] = [
        ("400 chains over 80k members", || chains(400, 10)),
        ("ring of 50k members", || ring(50_000, 40, &mut Random(5))),
        ("grid of 200 x 200 members", || grid(200, 24, &mut Random(6))),
    ];
    let mut benches = criterion.benchmark_group("contrived");
    benches.sample_size(10).warm_up_time(Duration::from_millis(1)).measurement_time(Duration::from_secs(5));
    for (name, shape) in shapes {
        let input = LazyCell::new(|| {
            let group = shape().group();
            verified(&group, name);
            group
        });
        benches.bench_function(name, |bencher| {
            let input = &*input;
            bencher.iter(|| input.assign());
        });
    }
    benches.finish();
}

criterion_group!(benches, identical, random_subscriptions, cliffs, contrived, names::names);
criterion_main!(benches);

//! Random groups of every structure, each judged in full. A failing one is made small and printed.

use crate::{
    generate::{Size, Structure, group},
    judge::{judge_by_certificate, judged, judged_by},
    rules::Score,
};

/// How many groups of each structure; with the histories they are some 20,000 rebalances more than that.
const GROUPS: u64 = 2_250;

fn judge_groups(structure: Structure) {
    let mut topics = Spread::default();
    for seed in 0..GROUPS {
        let size = match seed % 100 {
            0..30 => Size::TINY,
            30..76 => Size::SMALL,
            76..98 => Size::MEDIUM,
            _ => Size::LARGE,
        };
        let case = group(structure, size, seed);
        let judged = judged(&case);
        topics.add(judged.score, judged.best);
    }
    topics.is_within_one_percent();
}

/// How evenly topics are spread, over many groups.
#[derive(Debug, Default)]
struct Spread {
    found: u64,
    best: u64,
}

impl Spread {
    fn add(&mut self, found: Score, best: Score) {
        self.found += found.topic_sum_of_squares;
        self.best += best.topic_sum_of_squares;
    }

    fn is_within_one_percent(&self) {
        println!("topics: {} where {} is possible", self.found, self.best);
        assert!(self.found * 100 <= self.best * 101, "{self:?}");
    }
}

/// The oracle has shown by now that the certificate can be trusted: larger groups are judged by that.
#[test]
fn groups_too_large_for_the_oracle() {
    for structure in Structure::ALL {
        for seed in 0..25 {
            judged_by(&group(structure, Size::HUGE, seed), judge_by_certificate);
        }
    }
}

#[test]
fn identical_subscriptions() {
    judge_groups(Structure::Identical);
}

#[test]
fn two_classes() {
    judge_groups(Structure::TwoClasses);
}

#[test]
fn nested_subscriptions() {
    judge_groups(Structure::Nested);
}

#[test]
fn chains() {
    judge_groups(Structure::Chain);
}

#[test]
fn rings() {
    judge_groups(Structure::Ring);
}

#[test]
fn disjoint_blocks() {
    judge_groups(Structure::Disjoint);
}

#[test]
fn sparse_subscriptions() {
    judge_groups(Structure::Sparse);
}

#[test]
fn dense_subscriptions() {
    judge_groups(Structure::Dense);
}

#[test]
fn arbitrary_groups() {
    judge_groups(Structure::Arbitrary);
}

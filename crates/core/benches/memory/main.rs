//! How much memory an assignment takes beyond its input, at its peak: counted by the allocator.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use kafka_sticky_core::verify;

use shapes::{Random, Shape, chains};

#[path = "../assign/shapes.rs"]
#[allow(dead_code, reason = "the other benchmark measures more shapes")]
mod shapes;

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator as it came; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(now, Relaxed);
        // SAFETY: the caller's promises are those this asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above; the pointer came from the same allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn measure(name: &str, shape: &Shape) {
    let before_input = NOW.load(Relaxed);
    let group = shape.group();
    let input = NOW.load(Relaxed) - before_input;
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    let assignment = group.assign();
    let peak = PEAK.load(Relaxed) - before;
    let verdict = verify(&group, assignment.target(), assignment.certificate()).expect("valid");
    assert_eq!(verdict.proven, assignment.report().proven);
    let megabytes = |bytes: usize| bytes as f64 / 1e6;
    println!("{name:50} {:>8.1} MB beside an input of {:>8.1} MB", megabytes(peak), megabytes(input));
}

fn main() {
    let random = &mut Random(1);
    let identical = Shape::identical(1_000, 1_000, 10_000);
    measure("identical 1M x 10k, fresh", &identical);
    measure("identical 1M x 10k, one leaves", &identical.settled().without(1));
    let racks = Shape::identical(500, 2_000, 2_000).with_racks(6, 3);
    measure("identical 1M x 2k, racks, fresh", &racks);
    let tenth = Shape::random(1_000, 100, 2_000, 100, random);
    measure("random tenth 100k x 2k, fresh", &tenth);
    measure("random tenth 100k x 2k, one leaves", &tenth.settled().without(1));
    let hundredth = Shape::random(10_000, 100, 10_000, 100, random);
    measure("random hundredth 1M x 10k, fresh", &hundredth);
    let mut settled = hundredth.settled();
    measure("random hundredth 1M x 10k, one leaves", &settled.clone().without(1));
    settled.join_random(1_000, 100, random);
    measure("random hundredth 1M x 10k, a tenth joins", &settled);
    measure("400 chains over 80k members", &chains(400, 10));
}

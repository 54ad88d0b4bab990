//! What no input may break, as functions of bytes: each panics over an input that breaks something.
//!
//! `cargo xtask fuzz` feeds them to libFuzzer. The tests of this package feed them everything that is checked in: the
//! corpus, which reaches what is known to be reachable, and every input that ever broke something.
#![forbid(unsafe_code)]

mod decoders;
mod group;
mod history;
mod leader;
mod saved_state;
mod spoken;

pub use decoders::{assignment, member_claims, sticky_user_data, subscription};
pub use group::group;
pub use history::history;
pub use saved_state::saved_state;

/// Every target by its name.
pub const TARGETS: [(&str, fn(&[u8])); 7] = [
    ("subscription", subscription),
    ("assignment", assignment),
    ("sticky-user-data", sticky_user_data),
    ("member-claims", member_claims),
    ("saved-state", saved_state),
    ("group", group),
    ("history", history),
];

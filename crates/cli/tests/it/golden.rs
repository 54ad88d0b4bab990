//! What every command prints, text and JSON, is in files that people read too.

use trycmd::TestCases;

use crate::command::{binary, root};

#[test]
fn every_command_prints_what_the_docs_and_the_golden_files_say() {
    std::env::set_current_dir(root()).expect("the repository has a root");
    let cases = TestCases::new();
    cases.register_bin("kafka-sticky", &*binary());
    cases
        .env("NO_COLOR", "1")
        .case("docs/cli.md")
        .case("crates/cli/README.md")
        .case("crates/cli/tests/golden/*.md");
    if cfg!(not(feature = "group")) {
        cases.skip("crates/cli/tests/golden/help.md").skip("crates/cli/README.md");
    }
}

//! What people see where the command writes to a terminal.

use std::io::Read as _;

use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use serde_json::json;

use crate::command::{binary, root};

/// What appears on a terminal of this width.
fn seen(columns: u16, arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let size = PtySize { rows: 50, cols: columns, pixel_width: 0, pixel_height: 0 };
    let terminal = native_pty_system().openpty(size).unwrap();
    let mut command = CommandBuilder::new(binary());
    command.args(arguments);
    command.cwd(root());
    // Whoever runs the tests may want colours or not, and a CI system counts as wanting them.
    command.env_clear();
    command.env("TERM", "xterm-256color");
    variables.iter().for_each(|(name, value)| command.env(name, value));
    let mut child = terminal.slave.spawn_command(command).unwrap();
    // Else the terminal stays open when the command has ended.
    drop(terminal.slave);
    let (mut shown, mut output) = (Vec::new(), terminal.master.try_clone_reader().unwrap());
    // Ends in an error on Linux, once the other side is closed.
    let _ = output.read_to_end(&mut shown);
    assert!(child.wait().unwrap().success());
    String::from_utf8(shown).unwrap()
}

/// The line that has this text.
fn line<'s>(shown: &'s str, text: &str) -> &'s str {
    shown.lines().find(|line| line.contains(text)).unwrap_or_else(|| panic!("no {text} in\n{shown}"))
}

#[test]
fn a_terminal_gets_a_table_that_fits_it() {
    for (arguments, last_column) in
        [(["assign", "docs/cli/group.json"], "withheld"), (["simulate", "docs/cli/run.json"], "what moved")]
    {
        for columns in [200, 60] {
            let shown = seen(columns, &arguments, &[("NO_COLOR", "1")]);
            let (rule, header) = (line(&shown, "────"), line(&shown, "load"));
            assert!(rule.trim_end().chars().count() <= columns.into(), "{columns}:\n{shown}");
            assert!(columns == 60 || header.contains(last_column), "{columns}:\n{shown}");
        }
    }
}

#[test]
fn headers_stand_out_on_a_terminal_unless_colours_are_not_wanted() {
    let arguments = ["assign", "docs/cli/group.json"];
    let header = seen(100, &arguments, &[]);
    assert!(line(&header, "load").contains("\x1b[1m"), "{header:?}");
    for unwanted in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let shown = seen(100, &arguments, &[unwanted]);
        assert!(shown.contains("load") && !shown.contains('\x1b'), "{unwanted:?}: {shown:?}");
    }
}

#[test]
fn a_long_simulation_shows_its_progress_on_a_terminal_and_cleans_up() {
    let folder = std::env::temp_dir().join(format!("kafka-sticky-progress-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("run.json");
    // Each event is a rebalance of a hundred thousand partitions in which nothing moves.
    let members: serde_json::Map<_, _> =
        (0..100).map(|member| (format!("member-{member}"), json!({ "topics": ["orders"] }))).collect();
    let events = vec![json!({ "subscribe": { "member-0": ["orders"] } }); 150];
    let run = json!({ "group": { "topics": { "orders": 100_000 }, "members": members }, "events": events });
    std::fs::write(&file, run.to_string()).unwrap();
    let shown = seen(100, &["simulate", "--format", "json", file.to_str().unwrap()], &[]);
    std::fs::remove_dir_all(folder).unwrap();
    let (progress, json) = shown.split_once("{\r\n").expect("JSON");
    assert!(progress.contains("/150"), "{progress:?}");
    assert!(!json.contains('\x1b'));
    // What is last on the line that it was on is nothing.
    assert!(progress.ends_with("\x1b[2K"), "{progress:?}");
}

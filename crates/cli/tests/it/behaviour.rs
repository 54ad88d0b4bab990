//! How the command behaves among other programs.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use crate::command::{binary, kafka_sticky, root};

#[test]
fn a_bad_line_costs_that_line_alone() {
    let output = kafka_sticky(["assign", "--jsonl", "docs/cli/groups.jsonl"]).output().unwrap();
    let lines: Vec<Value> =
        output.stdout.lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0]["assignment"]["a"]["orders"], json!([0, 1, 2]));
    assert!(lines[1]["error"].as_str().unwrap().starts_with("$.members.a.topic: unknown field"));
    assert_eq!(lines[2]["report"]["kept"], 2);
}

#[test]
fn an_empty_line_is_a_bad_line_and_no_lines_are_none() {
    let output = kafka_sticky(["assign", "--jsonl"]).stdin("\n{}\n").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(output.stdout.lines().count(), 2);
    let output = kafka_sticky(["assign", "--jsonl"]).stdin("").output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
}

/// Each result is there before the next group is asked for: a program can hold a conversation.
#[test]
fn each_result_is_flushed_before_the_next_line_is_read() {
    let mut child = Command::new(binary())
        .args(["assign", "--jsonl"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut questions = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap());
    for partitions in 1..20 {
        let group = json!({"topics": {"t": partitions}, "members": {"m": {"topics": ["t"]}}});
        writeln!(questions, "{group}").unwrap();
        let mut answer = String::new();
        answers.read_line(&mut answer).unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["report"]["max_load"], partitions);
    }
    drop(questions);
    assert!(child.wait().unwrap().success());
}

/// More is written than a pipe holds, and the reader leaves after the first byte.
#[test]
fn a_reader_that_leaves_is_no_error() {
    for arguments in [&["assign"][..], &["assign", "--format", "table"], &["assign", "--jsonl"]] {
        let mut child = Command::new(binary())
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let group =
            json!({"topics": {"t": 200_000}, "members": {"m": {"topics": ["t"]}, "n": {"topics": ["t"]}}});
        let mut stdin = child.stdin.take().unwrap();
        writeln!(stdin, "{group}").unwrap();
        drop(stdin);
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_exact(&mut [0]).unwrap();
        drop(stdout);
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!((child.wait().unwrap().code(), &*said), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn where_output_is_no_terminal_it_is_json_without_colours() {
    for arguments in [["assign", "docs/cli/group.json"], ["simulate", "docs/cli/run.json"]] {
        let output = kafka_sticky(arguments).env("CLICOLOR_FORCE", "1").output().unwrap();
        assert!(serde_json::from_slice::<Value>(&output.stdout).is_ok());
        assert!(!output.stdout.contains(&0x1b));
    }
}

#[test]
fn help_has_colours_only_where_they_are_wanted() {
    let help = |name, value| kafka_sticky(["--help"]).env(name, value).output().unwrap().stdout;
    assert!(!help("TERM", "xterm").contains(&0x1b));
    assert!(help("CLICOLOR_FORCE", "1").contains(&0x1b));
    let both = kafka_sticky(["--help"]).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1");
    assert!(!both.output().unwrap().stdout.contains(&0x1b));
}

#[test]
fn a_dash_is_standard_input() {
    let output = kafka_sticky(["assign", "-"]).stdin("{}").output().unwrap();
    assert!(output.status.success());
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    let commands = ["assign", "decode", "encode", "simulate", "completions", "man"];
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = kafka_sticky(["completions", shell]).output().unwrap().stdout;
        let script = String::from_utf8(script).unwrap();
        assert!(commands.iter().all(|command| script.contains(command)), "{shell}");
    }
    let page = String::from_utf8(kafka_sticky(["man"]).output().unwrap().stdout).unwrap();
    assert!(commands.iter().all(|command| page.contains(&format!("kafka\\-sticky\\-{command}"))), "{page}");
    for command in commands {
        let page = kafka_sticky(["man", command]).output().unwrap().stdout;
        assert!(String::from_utf8(page).unwrap().starts_with(".ie"), "{command}");
    }
}

#[test]
fn the_root_is_where_the_docs_are() {
    assert!(root().join("docs/cli.md").exists());
}

//! How the cluster is reached: librdkafka's properties, with secrets from elsewhere than the command line.

use std::{env, fs};

use rdkafka::ClientConfig;

use crate::failure::Failure;

/// Properties, and what in them must never be printed.
pub(super) struct Settings {
    pub(super) config: ClientConfig,
    pub(super) secrets: Secrets,
}

/// Texts that must never be printed.
pub(super) struct Secrets(Vec<String>);

/// Everybody on a machine can read its command lines: the value of these must come from elsewhere.
const SECRET: [&str; 8] = [
    "sasl.password",
    "sasl.oauthbearer.client.secret",
    "sasl.oauthbearer.config",
    "sasl.oauthbearer.assertion.private.key.passphrase",
    "sasl.oauthbearer.assertion.private.key.pem",
    "ssl.key.password",
    "ssl.key.pem",
    "ssl.keystore.password",
];

/// What the command says itself.
const TAKEN: [(&str, &str); 3] = [
    ("bootstrap.servers", "--bootstrap-server"),
    ("metadata.broker.list", "--bootstrap-server"),
    ("group.id", "--group"),
];

impl Settings {
    pub(super) fn new(bootstrap_server: &str, given: &[String]) -> Result<Self, Failure> {
        let mut config = ClientConfig::new();
        config
            .set("bootstrap.servers", bootstrap_server)
            .set("client.id", "kafka-sticky")
            .set("allow.auto.create.topics", "false");
        let mut secrets = Vec::new();
        for pair in given {
            let Some((key, value)) = pair.split_once('=') else {
                return Err(refused(format!("--set {pair}: expected KEY=VALUE")));
            };
            let key = key.trim();
            if let Some((_, option)) = TAKEN.iter().find(|(taken, _)| *taken == key) {
                return Err(refused(format!("--set {key}: use {option}")));
            }
            let (value, is_secret) = resolve(key, value)?;
            if is_secret {
                secrets.push(value.clone());
            }
            config.set(key, value);
        }
        Ok(Self { config, secrets: Secrets(secrets) })
    }
}

impl Secrets {
    /// The text without them.
    pub(super) fn hidden_in(&self, text: &str) -> String {
        let mut hidden = text.to_owned();
        for secret in self.0.iter().filter(|secret| !secret.is_empty()) {
            hidden = hidden.replace(secret, "…");
        }
        hidden
    }
}

/// The value of a property, and whether it is to be kept secret.
fn resolve(key: &str, value: &str) -> Result<(String, bool), Failure> {
    if let Some(variable) = value.strip_prefix("env:") {
        let value = env::var(variable);
        return value
            .map(|value| (value, true))
            .map_err(|error| refused(format!("--set {key}: the environment variable {variable}: {error}")));
    }
    if let Some(path) = value.strip_prefix("file:") {
        let read = fs::read_to_string(path);
        let value = read.map_err(|error| refused(format!("--set {key}: cannot read {path}: {error}")))?;
        return Ok((value.trim_end_matches(['\r', '\n']).to_owned(), true));
    }
    if SECRET.contains(&key) {
        let hint = "everybody on this machine can read the command line, expected env:VARIABLE or file:PATH";
        return Err(refused(format!("--set {key}: {hint}")));
    }
    Ok((value.to_owned(), false))
}

fn refused(why: String) -> Failure {
    Failure::Usage(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(given: &[&str]) -> Result<Settings, Failure> {
        let given: Vec<String> = given.iter().map(|pair| (*pair).to_owned()).collect();
        Settings::new("localhost:9092", &given)
    }

    #[test]
    fn values_are_taken_as_they_are() {
        let settings = settings(&["security.protocol=ssl", "ssl.ca.location=a=b"]).ok().unwrap();
        assert_eq!(settings.config.get("security.protocol"), Some("ssl"));
        assert_eq!(settings.config.get("ssl.ca.location"), Some("a=b"));
    }

    #[test]
    fn what_comes_from_elsewhere_is_hidden() {
        let home = env::var("CARGO_MANIFEST_DIR").unwrap();
        let settings = settings(&["sasl.password=env:CARGO_MANIFEST_DIR"]).ok().unwrap();
        assert_eq!(settings.config.get("sasl.password"), Some(&*home));
        assert_eq!(settings.secrets.hidden_in(&format!("no such thing: {home}!")), "no such thing: …!");
    }

    #[test]
    fn secrets_on_the_command_line_are_refused_without_being_repeated() {
        for key in SECRET {
            let error = settings(&[&format!("{key}=hunter2")]).err().unwrap().to_string();
            assert!(error.contains(key) && !error.contains("hunter2"), "{error}");
        }
    }
}

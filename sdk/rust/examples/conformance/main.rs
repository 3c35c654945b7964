//! The conformance plugin of the Rust SDK: it obeys the commands of `sdk/conformance/README.md`.

mod command;
mod meeting;
mod occasions;
mod say;

use std::sync::Mutex;

use mulligan::{Decision, Error, Event, Plugin};

const SCHEMA: &str = r#"{"type":"object","properties":{"greeting":{"type":"string"},"refuse":{"type":"string"}},"additionalProperties":false}"#;

/// The configuration's greeting.
static GREETING: Mutex<String> = Mutex::new(String::new());

fn main() {
    Plugin::new("conformance")
        .version("1.2.3")
        .config_schema(SCHEMA)
        .configure(configure)
        .before_call(occasions::judge)
        .tool_error(occasions::mend)
        .run_ended(occasions::hear)
        .serve(obey)
}

fn configure(config: Option<&str>) -> Result<(), Error> {
    let config: serde_json::Value = serde_json::from_str(config.unwrap_or("{}"))?;
    if let Some(reason) = config["refuse"].as_str() {
        return Err(reason.into());
    }
    *GREETING.lock().unwrap() = config["greeting"].as_str().unwrap_or_default().to_owned();
    Ok(())
}

/// Does what the first line of the failure's detail says.
fn obey(e: &Event) -> mulligan::Result {
    let line = e.failure.detail.split('\n').next().unwrap_or_default();
    let (line, reason) = match line.split_once(" because ") {
        Some((line, reason)) => (line, Some(reason)),
        None => (line, None),
    };
    let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
    let decision = command::carry_out(e, verb, rest)?;
    Ok(match reason {
        Some(reason) => decision.map(|d: Decision| d.because(reason)),
        None => decision,
    })
}

//! The fields of an event, as `sdk/conformance/README.md` renders them.

use std::collections::HashMap;
use std::fmt::{self, Display};
use std::time::{Duration, SystemTime};

use mulligan::{Alternative, Error, Event, Failure, RecentCall, Remaining, Tried};

pub enum Field {
    Text(String),
    List(Vec<String>),
}

impl Field {
    pub fn count(&self) -> Result<usize, Error> {
        match self {
            Field::List(list) => Ok(list.len()),
            Field::Text(_) => Err("it is no list".into()),
        }
    }
}

impl Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Field::Text(text) => f.write_str(text),
            Field::List(list) => f.write_str(&list.join(",")),
        }
    }
}

pub fn field(e: &Event, name: &str) -> Result<Field, Error> {
    let list = match name {
        "tried" => e.tried.iter().map(tried).collect(),
        "alternatives" => e.alternatives.iter().map(String::from).collect(),
        "models" => e.alternatives.iter().map(model).collect(),
        "unsafe_tools" => e.unsafe_tools.clone(),
        "labels" => labels(&e.labels),
        "tools" => e.tools.clone(),
        "cooling" => e.cooling.iter().map(model).collect(),
        "failed_kinds" => e.failed_kinds.iter().map(ToString::to_string).collect(),
        "recent_calls" => e.recent_calls.iter().map(recent_call).collect(),
        "transcript" => messages(e)?,
        _ => {
            let text = text(e, name).ok_or_else(|| format!("no field {name:?}"))?;
            return Ok(Field::Text(text));
        }
    };
    Ok(Field::List(list))
}

pub fn model(a: &Alternative) -> String {
    if a.model.is_empty() {
        return String::new();
    }
    let price = a.price.as_ref().map(|p| format!(" {}/{}", p.input, p.output));
    let local = if a.local { " local" } else { "" };
    let facts = [
        ("lacks", a.lacks.join("+")),
        ("cools_until", time(a.cools_until)),
        ("cooling_kind", a.cooling_kind.to_string()),
        ("health", a.health.clone()),
    ];
    let known = facts.iter().filter(|(_, fact)| !fact.is_empty());
    format!(
        "{} {}{}{local}{}",
        a.model,
        a.context_tokens.unwrap_or(0),
        price.unwrap_or_default(),
        known.map(|(name, fact)| format!(" {name}={fact}")).collect::<String>()
    )
}

pub fn labels(all: &HashMap<String, String>) -> Vec<String> {
    let mut list: Vec<String> = all.iter().map(|(key, value)| format!("{key}={value}")).collect();
    list.sort();
    list
}

pub fn recent_call(c: &RecentCall) -> String {
    format!("{} {} {}", c.model, c.kind, time(c.at))
}

/// The messages of the transcript, each as JSON.
fn messages(e: &Event) -> Result<Vec<String>, Error> {
    let list: Vec<serde_json::Value> = serde_json::from_str(e.transcript.as_deref().unwrap_or("[]"))?;
    Ok(list.iter().map(ToString::to_string).collect())
}

fn text(e: &Event, name: &str) -> Option<String> {
    if let Some(name) = name.strip_prefix("failure.") {
        return failure(&e.failure, name);
    }
    Some(match name {
        "run" => e.run.clone(),
        "session" => e.session.clone(),
        "model" => e.model.clone(),
        "attempt" => e.attempt.to_string(),
        "retries" => e.retries.to_string(),
        "max_retries" => e.max_retries.to_string(),
        "auto_recover" => e.auto_recover.to_string(),
        "elapsed" => seconds(e.elapsed),
        "remaining_attempts" => e.remaining_attempts.to_string(),
        "remaining_time" => remaining(e.remaining_time, "-0.001", seconds),
        "remaining_tokens" => remaining(e.remaining_tokens, "-1", |n| n.to_string()),
        "remaining_microdollars" => remaining(e.remaining_microdollars, "-1", |n| n.to_string()),
        "replay_safety" => e.replay_safety.to_string(),
        "partial_shown" => e.partial_shown.to_string(),
        "idle_breaker" => e.idle_breaker.to_string(),
        "idle_expiries" => e.idle_expiries.to_string(),
        "time" => time(e.time),
        "dry_run" => e.dry_run.to_string(),
        "pressed" => e.pressed.clone(),
        "session_key" => e.session_key.clone(),
        "agent_id" => e.agent_id.clone(),
        "aborted" => e.aborted.to_string(),
        "timed_out" => e.timed_out.to_string(),
        "prompt_error" => e.prompt_error.clone(),
        "spent_tokens" => e.spent_tokens.to_string(),
        "spent_microdollars" => e.spent_microdollars.to_string(),
        "input_tokens" => e.input_tokens.to_string(),
        "images" => e.images.to_string(),
        "schema" => e.schema.to_string(),
        "about" => model(&e.about),
        "kind" | "code" | "provider" | "retryable" | "retry_after" | "resets_at" => failure(&e.failure, name)?,
        _ => return None,
    })
}

fn failure(f: &Failure, name: &str) -> Option<String> {
    Some(match name {
        "kind" => f.kind.to_string(),
        "code" => f.code.clone(),
        "variant" => f.variant.clone(),
        "origin" => f.origin.to_string(),
        "phase" => f.phase.to_string(),
        "retryable" => f.retryable.to_string(),
        "provider" => f.provider.clone(),
        "model" => f.model.clone(),
        "http_status" => f.http_status.unwrap_or(0).to_string(),
        "provider_code" => f.provider_code.clone(),
        "request_id" => f.request_id.clone(),
        "tool" => f.tool.clone(),
        "retry_after" => seconds(f.retry_after.unwrap_or_default()),
        "resets_at" => time(f.resets_at),
        "timer" => f.timer.to_string(),
        "limit" => seconds(f.limit.unwrap_or_default()),
        "elapsed" => seconds(f.elapsed),
        "last_step" => f.last_step.clone(),
        "last_step_elapsed" => seconds(f.last_step_elapsed),
        "title" => f.title.clone(),
        "message" => f.message.clone(),
        "detail" => f.detail.clone(),
        _ => return None,
    })
}

pub fn tried(t: &Tried) -> String {
    format!(
        "{} {} {} {} {}",
        t.attempt,
        t.model,
        t.code,
        time(t.at),
        seconds(t.took)
    )
}

pub fn remaining<T>(left: Remaining<T>, used_up: &str, render: impl Fn(T) -> String) -> String {
    match left {
        Remaining::Unlimited => "0".into(),
        Remaining::Left(left) => render(left),
        Remaining::UsedUp => used_up.into(),
    }
}

pub fn seconds(d: Duration) -> String {
    let text = format!("{}.{:03}", d.as_secs(), d.subsec_millis());
    trim(&text).to_owned()
}

pub fn time(at: Option<SystemTime>) -> String {
    let Some(at) = at else { return String::new() };
    let text = humantime::format_rfc3339_millis(at).to_string();
    format!("{}Z", trim(text.trim_end_matches('Z')))
}

fn trim(decimal: &str) -> &str {
    decimal.trim_end_matches('0').trim_end_matches('.')
}

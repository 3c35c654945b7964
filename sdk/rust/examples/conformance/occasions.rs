//! What the plugin says beside failures: what the label `do` of a call or of a run says.

use std::collections::HashMap;
use std::time::Duration;

use mulligan::{Error, ModelCall, Result, RunEnded, ToolAdvice, ToolError, Verdict};

use crate::say::{self, Field};

pub fn judge(c: &ModelCall) -> Result<Option<Verdict>> {
    let (verb, rest) = told(&c.labels);
    Ok(Some(match verb {
        "" => return Ok(None),
        "allow" => Verdict::allow(),
        "route" => Verdict::route(rest).because("told so"),
        "hold" => {
            let time = c.time.ok_or("the call has no time")?;
            Verdict::hold(time + Duration::from_secs(rest.parse()?)).because("told so")
        }
        "refuse" => Verdict::refuse().because(rest),
        "say" => Verdict::refuse().because(of_call(c, rest)?.to_string()),
        _ => return Err(rest.into()),
    }))
}

pub fn mend(e: &ToolError) -> Result<Option<ToolAdvice>> {
    let (verb, rest) = told(&e.labels);
    Ok(Some(match verb {
        "" => return Ok(None),
        "again" => ToolAdvice::run_again(Duration::try_from_secs_f64(rest.parse()?)?).because("told so"),
        "tell" => ToolAdvice::tell(rest).because("told so"),
        "ask" => ToolAdvice::ask().because(rest),
        "say" => ToolAdvice::ask().because(of_tool(e, rest)?),
        _ => return Err(rest.into()),
    }))
}

pub fn hear(e: &RunEnded) -> Result<()> {
    let (verb, rest) = told(&e.labels);
    match verb {
        "" => Ok(()),
        "say" => Err(format!("<{}>", at_end(e, rest)?).into()),
        _ => Err(rest.into()),
    }
}

fn told(labels: &HashMap<String, String>) -> (&str, &str) {
    let told = labels.get("do").map_or("", String::as_str);
    told.split_once(' ').unwrap_or((told, ""))
}

fn of_call(c: &ModelCall, name: &str) -> Result<Field, Error> {
    let list = match name {
        "tried" => c.tried.iter().map(say::tried).collect(),
        "alternatives" => c.alternatives.iter().map(String::from).collect(),
        "models" => c.alternatives.iter().map(say::model).collect(),
        "tools" => c.tools.clone(),
        "labels" => say::labels(&c.labels),
        "failed_kinds" => c.failed_kinds.iter().map(ToString::to_string).collect(),
        "recent_calls" => c.recent_calls.iter().map(say::recent_call).collect(),
        _ => {
            let text = text_of_call(c, name).ok_or_else(|| format!("no field {name:?}"))?;
            return Ok(Field::Text(text));
        }
    };
    Ok(Field::List(list))
}

fn text_of_call(c: &ModelCall, name: &str) -> Option<String> {
    Some(match name {
        "run" => c.run.clone(),
        "session" => c.session.clone(),
        "session_key" => c.session_key.clone(),
        "agent_id" => c.agent_id.clone(),
        "model" => c.model.model.clone(),
        "about" => say::model(&c.model),
        "schema" => c.schema.to_string(),
        "round" => c.round.to_string(),
        "attempt" => c.attempt.to_string(),
        "summary" => c.summary.to_string(),
        "input_tokens" => c.input_tokens.to_string(),
        "images" => c.images.to_string(),
        "holds" => c.holds.to_string(),
        "auto_recover" => c.auto_recover.to_string(),
        "spent_tokens" => c.spent_tokens.to_string(),
        "spent_microdollars" => c.spent_microdollars.to_string(),
        "remaining_tokens" => say::remaining(c.remaining_tokens, "-1", |n| n.to_string()),
        "remaining_microdollars" => say::remaining(c.remaining_microdollars, "-1", |n| n.to_string()),
        "elapsed" => say::seconds(c.elapsed),
        "remaining_time" => say::remaining(c.remaining_time, "-0.001", say::seconds),
        "time" => say::time(c.time),
        "dry_run" => c.dry_run.to_string(),
        _ => return None,
    })
}

fn of_tool(e: &ToolError, name: &str) -> Result<String, Error> {
    Ok(match name {
        "run" => e.run.clone(),
        "session" => e.session.clone(),
        "session_key" => e.session_key.clone(),
        "agent_id" => e.agent_id.clone(),
        "tool" => e.tool.clone(),
        "call_id" => e.call_id.clone(),
        "safety" => e.safety.to_string(),
        "tries" => e.tries.to_string(),
        "remaining_tries" => e.remaining_tries.to_string(),
        "failures" => e.failures.to_string(),
        "timed_out" => e.timed_out.to_string(),
        "took" => say::seconds(e.took),
        "error" => e.error.clone(),
        "model" => e.model.clone(),
        "round" => e.round.to_string(),
        "auto_recover" => e.auto_recover.to_string(),
        "spent_tokens" => e.spent_tokens.to_string(),
        "spent_microdollars" => e.spent_microdollars.to_string(),
        "remaining_tokens" => say::remaining(e.remaining_tokens, "-1", |n| n.to_string()),
        "remaining_microdollars" => say::remaining(e.remaining_microdollars, "-1", |n| n.to_string()),
        "elapsed" => say::seconds(e.elapsed),
        "remaining_time" => say::remaining(e.remaining_time, "-0.001", say::seconds),
        "time" => say::time(e.time),
        "dry_run" => e.dry_run.to_string(),
        _ => return Err(format!("no field {name:?}").into()),
    })
}

fn at_end(e: &RunEnded, name: &str) -> Result<String, Error> {
    Ok(match name {
        "run" => e.run.clone(),
        "session" => e.session.clone(),
        "session_key" => e.session_key.clone(),
        "agent_id" => e.agent_id.clone(),
        "status" => e.status.clone(),
        "stop_reason" => e.stop_reason.clone(),
        "chosen_model" => e.chosen_model.clone(),
        "model" => e.model.clone(),
        "recovered" => e.recovered.to_string(),
        "attempts" => e.attempts.to_string(),
        "failed_attempts" => e.failed_attempts.to_string(),
        "switches" => e.switches.to_string(),
        "kinds" => e.kinds.iter().map(ToString::to_string).collect::<Vec<_>>().join(","),
        "recovery_time" => say::seconds(e.recovery_time),
        "wasted_tokens" => e.wasted_tokens.to_string(),
        "wasted_microdollars" => e.wasted_microdollars.to_string(),
        "spent_tokens" => e.spent_tokens.to_string(),
        "spent_microdollars" => e.spent_microdollars.to_string(),
        "elapsed" => say::seconds(e.elapsed),
        "time" => say::time(e.time),
        "dry_run" => e.dry_run.to_string(),
        _ => return Err(format!("no field {name:?}").into()),
    })
}

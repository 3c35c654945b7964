//! The commands.

use std::thread::sleep;
use std::time::Duration;

use mulligan::{Button, Decision, Effort, Error, Event, Result, log, values};
use tokio::runtime::Builder;

use crate::meeting::Meeting;
use crate::{GREETING, say};

static MEETING: Meeting = Meeting::new();

/// Carries one command out; rest is what follows its first word.
pub fn carry_out(e: &Event, verb: &str, rest: &str) -> Result {
    Ok(Some(match verb {
        "retry" => Decision::retry().after(delay(rest)?),
        "switch" | "contract" => Decision::switch(rest),
        "fail" => Decision::fail(),
        "actions" => buttons(),
        "adjust" => adjust(rest)?,
        "restrict" => restrict(rest)?,
        "say" => Decision::fail().because(say::field(e, rest)?.to_string()),
        "count" => Decision::fail().because(say::field(e, rest)?.count()?.to_string()),
        "config" => Decision::fail().because(GREETING.lock().unwrap().clone()),
        "values" => Decision::fail().because(play_values(rest)?),
        "state" => Decision::fail().because(state()),
        _ => return act(verb, rest).map(|()| None),
    }))
}

/// Carries out a command that has an effect and no opinion.
fn act(verb: &str, rest: &str) -> Result<()> {
    match verb {
        "" | "none" => {}
        "nonsense" => return Err("the type system forbids nonsense".into()),
        "print" => println!("{rest}"),
        "flood" => println!("{}", "x".repeat(rest.parse()?)),
        "log" => log::info!("{rest}"),
        "raise" => return Err(rest.into()),
        "panic" => panic!("{rest}"),
        "sleep" => sleep(delay(rest.trim_end_matches('s'))?),
        "meet" => MEETING.meet(rest.parse()?),
        _ => return Err(format!("unknown command {verb:?}").into()),
    }
    Ok(())
}

fn state() -> String {
    let folder = mulligan::state_dir().unwrap_or_default();
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Does with the host's values what the grammar says, once as an async function does.
fn play_values(key: &str) -> Result<String> {
    let first = Builder::new_current_thread()
        .build()?
        .block_on(values::add(key, 2).into_future())?;
    let read = values::get_with_version(key).wait()?;
    let mut longer = read.value.unwrap_or_default();
    longer.push(b'5');
    let done = values::compare_and_set(key, read.version, longer).wait()?;
    let late = values::compare_and_set(key, read.version, "").wait()?;
    let other = format!("{key}/x");
    values::set(&other, "").wait()?;
    let keys = values::keys(key).wait()?.join(",");
    let wrong = matches!(values::add(&other, 1).wait(), Err(values::Error::NotANumber(_)));
    values::delete(&other).wait()?;
    let sum = values::add(key, -1).wait()?;
    Ok(format!("{first} {done} {late} {keys} {wrong} {sum}"))
}

fn delay(seconds: &str) -> Result<Duration> {
    if seconds.is_empty() {
        return Ok(Duration::ZERO);
    }
    Ok(Duration::try_from_secs_f64(seconds.parse()?)?)
}

fn buttons() -> Decision {
    Decision::retry()
        .button(Button::client("edit", "Edit the message"))
        .button(
            Button::runner("switch_model", "Use GPT")
                .model("openai/gpt-5.2")
                .primary(),
        )
        .button(Button::client("status", "See the status").url("https://status.example.com/?q=a&b=c#now"))
}

fn adjust(pairs: &str) -> Result<Decision, Error> {
    let mut decision = Decision::retry();
    for pair in pairs.split_whitespace() {
        decision = match pair.split_once('=') {
            Some(("compact", "true")) => decision.compact(),
            Some(("continue", "true")) => decision.go_on(),
            Some(("max_output_tokens", tokens)) => decision.max_output_tokens(tokens.parse()?),
            Some(("reasoning_effort", "low")) => decision.reasoning_effort(Effort::Low),
            Some(("reasoning_effort", "medium")) => decision.reasoning_effort(Effort::Medium),
            Some(("reasoning_effort", "high")) => decision.reasoning_effort(Effort::High),
            _ => return Err(format!("unknown adjustment {pair:?}").into()),
        };
    }
    Ok(decision)
}

fn restrict(pairs: &str) -> Result<Decision, Error> {
    let mut decision = Decision::forbid();
    for pair in pairs.split_whitespace() {
        decision = match pair.split_once('=') {
            Some(("never", names)) => names.split(',').fold(decision, Decision::never),
            Some(("max_output_price", price)) => decision.max_output_price(price.parse()?),
            Some(("local", "true")) => decision.local(),
            _ => return Err(format!("unknown restriction {pair:?}").into()),
        };
    }
    Ok(decision)
}

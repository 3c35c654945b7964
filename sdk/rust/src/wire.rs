//! The generated code, and what it is to authors.

use std::time::{Duration, Instant, SystemTime};

use tonic::Status;

use crate::{
    Action, Adjust, Alternative, Button, Decision, Effect, Effort, Event, Failure, Kind, Origin, Phase, RecentCall,
    Remaining, ReplaySafety, Restrict, Timer, Tried,
};

/// The plugin's own service.
#[allow(missing_docs, dead_code, clippy::all)]
pub(crate) mod v1 {
    include!("generated/mulligan.v1.rs");
}

/// The host's service.
#[allow(missing_docs, clippy::all)]
pub(crate) mod host {
    include!("generated/host/mulligan.v1.rs");
}

/// What go-plugin's hosts call beside it.
#[allow(missing_docs, clippy::all)]
pub(crate) mod go_plugin {
    include!("generated/plugin.rs");
}

impl Event {
    pub(crate) fn new(e: v1::RunErrorRequest, deadline: Option<Instant>) -> Self {
        let budget = e.remaining.unwrap_or_default();
        let spent = e.spent.unwrap_or_default();
        let safety = v1::ReplaySafety::try_from(e.replay_safety).ok();
        Event {
            run: e.run,
            session: e.session,
            failure: e.failure.unwrap_or_default().into(),
            model: e.model,
            attempt: count(e.attempt),
            retries: count(e.retries),
            max_retries: count(e.max_retries),
            auto_recover: e.auto_recover,
            elapsed: millis(e.elapsed_ms),
            remaining_attempts: count(e.remaining_attempts),
            remaining_time: remaining_time(e.remaining_ms),
            remaining_tokens: remaining(budget.tokens),
            remaining_microdollars: remaining(budget.microdollars),
            tried: e.tried.into_iter().map(Tried::from).collect(),
            alternatives: e.alternatives.into_iter().map(Alternative::from).collect(),
            replay_safety: ReplaySafety::from(
                name("REPLAY_SAFETY_", e.replay_safety, safety.map(|s| s.as_str_name()), "").as_str(),
            ),
            unsafe_tools: e.unsafe_tools,
            partial_shown: e.partial_shown,
            idle_breaker: e.idle_breaker,
            idle_expiries: count(e.idle_expiries),
            labels: e.labels,
            spent_tokens: amount(spent.tokens),
            spent_microdollars: amount(spent.microdollars),
            input_tokens: amount(e.input_tokens),
            tools: e.tools,
            images: e.images,
            schema: e.schema,
            about: e.about.map(Alternative::from).unwrap_or_default(),
            cooling: e.cooling.into_iter().map(Alternative::from).collect(),
            failed_kinds: kinds(&e.failed_kinds),
            recent_calls: e.recent_calls.into_iter().map(RecentCall::from).collect(),
            time: e.time.and_then(time),
            dry_run: e.dry_run,
            pressed: e.pressed,
            session_key: e.session_key,
            agent_id: e.agent_id,
            aborted: e.aborted,
            timed_out: e.timed_out,
            prompt_error: e.prompt_error,
            transcript: text(e.transcript),
            deadline,
        }
    }
}

impl From<v1::Failure> for Failure {
    fn from(f: v1::Failure) -> Self {
        let kind = v1::Kind::try_from(f.kind).ok().map(|k| k.as_str_name());
        let origin = v1::Origin::try_from(f.origin).ok().map(|o| o.as_str_name());
        let phase = v1::Phase::try_from(f.phase).ok().map(|p| p.as_str_name());
        let timer = v1::Timer::try_from(f.timer).ok().map(|t| t.as_str_name());
        Failure {
            kind: Kind::from(name("KIND_", f.kind, kind, &f.kind_name).as_str()),
            code: f.code,
            variant: f.variant,
            origin: Origin::from(name("ORIGIN_", f.origin, origin, &f.origin_name).as_str()),
            phase: Phase::from(name("PHASE_", f.phase, phase, &f.phase_name).as_str()),
            retryable: f.retryable,
            provider: f.provider,
            model: f.model,
            http_status: u16::try_from(f.http_status).ok().filter(|status| *status != 0),
            provider_code: f.provider_code,
            request_id: f.request_id,
            tool: f.tool,
            retry_after: positive(f.retry_after_ms),
            resets_at: f.resets_at.and_then(time),
            timer: Timer::from(name("TIMER_", f.timer, timer, &f.timer_name).as_str()),
            limit: positive(f.limit_ms),
            elapsed: millis(f.elapsed_ms),
            last_step: f.last_step,
            last_step_elapsed: millis(f.last_step_elapsed_ms),
            title: f.title,
            message: f.message,
            detail: f.detail,
        }
    }
}

/// The one string of an enum: by its number, or else by the companion field. A number that
/// nobody knows is kept as it is.
pub(crate) fn name(prefix: &str, number: i32, known: Option<&str>, companion: &str) -> String {
    match known {
        _ if number == 0 => companion.to_owned(),
        Some(name) => name.trim_start_matches(prefix).to_lowercase(),
        None => format!("{}{number}", prefix.to_lowercase()),
    }
}

pub(crate) fn kinds(names: &[String]) -> Vec<Kind> {
    names.iter().map(|name| Kind::from(name.as_str())).collect()
}

/// Hosts send no negative counts.
pub(crate) fn count(n: i32) -> u32 {
    u32::try_from(n).unwrap_or(0)
}

/// Nor negative amounts.
pub(crate) fn amount(n: i64) -> u64 {
    u64::try_from(n).unwrap_or(0)
}

/// Bytes that are not UTF-8 are no JSON either.
pub(crate) fn text(bytes: Vec<u8>) -> Option<String> {
    String::from_utf8(bytes).ok().filter(|text| !text.is_empty())
}

pub(crate) fn remaining(n: i64) -> Remaining<u64> {
    match u64::try_from(n) {
        Ok(0) => Remaining::Unlimited,
        Ok(left) => Remaining::Left(left),
        Err(_) => Remaining::UsedUp,
    }
}

pub(crate) fn remaining_time(ms: i64) -> Remaining<Duration> {
    match remaining(ms) {
        Remaining::Left(ms) => Remaining::Left(Duration::from_millis(ms)),
        Remaining::Unlimited => Remaining::Unlimited,
        Remaining::UsedUp => Remaining::UsedUp,
    }
}

pub(crate) fn millis(ms: i64) -> Duration {
    Duration::from_millis(amount(ms))
}

fn positive(ms: i64) -> Option<Duration> {
    (ms > 0).then(|| millis(ms))
}

pub(crate) fn time(at: prost_types::Timestamp) -> Option<SystemTime> {
    SystemTime::try_from(at).ok()
}

/// Rounded up, so that a positive delay never becomes none.
pub(crate) fn delay(delay: Duration) -> Result<i64, Status> {
    let ms = delay.as_nanos().div_ceil(1_000_000);
    i64::try_from(ms).map_err(|_| Status::unknown("the delay is too long to be sent"))
}

impl TryFrom<Decision> for v1::RunErrorResponse {
    type Error = Status;

    /// Fails where the message cannot hold what the author said.
    fn try_from(d: Decision) -> Result<Self, Status> {
        let (action, new_model) = match d.action {
            Action::Retry => (v1::Action::Retry, String::new()),
            // Without a model it is invalid, and the host says so.
            Action::Switch(model) => (v1::Action::SwitchModel, model),
            Action::Fail => (v1::Action::Fail, String::new()),
            Action::None => (v1::Action::Unspecified, String::new()),
        };
        Ok(v1::RunErrorResponse {
            action: action.into(),
            delay_ms: delay(d.delay)?,
            new_model,
            reason: d.reason,
            actions: d.buttons.into_iter().map(v1::Button::from).collect(),
            adjust: (d.adjust != Adjust::default())
                .then(|| d.adjust.try_into())
                .transpose()?,
            restrict: (d.restrict != Restrict::default())
                .then(|| d.restrict.try_into())
                .transpose()?,
        })
    }
}

impl From<Button> for v1::Button {
    fn from(b: Button) -> Self {
        v1::Button {
            id: String::new(), // the runner's to give
            kind: b.kind,
            label: b.label,
            effect: match b.effect {
                Effect::Runner => "runner".into(),
                Effect::Client => "client".into(),
            },
            model: b.model,
            primary: b.primary,
            url: b.url,
        }
    }
}

impl TryFrom<Adjust> for v1::Adjust {
    type Error = Status;

    fn try_from(a: Adjust) -> Result<Self, Status> {
        Ok(v1::Adjust {
            compact: a.compact,
            max_output_tokens: i32::try_from(a.max_output_tokens.unwrap_or(0))
                .map_err(|_| Status::unknown("max_output_tokens is too large to be sent"))?,
            reasoning_effort: match a.reasoning_effort {
                None => String::new(),
                Some(Effort::Low) => "low".into(),
                Some(Effort::Medium) => "medium".into(),
                Some(Effort::High) => "high".into(),
            },
            r#continue: a.go_on,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every number of the wire has a variant here, and its name is the wire's.
    #[test]
    fn every_word_is_known() {
        for number in 0..=Kind::ALL.len() as i32 {
            let e = Event::new(
                v1::RunErrorRequest {
                    replay_safety: number,
                    failure: Some(v1::Failure {
                        kind: number,
                        origin: number,
                        phase: number,
                        timer: number,
                        ..Default::default()
                    }),
                    ..Default::default()
                },
                None,
            );
            let at = number as usize;
            let numbered = |prefix: &str| format!("{prefix}_{number}");
            let f = &e.failure;
            if at == 0 {
                assert_eq!(
                    (&f.kind, &f.origin, &f.phase),
                    (&Kind::NotSet, &Origin::NotSet, &Phase::NotSet)
                );
                assert_eq!((&f.timer, &e.replay_safety), (&Timer::NotSet, &ReplaySafety::NotSet));
                continue;
            }
            let kind = v1::Kind::try_from(number).expect("a kind has no number on the wire");
            let name = kind.as_str_name().trim_start_matches("KIND_").to_lowercase();
            assert_eq!((f.kind.as_str(), Kind::ALL.contains(&f.kind)), (name.as_str(), true));
            assert_eq!(
                f.origin,
                Origin::ALL
                    .get(at - 1)
                    .cloned()
                    .unwrap_or(Origin::Other(numbered("origin")))
            );
            assert_eq!(
                f.phase,
                Phase::ALL
                    .get(at - 1)
                    .cloned()
                    .unwrap_or(Phase::Other(numbered("phase")))
            );
            assert_eq!(
                f.timer,
                Timer::ALL
                    .get(at - 1)
                    .cloned()
                    .unwrap_or(Timer::Other(numbered("timer")))
            );
            assert_eq!(
                e.replay_safety,
                ReplaySafety::ALL
                    .get(at - 1)
                    .cloned()
                    .unwrap_or(ReplaySafety::Other(numbered("replay_safety")))
            );
        }
        assert!(
            v1::Kind::try_from(Kind::ALL.len() as i32 + 1).is_err(),
            "the wire has a kind that is not listed"
        );
    }

    #[test]
    fn tomorrows_words_are_kept() {
        for (number, companion, want) in [
            (77, "", "kind_77"),
            (0, "brand_new", "brand_new"),
            (77, "brand_new", "kind_77"),
            (-3, "", "kind_-3"),
        ] {
            let f = Failure::from(v1::Failure {
                kind: number,
                kind_name: companion.into(),
                ..Default::default()
            });
            assert_eq!(f.kind, Kind::Other(want.into()));
        }
    }

    #[test]
    fn used_up_and_unlimited() {
        let e = Event::new(
            v1::RunErrorRequest {
                remaining_ms: -1,
                remaining: Some(v1::Budget {
                    tokens: 0,
                    microdollars: 7,
                }),
                ..Default::default()
            },
            None,
        );
        assert_eq!(e.remaining_time, Remaining::UsedUp);
        assert_eq!(e.remaining_tokens, Remaining::Unlimited);
        assert_eq!(e.remaining_microdollars, Remaining::Left(7));
    }

    #[test]
    fn a_transcript_is_its_text_or_none() {
        let json = r#"[{"role":"user","parts":[{"text":"Где?"}]}]"#;
        for (sent, want) in [
            (json.as_bytes(), Some(json)),
            (b"[]", Some("[]")),
            (b"", None),
            (b"[\xff]", None),
        ] {
            let request = v1::RunErrorRequest {
                transcript: sent.into(),
                ..Default::default()
            };
            assert_eq!(Event::new(request, None).transcript.as_deref(), want, "{sent:?}");
        }
    }

    #[test]
    fn a_positive_delay_never_becomes_none() {
        for (delay, want) in [
            (Duration::ZERO, 0),
            (Duration::from_nanos(1), 1),
            (Duration::from_micros(1500), 2),
            (Duration::from_millis(2500), 2500),
        ] {
            let sent = v1::RunErrorResponse::try_from(Decision::retry().after(delay)).unwrap();
            assert_eq!(sent.delay_ms, want, "{delay:?}");
        }
    }

    #[test]
    fn what_the_message_cannot_hold_is_an_error() {
        assert!(v1::RunErrorResponse::try_from(Decision::retry().after(Duration::MAX)).is_err());
        assert!(v1::RunErrorResponse::try_from(Decision::retry().max_output_tokens(u32::MAX)).is_err());
    }

    #[test]
    fn no_adjustment_is_no_message() {
        assert_eq!(v1::RunErrorResponse::try_from(Decision::retry()).unwrap().adjust, None);
        let adjusted =
            v1::RunErrorResponse::try_from(Decision::retry().compact().reasoning_effort(Effort::Low)).unwrap();
        assert_eq!(
            adjusted.adjust,
            Some(v1::Adjust {
                compact: true,
                max_output_tokens: 0,
                reasoning_effort: "low".into(),
                r#continue: false
            })
        );
    }
}

//! Events, calls and ends of runs for tests, without a host.
//!
//! ```
//! use std::time::Duration;
//! use mulligan::{Decision, Event, Kind, testing};
//!
//! fn rules(e: &Event) -> Option<Decision> {
//!     (e.failure.kind == Kind::RateLimit && e.attempt < 2)
//!         .then(|| Decision::retry().after(e.failure.retry_after.unwrap_or_default()))
//! }
//!
//! let mut e = testing::event(Kind::RateLimit);
//! e.failure.retry_after = Some(Duration::from_secs(9));
//! assert_eq!(rules(&e), Some(Decision::retry().after(Duration::from_secs(9))));
//! e.attempt = 2;
//! assert_eq!(rules(&e), None);
//! ```

use std::time::Duration;

use crate::kind::facts;
use crate::{Alternative, Event, Failure, Kind, ModelCall, Origin, ReplaySafety, RunEnded, ToolError, ToolSafety};

/// The first failure of a model call, of the given kind, with two models to switch to and
/// nothing used up. There is no transcript, as without a grant. Change what the test is about:
/// every field is public.
#[must_use]
pub fn event(kind: Kind) -> Event {
    let (code, retryable) = facts(&kind);
    let failed = kind.clone();
    Event {
        run: "run-1".into(),
        model: "openai/gpt-5.2".into(),
        failure: Failure {
            code: code.into(),
            retryable,
            origin: Origin::Model,
            provider: "openai".into(),
            model: "openai/gpt-5.2".into(),
            title: kind.to_string(),
            kind,
            ..Failure::default()
        },
        max_retries: 3,
        remaining_attempts: 10,
        auto_recover: true,
        elapsed: Duration::from_secs(1),
        alternatives: vec![
            alternative("anthropic/claude-sonnet-4-5"),
            alternative("openai/gpt-5.2-mini"),
        ],
        about: alternative("openai/gpt-5.2"),
        failed_kinds: vec![failed],
        replay_safety: ReplaySafety::Safe,
        transcript: None,
        ..Event::default()
    }
}

/// The first model call of a run, with two models that it could be routed to and nothing used up.
#[must_use]
pub fn model_call() -> ModelCall {
    ModelCall {
        run: "run-1".into(),
        model: alternative("openai/gpt-5.2"),
        alternatives: vec![
            alternative("anthropic/claude-sonnet-4-5"),
            alternative("openai/gpt-5.2-mini"),
        ],
        round: 1,
        input_tokens: 1000,
        auto_recover: true,
        ..ModelCall::default()
    }
}

/// The first failure of a tool that changes nothing, with nothing used up.
#[must_use]
pub fn tool_error() -> ToolError {
    ToolError {
        run: "run-1".into(),
        tool: "search".into(),
        call_id: "call-1".into(),
        safety: ToolSafety::ReadOnly,
        tries: 1,
        remaining_tries: 1,
        failures: 1,
        took: Duration::from_secs(1),
        model: "openai/gpt-5.2".into(),
        round: 1,
        auto_recover: true,
        ..ToolError::default()
    }
}

/// The end of a run that was completed by its first call.
#[must_use]
pub fn run_ended() -> RunEnded {
    RunEnded {
        run: "run-1".into(),
        status: "completed".into(),
        stop_reason: "completed".into(),
        chosen_model: "openai/gpt-5.2".into(),
        model: "openai/gpt-5.2".into(),
        attempts: 1,
        elapsed: Duration::from_secs(1),
        ..RunEnded::default()
    }
}

/// A model that the run could be switched to, with a context of 200,000 tokens.
#[must_use]
pub fn alternative(model: impl Into<String>) -> Alternative {
    Alternative {
        model: model.into(),
        context_tokens: Some(200_000),
        ..Alternative::default()
    }
}

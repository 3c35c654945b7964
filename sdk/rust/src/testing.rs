//! Events for tests, without a host.
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

use crate::{Alternative, Event, Failure, Kind, Origin, ReplaySafety};

/// The first failure of a model call, of the given kind, with two models to switch to and
/// nothing used up. There is no transcript, as without a grant. Change what the test is about:
/// every field is public.
#[must_use]
pub fn event(kind: Kind) -> Event {
    let (code, retryable) = facts(&kind);
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
        replay_safety: ReplaySafety::Safe,
        transcript: None,
        ..Event::default()
    }
}

/// A model that the run could be switched to, with a context of 200,000 tokens.
#[must_use]
pub fn alternative(model: impl Into<String>) -> Alternative {
    Alternative {
        model: model.into(),
        context_tokens: Some(200_000),
    }
}

/// The code that a host gives failures of this kind, and whether it says that the same
/// input may succeed later.
fn facts(kind: &Kind) -> (&'static str, bool) {
    match kind {
        Kind::Timeout => ("MODEL_PROVIDER_TIMEOUT", true),
        Kind::Unreachable => ("MODEL_PROVIDER_UNREACHABLE", true),
        Kind::Tls => ("MODEL_PROVIDER_UNREACHABLE", false),
        Kind::Auth => ("MODEL_PROVIDER_AUTH_FAILED", false),
        Kind::Billing => ("MODEL_PROVIDER_BILLING", false),
        Kind::RateLimit => ("MODEL_PROVIDER_RATE_LIMITED", true),
        Kind::Quota => ("MODEL_PROVIDER_RATE_LIMITED", false),
        Kind::Overloaded | Kind::Unavailable => ("MODEL_PROVIDER_UNAVAILABLE", true),
        Kind::StreamInterrupted | Kind::MalformedResponse | Kind::EmptyResponse => ("MODEL_STREAM_INTERRUPTED", true),
        Kind::ContextOverflow => ("MODEL_CONTEXT_OVERFLOW", false),
        Kind::InvalidRequest => ("MODEL_REQUEST_INVALID", false),
        Kind::ContentFilter => ("MODEL_CONTENT_FILTERED", false),
        Kind::ModelNotFound => ("MODEL_NOT_FOUND", false),
        Kind::OutputTruncated => ("MODEL_OUTPUT_TRUNCATED", true),
        Kind::Misconfigured => ("MODEL_PROVIDER_MISCONFIGURED", false),
        Kind::ToolFailure => ("TOOL_FAILED", false),
        Kind::StepTimeout => ("RUN_STEP_TIMEOUT", true),
        Kind::MaxTurnTime => ("RUN_MAX_TURN_TIME", false),
        Kind::RunTimeout => ("RUN_TIMEOUT", false),
        Kind::Interrupted => ("RUN_INTERRUPTED", true),
        Kind::PromptFailure => ("RUN_PROMPT_FAILED", false),
        Kind::Internal => ("RUN_INTERNAL_ERROR", false),
        Kind::Budget => ("RUN_BUDGET_EXHAUSTED", false),
        Kind::RoundLimit => ("RUN_ROUND_LIMIT", false),
        Kind::Unknown | Kind::NotSet | Kind::Other(_) => ("MODEL_PROVIDER_ERROR", true),
    }
}

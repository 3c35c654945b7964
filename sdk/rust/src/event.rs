use std::collections::HashMap;
use std::time::{Duration, Instant, SystemTime};

use crate::{Alternative, Kind, Origin, Phase, RecentCall, ReplaySafety, Timer, Tried};

/// A failure and what a decision may depend on. Apart from the [`transcript`](Event::transcript),
/// which takes a grant, it holds no prompt, no tool arguments or results, and no secret.
/// [`testing::event`](crate::testing::event) makes one for tests.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Event {
    /// The run.
    pub run: String,
    /// Its session; may be empty.
    pub session: String,
    /// What went wrong.
    pub failure: Failure,
    /// The model that failed, `provider/model`.
    pub model: String,
    /// The attempt's number within one model call, from 0.
    pub attempt: u32,
    /// Retries of this model call so far.
    pub retries: u32,
    /// Retries that the policy allows for one model call.
    pub max_retries: u32,
    /// Whether the decision is acted on, or offered to a person.
    pub auto_recover: bool,
    /// Time since the run began, deliberate long waits left out.
    pub elapsed: Duration,
    /// Attempts left of this model call, under the limit that no policy lifts.
    pub remaining_attempts: u32,
    /// Time left of the run.
    pub remaining_time: Remaining<Duration>,
    /// Tokens of every kind that are left.
    pub remaining_tokens: Remaining<u64>,
    /// Money that is left, in millionths of a dollar.
    pub remaining_microdollars: Remaining<u64>,
    /// The failed attempts of this model call.
    pub tried: Vec<Tried>,
    /// What [`Decision::switch`](crate::Decision::switch) may name, in order of preference.
    pub alternatives: Vec<Alternative>,
    /// Whether the attempt may be repeated.
    pub replay_safety: ReplaySafety,
    /// The tools that make it unsafe.
    pub unsafe_tools: Vec<String>,
    /// Text of the failed attempt was seen by people.
    pub partial_shown: bool,
    /// Too many idle expiries in a row: nothing is retried by itself.
    pub idle_breaker: bool,
    /// Idle expiries in a row without a finished step.
    pub idle_expiries: u32,
    /// The words by which the run can be listed.
    pub labels: HashMap<String, String>,
    /// Tokens of every kind that the run has used so far.
    pub spent_tokens: u64,
    /// Money that the run has used so far, in millionths of a dollar.
    pub spent_microdollars: u64,
    /// What is sent, in tokens, about.
    pub input_tokens: u64,
    /// The names of the tools that the model may use.
    pub tools: Vec<String>,
    /// There are pictures in the conversation.
    pub images: bool,
    /// The answer has to keep to a JSON schema.
    pub schema: bool,
    /// The model that failed, with what is known about it.
    pub about: Alternative,
    /// Models that could be asked, and are no alternatives because they cool down.
    pub cooling: Vec<Alternative>,
    /// What failed in the run so far, this failure included: the kind of each attempt, in order,
    /// the newest 64.
    pub failed_kinds: Vec<Kind>,
    /// How the last calls of the model's entry ended, of all runs of the host, the newest last; 20
    /// at most.
    pub recent_calls: Vec<RecentCall>,
    /// When the attempt failed; `None` = the host did not say.
    pub time: Option<SystemTime>,
    /// Nothing comes of the answer, since a failure is replayed or the plugin is tested: do nothing
    /// that can be felt outside.
    pub dry_run: bool,
    /// The kind of your own button that a person has pressed: what you answer now is done; empty =
    /// you are asked about the failure itself.
    pub pressed: String,
    /// What the caller itself calls its conversation; may be empty.
    pub session_key: String,
    /// What the caller itself calls its agent; may be empty.
    pub agent_id: String,
    /// The attempt was ended from our side: a timer fired, its process died, or a person did not
    /// wait for it.
    pub aborted: bool,
    /// Time was over: that of one of our timers, or what the provider itself had.
    pub timed_out: bool,
    /// Why the prompt could not become a request; empty = it could.
    pub prompt_error: String,
    /// What was said in the run so far, as JSON for `serde_json` to read: the newest messages, at
    /// most 1 MiB, each with `role` (`user`, `assistant` or `tool`), `parts` and `model`. A part is
    /// one of `text`, `thinking`, `call`, `result` and `image`; pictures are without their data,
    /// reasoning without its signatures. `None` = the plugin was not granted it, for which its
    /// `mulligan-plugin.yaml` asks with `transcript: messages`, or it was not UTF-8.
    ///
    /// ```
    /// use mulligan::{Event, Kind, testing};
    ///
    /// fn messages(e: &Event) -> serde_json::Result<Vec<serde_json::Value>> {
    ///     serde_json::from_str(e.transcript.as_deref().unwrap_or("[]"))
    /// }
    ///
    /// let mut e = testing::event(Kind::ContentFilter);
    /// assert!(messages(&e)?.is_empty());
    /// e.transcript = Some(r#"[{"role": "user", "parts": [{"text": "How?"}]}]"#.into());
    /// assert_eq!(messages(&e)?[0]["parts"][0]["text"], "How?");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub transcript: Option<String>,
    /// When the host stops waiting for the answer; `None` = it waits for ever. What takes
    /// longer is lost: an async function is dropped then, another one runs on in vain.
    pub deadline: Option<Instant>,
}

/// All that is known about what went wrong. It never holds a secret.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Failure {
    /// What went wrong.
    pub kind: Kind,
    /// The stable upper-case name, for example `MODEL_PROVIDER_TIMEOUT`; several kinds share one.
    pub code: String,
    /// A finer word for people, for example `missing` or `stalled`; may be empty.
    pub variant: String,
    /// Whose failure it is.
    pub origin: Origin,
    /// How far the attempt had come.
    pub phase: Phase,
    /// Whether the same input may succeed later.
    pub retryable: bool,
    /// The configured entry, for example `anthropic`.
    pub provider: String,
    /// The model's full name, `provider/model`.
    pub model: String,
    /// The HTTP status; `None` = there was none.
    pub http_status: Option<u16>,
    /// The code in the provider's body; may be empty.
    pub provider_code: String,
    /// The provider's id of the request; may be empty.
    pub request_id: String,
    /// The tool, where one failed.
    pub tool: String,
    /// How long the provider demands to wait; `None` = nothing demanded.
    pub retry_after: Option<Duration>,
    /// When the quota starts anew; `None` = not known.
    pub resets_at: Option<SystemTime>,
    /// The clock that fired.
    pub timer: Timer,
    /// What that clock was set to; `None` = none fired.
    pub limit: Option<Duration>,
    /// How long the attempt, step or run had taken.
    pub elapsed: Duration,
    /// What finished last: a tool's name, `answer`, or nothing.
    pub last_step: String,
    /// How long the last step took, or has been going on.
    pub last_step_elapsed: Duration,
    /// For people: the headline.
    pub title: String,
    /// For people: what follows the headline; never repeats it.
    pub message: String,
    /// The provider's own words: at most 8 KiB, secrets removed.
    pub detail: String,
}

/// What is left of something that may be limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Remaining<T> {
    /// There is no limit.
    #[default]
    Unlimited,
    /// So much.
    Left(T),
    /// Nothing.
    UsedUp,
}

impl<T: PartialOrd> Remaining<T> {
    /// Whether at least so much is left.
    ///
    /// ```
    /// use mulligan::Remaining;
    ///
    /// assert!(Remaining::Unlimited.allows(1_000_000));
    /// assert!(Remaining::Left(5000).allows(5000));
    /// assert!(!Remaining::Left(5000).allows(5001));
    /// ```
    pub fn allows(&self, wanted: T) -> bool {
        match self {
            Self::Unlimited => true,
            Self::Left(left) => *left >= wanted,
            Self::UsedUp => false,
        }
    }
}

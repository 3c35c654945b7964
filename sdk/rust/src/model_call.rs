use std::collections::HashMap;
use std::time::{Duration, Instant, SystemTime};

use crate::wire::{self, v1};
use crate::{Alternative, Kind, RecentCall, Remaining, Tried};

/// A model call that is about to begin. Apart from the [`transcript`](ModelCall::transcript), which
/// takes a grant, it holds no prompt, no tool arguments or results, and no secret.
/// [`testing::model_call`](crate::testing::model_call) makes one for tests.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ModelCall {
    /// The run.
    pub run: String,
    /// Its session; may be empty.
    pub session: String,
    /// What the caller itself calls its conversation; may be empty.
    pub session_key: String,
    /// What the caller itself calls its agent; may be empty.
    pub agent_id: String,
    /// The words by which the run can be listed.
    pub labels: HashMap<String, String>,
    /// The model that is about to be asked.
    pub model: Alternative,
    /// What [`Verdict::route`](crate::Verdict::route) may name, in order of preference.
    pub alternatives: Vec<Alternative>,
    /// Which model call of the run it is, from 1: several attempts may be of one.
    pub round: u32,
    /// The attempt's number within this model call, from 0.
    pub attempt: u32,
    /// The failed attempts of this model call.
    pub tried: Vec<Tried>,
    /// The call only sums up old turns of a conversation that has become too long.
    pub summary: bool,
    /// What is sent, in tokens, about.
    pub input_tokens: u64,
    /// The names of the tools that the model may use.
    pub tools: Vec<String>,
    /// There are pictures in the conversation.
    pub images: bool,
    /// The answer has to keep to a JSON schema.
    pub schema: bool,
    /// What failed in the run so far, as in [`Event::failed_kinds`](crate::Event::failed_kinds).
    pub failed_kinds: Vec<Kind>,
    /// How the last calls of the model's entry ended, as in
    /// [`Event::recent_calls`](crate::Event::recent_calls).
    pub recent_calls: Vec<RecentCall>,
    /// How often this call was held already.
    pub holds: u32,
    /// Whether the run recovers by itself.
    pub auto_recover: bool,
    /// Tokens of every kind that the run has used so far.
    pub spent_tokens: u64,
    /// Money that the run has used so far, in millionths of a dollar.
    pub spent_microdollars: u64,
    /// Tokens of every kind that are left.
    pub remaining_tokens: Remaining<u64>,
    /// Money that is left, in millionths of a dollar.
    pub remaining_microdollars: Remaining<u64>,
    /// Time since the run began, deliberate long waits left out.
    pub elapsed: Duration,
    /// Time left of the run.
    pub remaining_time: Remaining<Duration>,
    /// When the call is about to begin, by which rules go that go by the hour; `None` = the host
    /// did not say.
    pub time: Option<SystemTime>,
    /// Nothing comes of the answer: do nothing that can be felt outside.
    pub dry_run: bool,
    /// As in [`Event::transcript`](crate::Event::transcript).
    pub transcript: Option<String>,
    /// When the host stops waiting for the answer, 500 ms at most; `None` = it waits for ever.
    pub deadline: Option<Instant>,
}

impl ModelCall {
    pub(crate) fn new(c: v1::BeforeCallRequest, deadline: Option<Instant>) -> Self {
        let spent = c.spent.unwrap_or_default();
        let left = c.remaining.unwrap_or_default();
        ModelCall {
            run: c.run,
            session: c.session,
            session_key: c.session_key,
            agent_id: c.agent_id,
            labels: c.labels,
            model: c.model.map(Alternative::from).unwrap_or_default(),
            alternatives: c.alternatives.into_iter().map(Alternative::from).collect(),
            round: wire::count(c.round),
            attempt: wire::count(c.attempt),
            tried: c.tried.into_iter().map(Tried::from).collect(),
            summary: c.summary,
            input_tokens: wire::amount(c.input_tokens),
            tools: c.tools,
            images: c.images,
            schema: c.schema,
            failed_kinds: wire::kinds(&c.failed_kinds),
            recent_calls: c.recent_calls.into_iter().map(RecentCall::from).collect(),
            holds: wire::count(c.holds),
            auto_recover: c.auto_recover,
            spent_tokens: wire::amount(spent.tokens),
            spent_microdollars: wire::amount(spent.microdollars),
            remaining_tokens: wire::remaining(left.tokens),
            remaining_microdollars: wire::remaining(left.microdollars),
            elapsed: wire::millis(c.elapsed_ms),
            remaining_time: wire::remaining_time(c.remaining_ms),
            time: c.time.and_then(wire::time),
            dry_run: c.dry_run,
            transcript: wire::text(c.transcript),
            deadline,
        }
    }
}

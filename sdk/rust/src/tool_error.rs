use std::collections::HashMap;
use std::time::{Duration, Instant, SystemTime};

use crate::wire::{self, v1};
use crate::{Remaining, ToolSafety};

/// A tool call that failed, before the model is told. Apart from the [`error`](ToolError::error) and
/// the [`transcript`](ToolError::transcript), which take a grant, it holds no prompt, no tool
/// arguments or results, and no secret. [`testing::tool_error`](crate::testing::tool_error) makes
/// one for tests.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolError {
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
    /// The tool that failed.
    pub tool: String,
    /// The id that the model gave the call.
    pub call_id: String,
    /// Whether the tool may run twice.
    pub safety: ToolSafety,
    /// How often the call was made.
    pub tries: u32,
    /// How often it may still be made; 0 = it is never repeated.
    pub remaining_tries: u32,
    /// How many calls of this tool have failed in this run, this one included.
    pub failures: u32,
    /// Time was over for it.
    pub timed_out: bool,
    /// How long it took.
    pub took: Duration,
    /// What the tool said, 8 KiB at most; empty unless the transcript was granted.
    pub error: String,
    /// The model that asked for the call, `provider/model`.
    pub model: String,
    /// Which model call of the run asked for it, from 1.
    pub round: u32,
    /// Whether the run recovers by itself; if not, a person is asked in the place of a retry.
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
    /// When it failed; `None` = the host did not say.
    pub time: Option<SystemTime>,
    /// Nothing comes of the answer: do nothing that can be felt outside.
    pub dry_run: bool,
    /// As in [`Event::transcript`](crate::Event::transcript).
    pub transcript: Option<String>,
    /// When the host stops waiting for the answer; `None` = it waits for ever.
    pub deadline: Option<Instant>,
}

impl ToolError {
    pub(crate) fn new(e: v1::ToolErrorRequest, deadline: Option<Instant>) -> Self {
        let spent = e.spent.unwrap_or_default();
        let left = e.remaining.unwrap_or_default();
        let safety = v1::ToolSafety::try_from(e.safety).ok().map(|s| s.as_str_name());
        ToolError {
            run: e.run,
            session: e.session,
            session_key: e.session_key,
            agent_id: e.agent_id,
            labels: e.labels,
            tool: e.tool,
            call_id: e.call_id,
            safety: ToolSafety::from(wire::name("TOOL_SAFETY_", e.safety, safety, "").as_str()),
            tries: wire::count(e.tries),
            remaining_tries: wire::count(e.remaining_tries),
            failures: wire::count(e.failures),
            timed_out: e.timed_out,
            took: wire::millis(e.took_ms),
            error: e.error,
            model: e.model,
            round: wire::count(e.round),
            auto_recover: e.auto_recover,
            spent_tokens: wire::amount(spent.tokens),
            spent_microdollars: wire::amount(spent.microdollars),
            remaining_tokens: wire::remaining(left.tokens),
            remaining_microdollars: wire::remaining(left.microdollars),
            elapsed: wire::millis(e.elapsed_ms),
            remaining_time: wire::remaining_time(e.remaining_ms),
            time: e.time.and_then(wire::time),
            dry_run: e.dry_run,
            transcript: wire::text(e.transcript),
            deadline,
        }
    }
}

use std::collections::HashMap;
use std::time::{Duration, SystemTime};

use crate::wire::{self, v1};
use crate::{Failure, Kind};

/// How a run ended, and what it took. It holds no secret, no prompt and no answer.
/// [`testing::run_ended`](crate::testing::run_ended) makes one for tests.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RunEnded {
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
    /// `completed`, `failed` or `cancelled`.
    pub status: String,
    /// `completed`, `failed`, `cancelled`, `timeout`, `step_timeout`, `max_turn_time` or `interrupted`.
    pub stop_reason: String,
    /// The model that was asked for, `provider/model`.
    pub chosen_model: String,
    /// The one that was asked last.
    pub model: String,
    /// The run was completed although attempts had failed.
    pub recovered: bool,
    /// Attempts of model calls that were begun.
    pub attempts: u32,
    /// Of them, those that failed.
    pub failed_attempts: u32,
    /// How often another model was asked after a failure.
    pub switches: u32,
    /// What had failed, each kind once, in order; 16 at most.
    pub kinds: Vec<Kind>,
    /// Time from the first failure of a model call to its answer, of all calls that were answered
    /// after all.
    pub recovery_time: Duration,
    /// Tokens that attempts that failed have used, as far as their providers said.
    pub wasted_tokens: u64,
    /// Money that they have cost, in millionths of a dollar.
    pub wasted_microdollars: u64,
    /// All tokens that the run has used.
    pub spent_tokens: u64,
    /// All that it has cost, in millionths of a dollar.
    pub spent_microdollars: u64,
    /// Time from its begin to its end.
    pub elapsed: Duration,
    /// When it ended; `None` = the host did not say.
    pub time: Option<SystemTime>,
    /// The failure at which it ended; `None` = it did not end at one.
    pub failure: Option<Failure>,
    /// The plugin is tested: do nothing that can be felt outside.
    pub dry_run: bool,
}

impl From<v1::RunEndedRequest> for RunEnded {
    fn from(e: v1::RunEndedRequest) -> Self {
        let spent = e.spent.unwrap_or_default();
        let wasted = e.wasted.unwrap_or_default();
        RunEnded {
            run: e.run,
            session: e.session,
            session_key: e.session_key,
            agent_id: e.agent_id,
            labels: e.labels,
            status: e.status,
            stop_reason: e.stop_reason,
            chosen_model: e.chosen_model,
            model: e.model,
            recovered: e.recovered,
            attempts: wire::count(e.attempts),
            failed_attempts: wire::count(e.failed_attempts),
            switches: wire::count(e.switches),
            kinds: wire::kinds(&e.kinds),
            recovery_time: wire::millis(e.recovery_ms),
            wasted_tokens: wire::amount(wasted.tokens),
            wasted_microdollars: wire::amount(wasted.microdollars),
            spent_tokens: wire::amount(spent.tokens),
            spent_microdollars: wire::amount(spent.microdollars),
            elapsed: wire::millis(e.elapsed_ms),
            time: e.time.and_then(wire::time),
            failure: e.failure.map(Failure::from),
            dry_run: e.dry_run,
        }
    }
}

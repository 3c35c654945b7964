//! The policy.

use std::time::{Duration, SystemTime};

use mulligan::{Decision, Event, Kind, Remaining};
use serde_json::Value;

/// How long a run waits for a model before it takes another one.
#[derive(Debug, PartialEq)]
pub struct Patience {
    /// Of the time that a run has worked, this share may be waited.
    share: f64,
    /// And so long in any case,
    least: Duration,
    /// but no longer.
    most: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Patience {
            share: 0.1,
            least: Duration::from_secs(8),
            most: Duration::from_secs(120),
        }
    }
}

impl Patience {
    /// Reads the configuration, which the host has checked against the schema.
    pub fn parse(config: Option<&str>) -> Result<Self, mulligan::Error> {
        let config: Value = serde_json::from_str(config.unwrap_or("{}"))?;
        let number = |name: &str, default: f64| config[name].as_f64().unwrap_or(default);
        let given = Patience {
            share: number("share", 0.1),
            least: Duration::try_from_secs_f64(number("least_seconds", 8.0))?,
            most: Duration::try_from_secs_f64(number("most_seconds", 120.0))?,
        };
        if given.least > given.most {
            return Err("least_seconds is more than most_seconds".into());
        }
        Ok(given)
    }

    /// Decides at the given time of the day.
    pub fn decide(&self, e: &Event, now: SystemTime) -> Option<Decision> {
        if !passes(&e.failure.kind) {
            return None;
        }
        let lost = lost(e, now);
        let patience = self.of(e.elapsed.saturating_sub(lost), e.remaining_time);
        let demanded = e.failure.retry_after.unwrap_or_default();
        // An eighth, a quarter, a half: three retries are what patience has room for.
        let wait = (patience / 8 * 2_u32.pow(e.retries.min(10))).max(demanded);
        let said = format!("{} of {} s of patience are used", lost.as_secs(), patience.as_secs());
        if e.retries < e.max_retries && lost + wait < patience {
            return Some(Decision::retry().after(wait).because(said));
        }
        Some(Decision::switch(e.alternatives.first()?).because(said))
    }

    /// The patience of a run that has worked so long, and has so much time left.
    fn of(&self, worked: Duration, left: Remaining<Duration>) -> Duration {
        let patience = worked.mul_f64(self.share).clamp(self.least, self.most);
        match left {
            Remaining::Unlimited => patience,
            Remaining::Left(left) => patience.min(left / 2),
            Remaining::UsedUp => Duration::ZERO,
        }
    }
}

/// Whether it is a trouble that passes by itself.
fn passes(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::RateLimit
            | Kind::Overloaded
            | Kind::Unavailable
            | Kind::Unreachable
            | Kind::Timeout
            | Kind::StreamInterrupted
    )
}

/// How long this model call has been failing: with its attempts, and with the waits between them.
fn lost(e: &Event, now: SystemTime) -> Duration {
    let first = e.tried.first().and_then(|tried| tried.at).unwrap_or(now);
    now.duration_since(first).unwrap_or_default() // a clock that was set back
}

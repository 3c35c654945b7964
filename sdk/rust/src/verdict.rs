use std::time::SystemTime;

use crate::wire::v1;

/// What is said of a model call that is about to begin. A function that has no opinion answers
/// `None`; of several plugins' verdicts the strictest counts.
///
/// ```
/// use mulligan::{Ruling, Verdict};
///
/// let verdict = Verdict::route("openai/gpt-5.2-mini").because("two dollars are spent");
/// assert_eq!(verdict.ruling, Ruling::Route("openai/gpt-5.2-mini".into()));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Verdict {
    /// What becomes of the call.
    pub ruling: Ruling,
    /// For people; may be empty. 500 bytes are kept.
    pub reason: String,
}

/// What becomes of a model call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Ruling {
    /// It may begin.
    Allow,
    /// Another model is asked, one of [`ModelCall::alternatives`](crate::ModelCall::alternatives);
    /// all plugins are asked about that one then.
    Route(String),
    /// It waits until a time within 7 days; the plugins are asked again then.
    Hold(SystemTime),
    /// The model is not asked for this call.
    Refuse,
}

impl Verdict {
    /// Lets the call begin.
    #[must_use]
    pub fn allow() -> Self {
        Self::new(Ruling::Allow)
    }

    /// Has another model asked, one of [`ModelCall::alternatives`](crate::ModelCall::alternatives).
    #[must_use]
    pub fn route(model: impl Into<String>) -> Self {
        Self::new(Ruling::Route(model.into()))
    }

    /// Has the call wait until a time within 7 days.
    #[must_use]
    pub fn hold(until: SystemTime) -> Self {
        Self::new(Ruling::Hold(until))
    }

    /// Keeps the model from being asked for this call, whoever wants it.
    #[must_use]
    pub fn refuse() -> Self {
        Self::new(Ruling::Refuse)
    }

    fn new(ruling: Ruling) -> Self {
        Self {
            ruling,
            reason: String::new(),
        }
    }

    /// Gives a reason for people.
    #[must_use]
    pub fn because(mut self, reason: impl Into<String>) -> Self {
        self.reason = reason.into();
        self
    }
}

impl From<Verdict> for v1::BeforeCallResponse {
    fn from(v: Verdict) -> Self {
        let mut sent = v1::BeforeCallResponse {
            reason: v.reason,
            ..Default::default()
        };
        match v.ruling {
            Ruling::Allow => sent.set_verdict(v1::Verdict::Allow),
            Ruling::Route(model) => {
                sent.set_verdict(v1::Verdict::Route);
                sent.model = model;
            }
            Ruling::Hold(until) => {
                sent.set_verdict(v1::Verdict::Hold);
                sent.until = Some(until.into());
            }
            Ruling::Refuse => sent.set_verdict(v1::Verdict::Refuse),
        }
        sent
    }
}

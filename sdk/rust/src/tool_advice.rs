use std::time::Duration;

use tonic::Status;

use crate::wire::v1;

/// What is done about a tool that failed. A function that has no opinion answers `None`: the model
/// is told what the tool said.
///
/// ```
/// use mulligan::{Remedy, ToolAdvice};
///
/// let advice = ToolAdvice::tell("search is down today: do without it").because("it failed 3 times");
/// assert_eq!(advice.remedy, Remedy::Tell("search is down today: do without it".into()));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolAdvice {
    /// What is done.
    pub remedy: Remedy,
    /// For people; may be empty. 500 bytes are kept.
    pub reason: String,
}

/// What is done about a tool that failed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Remedy {
    /// The same call is made again after a wait of 60 s at most, where the tool may run twice and
    /// [`ToolError::remaining_tries`](crate::ToolError::remaining_tries) allows it.
    RunAgain(Duration),
    /// The model is told these words, 8 KiB at most, in the place of what the tool said.
    Tell(String),
    /// A person is asked: to tell the model, to have the call made again, or to stop.
    Ask,
}

impl ToolAdvice {
    /// Has the same call made again, after a wait.
    #[must_use]
    pub fn run_again(after: Duration) -> Self {
        Self::new(Remedy::RunAgain(after))
    }

    /// Has the model told these words.
    #[must_use]
    pub fn tell(words: impl Into<String>) -> Self {
        Self::new(Remedy::Tell(words.into()))
    }

    /// Has a person asked.
    #[must_use]
    pub fn ask() -> Self {
        Self::new(Remedy::Ask)
    }

    fn new(remedy: Remedy) -> Self {
        Self {
            remedy,
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

impl TryFrom<ToolAdvice> for v1::ToolErrorResponse {
    type Error = Status;

    /// Fails where the message cannot hold what the author said.
    fn try_from(a: ToolAdvice) -> Result<Self, Status> {
        let mut sent = v1::ToolErrorResponse {
            reason: a.reason,
            ..Default::default()
        };
        match a.remedy {
            Remedy::RunAgain(after) => {
                sent.set_action(v1::ToolAction::Retry);
                sent.delay_ms = crate::wire::delay(after)?;
            }
            Remedy::Tell(words) => {
                sent.set_action(v1::ToolAction::Tell);
                sent.words = words;
            }
            Remedy::Ask => sent.set_action(v1::ToolAction::Ask),
        }
        Ok(sent)
    }
}

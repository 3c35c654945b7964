use std::time::Duration;

use crate::Restrict;

/// Advice. A function that has none answers `None`; then the next plugin's answer counts.
///
/// ```
/// use std::time::Duration;
/// use mulligan::Decision;
///
/// let decision = Decision::retry()
///     .after(Duration::from_secs(2))
///     .because("it was busy");
/// assert_eq!(decision.delay, Duration::from_secs(2));
/// ```
///
/// It is advice all the same: limits, budgets and the order of plugins decide what becomes
/// of it, and a delay is raised to what the provider demands.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Decision {
    /// What to do.
    pub action: Action,
    /// How long to wait first; 7 days at most. Sent in milliseconds, rounded up.
    pub delay: Duration,
    /// For people; may be empty. Of a longer one, 500 bytes are kept; 8 KiB are refused.
    pub reason: String,
    /// Extra buttons for a person who is asked; 8 at most.
    pub buttons: Vec<Button>,
    /// What the next attempt changes.
    pub adjust: Adjust,
    /// What is forbidden from now on; the default forbids nothing.
    pub restrict: Restrict,
}

/// What to do about a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// Ask the same model again.
    Retry,
    /// Ask another model, one of [`Event::alternatives`](crate::Event::alternatives), by its full name.
    Switch(String),
    /// Give up.
    Fail,
    /// No opinion: what the decision forbids is all that it says.
    None,
}

impl Decision {
    /// Asks the same model again.
    #[must_use]
    pub fn retry() -> Self {
        Self::new(Action::Retry)
    }

    /// Asks another model, one of [`Event::alternatives`](crate::Event::alternatives).
    ///
    /// ```
    /// # use mulligan::{Decision, Event};
    /// fn elsewhere(e: &Event) -> Option<Decision> {
    ///     Some(Decision::switch(e.alternatives.first()?))
    /// }
    /// ```
    #[must_use]
    pub fn switch(model: impl Into<String>) -> Self {
        Self::new(Action::Switch(model.into()))
    }

    /// Gives up.
    #[must_use]
    pub fn fail() -> Self {
        Self::new(Action::Fail)
    }

    /// Has no opinion, and forbids models:
    ///
    /// ```
    /// # use mulligan::Decision;
    /// let after_hours = Decision::forbid().never("openai/*").because("after hours");
    /// # assert_eq!(after_hours.restrict.never, ["openai/*"]);
    /// ```
    #[must_use]
    pub fn forbid() -> Self {
        Self::new(Action::None)
    }

    fn new(action: Action) -> Self {
        Self {
            action,
            delay: Duration::ZERO,
            reason: String::new(),
            buttons: Vec::new(),
            adjust: Adjust::default(),
            restrict: Restrict::default(),
        }
    }

    /// Forbids a model by its full name, or all of an entry, as in `openai/*`: see [`Restrict`].
    #[must_use]
    pub fn never(mut self, name: impl Into<String>) -> Self {
        self.restrict.never.push(name.into());
        self
    }

    /// Forbids models of which a million output tokens cost more, in millionths of a dollar.
    #[must_use]
    pub fn max_output_price(mut self, microdollars: u64) -> Self {
        self.restrict.max_output_price = Some(microdollars);
        self
    }

    /// Forbids models that are not served on this machine.
    #[must_use]
    pub fn local(mut self) -> Self {
        self.restrict.local = true;
        self
    }

    /// Waits first.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Gives a reason for people.
    #[must_use]
    pub fn because(mut self, reason: impl Into<String>) -> Self {
        self.reason = reason.into();
        self
    }

    /// Adds a button for a person who is asked.
    #[must_use]
    pub fn button(mut self, button: Button) -> Self {
        self.buttons.push(button);
        self
    }

    /// Shortens the conversation before the next attempt.
    #[must_use]
    pub fn compact(mut self) -> Self {
        self.adjust.compact = true;
        self
    }

    /// Sets the next attempt's output limit, in tokens.
    #[must_use]
    pub fn max_output_tokens(mut self, tokens: u32) -> Self {
        self.adjust.max_output_tokens = Some(tokens);
        self
    }

    /// Sets how much the next attempt reasons.
    #[must_use]
    pub fn reasoning_effort(mut self, effort: Effort) -> Self {
        self.adjust.reasoning_effort = Some(effort);
        self
    }

    /// Has the next attempt go on from the partial answer of the one that failed; where nothing
    /// can, it begins anew.
    #[must_use]
    pub fn go_on(mut self) -> Self {
        self.adjust.go_on = true;
        self
    }
}

/// What the next attempt changes; the default changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Adjust {
    /// Shorten the conversation first.
    pub compact: bool,
    /// The output limit, in tokens; `None` = as it is.
    pub max_output_tokens: Option<u32>,
    /// How much the model reasons; `None` = as it is.
    pub reasoning_effort: Option<Effort>,
    /// Go on from the partial answer of the attempt that failed; where nothing can, begin anew.
    pub go_on: bool,
}

/// How much a model reasons before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Little.
    Low,
    /// As usual.
    Medium,
    /// Much.
    High,
}

/// One action that a person may choose.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Button {
    /// For example `retry`, `switch_model`, `edit`; clients draw kinds that they do not know by their label.
    pub kind: String,
    /// What it says on it, 200 bytes at most.
    pub label: String,
    /// Who acts.
    pub effect: Effect,
    /// The model that it is about, `provider/model`; may be empty.
    pub model: String,
    /// The one to offer first.
    pub primary: bool,
    /// Where it leads, http or https; empty = it is pressed, and one of a kind of your own comes
    /// back in [`Event::pressed`](crate::Event::pressed).
    pub url: String,
}

/// Who acts when a button is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The choice is posted back to the runner, which acts on it.
    Runner,
    /// The client acts.
    Client,
}

impl Button {
    /// A button that the runner acts on.
    #[must_use]
    pub fn runner(kind: impl Into<String>, label: impl Into<String>) -> Self {
        Self::new(Effect::Runner, kind.into(), label.into())
    }

    /// A button that the client acts on.
    #[must_use]
    pub fn client(kind: impl Into<String>, label: impl Into<String>) -> Self {
        Self::new(Effect::Client, kind.into(), label.into())
    }

    fn new(effect: Effect, kind: String, label: String) -> Self {
        Self {
            kind,
            label,
            effect,
            model: String::new(),
            primary: false,
            url: String::new(),
        }
    }

    /// Names the model that it is about.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = model.into();
        self
    }

    /// Says where it leads.
    #[must_use]
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.url = url.into();
        self
    }

    /// Makes it the one to offer first.
    #[must_use]
    pub fn primary(mut self) -> Self {
        self.primary = true;
        self
    }
}

use std::fmt::Display;

use crate::{Decision, ToolAdvice, Verdict};

/// An error of any type. Its text reaches the host.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// What an author's function gives, if it may fail: `?` works on every error.
pub type Result<T = Option<Decision>, E = Error> = std::result::Result<T, E>;

/// What an author's function may give: a [`Decision`] (before a call a [`Verdict`], about
/// a tool a [`ToolAdvice`]), an `Option`
/// of one where `None` is "no opinion", or a `Result` of one of these with an error that can be
/// displayed. A function that is told that a run has ended gives nothing, `()`, or a `Result` of it.
///
/// A closure that gives a `Result` has to say which one: `|e| -> mulligan::Result { … }`.
pub trait Answer<T = Decision>: sealed::Answer<T> {}

impl<T, A: sealed::Answer<T>> Answer<T> for A {}

pub(crate) mod sealed {
    use super::{Decision, Display, ToolAdvice, Verdict};

    pub trait Answer<T> {
        /// What was given if there is something, or the error's text.
        fn answer(self) -> Result<Option<T>, String>;
    }

    impl Answer<Decision> for Decision {
        fn answer(self) -> Result<Option<Decision>, String> {
            Ok(Some(self))
        }
    }

    impl Answer<Decision> for Option<Decision> {
        fn answer(self) -> Result<Option<Decision>, String> {
            Ok(self)
        }
    }

    impl Answer<Verdict> for Verdict {
        fn answer(self) -> Result<Option<Verdict>, String> {
            Ok(Some(self))
        }
    }

    impl Answer<Verdict> for Option<Verdict> {
        fn answer(self) -> Result<Option<Verdict>, String> {
            Ok(self)
        }
    }

    impl Answer<ToolAdvice> for ToolAdvice {
        fn answer(self) -> Result<Option<ToolAdvice>, String> {
            Ok(Some(self))
        }
    }

    impl Answer<ToolAdvice> for Option<ToolAdvice> {
        fn answer(self) -> Result<Option<ToolAdvice>, String> {
            Ok(self)
        }
    }

    impl Answer<()> for () {
        fn answer(self) -> Result<Option<()>, String> {
            Ok(None)
        }
    }

    impl<T, A: Answer<T>, E: Display> Answer<T> for Result<A, E> {
        fn answer(self) -> Result<Option<T>, String> {
            match self {
                Ok(answer) => answer.answer(),
                Err(error) => Err(format!("{error:#}")),
            }
        }
    }
}

use std::fmt::Display;

use crate::Decision;

/// An error of any type. Its text reaches the host.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// What an author's function gives, if it may fail: `?` works on every error.
pub type Result<T = Option<Decision>, E = Error> = std::result::Result<T, E>;

/// What an author's function may give: a [`Decision`], an `Option<Decision>` where `None`
/// is "no opinion", or a `Result` of one of these with an error that can be displayed.
///
/// A closure that gives a `Result` has to say which one: `|e| -> mulligan::Result { … }`.
pub trait Answer: sealed::Answer {}

impl<T: sealed::Answer> Answer for T {}

pub(crate) mod sealed {
    use super::{Decision, Display};

    pub trait Answer {
        /// The decision if there is one, or the error's text.
        fn answer(self) -> Result<Option<Decision>, String>;
    }

    impl Answer for Decision {
        fn answer(self) -> Result<Option<Decision>, String> {
            Ok(Some(self))
        }
    }

    impl Answer for Option<Decision> {
        fn answer(self) -> Result<Option<Decision>, String> {
            Ok(self)
        }
    }

    impl<T: Answer, E: Display> Answer for Result<T, E> {
        fn answer(self) -> Result<Option<Decision>, String> {
            match self {
                Ok(answer) => answer.answer(),
                Err(error) => Err(format!("{error:#}")),
            }
        }
    }
}

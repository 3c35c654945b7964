//! Why not.

use std::fmt::{self, Display};

use tonic::{Code, Status};

/// Why the host did not do what was asked of its [values](super).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The host keeps no values for the plugin, or there is no host.
    None,
    /// There is no room for the value.
    Full(String),
    /// The value is no number, or the sum would not fit into 64 bits.
    NotANumber(String),
    /// A key or a value is none.
    Invalid(String),
    /// The host's store cannot be reached now: a change may have been made or not.
    Unreachable(String),
}

impl Error {
    pub(super) fn broken() -> Self {
        Error::Unreachable("the call was broken off".into())
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Error::None => "the host keeps no values for the plugin (MULLIGAN_PLUGIN_VALUES is not set)",
            Error::Full(why) | Error::NotANumber(why) | Error::Invalid(why) | Error::Unreachable(why) => why,
        })
    }
}

impl std::error::Error for Error {}

impl From<Status> for Error {
    fn from(status: Status) -> Self {
        let why = status.message().to_owned();
        match status.code() {
            Code::ResourceExhausted => Error::Full(why),
            Code::FailedPrecondition => Error::NotANumber(why),
            Code::InvalidArgument => Error::Invalid(why),
            code if why.is_empty() => Error::Unreachable(code.to_string()),
            _ => Error::Unreachable(why),
        }
    }
}

//! What a plugin forbids.

use tonic::Status;

use crate::wire::v1;

/// What is forbidden from now on, whoever advises or chooses it, until the plugin answers about
/// the run again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Restrict {
    /// Models by their full names, and entries as in `openai/*`; 64 at most.
    pub never: Vec<String>,
    /// The most that a million output tokens may cost, in millionths of a dollar; `None` = any
    /// price. A model whose price is not known is forbidden then.
    pub max_output_price: Option<u64>,
    /// Only models that are served on this machine.
    pub local: bool,
}

impl TryFrom<Restrict> for v1::Restrict {
    type Error = Status;

    fn try_from(x: Restrict) -> Result<Self, Status> {
        Ok(v1::Restrict {
            never: x.never,
            max_output_price: i64::try_from(x.max_output_price.unwrap_or(0))
                .map_err(|_| Status::unknown("max_output_price is too large to be sent"))?,
            local: x.local,
        })
    }
}

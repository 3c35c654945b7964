//! What a model costs.

use crate::wire::v1;

/// What a million tokens of a model cost, in millionths of a dollar.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Price {
    /// Of input.
    pub input: u64,
    /// Of output.
    pub output: u64,
    /// Of input that is read from a cache; 0 = as other input.
    pub cache_read: u64,
    /// Of input that is written to a cache; 0 = as other input.
    pub cache_write: u64,
}

impl From<v1::Price> for Price {
    fn from(p: v1::Price) -> Self {
        let cost = |microdollars| u64::try_from(microdollars).unwrap_or(0);
        Price {
            input: cost(p.input),
            output: cost(p.output),
            cache_read: cost(p.cache_read),
            cache_write: cost(p.cache_write),
        }
    }
}

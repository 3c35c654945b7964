use std::time::{Duration, SystemTime};

use crate::wire::{self, v1};
use crate::{Kind, Price};

/// A model that the run could be switched to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Alternative {
    /// The full name, `provider/model`.
    pub model: String,
    /// The size of its context in tokens; `None` = not known.
    pub context_tokens: Option<u64>,
    /// What it costs; `None` = not known. Some cost nothing.
    pub price: Option<crate::Price>,
    /// It is served on this machine.
    pub local: bool,
    /// What it cannot take: `images`, `tools`, `schema`.
    pub lacks: Vec<String>,
    /// It cools down until then, and is not asked by itself; `None` = it does not.
    pub cools_until: Option<SystemTime>,
    /// Because of a failure of that kind.
    pub cooling_kind: Kind,
    /// How its last call ended, of all runs of the host: `well` or `failing`; empty = not known.
    pub health: String,
}

impl From<&Alternative> for String {
    fn from(alternative: &Alternative) -> String {
        alternative.model.clone()
    }
}

/// One failed attempt of a model call.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Tried {
    /// From 0, within the model call.
    pub attempt: u32,
    /// The model's full name, `provider/model`.
    pub model: String,
    /// The code of its failure.
    pub code: String,
    /// When it began.
    pub at: Option<SystemTime>,
    /// How long it took.
    pub took: Duration,
}

/// How a model call ended that is over.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RecentCall {
    /// The model's full name, `provider/model`.
    pub model: String,
    /// The kind of its failure; [`Kind::NotSet`] = it was answered.
    pub kind: Kind,
    /// When it ended.
    pub at: Option<SystemTime>,
}

impl From<v1::Tried> for Tried {
    fn from(t: v1::Tried) -> Self {
        Tried {
            attempt: wire::count(t.attempt),
            model: t.model,
            code: t.code,
            at: t.at.and_then(wire::time),
            took: wire::millis(t.ms),
        }
    }
}

impl From<v1::Alternative> for Alternative {
    fn from(a: v1::Alternative) -> Self {
        Alternative {
            model: a.model,
            context_tokens: u64::try_from(a.context_tokens).ok().filter(|tokens| *tokens != 0),
            price: a.price.map(Price::from),
            local: a.local,
            lacks: a.lacks,
            cools_until: a.cools_until.and_then(wire::time),
            cooling_kind: Kind::from(a.cooling_kind.as_str()),
            health: a.health,
        }
    }
}

impl From<v1::RecentCall> for RecentCall {
    fn from(c: v1::RecentCall) -> Self {
        RecentCall {
            model: c.model,
            kind: Kind::from(c.kind.as_str()),
            at: c.at.and_then(wire::time),
        }
    }
}

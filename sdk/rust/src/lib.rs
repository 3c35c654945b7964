//! Makes a recovery plugin for Mulligan out of a function. A whole plugin:
//!
//! ```no_run
//! use std::time::Duration;
//! use mulligan::{Decision, Event, Kind, serve};
//!
//! fn rules(e: &Event) -> Option<Decision> {
//!     if e.failure.kind == Kind::RateLimit && e.attempt < 3 {
//!         return Some(Decision::retry().after(e.failure.retry_after.unwrap_or(Duration::from_secs(1))));
//!     }
//!     None // no opinion: the next plugin is asked
//! }
//!
//! fn main() {
//!     serve("my-rules", rules)
//! }
//! ```
//!
//! A host starts the plugin and asks it about failures, several at a time and each under a
//! deadline (2 s by default, [`Event::deadline`]). The function may give a [`Decision`], an
//! `Option` of one, or a [`Result`]; [`Answer`] has the list. An error or a panic is "no
//! opinion", and the process lives on after both, unless it is compiled with
//! `panic = "abort"`. [`serve_async`] takes an async function, [`Plugin`] has the rest: the
//! version, a configuration, the log level, and the occasions beside failures: before a model
//! call begins, when a tool has failed, and when a run has ended. [`testing`] makes events for tests.
//!
//! [`state_dir`] is a folder of the plugin's own on this machine; [`values`] are what the host keeps for it.
//!
//! Standard output belongs to the protocol: print nothing before the plugin serves. What is
//! printed later goes to standard error, and from there to the host's log. Better is the
//! [`log`] that this crate hands on: it writes one JSON object a line with the ids of the
//! call's run.
//!
//! ```
//! use mulligan::log;
//!
//! log::info!(spent = 12.5, model = "openai/gpt-5.2"; "over quota");
//! ```
//!
//! The process ends with its host: when asked to, when its standard input closes, and when
//! its parent is gone. Standard input, the signal SIGINT, and the panic hook are the crate's.
//! It is for unix systems.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod alternative;
mod answer;
mod decision;
mod event;
mod kind;
mod life;
mod lines;
mod model_call;
mod name;
mod plugin;
mod price;
mod restrict;
mod run_ended;
mod server;
mod service;
mod start;
mod state;
pub mod testing;
mod tls;
mod tool_advice;
mod tool_error;
pub mod values;
mod verdict;
mod wire;

pub use alternative::{Alternative, RecentCall, Tried};
pub use answer::{Answer, Error, Result};
pub use decision::{Action, Adjust, Button, Decision, Effect, Effort};
pub use event::{Event, Failure, Remaining};
pub use kind::Kind;
pub use log;
pub use model_call::ModelCall;
pub use name::{Origin, Phase, ReplaySafety, Timer, ToolSafety};
pub use plugin::{Plugin, serve, serve_async};
pub use price::Price;
pub use restrict::Restrict;
pub use run_ended::RunEnded;
pub use state::state_dir;
pub use tool_advice::{Remedy, ToolAdvice};
pub use tool_error::ToolError;
pub use verdict::{Ruling, Verdict};

/// Tests the code of the author's page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

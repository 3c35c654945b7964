//! The words of the wire as types. A word that this version does not know is kept.

/// Makes an enum of words: unit variants with a name on the wire, one for "not set" and
/// one for every word that is not listed.
macro_rules! words {
    ($(#[$about:meta])* $type:ident { $($(#[$doc:meta])* $variant:ident = $name:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $type {
            /// The host did not say.
            #[default]
            NotSet,
            $($(#[$doc])* $variant,)*
            /// One that this version of the crate does not know, by its name.
            Other(String),
        }

        impl $type {
            /// All that this version of the crate knows.
            pub const ALL: &'static [$type] = &[$($type::$variant),*];

            /// The name on the wire, in lower case; empty if the host did not say.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    Self::NotSet => "",
                    $(Self::$variant => $name,)*
                    Self::Other(name) => name,
                }
            }
        }

        impl From<&str> for $type {
            fn from(name: &str) -> Self {
                match name {
                    "" => Self::NotSet,
                    $($name => Self::$variant,)*
                    other => Self::Other(other.to_owned()),
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

words! {
    /// What went wrong. New kinds may appear: treat those you do not know by
    /// [`Failure::retryable`](crate::Failure::retryable), or have no opinion.
    ///
    /// ```
    /// use mulligan::Kind;
    ///
    /// assert_eq!(Kind::from("rate_limit"), Kind::RateLimit);
    /// assert_eq!(Kind::from("brand_new").to_string(), "brand_new");
    /// ```
    Kind {
        /// The provider did not answer in time. Retryable.
        Timeout = "timeout",
        /// DNS, refused, reset before an answer, no route. Retryable.
        Unreachable = "unreachable",
        /// The connection could not be secured. Not retryable.
        Tls = "tls",
        /// The key is missing, refused or expired; region; permission. Not retryable.
        Auth = "auth",
        /// No credit, or a spend limit. Not retryable.
        Billing = "billing",
        /// Too many requests. Retryable after [`Failure::retry_after`](crate::Failure::retry_after).
        RateLimit = "rate_limit",
        /// A daily or plan limit. Not before [`Failure::resets_at`](crate::Failure::resets_at).
        Quota = "quota",
        /// The provider has no capacity. Retryable.
        Overloaded = "overloaded",
        /// The provider failed, HTTP 5xx. Retryable.
        Unavailable = "unavailable",
        /// The answer broke off. Retryable.
        StreamInterrupted = "stream_interrupted",
        /// The answer could not be read. Retryable.
        MalformedResponse = "malformed_response",
        /// The answer said nothing. Retryable once.
        EmptyResponse = "empty_response",
        /// The conversation is too long for the model. Not retryable.
        ContextOverflow = "context_overflow",
        /// The provider refused the request or its history. Not retryable.
        InvalidRequest = "invalid_request",
        /// A refusal or a safety filter. Not retryable.
        ContentFilter = "content_filter",
        /// The provider does not have the model. Not retryable.
        ModelNotFound = "model_not_found",
        /// Cut at the output limit. Once, with a larger limit.
        OutputTruncated = "output_truncated",
        /// A wrong base URL, a redirect, a proxy that wants a login. Not retryable.
        Misconfigured = "misconfigured",
        /// A tool failed; the model gets the error.
        ToolFailure = "tool_failure",
        /// No step finished in time. Retryable.
        StepTimeout = "step_timeout",
        /// The turn took too long. Not retryable.
        MaxTurnTime = "max_turn_time",
        /// The run took too long. Not retryable.
        RunTimeout = "run_timeout",
        /// The process died. Retryable.
        Interrupted = "interrupted",
        /// The input could not become a request. Not retryable.
        PromptFailure = "prompt_failure",
        /// A panic or error in the runner or in an embedder's code. Not retryable.
        Internal = "internal",
        /// Tokens or money are used up. Not retryable.
        Budget = "budget",
        /// None of these. Retryable once.
        Unknown = "unknown",
        /// The model asked for tools as often as the run allows. Not retryable.
        RoundLimit = "round_limit",
    }
}

words! {
    /// Whose failure it is.
    Origin {
        /// The model or its provider.
        Model = "model",
        /// A tool.
        Tool = "tool",
        /// The building of the request.
        Prompt = "prompt",
        /// A plugin.
        Hook = "hook",
        /// The runner itself.
        Runner = "runner",
    }
}

words! {
    /// How far the attempt had come.
    Phase {
        /// The request was being built.
        Prompt = "prompt",
        /// Nothing was sent yet.
        BeforeConnect = "before_connect",
        /// Sent, and nothing heard yet.
        BeforeFirstEvent = "before_first_event",
        /// The answer had begun.
        MidStream = "mid_stream",
        /// The answer ended, and not well.
        EndOfStream = "end_of_stream",
        /// A tool was running.
        Tool = "tool",
    }
}

words! {
    /// A clock.
    Timer {
        /// Until the connection stands.
        Connect = "connect",
        /// From sending to the first event.
        FirstEvent = "first_event",
        /// Between bytes.
        Bytes = "bytes",
        /// Between signs of progress.
        Idle = "idle",
        /// Until a step finishes.
        Step = "step",
        /// The whole turn.
        MaxTurn = "max_turn",
        /// The whole run.
        Run = "run",
        /// One tool call.
        Tool = "tool",
        /// A deliberate wait.
        Wait = "wait",
        /// The life of a suggestion.
        Expiry = "expiry",
        /// Until people are told that a step takes long.
        ProgressAfter = "progress_after",
    }
}

words! {
    /// Whether the attempt may be repeated without doing something twice. What is not
    /// [`Safe`](Self::Safe) may do harm: not set means unknown.
    ReplaySafety {
        /// It may.
        Safe = "safe",
        /// A tool that must not run twice is in the air.
        Unsafe = "unsafe",
        /// One was when its owner was lost: it may or may not have happened.
        Unknown = "unknown",
    }
}

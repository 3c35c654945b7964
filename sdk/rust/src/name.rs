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

pub(crate) use words;

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

words! {
    /// Whether a tool may run twice. Not set means `Unsafe`.
    ToolSafety {
        /// A call is never repeated.
        Unsafe = "unsafe",
        /// Two calls with the same key have the effect of one.
        Idempotent = "idempotent",
        /// It changes nothing.
        ReadOnly = "read_only",
    }
}

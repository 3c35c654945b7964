use std::sync::{Arc, OnceLock};

use log::LevelFilter;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinSet;

use crate::answer::sealed::Answer as _;
use crate::lines::{CALL, Call};
use crate::{Answer, Decision, Error, Event, ModelCall, RunEnded, ToolAdvice, ToolError, Verdict, start};

/// Serves a function until its host goes away: [`Plugin::serve`] without more.
pub fn serve<F, A>(name: impl Into<String>, function: F) -> !
where
    F: Fn(&Event) -> A + Send + Sync + 'static,
    A: Answer,
{
    Plugin::new(name).serve(function)
}

/// Serves an async function until its host goes away: [`Plugin::serve_async`] without more.
pub fn serve_async<F, A>(name: impl Into<String>, function: F) -> !
where
    F: Fn(Event) -> A + Send + Sync + 'static,
    A: Future<Output: Answer> + Send + 'static,
{
    Plugin::new(name).serve_async(function)
}

/// A plugin before it serves.
///
/// ```no_run
/// use std::sync::OnceLock;
/// use mulligan::{Decision, Plugin};
///
/// static GREETING: OnceLock<String> = OnceLock::new();
///
/// fn main() {
///     Plugin::new("greeter")
///         .version(env!("CARGO_PKG_VERSION"))
///         .config_schema(r#"{"type": "string"}"#)
///         .configure(|config| {
///             let greeting = config.ok_or("a greeting is needed")?;
///             GREETING.set(greeting.to_owned()).map_err(|_| "configured twice".into())
///         })
///         .serve(|_| Decision::fail().because(GREETING.get().map_or("", String::as_str)))
/// }
/// ```
pub struct Plugin {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) config_schema: String,
    pub(crate) configure: Arc<Configure>,
    pub(crate) before_call: Option<Function<ModelCall, Verdict>>,
    pub(crate) tool_error: Option<Function<ToolError, ToolAdvice>>,
    pub(crate) run_ended: Option<Function<RunEnded, ()>>,
    log_level: LevelFilter,
}

/// Takes the configuration, or says why not.
pub(crate) type Configure = dyn Fn(Option<&str>) -> Result<(), Error> + Send + Sync;

/// Starts a call of an author's function as a task of its own.
pub(crate) type Function<E = Event, T = Decision> = Box<dyn Fn(E, &mut JoinSet<Given<T>>) + Send + Sync>;

/// What the function gave, if it gave something, or the text of its error.
pub(crate) type Given<T> = Result<Option<T>, String>;

impl Plugin {
    /// A plugin that calls itself so, in 100 bytes at most; its host knows it by the name in
    /// its own configuration.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Plugin {
            name: name.into(),
            version: String::new(),
            config_schema: String::new(),
            configure: Arc::new(|_| Ok(())),
            before_call: None,
            tool_error: None,
            run_ended: None,
            log_level: LevelFilter::Info,
        }
    }

    /// Says the plugin's version, in 100 bytes at most; it is kept with every vote.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// Gives the JSON Schema (2020-12, 256 KiB at most) of the plugin's configuration; the
    /// host checks it before the plugin sees it. Without one any configuration will do.
    #[must_use]
    pub fn config_schema(mut self, schema: impl Into<String>) -> Self {
        self.config_schema = schema.into();
        self
    }

    /// Is called once with the configuration, one JSON value, before any event; `None` means
    /// that there is none. An error refuses it and is shown to people.
    #[must_use]
    pub fn configure<F>(mut self, configure: F) -> Self
    where
        F: Fn(Option<&str>) -> Result<(), Error> + Send + Sync + 'static,
    {
        self.configure = Arc::new(configure);
        self
    }

    /// Takes the occasion `before_call`: the function is asked before every model call, where the
    /// plugin's entry in `mulligan.yaml` names it. It has 500 ms, and may block. An error or a
    /// panic is no opinion, or with `fail_closed` in that entry a refusal.
    ///
    /// ```no_run
    /// use mulligan::{ModelCall, Plugin, Verdict};
    ///
    /// fn gate(c: &ModelCall) -> Option<Verdict> {
    ///     let personal = c.labels.get("data").is_some_and(|data| data == "personal");
    ///     (personal && !c.model.local).then(|| Verdict::refuse().because("personal data stays on this machine"))
    /// }
    ///
    /// fn main() {
    ///     Plugin::new("data-gate").before_call(gate).serve(|_| None)
    /// }
    /// ```
    #[must_use]
    pub fn before_call<F, A>(mut self, function: F) -> Self
    where
        F: Fn(&ModelCall) -> A + Send + Sync + 'static,
        A: Answer<Verdict>,
    {
        self.before_call = Some(blocking(function));
        self
    }

    /// The same for an async function, which gets the call for its own.
    #[must_use]
    pub fn before_call_async<F, A>(mut self, function: F) -> Self
    where
        F: Fn(ModelCall) -> A + Send + Sync + 'static,
        A: Future<Output: Answer<Verdict>> + Send + 'static,
    {
        self.before_call = Some(asynchronous(function, runtime()));
        self
    }

    /// Takes the occasion `tool_error`: the function is asked about a tool that failed before the
    /// model is told, where the plugin's entry in `mulligan.yaml` names it.
    ///
    /// ```no_run
    /// use std::time::Duration;
    /// use mulligan::{Plugin, ToolAdvice, ToolError};
    ///
    /// fn mend(e: &ToolError) -> Option<ToolAdvice> {
    ///     (e.timed_out && e.remaining_tries > 0).then(|| ToolAdvice::run_again(Duration::from_secs(1)))
    /// }
    ///
    /// fn main() {
    ///     Plugin::new("mender").tool_error(mend).serve(|_| None)
    /// }
    /// ```
    #[must_use]
    pub fn tool_error<F, A>(mut self, function: F) -> Self
    where
        F: Fn(&ToolError) -> A + Send + Sync + 'static,
        A: Answer<ToolAdvice>,
    {
        self.tool_error = Some(blocking(function));
        self
    }

    /// The same for an async function, which gets what failed for its own.
    #[must_use]
    pub fn tool_error_async<F, A>(mut self, function: F) -> Self
    where
        F: Fn(ToolError) -> A + Send + Sync + 'static,
        A: Future<Output: Answer<ToolAdvice>> + Send + 'static,
    {
        self.tool_error = Some(asynchronous(function, runtime()));
        self
    }

    /// Takes the occasion `run_ended`: the function is told when a run has ended, where the
    /// plugin's entry in `mulligan.yaml` names it.
    #[must_use]
    pub fn run_ended<F, A>(mut self, function: F) -> Self
    where
        F: Fn(&RunEnded) -> A + Send + Sync + 'static,
        A: Answer<()>,
    {
        self.run_ended = Some(blocking(function));
        self
    }

    /// The same for an async function, which gets what is told for its own.
    #[must_use]
    pub fn run_ended_async<F, A>(mut self, function: F) -> Self
    where
        F: Fn(RunEnded) -> A + Send + Sync + 'static,
        A: Future<Output: Answer<()>> + Send + 'static,
    {
        self.run_ended = Some(asynchronous(function, runtime()));
        self
    }

    /// Logs what is at least so grave; without it, `Info`. A logger that was set before the
    /// plugin serves keeps its own level.
    #[must_use]
    pub fn log_level(mut self, level: LevelFilter) -> Self {
        self.log_level = level;
        self
    }

    /// Answers a host until it goes away, then exits with status 0. The function is called
    /// from several threads at once; it may block. Started by hand, the program says how it is
    /// used and exits with status 1; so it does, with a reason, where it cannot serve.
    pub fn serve<F, A>(self, function: F) -> !
    where
        F: Fn(&Event) -> A + Send + Sync + 'static,
        A: Answer,
    {
        self.serve_function(blocking(function))
    }

    /// The same for an async function, which gets the event for its own. Its futures run on a
    /// multi-threaded tokio runtime, and are dropped when the host gives a call up.
    ///
    /// ```no_run
    /// use std::time::Duration;
    /// use mulligan::{Decision, Event, Plugin};
    ///
    /// async fn rules(e: Event) -> mulligan::Result {
    ///     tokio::time::sleep(Duration::from_millis(100)).await; // ask another service, say
    ///     Ok(e.failure.retryable.then(Decision::retry))
    /// }
    ///
    /// fn main() {
    ///     Plugin::new("my-rules").serve_async(rules)
    /// }
    /// ```
    pub fn serve_async<F, A>(self, function: F) -> !
    where
        F: Fn(Event) -> A + Send + Sync + 'static,
        A: Future<Output: Answer> + Send + 'static,
    {
        self.serve_function(asynchronous(function, runtime()))
    }

    fn serve_function(self, function: Function) -> ! {
        let host = start::Host::from_environment();
        crate::lines::start(self.log_level);
        // On a thread of its own: the caller may be inside a runtime.
        match std::thread::spawn(move || crate::server::run(&host, self, function)).join() {
            Ok(Err(error)) => start::fail(error),
            Ok(Ok(never)) => match never {},
            Err(_) => std::process::exit(1), // the panic has been printed
        }
    }
}

/// Where the author's async functions run: of its own, so that futures that block do not keep the
/// server from its duties.
fn runtime() -> Handle {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| {
        Builder::new_multi_thread()
            .thread_name("plugin")
            .enable_all()
            .build()
            .unwrap_or_else(|error| start::fail(format_args!("cannot start threads: {error}")))
    });
    runtime.handle().clone()
}

/// Runs a function on the threads that may block of the runtime that asks.
pub(crate) fn blocking<E, T, F, A>(function: F) -> Function<E, T>
where
    E: Send + 'static,
    for<'e> Call: From<&'e E>,
    T: Send + 'static,
    F: Fn(&E) -> A + Send + Sync + 'static,
    A: Answer<T>,
{
    let function = Arc::new(function);
    Box::new(move |event, tasks| {
        let function = Arc::clone(&function);
        tasks.spawn_blocking(move || CALL.sync_scope(Call::from(&event), || function(&event).answer()));
    })
}

/// Runs an async function on the given runtime.
pub(crate) fn asynchronous<E, T, F, A>(function: F, runtime: Handle) -> Function<E, T>
where
    E: Send + 'static,
    for<'e> Call: From<&'e E>,
    T: Send + 'static,
    F: Fn(E) -> A + Send + Sync + 'static,
    A: Future<Output: Answer<T>> + Send + 'static,
{
    let function = Arc::new(function);
    Box::new(move |event, tasks| {
        let function = Arc::clone(&function);
        let call = Call::from(&event);
        let answer = async move { function(event).await.answer() };
        tasks.spawn_on(CALL.scope(call, answer), &runtime);
    })
}

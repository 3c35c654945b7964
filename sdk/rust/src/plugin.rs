use std::sync::Arc;

use log::LevelFilter;
use tokio::runtime::{Builder, Handle};
use tokio::task::JoinSet;

use crate::answer::sealed::Answer as _;
use crate::lines::{CALL, Call};
use crate::{Answer, Error, Event, start};

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
    log_level: LevelFilter,
}

/// Takes the configuration, or says why not.
pub(crate) type Configure = dyn Fn(Option<&str>) -> Result<(), Error> + Send + Sync;

/// Starts a call of the author's function as a task of its own.
pub(crate) type Function = Box<dyn Fn(Event, &mut JoinSet<Given>) + Send + Sync>;

/// What the function gave: a decision if it has one, or the text of its error.
pub(crate) type Given = Result<Option<crate::Decision>, String>;

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
        // Of its own, so that futures that block do not keep the server from its duties.
        let runtime = Builder::new_multi_thread()
            .thread_name("plugin")
            .enable_all()
            .build()
            .unwrap_or_else(|error| start::fail(format_args!("cannot start threads: {error}")));
        self.serve_function(asynchronous(function, runtime.handle().clone()))
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

/// Runs a function on the threads that may block of the runtime that asks.
pub(crate) fn blocking<F, A>(function: F) -> Function
where
    F: Fn(&Event) -> A + Send + Sync + 'static,
    A: Answer,
{
    let function = Arc::new(function);
    Box::new(move |event, tasks| {
        let function = Arc::clone(&function);
        tasks.spawn_blocking(move || CALL.sync_scope(Call::new(&event), || function(&event).answer()));
    })
}

/// Runs an async function on the given runtime.
pub(crate) fn asynchronous<F, A>(function: F, runtime: Handle) -> Function
where
    F: Fn(Event) -> A + Send + Sync + 'static,
    A: Future<Output: Answer> + Send + 'static,
{
    let function = Arc::new(function);
    Box::new(move |event, tasks| {
        let function = Arc::clone(&function);
        let call = Call::new(&event);
        let answer = async move { function(event).await.answer() };
        tasks.spawn_on(CALL.scope(call, answer), &runtime);
    })
}

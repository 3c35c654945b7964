//! A question to the host that is waited for by a thread or by a task.

use std::io;
use std::pin::Pin;
use std::sync::{OnceLock, mpsc};
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

use super::Error;
use crate::lines::CALL;

/// Longer takes no call of the host's values.
const TIMEOUT: Duration = Duration::from_secs(5);

type Answer<T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send>>;

/// What the host will answer: [`wait`](Asked::wait) for it in a function, `.await` it in an async one.
#[must_use = "the host is asked once somebody waits"]
pub struct Asked<T>(Answer<T>);

impl<T: Send + 'static> Asked<T> {
    pub(super) fn new(answer: impl Future<Output = Result<T, Error>> + Send + 'static) -> Self {
        Asked(Box::pin(answer))
    }

    /// Asks, and keeps the thread waiting for the answer.
    pub fn wait(self) -> Result<T, Error> {
        let (answered, answer) = mpsc::sync_channel(1);
        let asked = self.answer();
        runtime()?.spawn(async move { answered.send(asked.await) });
        answer.recv().unwrap_or_else(|_| Err(Error::broken()))
    }

    /// The answer, within the time that the caller has.
    fn answer(self) -> impl Future<Output = Result<T, Error>> + Send + 'static {
        let limit = time_left();
        async move {
            match tokio::time::timeout(limit, self.0).await {
                Ok(answer) => answer,
                Err(_) => Err(Error::Unreachable("no answer in time".into())),
            }
        }
    }
}

impl<T: Send + 'static> IntoFuture for Asked<T> {
    type Output = Result<T, Error>;
    type IntoFuture = Answer<T>;

    fn into_future(self) -> Self::IntoFuture {
        let asked: Result<JoinHandle<_>, Error> = runtime().map(|runtime| runtime.spawn(self.answer()));
        Box::pin(async { asked?.await.unwrap_or_else(|_| Err(Error::broken())) })
    }
}

/// How long the call at hand still has.
fn time_left() -> Duration {
    match CALL.try_with(|call| call.deadline) {
        Ok(Some(deadline)) => deadline.saturating_duration_since(Instant::now()).min(TIMEOUT),
        _ => TIMEOUT,
    }
}

/// Where the host is asked: of its own, so that functions which keep their threads busy wait for nobody
/// but the host.
fn runtime() -> Result<&'static Runtime, Error> {
    static RUNTIME: OnceLock<io::Result<Runtime>> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| {
        let mut one = Builder::new_multi_thread();
        one.worker_threads(1).thread_name("values").enable_all().build()
    });
    runtime.as_ref().map_err(|error| Error::Unreachable(error.to_string()))
}

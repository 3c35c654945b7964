//! What the plugin's services do.

use std::any::Any;
use std::time::{Duration, Instant};

use tokio::task::{JoinError, JoinSet};
use tonic::codegen::tokio_stream::{self, Pending};
use tonic::metadata::MetadataMap;
use tonic::{Code, Request, Response, Status, async_trait};

use crate::plugin::Function;
use crate::wire::go_plugin::grpc_controller_server::GrpcController;
use crate::wire::go_plugin::grpc_stdio_server::GrpcStdio;
use crate::wire::go_plugin::{Empty, StdioData};
use crate::wire::v1::recovery_plugin_server::RecoveryPlugin;
use crate::wire::v1::{
    BeforeCallRequest, BeforeCallResponse, ConfigureRequest, ConfigureResponse, DescribeRequest, DescribeResponse,
    RunEndedRequest, RunEndedResponse, RunErrorRequest, RunErrorResponse,
};
use crate::{Event, Plugin, life};

/// The most that a host is told of an error, in bytes.
const MAX_ERROR: usize = 2 << 10;

/// The author's function behind the service.
pub(crate) struct Recovery {
    pub(crate) plugin: Plugin,
    pub(crate) function: Function,
}

#[async_trait]
impl RecoveryPlugin for Recovery {
    async fn describe(&self, _: Request<DescribeRequest>) -> Result<Response<DescribeResponse>, Status> {
        Ok(Response::new(DescribeResponse {
            name: self.plugin.name.clone(),
            version: self.plugin.version.clone(),
            config_schema: self.plugin.config_schema.clone().into_bytes(),
            occasions: Vec::new(),
        }))
    }

    async fn configure(&self, request: Request<ConfigureRequest>) -> Result<Response<ConfigureResponse>, Status> {
        let config = String::from_utf8(request.into_inner().config)
            .map_err(|_| Status::invalid_argument("the configuration is not UTF-8"))?;
        let configure = self.plugin.configure.clone();
        let mut tasks = JoinSet::new();
        tasks.spawn_blocking(move || {
            let given = (!config.is_empty()).then_some(config.as_str());
            configure(given).map_err(|error| format!("{error:#}"))
        });
        finish(&mut tasks, None, Code::InvalidArgument).await?;
        Ok(Response::new(ConfigureResponse {}))
    }

    async fn run_error(&self, request: Request<RunErrorRequest>) -> Result<Response<RunErrorResponse>, Status> {
        let deadline = time_left(request.metadata()).and_then(|left| Instant::now().checked_add(left));
        let mut tasks = JoinSet::new();
        (self.function)(Event::new(request.into_inner(), deadline), &mut tasks);
        let reply = match finish(&mut tasks, deadline, Code::Unknown).await? {
            Some(decision) => decision.try_into()?,
            None => RunErrorResponse::default(),
        };
        Ok(Response::new(reply))
    }

    async fn before_call(&self, _: Request<BeforeCallRequest>) -> Result<Response<BeforeCallResponse>, Status> {
        Err(Status::unimplemented("the plugin does not take before_call"))
    }

    async fn run_ended(&self, _: Request<RunEndedRequest>) -> Result<Response<RunEndedResponse>, Status> {
        Err(Status::unimplemented("the plugin does not take run_ended"))
    }
}

/// Waits for the one task of a call, which ends with the call: an async one is dropped then,
/// a blocking one runs on and nobody waits for it. The code is that of the author's error.
async fn finish<T: 'static>(
    tasks: &mut JoinSet<Result<T, String>>,
    deadline: Option<Instant>,
    code: Code,
) -> Result<T, Status> {
    let finished = match deadline {
        Some(deadline) => tokio::time::timeout_at(deadline.into(), tasks.join_next()).await,
        None => Ok(tasks.join_next().await),
    };
    match finished {
        Err(_) => Err(Status::deadline_exceeded("no answer in time")),
        Ok(Some(Ok(given))) => given.map_err(|error| Status::new(code, clip(error))),
        Ok(Some(Err(error))) => Err(Status::internal(clip(format!("panic: {}", panic_text(error))))),
        Ok(None) => Err(Status::internal("nothing was started")),
    }
}

fn panic_text(error: JoinError) -> String {
    let thrown: Box<dyn Any + Send> = match error.try_into_panic() {
        Ok(thrown) => thrown,
        Err(error) => return error.to_string(),
    };
    match thrown.downcast::<String>() {
        Ok(text) => *text,
        Err(thrown) => thrown.downcast_ref::<&str>().unwrap_or(&"not a text").to_string(),
    }
}

/// Keeps what a host is told within its bounds.
fn clip(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(MAX_ERROR));
    text
}

/// Reads how long the caller waits; `None` = for ever. The format is gRPC's: up to eight
/// digits and a unit.
fn time_left(metadata: &MetadataMap) -> Option<Duration> {
    let text = metadata.get("grpc-timeout")?.to_str().ok()?;
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if digits.len() > 8 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let n: u64 = digits.parse().ok()?;
    match unit {
        "H" => Some(Duration::from_secs(n * 3600)),
        "M" => Some(Duration::from_secs(n * 60)),
        "S" => Some(Duration::from_secs(n)),
        "m" => Some(Duration::from_millis(n)),
        "u" => Some(Duration::from_micros(n)),
        "n" => Some(Duration::from_nanos(n)),
        _ => None,
    }
}

/// Ends the process.
pub(crate) struct Controller;

#[async_trait]
impl GrpcController for Controller {
    async fn shutdown(&self, _: Request<Empty>) -> Result<Response<Empty>, Status> {
        life::end();
        Ok(Response::new(Empty {}))
    }
}

/// Holds the stream open that hosts ask for, and sends nothing: outputs go their own way.
pub(crate) struct Stdio;

#[async_trait]
impl GrpcStdio for Stdio {
    type StreamStdioStream = Pending<Result<StdioData, Status>>;

    async fn stream_stdio(&self, _: Request<()>) -> Result<Response<Self::StreamStdioStream>, Status> {
        Ok(Response::new(tokio_stream::pending()))
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::sync::mpsc;
    use std::thread::sleep;

    use tokio::runtime::{Builder, Runtime};

    use super::*;
    use crate::plugin::{asynchronous, blocking};
    use crate::wire::v1::Action;
    use crate::{Answer, Decision};

    fn runtime() -> Runtime {
        Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap()
    }

    /// Asks a function once, with the time that the caller waits, in gRPC's words.
    fn ask(function: Function, timeout: Option<&'static str>) -> Result<RunErrorResponse, Status> {
        let recovery = Recovery {
            plugin: Plugin::new("test"),
            function,
        };
        let mut request = Request::new(RunErrorRequest::default());
        if let Some(timeout) = timeout {
            request.metadata_mut().insert("grpc-timeout", timeout.parse().unwrap());
        }
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let answered = runtime.block_on(recovery.run_error(request)).map(Response::into_inner);
        runtime.shutdown_background(); // a blocking function may still be running
        answered
    }

    /// The same function in both forms, one after the other.
    fn both<A: Answer + Send + 'static>(
        function: impl Fn() -> A + Clone + Send + Sync + 'static,
    ) -> [Result<RunErrorResponse, Status>; 2] {
        let other = function.clone();
        let runtime = runtime();
        [
            ask(blocking(move |_| function()), None),
            ask(
                asynchronous(
                    move |_| {
                        let function = other.clone();
                        async move { function() }
                    },
                    runtime.handle().clone(),
                ),
                None,
            ),
        ]
    }

    #[test]
    fn a_decision_is_sent() {
        for reply in both(|| Some(Decision::fail().because("no use"))) {
            let reply = reply.unwrap();
            assert_eq!((reply.action(), reply.reason.as_str()), (Action::Fail, "no use"));
        }
    }

    #[test]
    fn no_opinion_is_an_empty_message() {
        for reply in both(|| None) {
            assert_eq!(reply.unwrap(), RunErrorResponse::default());
        }
    }

    #[test]
    fn an_error_is_unknown_with_its_text() {
        for reply in both(|| -> crate::Result { Err("boom".into()) }) {
            let status = reply.unwrap_err();
            assert_eq!((status.code(), status.message()), (Code::Unknown, "boom"));
        }
    }

    #[test]
    fn an_error_that_is_only_displayed_will_do() {
        for reply in both(|| Err::<Decision, _>("boom")) {
            assert_eq!(reply.unwrap_err().message(), "boom");
        }
    }

    #[test]
    fn a_panic_is_internal_with_its_text() {
        for reply in both(|| -> Option<Decision> { panic!("at the {}", "disco") }) {
            let status = reply.unwrap_err();
            assert_eq!(
                (status.code(), status.message()),
                (Code::Internal, "panic: at the disco")
            );
        }
        for reply in both(|| -> Option<Decision> { std::panic::panic_any(7) }) {
            assert_eq!(reply.unwrap_err().message(), "panic: not a text");
        }
    }

    #[test]
    fn a_long_error_is_cut_between_letters() {
        for reply in both(|| Err::<Decision, _>("世".repeat(1000))) {
            assert_eq!(reply.unwrap_err().message(), "世".repeat(682));
        }
    }

    #[test]
    fn nobody_waits_for_a_function_that_goes_on_regardless() {
        let status = ask(
            blocking(|_| {
                sleep(Duration::from_secs(1));
                None
            }),
            Some("20m"),
        )
        .unwrap_err();
        assert_eq!(status.code(), Code::DeadlineExceeded);
    }

    #[test]
    fn an_async_function_is_dropped_at_its_deadline() {
        struct Dropped(mpsc::Sender<()>);
        impl Drop for Dropped {
            fn drop(&mut self) {
                let _ = self.0.send(());
            }
        }
        let (sender, dropped) = mpsc::channel();
        let runtime = runtime();
        let function = asynchronous(
            move |_| {
                let guard = Dropped(sender.clone());
                async move {
                    let _guard = guard;
                    pending::<Option<Decision>>().await
                }
            },
            runtime.handle().clone(),
        );
        let recovery = Recovery {
            plugin: Plugin::new("test"),
            function,
        };
        let mut request = Request::new(RunErrorRequest::default());
        request.metadata_mut().insert("grpc-timeout", "20m".parse().unwrap());
        let status = runtime.block_on(recovery.run_error(request)).unwrap_err();
        assert_eq!(status.code(), Code::DeadlineExceeded);
        dropped.recv_timeout(Duration::from_secs(10)).unwrap();
    }

    #[test]
    fn the_event_has_the_deadline() {
        let (sender, seen) = mpsc::channel();
        let function = blocking(move |e: &Event| -> Option<Decision> {
            sender.send(e.deadline).unwrap();
            None
        });
        ask(function, Some("3S")).unwrap();
        let left = seen.recv().unwrap().unwrap() - Instant::now();
        assert!(left <= Duration::from_secs(3), "{left:?}");
    }

    #[test]
    fn timeouts_are_grpcs() {
        let read = |text: &'static str| {
            let mut metadata = MetadataMap::new();
            metadata.insert("grpc-timeout", text.parse().unwrap());
            time_left(&metadata)
        };
        assert_eq!(read("2S"), Some(Duration::from_secs(2)));
        assert_eq!(read("1999999u"), Some(Duration::from_micros(1_999_999)));
        assert_eq!(read("99999999H"), Some(Duration::from_secs(99_999_999 * 3600)));
        for wrong in ["", "S", "2", "2s", "-2S", "123456789m", "2.5S", "+2S"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        assert_eq!(time_left(&MetadataMap::new()), None);
    }

    #[test]
    fn a_configuration_is_handed_over_or_refused() {
        let (sender, seen) = mpsc::channel();
        let plugin = Plugin::new("test").configure(move |config| {
            sender.send(config.map(str::to_owned))?;
            config.map_or(Ok(()), |_| Err("no such region".into()))
        });
        let recovery = Recovery {
            plugin,
            function: blocking(|_| None),
        };
        let runtime = runtime();
        let configure = |config: &[u8]| {
            let request = Request::new(ConfigureRequest { config: config.into() });
            runtime.block_on(recovery.configure(request))
        };
        assert!(configure(b"").is_ok());
        let refused = configure(b"{}").unwrap_err();
        assert_eq!(
            (refused.code(), refused.message()),
            (Code::InvalidArgument, "no such region")
        );
        assert_eq!(configure(b"\xff").unwrap_err().code(), Code::InvalidArgument);
        assert_eq!(seen.try_iter().collect::<Vec<_>>(), [None, Some("{}".to_owned())]);
    }

    #[test]
    fn a_call_logs_with_its_ids() {
        let run = || crate::lines::CALL.try_with(|_| ()).is_ok();
        for reply in both(move || Decision::fail().because(run().to_string())) {
            assert_eq!(reply.unwrap().reason, "true");
        }
    }
}

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
    RunEndedRequest, RunEndedResponse, RunErrorRequest, RunErrorResponse, ToolErrorRequest, ToolErrorResponse,
};
use crate::{Event, ModelCall, Plugin, ToolError, life};

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
            occasions: self.plugin.occasions(),
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
        let deadline = deadline(&request);
        let event = Event::new(request.into_inner(), deadline);
        let decision = ask(&self.function, event, deadline).await?;
        let reply = decision.map(TryInto::try_into).transpose()?;
        Ok(Response::new(reply.unwrap_or_default()))
    }

    async fn before_call(&self, request: Request<BeforeCallRequest>) -> Result<Response<BeforeCallResponse>, Status> {
        let deadline = deadline(&request);
        let function = taken(self.plugin.before_call.as_ref(), BEFORE_CALL)?;
        let verdict = ask(function, ModelCall::new(request.into_inner(), deadline), deadline).await?;
        Ok(Response::new(verdict.map(Into::into).unwrap_or_default()))
    }

    async fn tool_error(&self, request: Request<ToolErrorRequest>) -> Result<Response<ToolErrorResponse>, Status> {
        let deadline = deadline(&request);
        let function = taken(self.plugin.tool_error.as_ref(), TOOL_ERROR)?;
        let advice = ask(function, ToolError::new(request.into_inner(), deadline), deadline).await?;
        let reply = advice.map(TryInto::try_into).transpose()?;
        Ok(Response::new(reply.unwrap_or_default()))
    }

    async fn run_ended(&self, request: Request<RunEndedRequest>) -> Result<Response<RunEndedResponse>, Status> {
        let deadline = deadline(&request);
        let function = taken(self.plugin.run_ended.as_ref(), RUN_ENDED)?;
        ask(function, request.into_inner().into(), deadline).await?;
        Ok(Response::new(RunEndedResponse {}))
    }
}

const BEFORE_CALL: &str = "before_call";
const TOOL_ERROR: &str = "tool_error";
const RUN_ENDED: &str = "run_ended";

impl Plugin {
    /// What it takes beside `run_error`.
    fn occasions(&self) -> Vec<String> {
        let taken = [
            (BEFORE_CALL, self.before_call.is_some()),
            (TOOL_ERROR, self.tool_error.is_some()),
            (RUN_ENDED, self.run_ended.is_some()),
        ];
        taken
            .into_iter()
            .filter(|(_, is)| *is)
            .map(|(occasion, _)| occasion.to_owned())
            .collect()
    }
}

fn taken<'a, F>(function: Option<&'a F>, occasion: &str) -> Result<&'a F, Status> {
    function.ok_or_else(|| Status::unimplemented(format!("the plugin does not take {occasion}")))
}

fn deadline<T>(request: &Request<T>) -> Option<Instant> {
    time_left(request.metadata()).and_then(|left| Instant::now().checked_add(left))
}

/// Calls an author's function.
async fn ask<E, T: 'static>(
    function: &Function<E, T>,
    event: E,
    deadline: Option<Instant>,
) -> Result<Option<T>, Status> {
    let mut tasks = JoinSet::new();
    function(event, &mut tasks);
    finish(&mut tasks, deadline, Code::Unknown).await
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
    let end = (0..=MAX_ERROR.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at));
    text.truncate(end.unwrap_or(0));
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
mod tests;

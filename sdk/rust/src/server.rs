//! The gRPC server: connections of one socket, and the services behind them.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{UnixListener, UnixStream};
use tokio_rustls::TlsAcceptor;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::{Service as _, http};
use tonic::server::NamedService;
use tonic_health::ServingStatus;
use tonic_health::pb::health_server::HealthServer;
use tonic_health::server::{HealthReporter, HealthService};

use crate::plugin::Function;
use crate::service::{Controller, Recovery, Stdio};
use crate::start::Host;
use crate::wire::go_plugin::grpc_controller_server::GrpcControllerServer;
use crate::wire::go_plugin::grpc_stdio_server::GrpcStdioServer;
use crate::wire::v1::recovery_plugin_server::RecoveryPluginServer;
use crate::{Error, Plugin, life, tls};

/// The most that a request may have, in bytes.
const MAX_REQUEST: usize = 64 << 20;

/// Serves until the process exits; it comes back only if it cannot begin.
pub(crate) fn run(host: &Host, plugin: Plugin, function: Function) -> Result<Infallible, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let (acceptor, certificate) = match &host.authority {
            Some(authority) => {
                let (config, certificate) = tls::mutual(authority)?;
                (Some(TlsAcceptor::from(config)), certificate)
            }
            None => (None, Vec::new()),
        };
        let listener =
            UnixListener::bind(&host.socket).map_err(|error| format!("{}: {error}", host.socket.display()))?;
        let services = Services::new(plugin, function).await;
        life::follow(host.pid)?;
        host.greet(&certificate)?;
        Ok(accept(&listener, acceptor.as_ref(), &services).await)
    })
}

async fn accept(listener: &UnixListener, acceptor: Option<&TlsAcceptor>, services: &Services) -> Infallible {
    loop {
        match listener.accept().await {
            Ok((connection, _)) => {
                tokio::spawn(connect(connection, acceptor.cloned(), services.clone()));
            }
            Err(error) => {
                log::warn!("cannot accept a connection: {error}");
                tokio::time::sleep(Duration::from_millis(100)).await; // until there are descriptors again
            }
        }
    }
}

/// Serves one connection to its end. A client that was refused is told so by TLS.
async fn connect(connection: UnixStream, acceptor: Option<TlsAcceptor>, services: Services) {
    match acceptor {
        None => talk(connection, services).await,
        Some(acceptor) => match acceptor.accept(connection).await {
            Ok(connection) => talk(connection, services).await,
            Err(error) => log::warn!("refused a client: {error}"),
        },
    }
}

async fn talk(connection: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, services: Services) {
    let ended = http2::Builder::new(TokioExecutor::new())
        .serve_connection(
            TokioIo::new(connection),
            service_fn(move |request| {
                let services = services.clone();
                async move { Ok::<_, Infallible>(services.answer(request).await) }
            }),
        )
        .await;
    if let Err(error) = ended {
        log::debug!("a connection broke: {error}");
    }
}

/// All that the plugin answers to.
#[derive(Clone)]
struct Services {
    recovery: RecoveryPluginServer<Recovery>,
    health: HealthServer<HealthService>,
    controller: GrpcControllerServer<Controller>,
    stdio: GrpcStdioServer<Stdio>,
}

impl Services {
    async fn new(plugin: Plugin, function: Function) -> Self {
        let health = HealthReporter::new();
        health.set_service_status("plugin", ServingStatus::Serving).await;
        let recovery = Arc::new(Recovery { plugin, function });
        Services {
            recovery: RecoveryPluginServer::from_arc(recovery).max_decoding_message_size(MAX_REQUEST),
            health: HealthServer::new(HealthService::from_health_reporter(health)),
            controller: GrpcControllerServer::new(Controller),
            stdio: GrpcStdioServer::new(Stdio),
        }
    }

    async fn answer(mut self, request: http::Request<hyper::body::Incoming>) -> http::Response<Body> {
        let service = request.uri().path().split('/').nth(1).unwrap_or_default();
        let answered = match service {
            RecoveryPluginServer::<Recovery>::NAME => self.recovery.call(request).await,
            HealthServer::<HealthService>::NAME => self.health.call(request).await,
            GrpcControllerServer::<Controller>::NAME => self.controller.call(request).await,
            GrpcStdioServer::<Stdio>::NAME => self.stdio.call(request).await,
            _ => Ok(Status::unimplemented("no such service").into_http()),
        };
        match answered {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }
}

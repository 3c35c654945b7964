//! The connection to the host.

use std::env;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::Incoming;
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::UnixStream;
use tokio::sync::Mutex;
use tonic::body::Body;
use tonic::codegen::Service;
use tonic::codegen::http::{Request, Response, Uri};

use super::Error;
use crate::wire::host::value_service_client::ValueServiceClient;

/// Gives the one connection of the process, made when it is first needed and anew when it broke.
pub(super) async fn open() -> Result<ValueServiceClient<Connection>, Error> {
    static KEPT: Mutex<Option<SendRequest<Body>>> = Mutex::const_new(None);
    let socket = env::var_os("MULLIGAN_PLUGIN_VALUES")
        .filter(|path| !path.is_empty())
        .ok_or(Error::None)?;
    let mut kept = KEPT.lock().await;
    let sender = match kept.take() {
        Some(sender) if !sender.is_closed() => sender,
        _ => {
            let stream = UnixStream::connect(&socket).await.map_err(broken)?;
            let (sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
                .await
                .map_err(broken)?;
            tokio::spawn(connection);
            sender
        }
    };
    *kept = Some(sender.clone());
    // A socket has no name, and HTTP wants one.
    Ok(ValueServiceClient::with_origin(
        Connection(sender),
        Uri::from_static("http://localhost"),
    ))
}

fn broken(error: impl std::error::Error) -> Error {
    Error::Unreachable(error.to_string())
}

/// What the generated client asks by.
pub(super) struct Connection(SendRequest<Body>);

impl Service<Request<Body>> for Connection {
    type Response = Response<Incoming>;
    type Error = hyper::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, hyper::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context) -> Poll<Result<(), hyper::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        Box::pin(self.0.send_request(request))
    }
}

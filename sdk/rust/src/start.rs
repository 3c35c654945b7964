//! How a plugin starts: what its host tells it in the environment, and the handshake line.

use std::backtrace::Backtrace;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::{env, panic, process};

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use crate::Error;

const COOKIE: (&str, &str) = ("MULLIGAN_PLUGIN", "4b3f6c1e-run-error");

/// The version of the service that is spoken here. As long as there is one, it is also the
/// answer to a host that does not speak it.
const VERSION: u32 = 1;

/// The most that the path of a socket may have, in bytes.
const MAX_PATH: usize = 100;

/// Who started this process, and where it wants the plugin.
pub(crate) struct Host {
    stdout: File,
    pub(crate) socket: PathBuf,
    /// The certificate that clients are checked against, PEM; `None` = without TLS.
    pub(crate) authority: Option<String>,
    /// Its process.
    pub(crate) pid: u32,
}

impl Host {
    /// Takes standard output away from the author, and reads the environment. Without a host
    /// it explains itself and exits.
    pub(crate) fn from_environment() -> Self {
        if env::var(COOKIE.0).as_deref() != Ok(COOKIE.1) {
            explain();
            process::exit(1);
        }
        trace_panics();
        let stdout = take_stdout().unwrap_or_else(|error| fail(format_args!("standard output: {error}")));
        Host {
            stdout,
            socket: socket().unwrap_or_else(|error| fail(error)),
            // Something that is no text is no certificate either.
            authority: env::var_os("PLUGIN_CLIENT_CERT").map(|pem| pem.to_string_lossy().into_owned()),
            pid: std::os::unix::process::parent_id(),
        }
    }

    /// Tells the host that the plugin accepts connections, with the certificate (DER) that it
    /// has to trust; without TLS that is empty.
    pub(crate) fn greet(&self, certificate: &[u8]) -> io::Result<()> {
        let socket = self.socket.display();
        let certificate = STANDARD_NO_PAD.encode(certificate);
        let line = format!("1|{VERSION}|unix|{socket}|grpc|{certificate}\n");
        (&self.stdout).write_all(line.as_bytes())
    }
}

/// Keeps standard output for the handshake line: what is printed goes to standard error.
fn take_stdout() -> io::Result<File> {
    let stdout = io::stdout().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok(stdout.into())
}

/// Makes panics print where they came from, unless that is set in the environment.
fn trace_panics() {
    if env::var_os("RUST_BACKTRACE").is_some() {
        return;
    }
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        // What a host quotes of standard error is its end: that is to be the panic's own words.
        let _ = writeln!(io::stderr(), "{}", Backtrace::force_capture());
        print(panic);
    }));
}

fn socket() -> Result<PathBuf, Error> {
    let socket = match env::var_os("PLUGIN_UNIX_SOCKET_DIR") {
        Some(folder) => Path::new(&folder).join("s"),
        None => env::temp_dir().join(format!("plugin-{}", process::id())),
    };
    match socket.to_str() {
        Some(path) if path.len() > MAX_PATH => Err(format!("the path of the socket is too long: {path}").into()),
        Some(path) if path.contains(['|', '\n']) => {
            Err(format!("the path of the socket cannot be told: {path:?}").into())
        }
        Some(_) => Ok(socket),
        None => Err("the path of the socket is no text".into()),
    }
}

/// Says why the plugin cannot serve, and exits.
pub(crate) fn fail(why: impl Display) -> ! {
    eprintln!("the plugin cannot serve: {why}");
    process::exit(1);
}

fn explain() {
    let program = env::args().next().unwrap_or_default();
    let name = Path::new(&program).file_name().unwrap_or_default().to_string_lossy();
    eprintln!(
        "{name} is a Mulligan recovery plugin: it is not run by hand, a host starts it.
Name it in mulligan.yaml

    plugins:
      - name: {name}
        command: [{program}]

and see with \"mulligan plugin list\" whether it starts."
    );
}

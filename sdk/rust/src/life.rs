//! When a plugin ends, and what does not end it.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::process::parent_id;
use std::process::exit;
use std::thread;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};

/// Follows the host from here on. Within the server's runtime.
pub(crate) fn follow(host: u32) -> io::Result<()> {
    ignore_interrupt()?;
    thread::Builder::new().name("life line".into()).spawn(follow_stdin)?;
    tokio::spawn(follow_parent(host));
    Ok(())
}

/// A terminal sends SIGINT to whole groups. Once tokio has listened, nothing else happens.
fn ignore_interrupt() -> io::Result<()> {
    signal(SignalKind::interrupt()).map(drop)
}

/// Exits when the host's end of the life line is closed. Where standard input is neither a
/// pipe nor a socket there is no life line.
fn follow_stdin() {
    let kind = || File::from(io::stdin().as_fd().try_clone_to_owned()?).metadata();
    match kind().map(|metadata| metadata.file_type()) {
        Ok(kind) if kind.is_fifo() || kind.is_socket() => {}
        _ => return,
    }
    let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
    exit(0);
}

/// Exits when the process was left to another parent.
async fn follow_parent(host: u32) {
    let mut ticks = tokio::time::interval(Duration::from_secs(1));
    while parent_id() == host {
        ticks.tick().await;
    }
    exit(0);
}

/// Exits at the host's wish, after the time that it takes to answer.
pub(crate) fn end() {
    tokio::spawn(async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        exit(0);
    });
}

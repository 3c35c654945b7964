//! A plugin that misbehaves as FAULT says; ../README.md lists how.

use std::io::Write;
use std::process::{Command, abort, exit, id};
use std::thread::{sleep, spawn};
use std::time::Duration;

use mulligan::{Decision, Event, Plugin};

const HOUR: Duration = Duration::from_secs(3600);

fn main() {
    leave_trace(id());
    let fault = std::env::var("FAULT").unwrap_or_default();
    let folder = std::env::var("PLUGIN_UNIX_SOCKET_DIR").unwrap_or_default();
    match fault.as_str() {
        "garbage" => say("Welcome to my plugin!"),
        "version" => say(&format!("1|99|unix|{folder}/s|grpc|{}", "A".repeat(60))),
        "silent" => sleep(HOUR),
        _ => {}
    }
    Plugin::new("faulty")
        .version("1.2.3")
        .serve(move |e: &Event| advise(&fault, e))
}

fn say(line: &str) {
    println!("{line}");
    sleep(HOUR);
}

fn leave_trace(process: u32) {
    if let Ok(folder) = std::env::var("TRACE") {
        let _ = std::fs::write(format!("{folder}/{process}"), "");
    }
}

fn stop() {
    let _ = Command::new("kill")
        .args(["-STOP", &id().to_string()])
        .status();
    sleep(HOUR);
}

fn advise(fault: &str, _: &Event) -> Decision {
    match fault {
        "crash" => abort(),
        "exit" => {
            eprintln!("last words");
            exit(3)
        }
        "hang" => sleep(HOUR),
        "stop" => stop(),
        "deaf" => {
            spawn(|| {
                sleep(Duration::from_millis(50));
                stop();
            });
        }
        "slow" => sleep(Duration::from_millis(200)),
        "print" => {
            print!("{}", "x".repeat(1 << 20));
            let _ = std::io::stdout().flush();
        }
        "grandchild" => {
            leave_trace(Command::new("sleep").arg("300").spawn().unwrap().id());
            exit(4)
        }
        "nonsense" => return Decision::switch(""),
        _ => {}
    }
    Decision::retry().after(Duration::from_secs(1))
}

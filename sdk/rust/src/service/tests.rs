//! What becomes of what an author's function gives.

use std::future::pending;
use std::sync::mpsc;
use std::thread::sleep;

use tokio::runtime::{Builder, Runtime};

use super::*;
use crate::plugin::{asynchronous, blocking};
use crate::wire::v1::{self, Action};
use crate::{Answer, Decision, ToolAdvice, ToolSafety, Verdict};

fn runtime() -> Runtime {
    Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

/// Asks a function once, with the time that the caller waits, in gRPC's words.
fn asked(function: Function, timeout: Option<&'static str>) -> Result<RunErrorResponse, Status> {
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
        asked(blocking(move |_| function()), None),
        asked(
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
    let status = asked(
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
    asked(function, Some("3S")).unwrap();
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

/// A plugin that takes these occasions.
fn taking(plugin: Plugin) -> Recovery {
    Recovery {
        plugin,
        function: blocking(|_| None),
    }
}

#[test]
fn a_plugin_offers_what_it_takes() {
    let offered = |plugin| {
        let described = runtime().block_on(taking(plugin).describe(Request::new(DescribeRequest {})));
        described.unwrap().into_inner().occasions
    };
    assert!(offered(Plugin::new("test")).is_empty());
    assert_eq!(offered(Plugin::new("test").run_ended(|_| ())), ["run_ended"]);
    let both = Plugin::new("test")
        .run_ended(|_| ())
        .tool_error(|_| None)
        .before_call(|_| None);
    assert_eq!(offered(both), ["before_call", "tool_error", "run_ended"]);
}

#[test]
fn what_is_not_taken_is_unimplemented() {
    let (plugin, runtime) = (taking(Plugin::new("test")), runtime());
    let asked = runtime.block_on(plugin.before_call(Request::new(BeforeCallRequest::default())));
    assert_eq!(asked.unwrap_err().code(), Code::Unimplemented);
    let told = runtime.block_on(plugin.run_ended(Request::new(RunEndedRequest::default())));
    assert_eq!(told.unwrap_err().code(), Code::Unimplemented);
}

#[test]
fn a_verdict_is_sent() {
    let verdict = |c: &ModelCall| (c.round == 7).then(|| Verdict::route("a/b").because("cheap"));
    for plugin in [
        Plugin::new("test").before_call(verdict),
        Plugin::new("test").before_call_async(move |c| async move { verdict(&c) }),
    ] {
        let (plugin, runtime) = (taking(plugin), runtime());
        let ask = |round| {
            let call = BeforeCallRequest {
                round,
                ..Default::default()
            };
            let reply = runtime.block_on(plugin.before_call(Request::new(call)));
            reply.unwrap().into_inner()
        };
        assert_eq!(ask(1), BeforeCallResponse::default());
        let routed = ask(7);
        assert_eq!(
            (routed.verdict(), routed.model.as_str(), routed.reason.as_str()),
            (v1::Verdict::Route, "a/b", "cheap")
        );
    }
}

#[test]
fn advice_about_a_tool_is_sent() {
    let mend = |e: &ToolError| match e.safety {
        ToolSafety::ReadOnly => Some(ToolAdvice::run_again(Duration::from_micros(500_500))),
        _ => Some(ToolAdvice::tell("no such tool").because("it is unsafe")),
    };
    for plugin in [
        Plugin::new("test").tool_error(mend),
        Plugin::new("test").tool_error_async(move |e| async move { mend(&e) }),
    ] {
        let (plugin, runtime) = (taking(plugin), runtime());
        let ask = |safety: i32| {
            let failed = ToolErrorRequest {
                safety,
                ..Default::default()
            };
            let reply = runtime.block_on(plugin.tool_error(Request::new(failed)));
            reply.unwrap().into_inner()
        };
        let again = ask(v1::ToolSafety::ReadOnly.into());
        assert_eq!((again.action(), again.delay_ms), (v1::ToolAction::Retry, 501));
        let told = ask(99);
        assert_eq!(
            (told.action(), told.words.as_str(), told.reason.as_str()),
            (v1::ToolAction::Tell, "no such tool", "it is unsafe")
        );
    }
}

#[test]
fn what_is_told_of_an_end_may_fail() {
    for plugin in [
        Plugin::new("test").run_ended(|e| -> crate::Result<()> { Err(e.run.clone().into()) }),
        Plugin::new("test").run_ended_async(|e| async move { Err::<(), _>(e.run) }),
    ] {
        let end = RunEndedRequest {
            run: "boom".into(),
            ..Default::default()
        };
        let status = runtime()
            .block_on(taking(plugin).run_ended(Request::new(end)))
            .unwrap_err();
        assert_eq!((status.code(), status.message()), (Code::Unknown, "boom"));
    }
}

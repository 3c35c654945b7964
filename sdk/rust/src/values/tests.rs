//! What is said without a host; with one, the conformance talks show it.

use tokio::runtime::Builder;
use tonic::{Code, Status};

use super::*;

#[test]
fn without_a_host_there_are_none() {
    assert_eq!(get("x").wait(), Err(Error::None));
    assert_eq!(keys("").wait(), Err(Error::None));
    let runtime = Builder::new_current_thread().build().unwrap();
    assert_eq!(runtime.block_on(async { add("x", 1).await }), Err(Error::None));
    assert!(Error::None.to_string().contains("MULLIGAN_PLUGIN_VALUES"));
}

#[test]
fn what_is_not_known_may_have_happened() {
    for (code, want) in [
        (Code::ResourceExhausted, Error::Full("why".into())),
        (Code::FailedPrecondition, Error::NotANumber("why".into())),
        (Code::InvalidArgument, Error::Invalid("why".into())),
        (Code::Unavailable, Error::Unreachable("why".into())),
        (Code::DeadlineExceeded, Error::Unreachable("why".into())),
    ] {
        assert_eq!(Error::from(Status::new(code, "why")), want);
    }
}

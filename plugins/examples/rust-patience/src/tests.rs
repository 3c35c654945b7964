use std::time::{Duration, SystemTime};

use mulligan::{Action, Decision, Event, Kind, Remaining, Tried, testing};

use crate::patience::Patience;

/// A model call that has been failing for `lost` seconds, in a run that had worked for `worked`.
fn failing(worked: u64, lost: u64, retries: u32) -> Event {
    let mut first = Tried::default();
    first.at = Some(now() - Duration::from_secs(lost));
    let mut e = testing::event(Kind::Overloaded);
    e.elapsed = Duration::from_secs(worked + lost);
    e.tried = vec![first];
    e.attempt = retries;
    e.retries = retries;
    e
}

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)
}

fn decide(e: &Event) -> Option<Decision> {
    Patience::default().decide(e, now())
}

/// How long the same model is waited for, in seconds; None if it is left.
fn waits(e: &Event) -> Option<u64> {
    let decision = decide(e).expect("an opinion");
    (decision.action == Action::Retry).then_some(decision.delay.as_secs())
}

#[test]
fn a_short_run_waits_1_2_and_4_seconds() {
    assert_eq!(waits(&failing(5, 0, 0)), Some(1));
    assert_eq!(waits(&failing(5, 1, 1)), Some(2));
    assert_eq!(waits(&failing(5, 3, 2)), Some(4));
    assert_eq!(waits(&failing(5, 7, 3)), None);
}

#[test]
fn a_long_run_waits_longer() {
    assert_eq!(waits(&failing(400, 0, 0)), Some(5));
    assert_eq!(waits(&failing(86_400, 0, 0)), Some(15));
    assert_eq!(waits(&failing(86_400, 46, 2)), Some(60));
}

#[test]
fn what_the_failures_took_is_no_work() {
    assert_eq!(waits(&failing(5, 30, 0)), None);
    assert_eq!(waits(&failing(86_400, 30, 0)), Some(15));
}

#[test]
fn it_says_how_patient_it_was() {
    let want = Decision::switch("anthropic/claude-sonnet-4-5").because("30 of 8 s of patience are used");
    assert_eq!(decide(&failing(5, 30, 0)), Some(want));
}

#[test]
fn the_providers_wait_counts() {
    let mut e = failing(600, 0, 0);
    e.failure.retry_after = Some(Duration::from_secs(40));
    assert_eq!(waits(&e), Some(40));
    e.failure.retry_after = Some(Duration::from_secs(60));
    assert_eq!(waits(&e), None);
}

#[test]
fn half_of_the_time_left_is_for_the_answer() {
    let mut e = failing(600, 0, 0);
    e.remaining_time = Remaining::Left(Duration::from_secs(16));
    assert_eq!(waits(&e), Some(1));
    e.remaining_time = Remaining::UsedUp;
    assert_eq!(waits(&e), None);
}

#[test]
fn no_opinion_where_waiting_and_switching_do_not_help() {
    let mut e = failing(5, 30, 0);
    e.alternatives.clear();
    assert_eq!(decide(&e), None);
    assert_eq!(decide(&testing::event(Kind::Auth)), None);
    assert_eq!(decide(&testing::event(Kind::Other("kind_99".into()))), None);
}

#[test]
fn a_clock_that_was_set_back_has_lost_nothing() {
    let mut e = failing(5, 0, 0);
    e.tried[0].at = Some(now() + Duration::from_secs(3600));
    assert_eq!(waits(&e), Some(1));
}

#[test]
fn the_configuration() {
    assert_eq!(Patience::parse(None).unwrap(), Patience::default());
    let hasty = Patience::parse(Some(r#"{"share": 0, "least_seconds": 0.8, "most_seconds": 1}"#)).unwrap();
    assert_eq!(
        hasty.decide(&failing(600, 0, 0), now()).unwrap().delay,
        Duration::from_millis(100)
    );
    assert!(Patience::parse(Some(r#"{"least_seconds": 500}"#)).is_err());
}

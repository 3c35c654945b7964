//! The log: one JSON object a line on standard error, with the ids of the call's run.

use std::fmt::{self, Display, Write as _};
use std::io::Write as _;
use std::time::{Instant, SystemTime};

use log::kv::{self, VisitSource, VisitValue};
use log::{LevelFilter, Log, Metadata, Record};

use crate::{Event, ModelCall, RunEnded, ToolError};

tokio::task_local! {
    /// The call that this task or thread works for.
    pub(crate) static CALL: Call;
}

/// What a line says about its call, and until when the host waits for it.
pub(crate) struct Call {
    run: String,
    session: String,
    pub(crate) deadline: Option<Instant>,
}

impl From<&Event> for Call {
    fn from(e: &Event) -> Self {
        Call::new(&e.run, &e.session, e.deadline)
    }
}

impl From<&ModelCall> for Call {
    fn from(c: &ModelCall) -> Self {
        Call::new(&c.run, &c.session, c.deadline)
    }
}

impl From<&ToolError> for Call {
    fn from(e: &ToolError) -> Self {
        Call::new(&e.run, &e.session, e.deadline)
    }
}

impl From<&RunEnded> for Call {
    fn from(e: &RunEnded) -> Self {
        Call::new(&e.run, &e.session, None)
    }
}

impl Call {
    fn new(run: &str, session: &str, deadline: Option<Instant>) -> Self {
        Call {
            run: run.to_owned(),
            session: session.to_owned(),
            deadline,
        }
    }
}

struct Lines;

/// Logs from here on, unless the author has a logger of their own.
pub(crate) fn start(level: LevelFilter) {
    if log::set_logger(&Lines).is_ok() {
        log::set_max_level(level);
    }
}

impl Log for Lines {
    fn enabled(&self, metadata: &Metadata) -> bool {
        metadata.level() <= log::max_level()
    }

    fn log(&self, record: &Record) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let at = SystemTime::now();
        let text = CALL
            .try_with(|call| line(record, Some(call), at))
            .unwrap_or_else(|_| line(record, None, at));
        // Nobody can be told that standard error is gone.
        let _ = std::io::stderr().write_all(text.as_bytes());
    }

    fn flush(&self) {}
}

fn line(record: &Record, call: Option<&Call>, at: SystemTime) -> String {
    let mut object = Object(String::new());
    object.text("@level", record.level().as_str().to_lowercase());
    object.text("@message", record.args());
    object.text("@timestamp", prost_types::Timestamp::from(at));
    if let Some(call) = call {
        object.text("run", &call.run);
        if !call.session.is_empty() {
            object.text("session", &call.session);
        }
    }
    // An object fails nothing.
    let _ = record.key_values().visit(&mut object);
    object.0 + "}\n"
}

/// A JSON object without its closing brace.
struct Object(String);

impl Object {
    fn key(&mut self, key: &str) {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        self.quote(key);
        self.0.push(':');
    }

    fn text(&mut self, key: &str, value: impl Display) {
        self.key(key);
        self.quote(value);
    }

    fn quote(&mut self, text: impl Display) {
        self.0.push('"');
        let _ = write!(Escaped(&mut self.0), "{text}");
        self.0.push('"');
    }
}

/// Escapes what may not stand in a JSON string.
struct Escaped<'a>(&'a mut String);

impl fmt::Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            match c {
                '"' | '\\' => self.0.extend(['\\', c]),
                '\n' => self.0.push_str("\\n"),
                '\r' => self.0.push_str("\\r"),
                '\t' => self.0.push_str("\\t"),
                c if c < ' ' => write!(self.0, "\\u{:04x}", u32::from(c))?,
                c => self.0.push(c),
            }
        }
        Ok(())
    }
}

impl<'kvs> VisitSource<'kvs> for Object {
    fn visit_pair(&mut self, key: kv::Key<'kvs>, value: kv::Value<'kvs>) -> Result<(), kv::Error> {
        self.key(key.as_str());
        value.visit(self)
    }
}

impl VisitValue<'_> for Object {
    fn visit_any(&mut self, value: kv::Value) -> Result<(), kv::Error> {
        self.quote(value);
        Ok(())
    }

    fn visit_null(&mut self) -> Result<(), kv::Error> {
        self.0.push_str("null");
        Ok(())
    }

    fn visit_u64(&mut self, value: u64) -> Result<(), kv::Error> {
        Ok(write!(self.0, "{value}")?)
    }

    fn visit_i64(&mut self, value: i64) -> Result<(), kv::Error> {
        Ok(write!(self.0, "{value}")?)
    }

    fn visit_f64(&mut self, value: f64) -> Result<(), kv::Error> {
        if value.is_finite() {
            return Ok(write!(self.0, "{value}")?);
        }
        self.quote(value); // JSON has no number for it
        Ok(())
    }

    fn visit_bool(&mut self, value: bool) -> Result<(), kv::Error> {
        Ok(write!(self.0, "{value}")?)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn said(call: Option<&Call>, message: &str, values: &[(&str, kv::Value)]) -> String {
        let at = SystemTime::UNIX_EPOCH + Duration::from_micros(1_777_863_721_000_001);
        let mut record = Record::builder();
        record.level(log::Level::Info).key_values(&values);
        line(&record.args(format_args!("{message}")).build(), call, at)
    }

    #[test]
    fn a_line_has_the_ids_of_its_call() {
        let call = Call {
            run: "r-1".into(),
            session: "s-7".into(),
            deadline: None,
        };
        assert_eq!(
            said(Some(&call), "over quota", &[]),
            "{\"@level\":\"info\",\"@message\":\"over quota\",\"@timestamp\":\"2026-05-04T03:02:01.000001Z\",\
             \"run\":\"r-1\",\"session\":\"s-7\"}\n"
        );
    }

    #[test]
    fn a_line_without_a_call_or_a_session_says_nothing_of_them() {
        let call = Call {
            run: "r-1".into(),
            session: String::new(),
            deadline: None,
        };
        assert!(said(Some(&call), "x", &[]).ends_with(",\"run\":\"r-1\"}\n"));
        assert!(said(None, "x", &[]).ends_with("Z\"}\n"));
    }

    #[test]
    fn further_keys_keep_their_types() {
        let values = [
            ("n", 7.into()),
            ("ok", true.into()),
            ("part", 0.5.into()),
            ("nan", f64::NAN.into()),
            ("who", "a \"b\"".into()),
        ];
        let text = said(None, "x", &values);
        assert!(
            text.ends_with(",\"n\":7,\"ok\":true,\"part\":0.5,\"nan\":\"NaN\",\"who\":\"a \\\"b\\\"\"}\n"),
            "{text}"
        );
    }

    #[test]
    fn a_message_stays_on_its_line() {
        let text = said(None, "a\r\nb\t\"c\" \\ \u{1} 世界", &[]);
        assert!(text.contains(r#""@message":"a\r\nb\t\"c\" \\ \u0001 世界""#), "{text}");
        assert_eq!(text.lines().count(), 1);
    }
}

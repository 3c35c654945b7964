//! What the host keeps for the plugin: bytes by key, the same for all of its processes that share the
//! host's store, on this machine or on all machines of a fleet.
//!
//! ```no_run
//! use mulligan::{Event, values};
//!
//! # fn page(_: &str) {}
//! fn rules(e: &Event) -> mulligan::Result {
//!     if values::add("paged", 1).wait()? == 1 {
//!         page("the first of today");
//!     }
//!     Ok(None)
//! }
//! # mulligan::serve("my-rules", rules)
//! ```
//!
//! A function waits with [`wait`](Asked::wait), an async function with `.await`. A key has 1 to 200 bytes of
//! UTF-8, a value at most 64 KiB, all of a plugin 64 MiB. Every change is atomic, and durable before it is
//! answered. In a dry run they are empty and thrown away. What fails gives an [`Error`]; a call takes 5 s at
//! most, and no longer than the host waits for the plugin's answer.

mod asked;
mod error;
mod host;

pub use asked::Asked;
pub use error::Error;

use crate::wire::host::{AddValueRequest, DeleteValueRequest, GetValueRequest, ListValuesRequest, SetValueRequest};

/// A value as it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Versioned {
    /// Its bytes; `None` = there is none.
    pub value: Option<Vec<u8>>,
    /// Another one after every change; 0 = there is none.
    pub version: i64,
}

/// Gives a value; `None` = there is none.
pub fn get(key: impl Into<String>) -> Asked<Option<Vec<u8>>> {
    let found = read(key.into());
    Asked::new(async { Ok(found.await?.value) })
}

/// Gives a value and its version for [`compare_and_set`].
pub fn get_with_version(key: impl Into<String>) -> Asked<Versioned> {
    Asked::new(read(key.into()))
}

/// Writes a value, whatever there is.
pub fn set(key: impl Into<String>, value: impl Into<Vec<u8>>) -> Asked<()> {
    let written = write(key.into(), value.into(), None);
    Asked::new(async { written.await.map(drop) })
}

/// Writes a value only in the place of that version, 0 for none, and says whether it was written.
pub fn compare_and_set(key: impl Into<String>, version: i64, value: impl Into<Vec<u8>>) -> Asked<bool> {
    Asked::new(write(key.into(), value.into(), Some(version)))
}

/// Adds to a number, which is 0 where there is none, and gives the sum.
pub fn add(key: impl Into<String>, amount: i64) -> Asked<i64> {
    let key = key.into();
    Asked::new(async move {
        let m = host::open().await?.add_value(AddValueRequest { key, amount }).await?;
        Ok(m.into_inner().sum)
    })
}

/// Removes a value, if there is one.
pub fn delete(key: impl Into<String>) -> Asked<()> {
    let key = key.into();
    Asked::new(async {
        let request = DeleteValueRequest { key, expected: None };
        host::open().await?.delete_value(request).await?;
        Ok(())
    })
}

/// Lists the keys that begin with `prefix`, in the order of their bytes.
pub fn keys(prefix: impl Into<String>) -> Asked<Vec<String>> {
    let prefix = prefix.into();
    Asked::new(async move {
        let mut found: Vec<String> = Vec::new();
        loop {
            let request = ListValuesRequest {
                prefix: prefix.clone(),
                after: found.last().cloned().unwrap_or_default(),
            };
            let page = host::open().await?.list_values(request).await?.into_inner();
            let last = !page.more || page.keys.is_empty();
            found.extend(page.keys);
            if last {
                return Ok(found);
            }
        }
    })
}

async fn read(key: String) -> Result<Versioned, Error> {
    let m = host::open()
        .await?
        .get_value(GetValueRequest { key })
        .await?
        .into_inner();
    Ok(Versioned {
        value: (m.version != 0).then_some(m.value),
        version: m.version,
    })
}

async fn write(key: String, value: Vec<u8>, expected: Option<i64>) -> Result<bool, Error> {
    let request = SetValueRequest { key, value, expected };
    Ok(host::open().await?.set_value(request).await?.into_inner().done)
}

#[cfg(test)]
mod tests;

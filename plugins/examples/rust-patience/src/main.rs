//! A recovery plugin that is as patient as the run is long: see README.md.

mod patience;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;
use std::time::SystemTime;

use mulligan::{Decision, Event, Plugin};
use patience::Patience;

static PATIENCE: OnceLock<Patience> = OnceLock::new();

fn main() {
    Plugin::new("rust-patience")
        .version(env!("CARGO_PKG_VERSION"))
        .config_schema(include_str!("schema.json"))
        .configure(|config| {
            PATIENCE
                .set(Patience::parse(config)?)
                .map_err(|_| "configured twice".into())
        })
        .serve(decide)
}

fn decide(e: &Event) -> Option<Decision> {
    PATIENCE.get_or_init(Patience::default).decide(e, SystemTime::now())
}

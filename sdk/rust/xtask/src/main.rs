//! Generates the code of the wire: `cargo run -p xtask -- FOLDER`. It needs no protoc.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let folder: PathBuf = env::args_os()
        .nth(1)
        .ok_or("usage: cargo run -p xtask -- FOLDER")?
        .into();
    fs::create_dir_all(&folder)?;
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let files = protox::compile(
        ["mulligan/v1/plugin.proto", "go_plugin.proto"],
        [here.join("../../../proto"), here.join("proto")],
    )?;
    tonic_prost_build::configure()
        .build_client(false)
        .build_transport(false)
        .out_dir(&folder)
        .compile_fds(files)?;
    Ok(())
}

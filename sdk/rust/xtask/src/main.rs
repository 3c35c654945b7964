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
    let from = [here.join("../../../proto"), here.join("proto")];

    let served = protox::compile(["mulligan/v1/plugin.proto", "go_plugin.proto"], &from)?;
    tonic_prost_build::configure()
        .build_client(false)
        .build_transport(false)
        .out_dir(&folder)
        .compile_fds(served)?;

    // In a folder of its own: a file is named after its package, which is the same.
    let folder = folder.join("host");
    fs::create_dir_all(&folder)?;
    let asked = protox::compile(["mulligan/v1/values.proto"], &from)?;
    tonic_prost_build::configure()
        .build_server(false)
        .build_transport(false)
        .out_dir(&folder)
        .compile_fds(asked)?;
    Ok(())
}

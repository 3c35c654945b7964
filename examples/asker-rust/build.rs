//! Makes the client of mulligan.v1.Advice from proto/; it needs no protoc.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files = protox::compile(["mulligan/v1/advice.proto"], ["../../proto"])?;
    tonic_prost_build::configure()
        .build_server(false)
        .build_transport(false)
        .compile_fds(files)?;
    println!("cargo::rerun-if-changed=../../proto");
    Ok(())
}

//! Makes the client of the registry's API from its .proto files; nobody has to install protoc.

fn main() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../cloud/api");
    println!("cargo::rerun-if-changed={root}/rackloom/v1/devices.proto");
    let files = protox::compile(["rackloom/v1/devices.proto"], [root]).expect("the registry's API is well formed");
    tonic_prost_build::configure()
        .build_server(false)
        .build_transport(false)
        .compile_fds(files)
        .expect("cargo gives a folder to write to");
}

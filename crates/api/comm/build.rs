//! How the library is linked.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        // It has threads, which must not lose their code when a loader closes it.
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}

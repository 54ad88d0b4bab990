//! Compiles the program against the internal headers of the librdkafka that rdkafka-sys has just built.

use std::env;
use std::path::PathBuf;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=assign.c");
    let root =
        env::var_os("DEP_RDKAFKA_ROOT").map(PathBuf::from).expect("rdkafka-sys builds librdkafka itself");
    let sources = root.join("src");
    assert!(
        sources.is_dir(),
        "no internal headers in {}: rdkafka-sys was built with CMake",
        sources.display()
    );

    let mut build = cc::Build::new();
    // As the system's, so that warnings are about the program alone.
    build.file("assign.c").flag_if_supported("-std=gnu11").flag("-isystem").flag(sources);
    build.cargo_metadata(false).compile("assign");
    println!("cargo:rustc-link-search=native={}", env::var("OUT_DIR").expect("cargo sets it"));
    // Nothing in Rust asks for `main`.
    println!("cargo:rustc-link-lib=static:+whole-archive=assign");
}

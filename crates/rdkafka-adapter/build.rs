//! Compiles the shim against the internal headers of the librdkafka that rdkafka-sys has just built.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=shim");

    if env::var_os("CARGO_FEATURE_DYNAMIC_LINKING").is_some() {
        stop(
            "the feature `dynamic-linking` cannot work here: a shared librdkafka hides the symbols that an assignor \
             is registered with. Remove it, here and from rdkafka; librdkafka is then built and linked statically.",
        );
    }
    let Some(root) = env::var_os("DEP_RDKAFKA_ROOT").map(PathBuf::from) else {
        stop(
            "rdkafka-sys has not built librdkafka itself (the feature `dynamic-linking` of rdkafka \
             is on somewhere in this build), so its internal headers are not at hand. Turn that feature off.",
        );
    };
    println!("cargo:rerun-if-changed={}", root.display());

    let headers = Headers::of(&root);
    let mut build = cc::Build::new();
    build.file("shim/shim.c").include("shim").flag_if_supported("-std=gnu11");
    for folder in &headers.include {
        // As the system's, so that warnings are about the shim alone.
        build.flag("-isystem").flag(folder);
    }
    if headers.with_openssl() {
        // Without it the compiler's own search path has to do, as it has for rdkafka-sys.
        if let Some(openssl) = env::var_os("DEP_OPENSSL_INCLUDE") {
            for folder in env::split_paths(&openssl) {
                build.include(folder);
            }
        } else {
            println!(
                "cargo:warning=librdkafka is built with OpenSSL, but this crate's feature `ssl` is off: if \
                 openssl/ssl.h is not found now, turn on `ssl` (or `ssl-vendored`) of kafka-sticky-rdkafka-adapter \
                 instead of rdkafka's."
            );
        }
    }
    build.compile("kafka_sticky_shim");
}

/// Where the headers of one built librdkafka are.
struct Headers {
    include: Vec<PathBuf>,
    config: PathBuf,
}

impl Headers {
    fn of(root: &Path) -> Self {
        Self::of_configure_build(root).or_else(|| Self::of_cmake_build(root)).unwrap_or_else(|| {
            stop(&format!(
                "no internal headers of librdkafka below {}: neither src/rdkafka_int.h (configure) nor \
                 build/CMakeCache.txt (CMake). This crate knows the builds of rdkafka-sys 4.10.0.",
                root.display()
            ))
        })
    }

    /// The whole tree was copied to `root` and built in place.
    fn of_configure_build(root: &Path) -> Option<Self> {
        let sources = root.join("src");
        let config = root.join("config.h");
        (sources.join("rdkafka_int.h").is_file() && config.is_file())
            .then(|| Self { include: vec![sources], config })
    }

    /// The sources stayed where they were; CMake remembers where, and keeps the configuration apart from them.
    /// `generated/dummy` makes their `#include "../config.h"` find it.
    fn of_cmake_build(root: &Path) -> Option<Self> {
        let build = root.join("build");
        let cache = fs::read_to_string(build.join("CMakeCache.txt")).ok()?;
        let home = cache.lines().find_map(|line| line.strip_prefix("CMAKE_HOME_DIRECTORY:INTERNAL="))?;
        let sources = Path::new(home).join("src");
        let generated = build.join("generated");
        let config = generated.join("config.h");
        (sources.join("rdkafka_int.h").is_file() && config.is_file())
            .then(|| Self { include: vec![sources, generated.join("dummy")], config })
    }

    fn with_openssl(&self) -> bool {
        let config = fs::read_to_string(&self.config).unwrap_or_default();
        config.lines().any(|line| line.split_whitespace().eq(["#define", "WITH_SSL", "1"]))
    }
}

fn stop(reason: &str) -> ! {
    eprintln!("kafka-sticky-rdkafka-adapter: {reason}");
    println!("cargo:warning={reason}");
    process::exit(1);
}

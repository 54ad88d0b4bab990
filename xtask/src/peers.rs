//! The other clients' toolchains: what they need is fetched and built into `target/peers`, at the versions that
//! `tests/peers/{java,python,go}` pin.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use xshell::{Shell, cmd};

use crate::missing::need;

const SOURCES: &str = "tests/peers";

/// Java's client, the broker, and the programs in `tests/peers/java/src`, compiled.
#[derive(Debug)]
pub(crate) struct Java {
    pub(crate) class_path: OsString,
}

/// An interpreter that has kafka-python. The programs are run where they are.
#[derive(Debug)]
pub(crate) struct Python {
    pub(crate) interpreter: PathBuf,
    pub(crate) programs: PathBuf,
}

/// The folder of the programs, one for each folder in `tests/peers/go` with a `main`.
#[derive(Debug)]
pub(crate) struct Go {
    pub(crate) programs: PathBuf,
}

/// Asks for what ends a program with the one that started it.
///
/// # Errors
///
/// [`Missing`](crate::missing::Missing)
pub(crate) fn setpriv(shell: &Shell) -> Result<()> {
    need(cmd!(shell, "setpriv --version"), "ending what was started", "setpriv", "util-linux")
}

/// # Errors
///
/// [`Missing`](crate::missing::Missing), or what Maven or the compiler says.
pub(crate) fn java(shell: &Shell) -> Result<Java> {
    let what = "the Java client";
    need(cmd!(shell, "java -version"), what, "Java", "a JDK, 17 or later")?;
    need(cmd!(shell, "javac -version"), what, "a Java compiler", "a JDK, 17 or later")?;
    let (sources, built) = (shell.current_dir().join(SOURCES).join("java"), folder(shell).join("java"));
    let (jars, classes) = (built.join("lib"), built.join("classes"));
    let pom = sources.join("pom.xml");
    once(shell, &pom, &built, || {
        need(cmd!(shell, "mvn --version"), what, "Maven", "Maven, 3.6 or later")?;
        shell.remove_path(&jars)?;
        let fetch = cmd!(
            shell,
            "mvn -q -B -Dstyle.color=never -f {pom} dependency:copy-dependencies -DoutputDirectory={jars}"
        )
        .quiet();
        fetch.run().context("fetching what pom.xml names")
    })?;
    let mut class_path = classes.clone().into_os_string();
    class_path.push(":");
    class_path.push(jars.join("*"));
    shell.remove_path(&classes)?;
    shell.create_dir(&classes)?;
    let programs = files(shell, &sources.join("src"), "java")?;
    cmd!(shell, "javac -encoding UTF-8 -Xlint:all,-path,-processing -Werror -d {classes} -cp {class_path} {programs...}")
        .quiet()
        .run()
        .context("compiling tests/peers/java/src")?;
    Ok(Java { class_path })
}

/// # Errors
///
/// [`Missing`](crate::missing::Missing), or what pip says.
pub(crate) fn python(shell: &Shell) -> Result<Python> {
    let (what, tool, install) = ("the Python client", "Python", "Python, 3.9 or later, with its module venv");
    need(cmd!(shell, "python3 -m venv --help"), what, tool, install)?;
    let (programs, built) = (shell.current_dir().join(SOURCES).join("python"), folder(shell).join("python"));
    let environment = built.join("venv");
    let interpreter = environment.join("bin").join("python");
    let requirements = programs.join("requirements.txt");
    once(shell, &requirements, &built, || {
        shell.remove_path(&environment)?;
        // Without the module ensurepip, which Debian packs by itself, help is given and nothing made.
        need(cmd!(shell, "python3 -m venv {environment}"), what, tool, install)?;
        let fetch =
            cmd!(shell, "{interpreter} -m pip install --quiet --disable-pip-version-check -r {requirements}");
        fetch.quiet().run().context("fetching what requirements.txt names")
    })?;
    Ok(Python { interpreter, programs })
}

/// # Errors
///
/// [`Missing`](crate::missing::Missing), or what Go says.
pub(crate) fn go(shell: &Shell) -> Result<Go> {
    need(cmd!(shell, "go version"), "the Go clients", "Go", "Go, 1.26 or later")?;
    let programs = folder(shell).join("go");
    shell.create_dir(&programs)?;
    let _sources = shell.push_dir(Path::new(SOURCES).join("go"));
    // Go knows by itself what to fetch and what to build again. A slash at the end says that it is a folder.
    let folder = programs.join("");
    cmd!(shell, "go build -mod=readonly -buildvcs=false -o {folder} ./...")
        .quiet()
        .run()
        .context("building tests/peers/go")?;
    Ok(Go { programs })
}

/// `target/peers`, wherever Cargo's target folder is.
pub(crate) fn folder(shell: &Shell) -> PathBuf {
    let target = env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    shell.current_dir().join(target).join("peers")
}

/// Runs `fetch` unless it has run to its end for this very list.
fn once(shell: &Shell, list: &Path, built: &Path, fetch: impl FnOnce() -> Result<()>) -> Result<()> {
    let wanted = shell.read_file(list)?;
    let fetched = built.join(list.file_name().context("a list is a file")?);
    if shell.path_exists(&fetched) && shell.read_file(&fetched)? == wanted {
        return Ok(());
    }
    shell.create_dir(built)?;
    fetch()?;
    Ok(shell.write_file(fetched, wanted)?)
}

/// The files in a folder that have this ending.
fn files(shell: &Shell, folder: &Path, ending: &str) -> Result<Vec<PathBuf>> {
    let mut files = shell.read_dir(folder)?;
    files.retain(|file| file.extension().is_some_and(|of| of == ending));
    Ok(files)
}

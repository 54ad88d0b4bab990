//! Processes that end with this one, whatever ends it.

use std::fs::File;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};
use tokio::process::{Child, Command};

/// A child process. Dropped, it is killed.
#[derive(Debug)]
pub struct Process {
    /// To talk to it, and to wait for it.
    pub child: Child,
}

/// A command that the kernel kills when the thread that starts it is gone: so it must be started from a thread that lasts,
/// as the only one of a current-thread runtime does.
pub fn bound(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "--"]).arg(program);
    command
}

impl Process {
    /// Starts it. What it writes to standard error is appended to the file `log`; standard input and output are piped.
    ///
    /// # Errors
    ///
    /// Where it cannot be started.
    pub fn start(mut command: Command, log: &Path) -> Result<Self> {
        let log = File::options().create(true).append(true).open(log);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log.context("its log")?);
        let child = command.kill_on_drop(true).spawn();
        Ok(Self { child: child.with_context(|| format!("starting {command:?}"))? })
    }

    /// Ends it, as by SIGKILL, and waits until it is gone. It may have ended before.
    ///
    /// # Errors
    ///
    /// Where that is not allowed.
    pub async fn kill(&mut self) -> Result<()> {
        Ok(self.child.kill().await?)
    }

    /// Writes what its threads are doing into a file, where gdb is installed: for a process that hangs.
    pub async fn write_stacks(&self, file: &Path) {
        let Some(pid) = self.child.id() else { return };
        let Ok(stacks) = File::create(file) else { return };
        let mut gdb = Command::new("gdb");
        gdb.args(["-batch", "-ex", "thread apply all backtrace", "-p", &pid.to_string()]);
        // Without it there is nothing to see, and what hangs is reported all the same.
        let _ = gdb.stdin(Stdio::null()).stdout(stacks).stderr(Stdio::null()).status().await;
    }

    /// Sends it a signal: `STOP`, `CONT`, `TERM`.
    ///
    /// # Errors
    ///
    /// Where it has ended.
    pub async fn signal(&self, signal: &str) -> Result<()> {
        let pid = self.child.id().context("it has ended")?;
        let status = Command::new("kill").args(["-s", signal, &pid.to_string()]).status().await?;
        ensure!(status.success(), "kill -s {signal} {pid} failed");
        Ok(())
    }
}

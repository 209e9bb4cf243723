use crate::protocol::Start;
use crate::record::ProcessId;
use crate::tree;
use rustix::pipe::PipeFlags;
use std::io;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use uuid::Uuid;

/// The keeper's ends of the agent's pipes. All are non-blocking; the agent's ends are not, because the two
/// ends of a pipe are two descriptions.
#[derive(Debug, Default)]
pub(super) struct Pipes {
    pub(super) stdin: Option<OwnedFd>,
    pub(super) stdout: Option<OwnedFd>,
    pub(super) stderr: Option<OwnedFd>,
}

/// Starts the agent: its environment is the one given and the attempt's cookie, nothing is inherited.
#[allow(clippy::disallowed_methods, reason = "this is where agents are started")]
pub(super) fn start(start: &Start, attempt: Uuid) -> io::Result<(ProcessId, Pipes)> {
    let (program, arguments) = start
        .argv
        .split_first()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no program"))?;
    let (stdin_theirs, stdin) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    let (stdout, stdout_theirs) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    let (stderr, stderr_theirs) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    for ours in [&stdin, &stdout, &stderr] {
        rustix::io::ioctl_fionbio(ours, true)?;
    }
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(start.env.iter().map(|(name, value)| (name, value)))
        .env(tree::COOKIE_NAME, attempt.hyphenated().to_string())
        .current_dir(&start.cwd)
        .stdin(Stdio::from(stdin_theirs))
        .stdout(Stdio::from(stdout_theirs))
        .stderr(Stdio::from(stderr_theirs));
    tree::harden(&mut command);
    // Waited for by number, with all that is reaped beside it.
    let pid = command.spawn()?.id();
    // It was not waited for, so that even if it is dead it is still there to be read.
    let process = tree::process_id(pid).unwrap_or(ProcessId { pid, start_time: 0 });
    Ok((process, Pipes { stdin: Some(stdin), stdout: Some(stdout), stderr: Some(stderr) }))
}

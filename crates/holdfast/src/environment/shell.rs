//! Asking the person's login shell, as one asks a stranger: within a bound, apart from the host's
//! terminal, and with an end to all that it started where it does not answer.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use uuid::Uuid;

use super::word::{self, Heard, MARK_VARIABLE, Variables};
use super::{BEFORE_SHELL, WITHIN_SHELL, var};

/// How long the shell has (delivery.md).
const ANSWER_MAX: Duration = Duration::from_secs(5);
/// How long one that gave no answer may take to end by itself.
const ENDING_MAX: Duration = Duration::from_millis(500);
/// Bytes that it may print.
const PRINTED_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Bytes of its complaints that are kept.
const COMPLAINT_BYTES_MAX: usize = 512;
/// The variable that names the shell, and the one that names this program within it.
const SHELL_VARIABLE: &str = "HOLDFAST_SHELL";
const PROGRAM_VARIABLE: &str = "HOLDFAST_PROGRAM";
/// What the shell is to run. It stands for itself in all shells that take `-l` and `-c`.
const QUESTION: &str = "exec \"$HOLDFAST_PROGRAM\" ";

/// The person's shell: the one that is set, else the one of the account.
pub(super) fn of_person() -> PathBuf {
    let set = var("SHELL").map(PathBuf::from).filter(|shell| shell.is_absolute());
    set.or_else(of_account).unwrap_or_else(|| PathBuf::from("/bin/sh"))
}

fn of_account() -> Option<PathBuf> {
    let accounts = std::fs::read_to_string("/etc/passwd").ok()?;
    let uid = rustix::process::getuid().as_raw().to_string();
    let line = accounts.lines().find(|line| line.split(':').nth(2) == Some(&uid))?;
    let shell = line.split(':').nth(6).filter(|shell| shell.starts_with('/'))?;
    Some(PathBuf::from(shell))
}

/// What the shell says, or why it was not heard.
pub(super) async fn ask(shell: &Path, program: &Path) -> Result<Variables, String> {
    let attempt = Uuid::new_v4();
    let mark = Uuid::new_v4().simple().to_string();
    let mut child = spawn(shell, program, attempt, &mark)
        .map_err(|error| format!("it could not be started: {error}"))?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let complaint = tokio::spawn(complaint(stderr));
    let heard = tokio::time::timeout(ANSWER_MAX, hear(stdout, &mark)).await;
    // One that closed its output is about to end; one that was silent is not waited for.
    let (heard, ending) = match heard {
        Ok(heard) => (heard, ENDING_MAX),
        Err(_) => {
            let why = format!("it did not answer within {} seconds", ANSWER_MAX.as_secs());
            (Err(why), Duration::ZERO)
        }
    };
    match heard {
        Ok(variables) => {
            // What said it stands where the shell was, and ends by itself.
            tokio::spawn(async move { child.wait().await });
            complaint.abort();
            Ok(variables)
        }
        Err(why) => {
            let ended = tokio::time::timeout(ending, child.wait()).await;
            let ended = ended.ok().and_then(Result::ok);
            let _ = child.start_kill();
            let _ = child.wait().await;
            let all = move || holdfast_keeper::tree::end_survivors(attempt, None, &[]);
            let _ = tokio::task::spawn_blocking(all).await;
            let why = ended.map_or(why.clone(), |status| format!("{why} ({status})"));
            let complaint = tokio::time::timeout(Duration::from_secs(1), complaint).await;
            match complaint {
                Ok(Ok(text)) if !text.is_empty() => Err(format!("{why}; it said: {text}")),
                Ok(_) | Err(_) => Err(why),
            }
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "what it starts is ended by its cookie")]
fn spawn(
    shell: &Path,
    program: &Path,
    attempt: Uuid,
    mark: &str,
) -> std::io::Result<tokio::process::Child> {
    tokio::process::Command::new(program)
        .arg(BEFORE_SHELL)
        .env(SHELL_VARIABLE, shell)
        .env(PROGRAM_VARIABLE, program)
        .env(MARK_VARIABLE, mark)
        .env(holdfast_keeper::tree::COOKIE_NAME, attempt.hyphenated().to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
}

/// Becomes the login shell, in a session of its own: it has no terminal to stop at or to change.
#[allow(clippy::disallowed_methods, reason = "it becomes a process, it starts none")]
pub(super) fn become_shell() -> ExitCode {
    let Some(shell) = var(SHELL_VARIABLE) else { return ExitCode::FAILURE };
    if let Err(error) = rustix::process::setsid() {
        complain(&error);
    }
    // A host that ends does not wait for it, nor does it wait for the host.
    #[cfg(target_os = "linux")]
    if let Err(error) =
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))
    {
        complain(&error);
    }
    let mut question = OsString::from(QUESTION);
    question.push(WITHIN_SHELL);
    let error = std::process::Command::new(shell).arg("-l").arg("-c").arg(question).exec();
    complain(&error);
    ExitCode::FAILURE
}

fn complain(error: &dyn std::fmt::Display) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{error}");
}

async fn hear(stdout: Option<impl AsyncRead + Unpin>, mark: &str) -> Result<Variables, String> {
    let Some(mut stdout) = stdout else { return Err("it has no output".to_owned()) };
    let mut printed = Vec::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = stdout.read(&mut buffer).await.map_err(|error| error.to_string())?;
        printed.extend_from_slice(&buffer[..count]);
        match word::read(&printed, mark) {
            Heard::Whole(variables) => return Ok(variables),
            Heard::Garbled => return Err("something else was printed into its answer".to_owned()),
            Heard::More if count == 0 => return Err("it ended without an answer".to_owned()),
            Heard::More if printed.len() > PRINTED_BYTES_MAX => {
                return Err(format!("it printed more than {PRINTED_BYTES_MAX} bytes"));
            }
            Heard::More => {}
        }
    }
}

/// The beginning of what it complains; the rest is read, so that it is not held up.
async fn complaint(stderr: Option<impl AsyncRead + Unpin>) -> String {
    let mut kept = Vec::new();
    let mut buffer = [0; 4096];
    if let Some(mut stderr) = stderr {
        while let Ok(count) = stderr.read(&mut buffer).await
            && count > 0
        {
            let room = COMPLAINT_BYTES_MAX.saturating_sub(kept.len()).min(count);
            kept.extend_from_slice(&buffer[..room]);
        }
    }
    holdfast_core::limits::cut(&String::from_utf8_lossy(&kept), COMPLAINT_BYTES_MAX)
}

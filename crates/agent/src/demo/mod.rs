//! The built-in demo agent: an ACP v1 agent over stdio that needs no account and no network.
//!
//! It does what the user's text tells it to do, so that every feature of a host can be seen and
//! every misbehaviour of an agent can be brought about. The directives are described at
//! [`directive::Directive`]; text without any directive is echoed. `/count` and `/say TEXT` are its
//! [commands](directive::COMMANDS), told after a session was opened. Told to
//! carry on with what was stopped, it goes on where its own store says that it was ([`left`]).
//!
//! Beside ACP it speaks two extensions:
//!
//! * notification `_holdfast/task` `{sessionId, taskId, toolCallId, kind, label, state}` at the start and at
//!   the end of background work; `kind` is `agent`, `command` or `monitor`, `state` is `running`,
//!   `completed`, `failed` or `stopped`;
//! * request `_holdfast/task_stop` `{sessionId, taskId}` ends such work (`{}`; an unknown task is
//!   an error).
//!
//! # Environment
//!
//! | variable | effect |
//! |---|---|
//! | `HOLDFAST_DEMO_DIR` | where sessions are kept; else `$XDG_STATE_HOME/holdfast-demo-agent`, else `$HOME/.local/state/holdfast-demo-agent` |
//! | `HOLDFAST_DEMO_LOG` | the evidence file, see [`evidence`] |
//! | `HOLDFAST_DEMO_START_DELAY_MS` | waits before the reply to `initialize` |
//! | `HOLDFAST_DEMO_DIE_AT_START` | exits before reading anything; a number is the exit code, else 1 |
//! | `HOLDFAST_DEMO_REFUSE_LOAD` | `session/load` and `session/resume` answer an error |
//! | `HOLDFAST_DEMO_IGNORE_CANCEL` | `session/cancel` changes nothing |
//! | `HOLDFAST_DEMO_NAME_NO_TURNS` | the ends of turns have no names: a session is forked at its end alone |
//!
//! A variable that is set but empty counts as absent.

#![allow(
    clippy::disallowed_methods,
    reason = "the demo agent is a program of its own: it reads its environment, starts threads \
              and sleeps as any foreign agent does"
)]

mod acts;
mod agent;
mod ask;
mod background;
mod directive;
mod evidence;
mod hostile;
mod left;
mod output;
mod requests;
mod session;
mod settings;
mod store;
mod turn;

use std::io::{BufReader, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use self::agent::Agent;
use self::settings::Settings;

/// Exit code of an agent that was told to die, or that cannot go on.
const EXIT_DIED: i32 = 1;
/// Exit code for arguments that the agent does not know.
const EXIT_USAGE: i32 = 2;
/// How long a grandchild left by `[[fork]]` sleeps at most: a forgotten one ends by itself.
const GRANDCHILD_LIVES: Duration = Duration::from_secs(3600);

/// Runs the agent on this process's stdin and stdout until stdin ends, and gives the exit code.
///
/// `args` are the arguments after the subcommand; there are none to give. A directive such as
/// `[[die]]` ends the process from within, without returning.
pub fn main(args: &[String]) -> i32 {
    let settings = Settings::from_env();
    if settings.role == settings::Role::Grandchild {
        return sleep_as_grandchild();
    }
    if let Some(unknown) = args.first() {
        complain(&format!("demo agent: unknown argument {unknown:?}"));
        return EXIT_USAGE;
    }
    if let Some(code) = settings.die_at_start {
        complain("demo agent: told to die at start");
        return code;
    }
    match Agent::new(settings) {
        Ok(agent) => {
            requests::serve(&agent, BufReader::new(std::io::stdin()));
            0
        }
        Err(error) => {
            complain(&format!("demo agent: {error}"));
            EXIT_DIED
        }
    }
}

/// The process that `[[fork]]` leaves behind. It ignores SIGTERM because the shell that started it
/// does, and lives in a session of its own.
fn sleep_as_grandchild() -> i32 {
    if let Err(error) = rustix::process::setsid() {
        complain(&format!("demo agent: setsid: {error}"));
        return EXIT_DIED;
    }
    std::thread::sleep(GRANDCHILD_LIVES);
    0
}

/// Ends the process at once, from any thread, in the middle of whatever it was doing.
#[allow(clippy::exit, reason = "dying in the middle of a turn is what the directive asks for")]
fn leave(code: i32) -> ! {
    std::process::exit(code)
}

/// One line on stderr; a closed stderr is nobody's problem.
fn complain(line: &str) {
    drop(writeln!(std::io::stderr(), "{line}"));
}

/// Locks, also after a thread that held the lock has panicked: the agent is a test piece and is
/// to go on as long as it can.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! Driving an agent that speaks lines of JSON on its pipes, without any host between.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// How long an agent may take to say what a test waits for.
pub const ANSWER_BOUND: Duration = Duration::from_secs(60);

/// A running agent and everything it has said. Dropping it kills the agent.
pub struct Lines {
    child: Child,
    stdin: Option<ChildStdin>,
    heard: Arc<Heard>,
}

#[derive(Default)]
struct Heard {
    state: Mutex<State>,
    more: Condvar,
}

#[derive(Default)]
struct State {
    lines: Vec<Vec<u8>>,
    messages: Vec<Value>,
    ended: bool,
}

impl Lines {
    /// Starts the agent with its stdin and stdout as pipes; stderr is inherited.
    ///
    /// # Panics
    ///
    /// When the program cannot be started.
    pub fn start(command: &mut Command) -> Self {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
        let stdout = child.stdout.take().expect("stdout is a pipe");
        let heard = Arc::new(Heard::default());
        let listener = Arc::clone(&heard);
        thread::spawn(move || listen(&listener, BufReader::new(stdout)));
        Self { stdin: child.stdin.take(), child, heard }
    }

    /// The pid of the agent.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Writes one line as it is and its newline. An agent that is gone is no error here.
    pub fn send_line(&mut self, line: &[u8]) {
        if let Some(stdin) = &mut self.stdin {
            drop(stdin.write_all(&[line, b"\n"].concat()).and_then(|()| stdin.flush()));
        }
    }

    /// Writes one message.
    pub fn send(&mut self, message: &Value) {
        self.send_line(message.to_string().as_bytes());
    }

    /// Waits for the first message, among all that were heard so far and will be, that fits.
    ///
    /// # Panics
    ///
    /// When the agent's output ends before, or [`ANSWER_BOUND`] is over.
    #[track_caller]
    pub fn wait_for(&self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        self.wait_after(0, what, fits)
    }

    /// As [`Self::wait_for`], passing over the first `skip` messages; see [`Self::heard_count`].
    ///
    /// # Panics
    ///
    /// As [`Self::wait_for`] does.
    #[track_caller]
    pub fn wait_after(&self, skip: usize, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + ANSWER_BOUND;
        let mut state = self.state();
        let mut looked_at = skip;
        loop {
            let messages = state.messages.get(looked_at..).unwrap_or_default();
            if let Some(found) = messages.iter().find(|message| fits(message)) {
                return found.clone();
            }
            looked_at = looked_at.max(state.messages.len());
            assert!(!state.ended, "the agent's output ended before {what}");
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "gave up waiting for {what} after {ANSWER_BOUND:?}");
            let waited = self.heard.more.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// How many messages were heard so far.
    pub fn heard_count(&self) -> usize {
        self.state().messages.len()
    }

    /// All messages heard so far; a line that is not JSON is not among them.
    pub fn messages(&self) -> Vec<Value> {
        self.state().messages.clone()
    }

    /// All lines heard so far, without their newlines.
    pub fn lines(&self) -> Vec<Vec<u8>> {
        self.state().lines.clone()
    }

    /// Closes the agent's stdin.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Kills the agent with SIGKILL and waits for its death.
    ///
    /// # Panics
    ///
    /// When it cannot be waited for.
    pub fn kill_9(&mut self) -> ExitStatus {
        drop(self.child.kill());
        self.child.wait().expect("the child can be waited for")
    }

    /// Waits until the agent has ended.
    ///
    /// # Panics
    ///
    /// When it has not within [`ANSWER_BOUND`].
    #[track_caller]
    pub fn wait_exit(&mut self) -> ExitStatus {
        let mut status = None;
        crate::wait_until(ANSWER_BOUND, "the end of the agent", || {
            status = self.child.try_wait().expect("the child can be waited for");
            status.is_some()
        });
        status.expect("the wait ended with a status")
    }

    /// Waits until the agent's stdout has ended; then [`Self::messages`] is all it has said.
    ///
    /// # Panics
    ///
    /// When it has not within [`ANSWER_BOUND`].
    #[track_caller]
    pub fn wait_output_end(&self) {
        crate::wait_until(ANSWER_BOUND, "the end of the agent's output", || self.state().ended);
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.heard.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn listen(heard: &Heard, mut output: impl BufRead) {
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = output.read_until(b'\n', &mut line);
        let mut state = heard.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !matches!(read, Ok(1..)) {
            state.ended = true;
            heard.more.notify_all();
            return;
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        if let Ok(message) = serde_json::from_slice(&line) {
            state.messages.push(message);
        }
        state.lines.push(line.clone());
        heard.more.notify_all();
    }
}

//! Where words go: data to stdout, everything else to stderr.

use std::io::{ErrorKind, IsTerminal, Write, stderr, stdin, stdout};

use serde_json::Value;

use crate::fault::{Exit, Fault};
use crate::text;

/// The code of a fault that is none: whoever read has had enough, as `head` does.
const UNREAD: &str = "unread";

/// How much is said, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// One JSON value, or one a line.
    Json,
    /// For a person, with headings and hints.
    Terminal,
    /// For a person or a script, without them.
    Piped,
}

/// Both outputs of a command.
#[derive(Clone, Copy, Debug)]
pub struct Out {
    form: Form,
}

impl Out {
    /// The outputs of this process.
    #[must_use]
    pub fn of(json: bool) -> Self {
        let form = match (json, stdout().is_terminal()) {
            (true, _) => Form::Json,
            (false, true) => Form::Terminal,
            (false, false) => Form::Piped,
        };
        Self { form }
    }

    /// Whether programs read the answer.
    #[must_use]
    pub fn is_json(self) -> bool {
        self.form == Form::Json
    }

    /// Whether a person reads it: data go to a terminal, not as JSON.
    pub(crate) fn is_read(self) -> bool {
        self.form == Form::Terminal
    }

    /// Whether a person can be asked.
    pub(crate) fn can_ask(self) -> bool {
        self.form != Form::Json && stdin().is_terminal() && stderr().is_terminal()
    }

    /// One JSON value on a line of its own.
    ///
    /// # Errors
    /// Nobody reads any more.
    pub fn json(self, value: &Value) -> Result<(), Fault> {
        let json = value.to_string();
        if stdout().is_terminal() {
            put(&text::harmless_json(&json), "\n")
        } else {
            put(&json, "\n")
        }
    }

    /// A line of data.
    ///
    /// # Errors
    /// Nobody reads any more.
    pub fn line(self, line: &str) -> Result<(), Fault> {
        put(&text::harmless(line), "\n")
    }

    /// Data as they are where a program reads them, harmless where a terminal does; with a line end
    /// if they have none.
    pub(crate) fn exact(self, data: &str) -> Result<(), Fault> {
        let end = if data.is_empty() || data.ends_with('\n') { "" } else { "\n" };
        if self.form == Form::Terminal { put(&text::harmless(data), end) } else { put(data, end) }
    }

    /// A piece of a line.
    pub(crate) fn piece(self, piece: &str) -> Result<(), Fault> {
        put(&text::harmless(piece), "")
    }

    /// Rows in columns; where a person reads them with a heading, if they have one.
    ///
    /// # Errors
    /// Nobody reads any more.
    pub fn table(self, heading: &[&str], rows: Vec<Vec<String>>) -> Result<(), Fault> {
        let mut all = Vec::new();
        if self.form == Form::Terminal && !rows.is_empty() && !heading.is_empty() {
            all.push(heading.iter().map(|&word| word.to_owned()).collect());
        }
        all.extend(rows);
        text::columns(&all, self.width()).iter().try_for_each(|line| self.line(line))
    }

    /// The columns of the terminal that data go to; none where they go elsewhere.
    fn width(self) -> Option<usize> {
        let size = || rustix::termios::tcgetwinsize(stdout()).ok();
        let columns = (self.form == Form::Terminal).then(size)??.ws_col;
        (columns > 0).then_some(usize::from(columns))
    }

    /// Something that a person should know beside the data.
    pub fn note(self, words: &str) {
        let _ = match self.form {
            Form::Json => writeln!(stderr(), "{}", serde_json::json!({ "note": words })),
            Form::Terminal | Form::Piped => writeln!(stderr(), "{}", text::harmless(words)),
        };
    }

    /// What a person may do next; scripts do not need it.
    pub(crate) fn hint(self, words: &str) {
        if self.form == Form::Terminal {
            self.note(words);
        }
    }

    /// Asks a person and answers the line that was typed; none at the end of the input.
    pub(crate) fn ask(self, question: &str) -> Option<String> {
        let _ = write!(stderr(), "{}", text::harmless(question));
        let mut line = String::new();
        let read = stdin().read_line(&mut line).ok()?;
        (read > 0).then(|| line.trim().to_lowercase())
    }

    /// Why the command did not do it.
    pub fn fault(self, fault: &Fault) {
        if fault.code == UNREAD {
            return;
        }
        let mut err = stderr();
        if self.form == Form::Json {
            let _ = writeln!(err, "{}", fault.json());
            return;
        }
        let _ = writeln!(err, "holdfast: {} ({})", text::harmless(&fault.text), fault.code);
        if let Some(advice) = &fault.advice {
            let _ = writeln!(err, "  {}", text::harmless(advice));
        }
    }
}

fn put(words: &str, end: &str) -> Result<(), Fault> {
    let mut out = stdout().lock();
    let written = write!(out, "{words}{end}").and_then(|()| out.flush());
    written.map_err(|error| {
        let code = if error.kind() == ErrorKind::BrokenPipe { UNREAD } else { "output" };
        Fault::new(Exit::Failed, code, format!("Cannot write: {error}."))
    })
}

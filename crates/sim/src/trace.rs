//! What happened, in lines that a person can read; kept only where somebody asked for it.

/// The trace of one history.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    lines: Option<Vec<String>>,
}

impl Trace {
    pub(crate) fn new(wanted: bool) -> Self {
        Self { lines: wanted.then(Vec::new) }
    }

    /// Adds a line; what it says is made only where it is wanted.
    pub(crate) fn say(&mut self, awake: u64, line: impl FnOnce() -> String) {
        if let Some(lines) = &mut self.lines {
            lines.push(format!("{:>9}.{:03} {}", awake / 1_000_000, awake / 1000 % 1000, line()));
        }
    }

    pub(crate) fn into_lines(self) -> Vec<String> {
        self.lines.unwrap_or_default()
    }
}

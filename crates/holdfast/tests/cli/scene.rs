//! A person at a command line.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus, Stdio};

use holdfast_testkit::host::Place;
use holdfast_testkit::proc;
use rustix::fs::{Mode, OFlags};
use rustix::process::Signal;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize};
use serde_json::Value;
use tempfile::TempDir;

/// The columns of a person's terminal.
const COLUMNS: u16 = 100;

/// A place for a host.
pub(crate) fn place(dir: &TempDir) -> Place {
    Place::new(env!("CARGO_BIN_EXE_holdfast"), dir.path())
}

/// What a command said, and how it ended.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Said {
    /// The data of a command that has to succeed.
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        assert_eq!(self.code, 0, "{self:?}");
        self.out
    }

    /// The one JSON value of a command that has to succeed.
    #[track_caller]
    pub(crate) fn json(self) -> Value {
        let out = self.ok();
        assert_eq!(out.lines().count(), 1, "one value on one line: {out}");
        serde_json::from_str(&out).unwrap()
    }

    /// The refusal, as a program reads it.
    #[track_caller]
    pub(crate) fn error(self) -> Value {
        assert_eq!(self.out, "", "no data beside a refusal");
        serde_json::from_str::<Value>(&self.err).unwrap()["error"].take()
    }
}

/// A command at this place, without anything of the machine's environment.
pub(crate) fn command(place: &Place, args: &[&str]) -> Command {
    let mut command = Command::new(&place.program);
    command
        .args(args)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", place.root.join("home"))
        .env("HOLDFAST_DATA_DIR", place.data_dir())
        .current_dir(place.work_dir())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs a command to its end.
pub(crate) fn run(place: &Place, args: &[&str]) -> Said {
    run_with(command(place, args), b"")
}

/// Runs a command that reads this.
pub(crate) fn run_with(mut command: Command, stdin: &[u8]) -> Said {
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    // A command that does not read it may have ended by now.
    let _ = child.stdin.take().unwrap().write_all(stdin);
    let output = child.wait_with_output().unwrap();
    Said {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A command whose three streams are a terminal.
pub(crate) struct Terminal {
    child: Child,
    master: File,
}

impl Terminal {
    pub(crate) fn run(place: &Place, args: &[&str]) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let size = Winsize { ws_row: 40, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let slave = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
        // What is typed is not shown: it would stand wherever the program is by then.
        let mut modes = tcgetattr(&slave).unwrap();
        modes.local_modes.remove(LocalModes::ECHO);
        tcsetattr(&slave, OptionalActions::Now, &modes).unwrap();
        let stream = |slave: &OwnedFd| Stdio::from(slave.try_clone().unwrap());
        let mut command = command(place, args);
        command.stdin(stream(&slave)).stdout(stream(&slave)).stderr(stream(&slave));
        let child = command.spawn().unwrap();
        Self { child, master: File::from(master) }
    }

    pub(crate) fn types(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    /// Ends the command. Not as Ctrl-C does: whoever runs the tests in the background ignores that, and
    /// so does what they start.
    pub(crate) fn terminate(&self) {
        proc::signal(self.child.id(), Signal::TERM).unwrap();
    }

    /// All that is on the screen when the command has ended.
    pub(crate) fn end(mut self) -> (String, ExitStatus) {
        let mut screen = Vec::new();
        // The end of a terminal is an error.
        let _ = self.master.read_to_end(&mut screen);
        let status = self.child.wait().unwrap();
        (String::from_utf8(screen).unwrap().replace("\r\n", "\n"), status)
    }
}

/// What a person sees.
pub(crate) fn seen(place: &Place, args: &[&str]) -> String {
    let (screen, status) = Terminal::run(place, args).end();
    assert!(status.success(), "{status}: {screen}");
    redact(place, &screen)
}

/// The text without what differs from run to run: ids, times, ports, paths.
pub(crate) fn redact(place: &Place, text: &str) -> String {
    let root = place.root.canonicalize().unwrap();
    let text = text.replace(root.to_str().unwrap(), "DIR");
    let text = text.replace(env!("CARGO_PKG_VERSION"), "VERSION");
    let lines = text.split('\n').map(|line| {
        let redacted: Vec<String> = line.split(' ').map(word).collect();
        let line = redacted.join(" ").replace("just now", "AGO");
        let line = replace_count(&line, "pid ", "");
        let line = replace_count(&line, "", " s ago").replace("N s ago", "AGO");
        let moving = ["AGO", "CHANGED", "SINCE", "SENT", "free"];
        if moving.iter().any(|word| line.contains(word)) { narrow(&line) } else { line }
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn word(word: &str) -> String {
    let hex = |text: &str, digits: usize| {
        text.len() >= digits && text.bytes().take(digits).all(|b| b.is_ascii_hexdigit())
    };
    for (prefix, digits, name) in [
        ("chat_", 32, "CHAT"),
        ("msg_", 32, "MESSAGE"),
        ("rcp_", 32, "RECEIPT"),
        ("hf_", 64, "TOKEN"),
    ] {
        if let Some((before, rest)) = word.split_once(prefix)
            && hex(rest, digits)
        {
            return format!("{before}{name}{}", &rest[digits..]);
        }
    }
    if let Some((before, rest)) = word.split_once("127.0.0.1:") {
        let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        return format!("{before}HOST{rest}");
    }
    if hex(word, 12) && word.len() == 12 { "ID".to_owned() } else { word.to_owned() }
}

/// The number between two words, as N.
fn replace_count(line: &str, before: &str, after: &str) -> String {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    for (at, _) in line.char_indices() {
        let Some(rest) = line[at..].strip_prefix(before) else { continue };
        let count = digits(rest);
        if count > 0
            && rest[count..].starts_with(after)
            && !line[..at].ends_with(|c: char| c.is_ascii_digit())
        {
            return format!("{}{before}N{}", &line[..at], &rest[count..]);
        }
    }
    line.to_owned()
}

/// Gaps between columns as two spaces: their width follows the redacted texts.
fn narrow(line: &str) -> String {
    let body = line.trim_start();
    let indent = &line[..line.len() - body.len()];
    let mut words = body.split("  ").map(str::trim).filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default();
    words.fold(format!("{indent}{first}"), |all, word| format!("{all}  {word}"))
}

//! What a user's text may tell the demo agent to do.

use std::time::Duration;

use serde_json::Value;

use super::EXIT_DIED;

/// Longest time that a directive may name, in seconds.
const SECONDS_MAX: f64 = 86_400.0;
/// Most bytes that a directive may ask for.
const BYTES_MAX: u64 = 1 << 30;
/// Most chunks of `[[stream]]`.
const CHUNKS_MAX: u64 = 10_000_000;
/// Most directives that are taken from one message; what follows is ignored.
const DIRECTIVES_MAX: usize = 10_000;

/// One `[[name arguments]]`. The first `]]` ends it; an unknown name is ordinary text. Directives
/// are done in their order, and text between them is ignored.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Directive {
    /// `[[say TEXT]]`: a message of its own, streamed in several chunks.
    Say(String),
    /// `[[think TEXT]]`: the same as thinking.
    Think(String),
    /// `[[slow SECONDS]]`: works silently; decimals are fine.
    Slow(Duration),
    /// `[[ask QUESTION|A|B]]`: a question, see `ask`.
    Ask { question: String, choices: Vec<String> },
    /// `[[approve COMMAND]]`, or `[[approvals A|B|C]]` which opens several at once.
    Approve { commands: Vec<String> },
    /// `[[retract SECONDS COMMAND]]`: asks for approval and withdraws its own request after that time.
    Retract { after: Duration, command: String },
    /// `[[task SECONDS LABEL]]`, `[[command …]]`, `[[monitor …]]`: background work that outlives the
    /// turn. A label that begins with `fail:` ends as failed.
    Background { kind: BackgroundKind, lasts: Duration, label: String },
    /// `[[prompt]]`: prints the whole prompt exactly as received, background context included.
    Prompt,
    /// `[[count]]`: prints how many user messages the session has seen in its whole life.
    Count,
    /// `[[die]]`, `[[die CODE]]`: exits at once, in the middle of the turn.
    Die(i32),
    /// `[[flood BYTES]]`: that many bytes of message text.
    Flood(u64),
    /// `[[fork]]`: leaves a grandchild in a session of its own that ignores SIGTERM and has no stdio;
    /// its pid is said.
    Fork,
    /// `[[stream N MS]]`: chunks `line 1\n`, `line 2\n`, … with so many milliseconds between.
    Stream { count: u64, gap: Duration },
    /// `[[clock N MS]]`: the same, but each line is the time in microseconds since 1970, as it is said.
    Clock { count: u64, gap: Duration },
    /// `[[tool NAME SECONDS]]`: a tool call that runs and completes with output.
    Tool { name: String, lasts: Duration },
    /// `[[output BYTES]]`: a tool call whose output has that many bytes.
    Output(u64),
    /// `[[plan A|B|C]]`: a plan, at work and then completed.
    Plan(Vec<String>),
    /// `[[raw "JSON STRING"]]`: writes a line as it is. A character up to U+00FF is that one byte,
    /// others are their UTF-8; `$SESSION` is replaced by the session's id; a `]` is written `\u005d` where two would meet.
    Raw(Vec<u8>),
    /// `[[line BYTES]]`: one notification line of exactly that many bytes (its newline not counted).
    Line(u64),
    /// `[[endless]]`: a line that never ends; nothing but the agent's death stops it.
    Endless,
    /// `[[error CODE]]`: answers the prompt with a JSON-RPC error. As the first directive, with a
    /// code that proves a rejection, the message is neither stored nor counted.
    Error(i64),
    /// `[[title TEXT]]`: a `session_info_update`.
    Title(String),
    /// Cannot be understood; said in the reply.
    Malformed { written: String, expected: &'static str },
}

/// What kind of background work; the names are those of `_holdfast/task`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BackgroundKind {
    Agent,
    Command,
    Monitor,
}

impl BackgroundKind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Command => "command",
            Self::Monitor => "monitor",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        [Self::Agent, Self::Command, Self::Monitor].into_iter().find(|kind| kind.name() == name)
    }
}

/// What can be written after a slash instead, for a whole message: name, what it does, and what
/// follows. Each is the directive of its name.
pub(super) const COMMANDS: [(&str, &str, Option<&str>); 2] = [
    ("count", "How many messages this session has seen", None),
    ("say", "Says it back, in several pieces", Some("TEXT")),
];

/// The directives of a user's own text, in order; empty where it has none.
pub(super) fn parse(text: &str) -> Vec<Directive> {
    if let Some(written) = text.trim().strip_prefix('/') {
        let name = written.split_whitespace().next().unwrap_or_default();
        if COMMANDS.iter().any(|(known, ..)| *known == name) {
            return read(written).into_iter().collect();
        }
    }
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find("[[") {
        let after = &rest[open + 2..];
        let Some(close) = after.find("]]") else { break };
        let inside = &after[..close];
        if let Some(directive) = read(inside) {
            found.push(directive);
            if found.len() == DIRECTIVES_MAX {
                break;
            }
            rest = &after[close + 2..];
        } else {
            // Not ours: one that is begun inside it may be.
            rest = after;
        }
    }
    found
}

/// Reads what stands between the brackets; `None` where the name is not a directive's.
fn read(inside: &str) -> Option<Directive> {
    let (name, arguments) = match inside.split_once(char::is_whitespace) {
        Some((name, arguments)) => (name, arguments.trim()),
        None => (inside, ""),
    };
    let parsed = match name {
        "say" => Ok(Directive::Say(arguments.to_owned())),
        "think" => Ok(Directive::Think(arguments.to_owned())),
        "title" => Ok(Directive::Title(arguments.to_owned())),
        "slow" => seconds(arguments).map(Directive::Slow).ok_or("slow SECONDS"),
        "ask" => ask(arguments).ok_or("ask QUESTION|A|B"),
        "approve" => Ok(Directive::Approve { commands: vec![arguments.to_owned()] }),
        "approvals" => Ok(Directive::Approve { commands: bar_separated(arguments) }),
        "retract" => timed(arguments)
            .map(|(after, command)| Directive::Retract { after, command })
            .ok_or("retract SECONDS COMMAND"),
        "task" => background(BackgroundKind::Agent, arguments).ok_or("task SECONDS LABEL"),
        "command" => background(BackgroundKind::Command, arguments).ok_or("command SECONDS LABEL"),
        "monitor" => background(BackgroundKind::Monitor, arguments).ok_or("monitor SECONDS LABEL"),
        "prompt" => Ok(Directive::Prompt),
        "count" => Ok(Directive::Count),
        "die" if arguments.is_empty() => Ok(Directive::Die(EXIT_DIED)),
        "die" => arguments.parse().map(Directive::Die).map_err(|_| "die CODE"),
        "flood" => bytes(arguments).map(Directive::Flood).ok_or("flood BYTES"),
        "fork" => Ok(Directive::Fork),
        "stream" => stream(arguments)
            .map(|(count, gap)| Directive::Stream { count, gap })
            .ok_or("stream N MS"),
        "clock" => stream(arguments)
            .map(|(count, gap)| Directive::Clock { count, gap })
            .ok_or("clock N MS"),
        "tool" => tool(arguments).ok_or("tool NAME SECONDS"),
        "output" => bytes(arguments).map(Directive::Output).ok_or("output BYTES"),
        "plan" => Ok(Directive::Plan(bar_separated(arguments))),
        "raw" => raw(arguments).map(Directive::Raw).ok_or("raw \"JSON STRING\""),
        "endless" => Ok(Directive::Endless),
        "line" => bytes(arguments).map(Directive::Line).ok_or("line BYTES"),
        "error" => arguments.parse().map(Directive::Error).map_err(|_| "error CODE"),
        _ => return None,
    };
    Some(
        parsed.unwrap_or_else(|expected| Directive::Malformed {
            written: inside.to_owned(),
            expected,
        }),
    )
}

fn seconds(text: &str) -> Option<Duration> {
    let seconds: f64 = text.parse().ok()?;
    (0.0..=SECONDS_MAX).contains(&seconds).then(|| Duration::from_secs_f64(seconds))
}

fn bytes(text: &str) -> Option<u64> {
    text.parse().ok().filter(|bytes| *bytes <= BYTES_MAX)
}

fn bar_separated(text: &str) -> Vec<String> {
    text.split('|').map(|part| part.trim().to_owned()).collect()
}

fn ask(arguments: &str) -> Option<Directive> {
    let mut parts = bar_separated(arguments);
    let question = parts.remove(0);
    (!parts.is_empty()).then_some(Directive::Ask { question, choices: parts })
}

/// `SECONDS TEXT`; the text may be empty.
fn timed(arguments: &str) -> Option<(Duration, String)> {
    let (time, text) = arguments.split_once(char::is_whitespace).unwrap_or((arguments, ""));
    Some((seconds(time)?, text.trim().to_owned()))
}

fn background(kind: BackgroundKind, arguments: &str) -> Option<Directive> {
    timed(arguments).map(|(lasts, label)| Directive::Background { kind, lasts, label })
}

fn stream(arguments: &str) -> Option<(u64, Duration)> {
    let (count, gap) = arguments.split_once(char::is_whitespace)?;
    let count = count.parse().ok().filter(|count| *count <= CHUNKS_MAX)?;
    let milliseconds: u32 = gap.trim().parse().ok()?;
    Some((count, Duration::from_millis(milliseconds.into())))
}

/// `NAME SECONDS`; the name may hold spaces.
fn tool(arguments: &str) -> Option<Directive> {
    let (name, time) = arguments.rsplit_once(char::is_whitespace)?;
    Some(Directive::Tool { name: name.trim().to_owned(), lasts: seconds(time)? })
}

fn raw(arguments: &str) -> Option<Vec<u8>> {
    let Ok(Value::String(text)) = serde_json::from_str(arguments) else { return None };
    let mut bytes = Vec::with_capacity(text.len());
    for character in text.chars() {
        match u8::try_from(u32::from(character)) {
            Ok(byte) => bytes.push(byte),
            Err(_) => bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Some(bytes)
}

/// The user's own text: what follows the frames of background context that a host puts before it.
/// Context is data, so no directive in it is obeyed and none of it is echoed.
pub(super) fn own_text(prompt: &str) -> &str {
    const OPENS: &str = "[Background context";
    const CLOSES: &str = "\n[End of background context]\n";
    /// The line that introduces the frames, and perhaps an empty one.
    const LINES_BEFORE: usize = 2;

    let mut rest = prompt;
    for _ in 0..LINES_BEFORE {
        if rest.starts_with(OPENS) {
            break;
        }
        let Some((_, after)) = rest.split_once('\n') else { return prompt };
        rest = after;
    }
    if !rest.starts_with(OPENS) {
        return prompt;
    }
    while rest.starts_with(OPENS) {
        let Some((_, after)) = rest.split_once(CLOSES) else { return prompt };
        rest = after;
    }
    rest.strip_prefix('\n').unwrap_or(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secs(seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds)
    }

    #[test]
    fn each_directive_is_read() {
        let table = [
            ("[[say hi there]]", Directive::Say("hi there".into())),
            ("[[think mulling]]", Directive::Think("mulling".into())),
            ("[[slow 1.5]]", Directive::Slow(secs(1.5))),
            (
                "[[ask Which?|red|blue]]",
                Directive::Ask {
                    question: "Which?".into(),
                    choices: vec!["red".into(), "blue".into()],
                },
            ),
            ("[[approve a | b]]", Directive::Approve { commands: vec!["a | b".into()] }),
            ("[[approvals a|b]]", Directive::Approve { commands: vec!["a".into(), "b".into()] }),
            ("[[retract 2 rm x]]", Directive::Retract { after: secs(2.0), command: "rm x".into() }),
            (
                "[[task 2 the label]]",
                Directive::Background {
                    kind: BackgroundKind::Agent,
                    lasts: secs(2.0),
                    label: "the label".into(),
                },
            ),
            (
                "[[command 0]]",
                Directive::Background {
                    kind: BackgroundKind::Command,
                    lasts: secs(0.0),
                    label: String::new(),
                },
            ),
            (
                "[[monitor 3 m]]",
                Directive::Background {
                    kind: BackgroundKind::Monitor,
                    lasts: secs(3.0),
                    label: "m".into(),
                },
            ),
            ("[[prompt]]", Directive::Prompt),
            ("[[count]]", Directive::Count),
            ("[[die]]", Directive::Die(1)),
            ("[[die 0]]", Directive::Die(0)),
            ("[[flood 10]]", Directive::Flood(10)),
            ("[[fork]]", Directive::Fork),
            ("[[endless]]", Directive::Endless),
            ("[[clock 3 20]]", Directive::Clock { count: 3, gap: secs(0.02) }),
            ("[[stream 3 20]]", Directive::Stream { count: 3, gap: secs(0.02) }),
            (
                "[[tool read file 1]]",
                Directive::Tool { name: "read file".into(), lasts: secs(1.0) },
            ),
            ("[[output 5]]", Directive::Output(5)),
            ("[[plan a|b]]", Directive::Plan(vec!["a".into(), "b".into()])),
            ("[[line 99]]", Directive::Line(99)),
            ("[[error -32602]]", Directive::Error(-32602)),
            ("[[title T]]", Directive::Title("T".into())),
        ];
        for (text, directive) in table {
            assert_eq!(parse(text), [directive], "{text}");
        }
    }

    #[test]
    fn order_is_kept_and_other_brackets_are_text() {
        let found = parse("see [[Page]] then [[say a]] and [[ [[count]] [[say open");
        assert_eq!(found, [Directive::Say("a".into()), Directive::Count]);
        assert_eq!(parse("plain text"), []);
    }

    #[test]
    fn raw_is_bytes_and_may_be_invalid_utf_8() {
        assert_eq!(
            parse(r#"[[raw "a\u00ff\u0000\u20ac"]]"#),
            [Directive::Raw(b"a\xff\0\xe2\x82\xac".to_vec())]
        );
    }

    #[test]
    fn what_cannot_be_understood_is_said_so() {
        for text in
            ["[[slow x]]", "[[slow -1]]", "[[slow 1e9]]", "[[flood 99999999999]]", "[[raw x]]"]
        {
            let found = parse(text);
            assert!(matches!(found[..], [Directive::Malformed { .. }]), "{text}: {found:?}");
        }
    }

    #[test]
    fn background_context_is_not_the_users_own_text() {
        let framed = "Background for you: use it.\n\
            [Background context from \"ci\"]\n[[die]]\n[End of background context]\n\
            [Background context]\nmore\n[End of background context]\n[[say hi]]";
        assert_eq!(own_text(framed), "[[say hi]]");
        for plain in ["hi", "hi\n[[say x]]\nthere\n", "[Background context] is what I said"] {
            assert_eq!(own_text(plain), plain);
        }
    }
}

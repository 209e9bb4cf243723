//! What a user's text may tell the scripted model to do.

use std::time::Duration;

use serde_json::Value;

use super::said::Said;

/// Longest time that a directive may name, in seconds.
const SECONDS_MAX: f64 = 3600.0;
/// How much of a tool's result is told back, in characters.
const RESULT_HEAD_CHARS: usize = 200;

/// One step of a reply. `COUNT` in a directive is how often it is done in one place of one
/// conversation: the attempt after that goes on behind it. Without it, always.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Step {
    /// `[[say TEXT]]`: the text, word by word.
    Say(String),
    /// `[[think TEXT]]`: the same, as a thought.
    Think(String),
    /// `[[slow-stream N MS]]`: chunks `chunk 1 `, `chunk 2 `, … with so many milliseconds between.
    Stream { count: u32, gap: Duration },
    /// `[[tool NAME {JSON}]]`: a call of a tool; several in one reply are parallel calls.
    Tool { name: String, arguments: Value },
    /// `[[hang SECONDS]]`: says nothing for that time, then goes on.
    Hang(Duration),
    /// `[[gate NAME]]`: says nothing until the test opens that gate (`ModelServer::open`).
    Gate(String),
    /// `[[empty [COUNT]]]`: the reply ends here.
    Empty { times: Option<u32> },
    /// `[[usage TOKENS]]`: the input that this reply's usage reports.
    Usage(u64),
    /// `[[stop REASON]]`: why the reply ends, in the words of the API in use.
    Stop(String),
    /// `[[status CODE [COUNT]]]`: the whole request is answered with this HTTP status.
    Status { code: u16, times: Option<u32> },
    /// `[[cut [COUNT]]]`: the connection is cut here.
    Cut { times: Option<u32> },
    /// `[[fail CODE]]`: the stream tells an error of this code here and ends.
    Fail(String),
}

/// What the model answers to a conversation.
///
/// The last text of the user is split by `[[then]]` into replies: the first answers the text, the
/// next what came after the first (a tool's result, as a rule), and so on. After the last of them a
/// tool's result is answered with `tool done: HEAD OF RESULT`, a notice of the agent's program with
/// `noted: NOTICE`, and a text without directives with `You said: TEXT`.
pub(super) fn steps(conversation: &[Said]) -> Vec<Step> {
    let users = |said: &Said| matches!(said, Said::User(_) | Said::MidTurn(_));
    let (text, since) = match conversation.iter().rposition(users) {
        Some(at) => (conversation[at].text(), &conversation[at + 1..]),
        None => ("", conversation),
    };
    let mut replies = parse(text);
    let given = replies_in(since);
    if given < replies.len() && !replies[given].is_empty() && !is_noticed_alone(since) {
        return replies.swap_remove(given);
    }
    let words = match since.iter().rev().find(|said| !matches!(said, Said::System(_))) {
        Some(Said::Result(text)) => {
            let head: String = text.chars().take(RESULT_HEAD_CHARS).collect();
            format!("tool done: {}", head.trim_end())
        }
        Some(Said::Notice(text)) => format!("noted: {text}"),
        _ => format!("You said: {text}"),
    };
    vec![Step::Say(words)]
}

/// How many replies the model gave: runs of what is its own. A result tells of a call, even where
/// the call itself is not told any more.
fn replies_in(since: &[Said]) -> usize {
    let own = |said: &Said| matches!(said, Said::Reply(_) | Said::Thought(_) | Said::Call { .. });
    let mut spoken = since.iter().filter(|said| !matches!(said, Said::System(_))).peekable();
    let mut replies = usize::from(matches!(spoken.peek(), Some(Said::Result(_))));
    let mut was_own = false;
    for said in spoken {
        if own(said) && !was_own {
            replies += 1;
        }
        was_own = own(said);
    }
    replies
}

/// Whether all that came after the last reply is a notice: it opened a turn of its own.
fn is_noticed_alone(since: &[Said]) -> bool {
    let mut spoken = since.iter().rev().filter(|said| !matches!(said, Said::System(_)));
    let is_notice = |said: &Said| matches!(said, Said::Notice(_));
    let last = spoken.next();
    last.is_some_and(is_notice)
        && spoken.find(|said| !is_notice(said)).is_some_and(|said| matches!(said, Said::Reply(_)))
}

/// The replies that a text asks for; one without steps where it asks for nothing.
fn parse(text: &str) -> Vec<Vec<Step>> {
    let mut replies = vec![Vec::new()];
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("[[") {
        rest = after;
        let Some((inside, behind)) = inside(after) else { continue };
        if inside.trim() == "then" {
            replies.push(Vec::new());
            rest = behind;
        } else if let Some(step) = read(inside) {
            if let Some(reply) = replies.last_mut() {
                reply.push(step);
            }
            rest = behind;
        }
    }
    replies
}

/// What stands between the brackets, and what is behind them. The arguments of a tool are JSON,
/// which may hold brackets; those of the others may hold pairs of them.
fn inside(text: &str) -> Option<(&str, &str)> {
    if let Some(call) = text.strip_prefix("tool ") {
        let open = call.find(['{', ']'])?;
        let mut values = serde_json::Deserializer::from_str(&call[open..]).into_iter::<Value>();
        values.next()?.ok()?;
        let end = text.len() - call.len() + open + values.byte_offset();
        let behind = text[end..].trim_start().strip_prefix("]]")?;
        return Some((&text[..end], behind));
    }
    let mut depth = 0_usize;
    let mut at = 0;
    loop {
        let rest = text.get(at..)?;
        let next = rest.find("[[").into_iter().chain(rest.find("]]")).min()?;
        at += next;
        if text[at..].starts_with("[[") {
            depth += 1;
        } else if depth == 0 {
            return Some((&text[..at], &text[at + 2..]));
        } else {
            depth -= 1;
        }
        at += 2;
    }
}

fn read(inside: &str) -> Option<Step> {
    let (name, arguments) = match inside.split_once(char::is_whitespace) {
        Some((name, arguments)) => (name, arguments.trim()),
        None => (inside, ""),
    };
    match (name, arguments) {
        ("empty", "") => return Some(Step::Empty { times: None }),
        ("cut", "") => return Some(Step::Cut { times: None }),
        (_, "") => return None,
        _ => {}
    }
    match name {
        "say" => Some(Step::Say(arguments.to_owned())),
        "think" => Some(Step::Think(arguments.to_owned())),
        "slow-stream" => {
            let (count, gap) = arguments.split_once(char::is_whitespace)?;
            let gap = Duration::from_millis(gap.trim().parse::<u32>().ok()?.into());
            Some(Step::Stream { count: count.parse().ok()?, gap })
        }
        "tool" => {
            let (name, arguments) = arguments.split_once(char::is_whitespace)?;
            let arguments = serde_json::from_str(arguments).ok()?;
            Some(Step::Tool { name: name.to_owned(), arguments })
        }
        "hang" => {
            let seconds: f64 = arguments.parse().ok()?;
            let fits = (0.0..=SECONDS_MAX).contains(&seconds);
            fits.then(|| Step::Hang(Duration::from_secs_f64(seconds)))
        }
        "gate" => Some(Step::Gate(arguments.to_owned())),
        "usage" => arguments.parse().ok().map(Step::Usage),
        "stop" => Some(Step::Stop(arguments.to_owned())),
        "fail" => Some(Step::Fail(arguments.to_owned())),
        "empty" => Some(Step::Empty { times: Some(arguments.parse().ok()?) }),
        "cut" => Some(Step::Cut { times: Some(arguments.parse().ok()?) }),
        "status" => match arguments.split_once(char::is_whitespace) {
            Some((code, times)) => {
                let times = Some(times.trim().parse().ok()?);
                Some(Step::Status { code: code.parse().ok()?, times })
            }
            None => Some(Step::Status { code: arguments.parse().ok()?, times: None }),
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn user(text: &str) -> Said {
        Said::User(text.to_owned())
    }

    fn call() -> Said {
        Said::Call { name: "bash".into(), arguments: "{}".into() }
    }

    fn result(text: &str) -> Said {
        Said::Result(text.to_owned())
    }

    fn say(text: &str) -> Vec<Step> {
        vec![Step::Say(text.to_owned())]
    }

    #[test]
    fn the_last_users_text_directs() {
        let text = "x [[say a b]] [[think c]] [[slow-stream 3 20]] \
                    [[tool bash {\"command\": \"ls\"}]] [[hang 1.5]] [[gate g]] [[usage 7]] \
                    [[stop refusal]] [[status 500]] [[status 529 2]] [[cut]] [[cut 1]] \
                    [[fail overloaded]] [[empty]] [[empty 3]] [[unknown x]] [[say]]";
        let expected = [
            Step::Say("a b".into()),
            Step::Think("c".into()),
            Step::Stream { count: 3, gap: Duration::from_millis(20) },
            Step::Tool { name: "bash".into(), arguments: json!({ "command": "ls" }) },
            Step::Hang(Duration::from_secs_f64(1.5)),
            Step::Gate("g".into()),
            Step::Usage(7),
            Step::Stop("refusal".into()),
            Step::Status { code: 500, times: None },
            Step::Status { code: 529, times: Some(2) },
            Step::Cut { times: None },
            Step::Cut { times: Some(1) },
            Step::Fail("overloaded".into()),
            Step::Empty { times: None },
            Step::Empty { times: Some(3) },
        ];
        assert_eq!(steps(&[user("[[say old]]"), user(text)]), expected);
    }

    #[test]
    fn a_tools_result_is_answered_rather_than_the_text() {
        let said = steps(&[user("[[tool bash {}]]"), call(), result("hi\n")]);
        assert_eq!(said, say("tool done: hi"));
    }

    #[test]
    fn plain_text_is_said_back() {
        assert_eq!(steps(&[user("and now?")]), say("You said: and now?"));
    }

    #[test]
    fn a_text_in_the_middle_of_a_turn_takes_over() {
        let text = "[[tool bash {}]] [[then]] [[say z]]";
        let said = [user(text), call(), result("1"), Said::MidTurn("[[say new]]".into())];
        assert_eq!(steps(&said), say("new"));
    }

    #[test]
    fn what_stands_behind_then_answers_what_came_after() {
        let text = "[[tool bash {}]] [[tool bash {}]] [[then]] [[tool bash {}]] [[then]] [[say z]]";
        let mut said = vec![user(text)];
        assert_eq!(steps(&said).len(), 2);
        said.extend([call(), call(), result("1"), result("2")]);
        assert_eq!(steps(&said).len(), 1);
        said.extend([call(), result("3")]);
        assert_eq!(steps(&said), say("z"));
        said.extend([Said::Reply("z".into()), Said::Notice("done".into())]);
        assert_eq!(steps(&said), say("noted: done"));
    }

    #[test]
    fn a_notice_opens_a_turn_only_where_no_tool_is_answered() {
        let text = "[[tool bash {}]] [[then]] [[tool bash {}]] [[then]] [[say z]]";
        let notice = || Said::Notice("done".into());
        let mut said = vec![user(text), call(), result("1"), notice()];
        assert_eq!(steps(&said).len(), 1);
        assert!(matches!(steps(&said)[0], Step::Tool { .. }));
        said = vec![user(text), Said::Reply("cut short".into()), notice()];
        assert_eq!(steps(&said), say("noted: done"));
    }

    #[test]
    fn directives_may_hold_directives() {
        let inner = "[[tool bash {\"a\": [[1]]}]] [[then]] [[say sub]]";
        let text = format!("[[tool Agent {}]] [[say {inner}]] [[say b]]", json!({ "p": inner }));
        let expected = [
            Step::Tool { name: "Agent".into(), arguments: json!({ "p": inner }) },
            Step::Say(inner.into()),
            Step::Say("b".into()),
        ];
        assert_eq!(steps(&[user(&text)]), expected);
    }
}

//! Things by the beginning of their id.

use serde_json::Value;

use crate::client::Client;
use crate::fault::{Exit, Fault};
use crate::rows::called;
use crate::text;

/// Hexadecimal digits of a whole id.
const DIGITS: usize = 32;
/// Digits that a shortened id has at least: they begin with the time, to the millisecond.
const SHORT_DIGITS: usize = 12;
/// Candidates that are named where several fit.
const CANDIDATES_MAX: usize = 10;

/// The one chat that is meant: by its id, by the beginning of it, by its slot, or by its title where
/// one open chat has it.
pub(crate) fn chat(client: &Client, written: &str) -> Result<String, Fault> {
    if is_whole(written, "chat_") {
        return Ok(written.to_owned());
    }
    let rows = client.all("/chats?state=all&limit=500")?;
    // A slot is an alias that an app chose; where it reads like the beginning of an id it is the slot.
    if let Some(row) = rows.iter().find(|row| row["slot"] == written && row["state"] == "open") {
        return Ok(id(row).to_owned());
    }
    let label = |row: &Value| format!("{}  {}", id(row), text::cut(&called(row), 60));
    let named = rows.iter().map(|row| (id(row), label(row)));
    let found = one("chat", "chat_", written, named.collect());
    // An id is meant before a title that reads like its beginning.
    match (found, titled(&rows, written).as_slice()) {
        (Err(fault), [one]) if fault.exit == Exit::NotFound => Ok(id(one).to_owned()),
        (Err(fault), several @ [_, _, ..]) if fault.exit == Exit::NotFound => {
            let text =
                format!("{} chats have the title {written:?}: name one by its id.", several.len());
            let labels: Vec<String> =
                several.iter().take(CANDIDATES_MAX).map(|row| label(row)).collect();
            Err(Fault::new(Exit::Refused, "ambiguous_id", text).advice(labels.join("\n  ")))
        }
        (found, _) => found,
    }
}

/// The open chats with this title.
fn titled<'a>(rows: &'a [Value], written: &str) -> Vec<&'a Value> {
    let fits = |row: &&Value| row["title"] == written && row["state"] == "open";
    rows.iter().filter(fits).collect()
}

/// The one waiting message that is meant.
pub(crate) fn message(rows: &[Value], written: &str) -> Result<String, Fault> {
    if is_whole(written, "msg_") {
        return Ok(written.to_owned());
    }
    let label = |row: &Value| {
        let text = text::line(row["text"].as_str().unwrap_or_default());
        format!("{}  {}", row["message"].as_str().unwrap_or_default(), text::cut(&text, 60))
    };
    let named = rows.iter().filter_map(|row| Some((row["message"].as_str()?, label(row))));
    one("message", "msg_", written, named.collect())
}

fn id(row: &Value) -> &str {
    row["id"].as_str().unwrap_or_default()
}

fn is_whole(written: &str, prefix: &str) -> bool {
    let hex = written.strip_prefix(prefix);
    hex.is_some_and(|hex| hex.len() == DIGITS && hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// The one id that begins so, with or without what all ids of the kind begin with.
fn one(
    what: &str,
    prefix: &str,
    written: &str,
    known: Vec<(&str, String)>,
) -> Result<String, Fault> {
    let digits = written.strip_prefix(prefix).unwrap_or(written).to_ascii_lowercase();
    let fits = |(id, _): &&(&str, String)| {
        !digits.is_empty() && id.strip_prefix(prefix).is_some_and(|hex| hex.starts_with(&digits))
    };
    let fitting: Vec<_> = known.iter().filter(fits).collect();
    match fitting.as_slice() {
        [(id, _)] => Ok((*id).to_owned()),
        [] => {
            let text = format!("There is no {what} {written:?}.");
            let fault = Fault::new(Exit::NotFound, &format!("{what}_not_found"), text);
            Err(match what {
                "chat" => fault.advice("holdfast chat ls --all shows the chats that there are."),
                _ => fault.advice("holdfast chat queue CHAT shows what waits."),
            })
        }
        several => {
            let count = several.len();
            let text = format!("{count} {what}s begin with {written:?}: write more of the id.");
            let mut lines: Vec<&str> =
                several.iter().take(CANDIDATES_MAX).map(|(_, label)| label.as_str()).collect();
            if count > CANDIDATES_MAX {
                lines.push("…");
            }
            Err(Fault::new(Exit::Refused, "ambiguous_id", text).advice(lines.join("\n  ")))
        }
    }
}

/// Shortens ids to their first digits: so many that these are told apart, and that a person still
/// finds them later.
pub(crate) fn short(ids: &[&str]) -> impl Fn(&str) -> String + use<> {
    let mut sorted: Vec<&str> = ids.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let common = |pair: &[&str]| match pair {
        [a, b] => a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count() + 1,
        _ => 0,
    };
    let apart = sorted.windows(2).map(common).max().unwrap_or(0);
    move |id| {
        let prefix = id.find('_').map_or(0, |at| at + 1);
        let digits = apart.saturating_sub(prefix).max(SHORT_DIGITS);
        text::harmless(id).chars().skip(prefix).take(digits).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const A: &str = "chat_aaaa0000000000000000000000000000";
    const B: &str = "chat_aaab0000000000000000000000000000";
    const C: &str = "chat_c0000000000000000000000000000000";

    #[rstest]
    #[case::digits("c", Ok(C))]
    #[case::with_the_word("chat_c", Ok(C))]
    #[case::capitals("AAAB", Ok(B))]
    #[case::whole(A, Ok(A))]
    #[case::two_fit("aaa", Err(Exit::Refused))]
    #[case::none_fits("d", Err(Exit::NotFound))]
    #[case::nothing("", Err(Exit::NotFound))]
    #[case::only_the_word("chat_", Err(Exit::NotFound))]
    #[case::in_the_middle("0000", Err(Exit::NotFound))]
    fn a_beginning_names_one(#[case] written: &str, #[case] meant: Result<&str, Exit>) {
        let known = [A, B, C].map(|id| (id, format!("{id}  title"))).to_vec();
        let found = one("chat", "chat_", written, known);
        assert_eq!(found.as_deref().map_err(|fault| fault.exit), meant);
    }

    #[test]
    fn where_several_fit_they_are_named() {
        let known = [A, B].map(|id| (id, format!("{id}  title"))).to_vec();
        let advice = one("chat", "chat_", "a", known).unwrap_err().advice.unwrap();
        assert!(advice.contains(A) && advice.contains(B), "{advice}");
    }

    #[test]
    fn a_title_is_one_of_an_open_chat() {
        let rows = [
            serde_json::json!({ "id": A, "title": "Engine", "state": "open" }),
            serde_json::json!({ "id": B, "title": "Engine", "state": "closed" }),
            serde_json::json!({ "id": C, "title": "Other", "state": "open" }),
        ];
        let ids = |title: &str| titled(&rows, title).into_iter().map(id).collect::<Vec<_>>();
        assert_eq!(ids("Engine"), [A]);
        assert_eq!(ids("engine"), [] as [&str; 0]);
    }

    #[test]
    fn a_short_id_still_tells_apart() {
        assert_eq!(short(&[A, C])(A), "aaaa00000000");
        let twin = "chat_aaaa0000000000000000000000000001";
        assert_eq!(short(&[A, twin])(twin), "aaaa0000000000000000000000000001");
        assert_eq!(short(&[])("chat_c"), "c");
    }
}

//! What is shown of a piece of content: text as it is, anything else as a line that names it. Data
//! of images and sounds is never shown as text.

use serde_json::value::RawValue;

use super::wire::{CallContent, ContentBlock, List};
use crate::ordinals::head;

/// Bytes of the text of an embedded resource that are shown.
const RESOURCE_TEXT_BYTES_MAX: usize = 64 * 1024;
/// Bytes of a name or an address in a line that stands for something.
const NAME_BYTES_MAX: usize = 512;
/// Lines that stay before and after what a diff changes.
const DIFF_CONTEXT_LINES: usize = 3;

/// The text of one block.
pub(super) fn shown(block: Option<&RawValue>) -> String {
    let Some(block) = block else { return String::new() };
    let Ok(block) = serde_json::from_str::<ContentBlock>(block.get()) else {
        return String::new();
    };
    let name = |text: Option<&str>| head(text.unwrap_or("?"), NAME_BYTES_MAX).to_owned();
    match block.kind.as_deref() {
        Some("text") | None => block.text.unwrap_or_default(),
        Some(kind @ ("image" | "audio")) => {
            format!("[{kind} {}]\n", name(block.mime.as_deref()))
        }
        Some("resource_link") => {
            let uri = name(block.uri.as_deref());
            match block.name.as_deref() {
                Some(text) => format!("[{} {uri}]\n", head(text, NAME_BYTES_MAX)),
                None => format!("[{uri}]\n"),
            }
        }
        Some("resource") => {
            let resource = block.resource.unwrap_or_default();
            let text = resource.text.unwrap_or_default();
            let text = head(&text, RESOURCE_TEXT_BYTES_MAX);
            let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            format!("[resource {}]\n{text}{end}", name(resource.uri.as_deref()))
        }
        Some(other) => format!("[{}]\n", head(other, NAME_BYTES_MAX)),
    }
}

/// The text of one block, if it is one of text.
pub(super) fn written(block: Option<&RawValue>) -> String {
    let block = block.and_then(|block| serde_json::from_str::<ContentBlock>(block.get()).ok());
    let text = block.filter(|block| matches!(block.kind.as_deref(), Some("text") | None));
    text.and_then(|block| block.text).unwrap_or_default()
}

/// The text of a tool call's whole content, each piece from a new line.
pub(super) fn call_text(content: &List<'_>) -> String {
    let mut whole = String::new();
    for piece in content.each::<CallContent<'_>>() {
        let text = match piece.kind.as_deref() {
            Some("content") => shown(piece.content),
            Some("diff") => diff(
                piece.path.as_deref().unwrap_or("?"),
                piece.old.as_deref(),
                piece.new.as_deref().unwrap_or_default(),
            ),
            // The output of a terminal of the agent's own comes beside the call.
            Some("terminal") | None => String::new(),
            Some(other) => format!("[{}]\n", head(other, NAME_BYTES_MAX)),
        };
        if !whole.is_empty() && !whole.ends_with('\n') && !text.is_empty() {
            whole.push('\n');
        }
        whole.push_str(&text);
    }
    whole
}

/// A change of a file: what both ends share is cut away but for some lines of context.
fn diff(path: &str, old: Option<&str>, new: &str) -> String {
    let before: Vec<&str> = old.unwrap_or_default().lines().collect();
    let after: Vec<&str> = new.lines().collect();
    let shared = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
    let short = before.len().min(after.len()) - shared;
    let tail = before.iter().rev().zip(after.iter().rev()).take(short);
    let tail = tail.take_while(|(a, b)| a == b).count();

    let first = shared.saturating_sub(DIFF_CONTEXT_LINES);
    let context = tail.min(DIFF_CONTEXT_LINES);
    let from = if old.is_some() { path } else { "/dev/null" };
    let mut text = format!("--- {from}\n+++ {path}\n@@ line {} @@\n", first + 1);
    let mut put = |mark: char, lines: &[&str]| {
        for line in lines {
            text.push(mark);
            text.push_str(line);
            text.push('\n');
        }
    };
    put(' ', before.get(first..shared).unwrap_or_default());
    put('-', before.get(shared..before.len() - tail).unwrap_or_default());
    put('+', after.get(shared..after.len() - tail).unwrap_or_default());
    let after_change = after.len() - tail;
    put(' ', after.get(after_change..after_change + context).unwrap_or_default());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(json: &str) -> String {
        shown(Some(serde_json::from_str(json).unwrap()))
    }

    #[test]
    fn data_is_named_not_shown() {
        let data = "A".repeat(100_000);
        let image = format!(r#"{{"type":"image","mimeType":"image/png","data":"{data}"}}"#);
        assert_eq!(block(&image), "[image image/png]\n");
        let audio = format!(r#"{{"type":"audio","data":"{data}"}}"#);
        assert_eq!(block(&audio), "[audio ?]\n");
        let blob =
            format!(r#"{{"type":"resource","resource":{{"uri":"file:///a","blob":"{data}"}}}}"#);
        assert_eq!(block(&blob), "[resource file:///a]\n");
        let text =
            format!(r#"{{"type":"resource","resource":{{"uri":"file:///a","text":"{data}"}}}}"#);
        assert!(block(&text).len() < RESOURCE_TEXT_BYTES_MAX + NAME_BYTES_MAX + 16);
        assert_eq!(block(r#"{"type":"resource_link","name":"n","uri":"u"}"#), "[n u]\n");
        assert_eq!(block(r#"{"type":"hologram","data":"x"}"#), "[hologram]\n");
        assert_eq!(block("7"), "");
    }

    #[test]
    fn a_diff_shows_what_changes_and_a_little_around() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let new = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n";
        assert_eq!(
            diff("/w/f", Some(old), new),
            "--- /w/f\n+++ /w/f\n@@ line 2 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
        );
        assert_eq!(diff("/w/f", None, "a\n"), "--- /dev/null\n+++ /w/f\n@@ line 1 @@\n+a\n");
        assert_eq!(
            diff("f", Some("a\na\n"), "a\na\na\n"),
            "--- f\n+++ f\n@@ line 1 @@\n a\n a\n+a\n"
        );
        assert_eq!(diff("f", Some("a"), ""), "--- f\n+++ f\n@@ line 1 @@\n-a\n");
    }
}

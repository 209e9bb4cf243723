//! A small server of the Model Context Protocol that asks a person a form, for agents that carry such forms
//! on.

use std::fs;
use std::path::{Path, PathBuf};

/// The name under which tests configure it.
pub const SERVER: &str = "forms";
/// Its one tool, as Codex names it to a model.
pub const BOOK: &str = "book";
/// The same, as Claude Code does.
pub const BOOK_OF_CLAUDE: &str = "mcp__forms__book";

/// The tool `book` asks, and gives back what it was told. A script, so that a test of any package has it
/// without building another program.
const SCRIPT: &str = r#"
import json, sys

def say(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

FORM = {
    "mode": "form",
    "message": "A room, please.",
    "requestedSchema": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "title": "Your name"},
            "nights": {"type": "integer", "title": "How many nights?"},
            "breakfast": {"type": "boolean", "title": "With breakfast?"},
            "view": {"type": "string", "title": "Which view?", "enum": ["sea", "yard"]},
        },
        "required": ["name", "nights", "breakfast", "view"],
    },
}

calls = {}
for line in sys.stdin:
    told = json.loads(line)
    method, number = told.get("method"), told.get("id")
    if method == "initialize":
        version = told["params"]["protocolVersion"]
        say({"id": number, "result": {"protocolVersion": version, "capabilities": {"tools": {}},
             "serverInfo": {"name": "forms", "version": "0"}}})
    elif method == "tools/list":
        schema = {"type": "object", "properties": {}}
        tool = {"name": "book", "description": "Books a room.", "inputSchema": schema}
        say({"id": number, "result": {"tools": [tool]}})
    elif method == "tools/call":
        form = f"form-{len(calls)}"
        calls[form] = number
        say({"id": form, "method": "elicitation/create", "params": FORM})
    elif method is None and number in calls:
        answer = told.get("result", {})
        text = json.dumps({"action": answer.get("action"), "content": answer.get("content")},
                          sort_keys=True)
        say({"id": calls[number], "result": {"content": [{"type": "text", "text": text}]}})
    elif number is not None:
        say({"id": number, "error": {"code": -32601, "message": "no such method"}})
"#;

/// Writes it into a folder and answers where it is; `python3` runs it.
///
/// # Panics
/// When it cannot be written.
pub fn script(folder: &Path) -> PathBuf {
    let path = folder.join("forms.py");
    fs::write(&path, SCRIPT).unwrap();
    path
}

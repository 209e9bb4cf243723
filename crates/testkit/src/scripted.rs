//! What a test writes to let the scripted model do something (`model` has all directives), and to
//! let a host start the agent that talks to it.

use std::path::Path;

use serde_json::Value;

/// A picture of one pixel, a PNG in base64.
pub const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR\
                           9awAAAABJRU5ErkJggg==";

/// A command that runs until the test makes the file `go` in its folder, or takes the folder away: what
/// a failed test leaves behind ends by itself.
pub const UNTIL_GO: &str = "while [ -d \"$PWD\" ] && ! [ -e go ]; do sleep 0.05; done";

/// A directive: call this tool.
pub fn tool(name: &str, arguments: &Value) -> String {
    format!("[[tool {name} {arguments}]]")
}

/// Directives for one reply after the other: the second answers what came after the first.
pub fn one_by_one(replies: &[&str]) -> String {
    replies.join(" [[then]] ")
}

/// A table of a host's configuration: the agent `name` of this kind. A name like `claude` is one
/// that the host would otherwise find by itself.
pub fn agent_table(
    name: &str,
    kind: &str,
    program: &Path,
    arguments: &[&str],
    environment: &[(String, String)],
) -> String {
    let mut command = vec![format!("{program:?}")];
    command.extend(arguments.iter().map(|argument| format!("{argument:?}")));
    let environment: Vec<String> =
        environment.iter().map(|(name, value)| format!("{name} = {value:?}")).collect();
    format!(
        "[agents.{name}]\nkind = {kind:?}\ncommand = [{}]\nenv = {{ {} }}\n",
        command.join(", "),
        environment.join(", "),
    )
}

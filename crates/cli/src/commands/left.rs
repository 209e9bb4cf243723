//! `holdfast left`.

use serde_json::{Value, json};

use crate::fault::Fault;
use crate::prefix::short;
use crate::reach::{Reach, Surroundings};
use crate::rows::{list, word};
use crate::text::line;

/// What `left` is told.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// End what this names, an id or its beginning; all of it where nothing is named.
    #[arg(long, value_name = "ID")]
    #[expect(clippy::option_option, reason = "as clap has a value that may be left out")]
    end: Option<Option<String>>,
    #[command(flatten)]
    pub(crate) reach: Reach,
}

pub(super) fn run(args: &Args, around: &Surroundings) -> Result<(), Fault> {
    let client = args.reach.client(around)?;
    let out = args.reach.out();
    let mut left = client.get("/host/left")?;
    let items = list(&left, "items").to_vec();
    let Some(wanted) = &args.end else {
        if out.is_json() {
            return out.json(&left["items"].take());
        }
        if items.is_empty() {
            return out.line("Nothing that a closed chat left is running.");
        }
        let ids: Vec<&str> = items.iter().map(|one| word(one, "id")).collect();
        let short = short(&ids);
        let mut rows = Vec::new();
        for one in &items {
            for process in list(one, "processes") {
                rows.push(vec![short(word(one, "id")), process["pid"].to_string(), what(process)]);
            }
        }
        out.table(&["ID", "PID", "COMMAND"], rows)?;
        out.hint("\nholdfast left --end ends it, --end ID what one chat left.");
        return Ok(());
    };
    let body = match wanted {
        None => json!({}),
        Some(written) => {
            let known: Vec<&str> = items.iter().map(|one| word(one, "id")).collect();
            let bare = |id: &str| id.trim_start_matches("att_").to_owned();
            let fits =
                |id: &&&str| bare(id).starts_with(&bare(written)) && !bare(written).is_empty();
            let fitting: Vec<&&str> = known.iter().filter(fits).collect();
            // What is not there has ended already: the host is asked by what was written.
            json!({ "id": if let [one] = fitting[..] { *one } else { written.as_str() } })
        }
    };
    let answer = client.post("/host/left/end", &body)?;
    if out.is_json() {
        return out.json(&answer);
    }
    let ended = list(&answer, "ended");
    let of_it = |one: &&Value| ended.iter().any(|id| id == &one["id"]);
    let gone: usize = items.iter().filter(of_it).map(|one| list(one, "processes").len()).sum();
    let gone = u64::try_from(gone).unwrap_or(u64::MAX);
    match gone {
        0 => out.line("Nothing was there to end."),
        _ => out.line(&format!("Ended {}.", processes(gone))),
    }
}

/// So many processes.
pub(crate) fn processes(many: u64) -> String {
    if many == 1 { "1 process".to_owned() } else { format!("{many} processes") }
}

fn what(process: &Value) -> String {
    let ports: Vec<String> = list(process, "ports").iter().map(Value::to_string).collect();
    let command = line(word(process, "command"));
    if ports.is_empty() { command } else { format!("{command} (port {})", ports.join(", ")) }
}

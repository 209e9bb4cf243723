//! `holdfast config`.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::commands::place;
use crate::config::{Config, Faults};
use crate::exit::USAGE;

/// What `config` does.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum What {
    /// Say what is wrong with a configuration, before a host meets it.
    Check {
        /// The file; by default the one that a host would read.
        file: Option<PathBuf>,
        #[command(flatten)]
        place: place::Args,
    },
    /// Every key, its value and where that comes from.
    List {
        #[command(flatten)]
        place: place::Args,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print the JSON Schema of the file.
    Schema,
    /// Print every key with its meaning, as Markdown.
    Keys,
}

/// Does it.
pub(crate) fn run(what: &What) -> ExitCode {
    match what {
        What::Check { file, place } => {
            let place =
                place::Args { config: file.clone().or(place.config.clone()), ..place.clone() };
            answer(Config::read(&place.told(None)), checked)
        }
        What::List { place, json } => {
            let print = if *json { listed_as_json } else { listed };
            answer(Config::read(&place.told(None)), print)
        }
        What::Schema => {
            let text = serde_json::to_string_pretty(&crate::config::schema()).unwrap_or_default();
            out(&text);
            ExitCode::SUCCESS
        }
        What::Keys => {
            out(crate::config::markdown::keys().trim_end());
            ExitCode::SUCCESS
        }
    }
}

fn answer(read: Result<Config, Faults>, print: fn(&Config) -> String) -> ExitCode {
    match read {
        Ok(config) => {
            for note in &config.notes {
                let _ = writeln!(std::io::stderr(), "holdfast: {note}");
            }
            out(&print(&config));
            ExitCode::SUCCESS
        }
        Err(faults) => {
            let _ = writeln!(std::io::stderr(), "{faults}");
            ExitCode::from(USAGE)
        }
    }
}

fn out(text: &str) {
    // Whoever closed the other end has read enough.
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}

fn checked(config: &Config) -> String {
    if config.is_there {
        format!("{} is right.", config.file.display())
    } else {
        format!("There is no {}: every key has its default.", config.file.display())
    }
}

fn listed(config: &Config) -> String {
    let lines = config.list();
    let rows: Vec<[String; 3]> = lines
        .into_iter()
        .map(|line| [line.key, line.value.to_string(), line.origin.to_string()])
        .collect();
    let wide = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    let (keys, values) = (wide(0), wide(1));
    let lines: Vec<String> = rows
        .iter()
        .map(|[key, value, origin]| format!("{key:keys$}  {value:values$}  {origin}"))
        .collect();
    lines.join("\n")
}

fn listed_as_json(config: &Config) -> String {
    let list = serde_json::json!({ "file": config.file, "items": config.list() });
    serde_json::to_string_pretty(&list).unwrap_or_default()
}

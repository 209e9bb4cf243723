//! `holdfast paths`.

use std::path::{Path, PathBuf};

use holdfast_cli::{Fault, Out, Reach, Surroundings};
use serde_json::{Map, json};

use crate::config::Config;
use crate::data_dir;

/// What `paths` is told.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    reach: Reach,
}

impl Args {
    /// Where its words go.
    pub(crate) fn out(&self) -> Out {
        self.reach.out()
    }
}

/// Shows where everything of the host on this machine is, whether or not it is there yet.
pub(crate) fn run(args: &Args, around: &Surroundings) -> Result<(), Fault> {
    if args.reach.host(around).is_some() {
        return Err(Fault::usage("Paths are those of this machine: leave --host out."));
    }
    let data = args.reach.data_dir(around)?;
    let data = std::path::absolute(&data).unwrap_or(data);
    let paths = all(&data);
    let out = args.out();
    if out.is_json() {
        let paths = paths.map(|(name, path)| (name.to_owned(), json!(path)));
        return out.json(&paths.into_iter().collect::<Map<_, _>>().into());
    }
    let row = |(name, path): (&str, PathBuf)| vec![name.to_owned(), path.display().to_string()];
    out.table(&["WHAT", "WHERE"], paths.map(row).to_vec())
}

fn all(data: &Path) -> [(&'static str, PathBuf); 7] {
    let config = Config::of(data, None).map_or_else(|_| data.join("config.toml"), |read| read.file);
    [
        ("data", data.to_owned()),
        ("config", config),
        ("store", data.join(holdfast_store::FILE)),
        ("attempts", data.join("attempts")),
        ("endpoint", data.join(data_dir::ENDPOINT)),
        ("token", data.join(data_dir::TOKEN)),
        ("lock", data.join(data_dir::LOCK)),
    ]
}

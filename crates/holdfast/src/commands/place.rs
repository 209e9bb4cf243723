//! The options that say which configuration and which data a command is about.

use std::path::PathBuf;

use crate::config::Told;

/// Which host.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(id = "place")]
pub(crate) struct Args {
    /// Everything of this host is below this directory. [env: HOLDFAST_DATA_DIR]
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// The configuration; by default `config.toml` in the data directory that is named, else in
    /// `~/.config/holdfast` or the usual data directory. [env: HOLDFAST_CONFIG]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

impl Args {
    /// This, in the environment of the program.
    pub(crate) fn told(&self, listen: Option<String>) -> Told {
        Told::here(self.config.clone(), self.data_dir.clone(), listen)
    }
}

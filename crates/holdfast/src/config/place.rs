//! Where the configuration and the data are.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::origin::{Faults, Origin};
use crate::data_dir;
use crate::environment;

/// Bytes of a configuration file.
const CONFIG_BYTES_MAX: u64 = 1024 * 1024;
/// The name of the file in its directory.
const CONFIG_FILE: &str = "config.toml";
/// The variable that names the file.
const CONFIG_VARIABLE: &str = "HOLDFAST_CONFIG";
const DATA_DIR_VARIABLE: &str = "HOLDFAST_DATA_DIR";

/// What the command line and the environment say.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    /// `--config`.
    pub(crate) config: Option<PathBuf>,
    /// `--data-dir`.
    pub(crate) data_dir: Option<PathBuf>,
    /// `--listen`.
    pub(crate) listen: Option<String>,
    /// `--log-format`.
    pub(crate) log_format: Option<String>,
    /// The host's environment.
    pub(crate) environment: BTreeMap<String, OsString>,
}

impl Told {
    /// This, in the environment of the program.
    pub(crate) fn here(
        config: Option<PathBuf>,
        data_dir: Option<PathBuf>,
        listen: Option<String>,
    ) -> Self {
        let environment = environment::all()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
            .collect();
        Self { config, data_dir, listen, log_format: None, environment }
    }

    pub(super) fn command_line(&self) -> Vec<(&'static str, &'static str, String)> {
        let data_dir = self.data_dir.as_ref().map(|dir| absolute(dir).display().to_string());
        let data_dir = data_dir.map(|dir| ("data-dir", "--data-dir", dir));
        let listen = self.listen.clone().map(|listen| ("listen", "--listen", listen));
        let format = self.log_format.clone();
        let format = format.map(|format| ("log.format", "--log-format", format));
        data_dir.into_iter().chain(listen).chain(format).collect()
    }

    /// Whether somebody says which file it is, rather than where it usually is.
    pub(crate) fn names_config(&self) -> bool {
        self.config.is_some() || self.var(CONFIG_VARIABLE).is_some()
    }

    /// The same of the data directory.
    pub(crate) fn names_data_dir(&self) -> bool {
        self.data_dir.is_some() || self.var(DATA_DIR_VARIABLE).is_some()
    }

    fn var(&self, name: &str) -> Option<PathBuf> {
        self.environment.get(name).filter(|value| !value.is_empty()).map(PathBuf::from)
    }

    fn below_home(&self, variable: &str, below: &str) -> Option<PathBuf> {
        let under = |name: &str| self.var(name).filter(|path| path.is_absolute());
        under(variable).or_else(|| under("HOME").map(|home| home.join(below)))
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// The file that goes with what was told.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) file: PathBuf,
    /// What is in it; none if it is not there.
    pub(super) text: Option<String>,
    /// Whether it was looked for in the data directory, so that it cannot say where that is.
    pub(super) within_data: bool,
    /// Where the data are unless somebody says otherwise.
    pub(super) usual_data_dir: Option<PathBuf>,
}

/// The file that was named; else the one in the data directory that was named; else the one at
/// `$XDG_CONFIG_HOME/holdfast`, if it is there; else the one in the usual data directory.
pub(super) fn find(told: &Told) -> Result<Found, Faults> {
    let usual = told.below_home("XDG_DATA_HOME", ".local/share").map(data_dir::usual_below);
    let named = told.config.clone().or_else(|| told.var(CONFIG_VARIABLE));
    if let Some(file) = named.as_deref().map(absolute) {
        let text = Some(read(&file)?);
        return Ok(Found { file, text, within_data: false, usual_data_dir: usual });
    }
    let data = told.data_dir.clone().or_else(|| told.var(DATA_DIR_VARIABLE));
    let xdg = told.below_home("XDG_CONFIG_HOME", ".config");
    let xdg = xdg.map(|dir| dir.join("holdfast").join(CONFIG_FILE)).filter(|file| file.exists());
    let (file, within_data) = match (data.as_deref().map(absolute).or(usual.clone()), xdg) {
        (_, Some(xdg)) if data.is_none() => (xdg, false),
        (Some(dir), _) => (dir.join(CONFIG_FILE), true),
        (None, _) => return Err(Faults::one("HOME is not set: name --data-dir or --config")),
    };
    let text = file.exists().then(|| read(&file)).transpose()?;
    Ok(Found { file, text, within_data, usual_data_dir: usual })
}

fn read(file: &Path) -> Result<String, Faults> {
    let cannot = |error: std::io::Error| {
        Faults::one(format!("cannot read the configuration {}: {error}", file.display()))
    };
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(file).map_err(cannot)?;
    opened.take(CONFIG_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(cannot)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > CONFIG_BYTES_MAX) {
        let text =
            format!("the configuration {} has more than {CONFIG_BYTES_MAX} bytes", file.display());
        return Err(Faults::one(text));
    }
    String::from_utf8(bytes)
        .map_err(|_| Faults::one(format!("the configuration {} is not UTF-8", file.display())))
}

/// The data directory, whatever the file says.
pub(super) fn told_data_dir(told: &Told) -> Option<PathBuf> {
    let usual = || told.below_home("XDG_DATA_HOME", ".local/share").map(data_dir::usual_below);
    told.data_dir.clone().or_else(|| told.var(DATA_DIR_VARIABLE)).or_else(usual)
}

/// The data directory that was set.
pub(super) fn data_dir(
    dir: &str,
    origin: &Origin,
    within_data: bool,
    told: &Told,
) -> Result<PathBuf, Faults> {
    let mut faults = Faults::default();
    let path = match (origin, dir.strip_prefix("~/")) {
        (Origin::Environment { .. } | Origin::CommandLine { .. } | Origin::Default, _) => {
            return Ok(absolute(Path::new(dir)));
        }
        (Origin::File { .. }, Some(below)) => told.var("HOME").map(|home| home.join(below)),
        (Origin::File { .. }, None) => Some(PathBuf::from(dir)),
    };
    if within_data {
        faults.add(origin, "data-dir has no meaning in a file that is found by its data directory");
        return Err(faults);
    }
    match path.filter(|path| path.is_absolute()) {
        Some(path) => Ok(path),
        None => {
            let text = format!("data-dir is an absolute path, or begins with ~/, not {dir:?}");
            faults.add(origin, text);
            Err(faults)
        }
    }
}

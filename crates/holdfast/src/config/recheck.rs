//! Whether a host that replaces this one would start with the configuration as it is now.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Config, Faults, Told};

/// Reads the configuration again, as whoever replaces this host will.
#[derive(Clone, Debug)]
pub(crate) struct Recheck {
    told: Told,
    listen: SocketAddr,
    data_dir: PathBuf,
    fault: Arc<Mutex<Option<String>>>,
}

impl Recheck {
    /// For a host that was told this and runs with that.
    pub(crate) fn new(told: Told, config: &Config) -> Self {
        let data_dir = config.data_dir.clone();
        Self { told, listen: config.listen, data_dir, fault: Arc::default() }
    }

    /// Whether another host would start and be this one's successor. What stands in the way is
    /// remembered until a look finds nothing any more.
    pub(crate) fn check(&self) -> Result<(), Faults> {
        let checked = self.look();
        let fault = checked.as_ref().err();
        let text = fault.map(|fault| {
            format!("The configuration was changed and is not right; the host goes on with what it had. {fault}")
        });
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = text;
        checked
    }

    fn look(&self) -> Result<(), Faults> {
        let config = Config::read(&self.told)?;
        if config.data_dir != self.data_dir {
            return Err(Faults::one(format!(
                "data-dir changed from {} to {}: stop the host and start it again for that",
                self.data_dir.display(),
                config.data_dir.display()
            )));
        }
        if config.listen != self.listen
            && config.listen.port() != 0
            && let Err(error) = std::net::TcpListener::bind(config.listen)
        {
            return Err(Faults::one(format!("cannot listen on {}: {error}", config.listen)));
        }
        Ok(())
    }

    /// What the last look found.
    pub(crate) fn fault(&self) -> Option<String> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

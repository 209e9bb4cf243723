//! Process trees: who belongs to an attempt, how it is signalled, and how its death is proven.
//!
//! While the keeper lives, everything that the agent has started descends from it: the keeper is a
//! *subreaper*, so what loses its parent becomes the keeper's child, also after `setsid`. When the keeper
//! has died, the *cookie* finds them: `HOLDFAST_ATTEMPT=UUID` in their environment.
//!
//! **Invariants.** A process is signalled through a pidfd and only after its start time was compared. A
//! zombie is dead. That nothing lives is found by looking, never concluded from having sent a signal. All
//! of `unsafe` in this crate is in one file, [`child`](self).

mod child;
mod find;
mod kept;
mod ports;
mod process;
mod signal;
mod survivors;

pub use find::{COOKIE_NAME, count};
pub use kept::kept;
pub use process::{boot_id, descends, is_alive, process_id};
pub use survivors::{Survivors, end_survivors};

pub(crate) use child::{harden, shed_inherited};
pub(crate) use find::{Found, Net, find, list_descendants};
pub(crate) use ports::listening_ports;
pub(crate) use signal::send;
pub use signal::{kill_keeper, terminate_keeper};

//! Named fault points: the n-th passage of a chosen point kills the process as `kill -9` would.
//!
//! A crash campaign sets [`ENV`] to `name:n` (n from 1) and lets the process run into the point; no
//! destructor runs, nothing is flushed. Points stand at every commit and frame boundary, so that "what
//! if it dies exactly here" is a question that a test can ask. They exist in test builds only
//! (`cfg(debug_assertions)`): in a release build [`point`] is empty.
//!
//! With [`MARK`] set, a whole campaign of processes dies once: the passage that ends one of them leaves
//! that file, and where the file is, nobody dies any more. So a campaign can also tell that its point was
//! reached, and by whom.
//!
//! Every name is listed in [`POINTS`], prefixed by the role that passes it. A campaign enumerates the
//! list; passing a name that is not on it is a failed assertion, so that the list stays true.

mod points;

pub use points::POINTS;

/// The environment variable that arms one point: `name:n`.
pub const ENV: &str = "HOLDFAST_FAULT";

/// The environment variable that names the file which the fatal passage creates, with the point's name
/// and the pid in it. Without it every process that is armed dies.
pub const MARK: &str = "HOLDFAST_FAULT_MARK";

/// Passes the point `name`. Where it is armed and this is the chosen passage, the process ends here.
#[cfg(debug_assertions)]
pub fn point(name: &'static str) {
    armed::pass(name);
}

/// Passes the point `name`; nothing in a release build.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub fn point(_name: &'static str) {}

/// Whether the next passage of `name` is the one that ends the process.
///
/// For points in the middle of a write: the caller writes a part, passes the point, and writes the rest
/// only where this says so. Always `false` in a release build.
#[cfg(debug_assertions)]
#[must_use]
pub fn is_next(name: &'static str) -> bool {
    armed::is_next(name)
}

/// Whether the next passage of `name` ends the process; never in a release build.
#[cfg(not(debug_assertions))]
#[inline(always)]
#[must_use]
pub fn is_next(_name: &'static str) -> bool {
    false
}

/// Whether the value of [`ENV`] chooses a point of `role` (`"keeper"`, `"host"`), so that a parent can
/// hand the variable on to the one child it is meant for.
#[must_use]
pub fn is_for_role(value: &str, role: &str) -> bool {
    value.strip_prefix(role).is_some_and(|rest| rest.starts_with('.'))
}

/// What of this process's environment a parent hands on to a child of `role`: the variables that arm a
/// point, if the point is that role's. Nothing in a release build.
#[cfg(debug_assertions)]
#[must_use]
pub fn environment_for(role: &str) -> Vec<(&'static str, std::ffi::OsString)> {
    armed::environment_for(role)
}

/// What of this process's environment a parent hands on to a child of `role`: nothing in a release build.
#[cfg(not(debug_assertions))]
#[inline(always)]
#[must_use]
pub fn environment_for(_role: &str) -> Vec<(&'static str, std::ffi::OsString)> {
    Vec::new()
}

#[cfg(debug_assertions)]
#[allow(clippy::disallowed_methods, reason = "a fault reaches a process by its environment only")]
mod armed {
    use std::fs::File;
    use std::io::Write;
    use std::path::PathBuf;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    struct Armed {
        name: String,
        mark: Option<PathBuf>,
        /// Passages left before the fatal one, plus one.
        left: AtomicU64,
    }

    static ARMED: OnceLock<Option<Armed>> = OnceLock::new();

    fn armed() -> Option<&'static Armed> {
        ARMED
            .get_or_init(|| {
                let value = std::env::var(super::ENV).ok()?;
                let (name, left) = parse(&value)?;
                let mark = std::env::var_os(super::MARK).map(PathBuf::from);
                Some(Armed { name, mark, left: AtomicU64::new(left) })
            })
            .as_ref()
    }

    pub(super) fn parse(value: &str) -> Option<(String, u64)> {
        let (name, nth) = value.rsplit_once(':')?;
        let nth = nth.parse().ok().filter(|&nth| nth >= 1)?;
        Some((name.to_owned(), nth))
    }

    pub(super) fn environment_for(role: &str) -> Vec<(&'static str, std::ffi::OsString)> {
        match std::env::var(super::ENV) {
            Ok(fault) if super::is_for_role(&fault, role) => {
                let mark = std::env::var_os(super::MARK).map(|mark| (super::MARK, mark));
                std::iter::once((super::ENV, fault.into())).chain(mark).collect()
            }
            Ok(_) | Err(_) => Vec::new(),
        }
    }

    pub(super) fn pass(name: &'static str) {
        debug_assert!(super::POINTS.contains(&name), "fault point {name} is not in POINTS");
        let Some(armed) = armed() else { return };
        let chosen = armed.name == name && armed.left.fetch_sub(1, Ordering::SeqCst) == 1;
        if chosen && armed.leave_mark() {
            die();
        }
    }

    pub(super) fn is_next(name: &'static str) -> bool {
        armed().is_some_and(|armed| {
            let left = armed.left.load(Ordering::SeqCst);
            armed.name == name
                && left == 1
                && !armed.mark.as_ref().is_some_and(|mark| mark.exists())
        })
    }

    impl Armed {
        /// Whether this is the first death of the campaign. A mark that cannot be left stops nobody
        /// from dying.
        fn leave_mark(&self) -> bool {
            let Some(mark) = &self.mark else { return true };
            match File::create_new(mark) {
                Ok(mut file) => {
                    let _ = write!(file, "{} {}", self.name, std::process::id());
                    true
                }
                Err(error) => error.kind() != std::io::ErrorKind::AlreadyExists,
            }
        }
    }

    fn die() {
        let _ =
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        // SIGKILL of oneself does not return to user code; should it be refused, ending is still due.
        std::process::abort();
    }
}

#[cfg(all(test, debug_assertions))]
#[allow(clippy::disallowed_methods, reason = "the tests run themselves again, with a fault armed")]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_carry_their_role() {
        let unique: BTreeSet<_> = POINTS.iter().collect();
        assert_eq!(unique.len(), POINTS.len());
        for name in POINTS {
            assert!(is_for_role(name, "host") || is_for_role(name, "keeper"), "{name}");
        }
    }

    #[test]
    fn a_value_names_a_point_and_a_passage_from_one() {
        assert_eq!(armed::parse("keeper.x:3"), Some(("keeper.x".to_owned(), 3)));
        for bad in ["", "keeper.x", "keeper.x:", "keeper.x:0", "keeper.x:-1", "keeper.x:y"] {
            assert_eq!(armed::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_value_belongs_to_one_role() {
        assert!(is_for_role("keeper.frame.done.after:1", "keeper"));
        assert!(!is_for_role("keepers.frame:1", "keeper"));
        assert!(!is_for_role("host.commit.after:1", "keeper"));
    }

    #[test]
    #[should_panic(expected = "is not in POINTS")]
    fn an_unlisted_name_is_refused() {
        point("keeper.no.such.point");
    }

    #[test]
    fn with_a_mark_one_process_dies_and_no_other() {
        let name = POINTS[0];
        if std::env::var_os("HOLDFAST_FAULT_CHILD").is_some() {
            point(name);
            return;
        }
        use std::os::unix::process::ExitStatusExt;
        let mark = std::env::temp_dir().join(format!("holdfast-mark-{}", std::process::id()));
        let run = || {
            let mut child = std::process::Command::new(std::env::current_exe().unwrap());
            child.arg("with_a_mark").env("HOLDFAST_FAULT_CHILD", "1").env(MARK, &mark);
            child.env(ENV, format!("{name}:1")).output().unwrap().status
        };
        let (first, second) = (run(), run());
        let told = std::fs::read_to_string(&mark).unwrap();
        std::fs::remove_file(&mark).unwrap();
        assert_eq!((first.signal(), second.code()), (Some(9), Some(0)));
        assert!(told.starts_with(name), "{told}");
    }

    /// Runs this test again in a child with the variable set; there the second passage must be the last.
    #[test]
    fn the_chosen_passage_kills_and_the_ones_before_do_not() {
        let name = POINTS[0];
        if std::env::var_os("HOLDFAST_FAULT_CHILD").is_some() {
            assert!(!is_next(name));
            point(name);
            println!("first passed");
            assert!(is_next(name));
            point(name);
            unreachable!("the second passage ends the process");
        }
        use std::os::unix::process::ExitStatusExt;
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["the_chosen_passage", "--nocapture"])
            .env("HOLDFAST_FAULT_CHILD", "1")
            .env(ENV, format!("{name}:2"))
            .output()
            .unwrap();
        assert_eq!(output.status.signal(), Some(9));
        assert!(String::from_utf8_lossy(&output.stdout).contains("first passed"));
    }
}

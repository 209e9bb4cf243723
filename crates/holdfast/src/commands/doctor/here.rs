//! What can be seen without a host: the data directory, its disk, the agents' programs, what keeps
//! processes alive on this machine.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use holdfast_agent::versions::tested;
use holdfast_host::agents::{Agent, Environment, Source};
use holdfast_http::port::Availability;
use rustix::fs::{statfs, statvfs};

use super::host::there;
use super::{Finding, name};
use crate::config::Config;
use crate::{data_dir, detect, environment, port};

/// Free space below which a host is about to refuse writes.
const SPACE_BYTES_MIN: u64 = 100 * 1024 * 1024;
/// Free space below which somebody should look.
const SPACE_BYTES_LOW: u64 = 1024 * 1024 * 1024;
/// Kinds of file systems that are not on this machine: what they sync is not what they promise.
const REMOTE: &[(u32, &str)] =
    &[(0x6969, "NFS"), (0xff53_4d42, "CIFS"), (0xfe53_4d42, "SMB"), (0x5346_414f, "AFS")];
/// Kinds that may be on this machine, and sync as well as what is behind them does.
const LAYERED: &[(u32, &str)] = &[(0x0102_1997, "9P"), (0x6573_5546, "FUSE")];

/// Looks at this machine.
pub(super) fn look(data: &Path, config: Option<&Path>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if data.is_dir() {
        findings.push(private("data", data));
        for file in [data_dir::TOKEN, data_dir::ENDPOINT] {
            let path = data.join(file);
            if path.exists() {
                findings.push(private("secrets", &path));
            }
        }
        findings.push(file_system(data));
        findings.push(space(data));
        findings.push(durable(data));
        findings.push(lock(data));
    } else if data.exists() {
        let text = format!("{} is not a directory", name(data));
        findings.push(Finding::fail("data", text, "Move it away, or name another --data-dir."));
    } else {
        let text = format!("{} is not there yet; the first `holdfast serve` makes it", name(data));
        findings.push(Finding::ok("data", text));
    }
    findings.extend(agents(data, config));
    findings.push(supervision());
    findings
}

/// Whether only its owner can read it.
fn private(check: &'static str, path: &Path) -> Finding {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) => {
            let text = format!("{} cannot be looked at: {error}", name(path));
            return Finding::fail(check, text, "Its owner has to run holdfast.");
        }
    };
    let own = rustix::process::geteuid().as_raw();
    if metadata.uid() != own {
        let text = format!("{} belongs to user {}, not to you", name(path), metadata.uid());
        let advice = format!("chown -R {own} {}", name(path));
        return Finding::fail(check, text, advice);
    }
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        let text = format!("{} can be read by others (mode {mode:o})", name(path));
        return Finding::warn(check, text, format!("chmod go= {}", name(path)));
    }
    Finding::ok(check, format!("{} is yours alone", name(path)))
}

fn file_system(data: &Path) -> Finding {
    let kind = match statfs(data) {
        Ok(stat) => stat.f_type,
        Err(error) => {
            let text = format!("the kind of file system is not known: {error}");
            return Finding::warn("disk", text, "It has to be a disk of this machine.");
        }
    };
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a magic number")]
    let kind = kind as u32;
    judge(kind)
}

fn judge(kind: u32) -> Finding {
    let named = |kinds: &[(u32, &'static str)]| {
        kinds.iter().find(|(magic, _)| *magic == kind).map(|(_, name)| *name)
    };
    let advice = "Name a --data-dir on a disk of this machine.";
    let text = |what| format!("the data are on {what}, which may lose what it has confirmed");
    match (named(REMOTE), named(LAYERED)) {
        (Some(what), _) => Finding::fail("disk", text(what), advice),
        (None, Some(what)) => Finding::warn("disk", text(what), advice),
        (None, None) => Finding::ok("disk", "the data are on a disk of this machine"),
    }
}

fn space(data: &Path) -> Finding {
    let stat = match statvfs(data) {
        Ok(stat) => stat,
        Err(error) => {
            let text = format!("the free space is not known: {error}");
            return Finding::warn("space", text, "Look with df.");
        }
    };
    let free = stat.f_bavail.saturating_mul(stat.f_frsize);
    let text = format!("{} free", shown_bytes(free));
    let advice = "Free some space: a full disk refuses what it cannot keep.";
    match free {
        ..SPACE_BYTES_MIN => Finding::fail("space", text, advice),
        SPACE_BYTES_MIN..SPACE_BYTES_LOW => Finding::warn("space", text, advice),
        SPACE_BYTES_LOW.. => Finding::ok("space", text),
    }
}

fn shown_bytes(n: u64) -> String {
    match n >> 30 {
        0 => format!("{} MiB", n >> 20),
        gib => format!("{gib} GiB"),
    }
}

/// Whether a write reaches the disk: what a host does before each acknowledgement.
fn durable(data: &Path) -> Finding {
    let path = data.join(format!("doctor-{}.tmp", std::process::id()));
    let written = write_through(&path, data);
    let removed = fs::remove_file(&path);
    match written.and(removed) {
        Ok(()) => Finding::ok("write", "a write was synced to the disk"),
        Err(error) => {
            let text = format!("a write into {} did not reach the disk: {error}", name(data));
            Finding::fail("write", text, "Nothing can be acknowledged until this works.")
        }
    }
}

fn write_through(path: &Path, dir: &Path) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(b"written by holdfast doctor\n")?;
    file.sync_all()?;
    File::open(dir)?.sync_all()
}

fn lock(data: &Path) -> Finding {
    match data_dir::check_free(data) {
        Ok(()) => Finding::ok("lock", "no host has these data"),
        // The words name its pid and address.
        Err(held) => Finding::ok("lock", held.error.to_string()),
    }
}

fn agents(data: &Path, named: Option<&Path>) -> Vec<Finding> {
    let config = match Config::of(data, named) {
        Ok(config) => config,
        Err(error) => {
            let advice = "No host starts with it: correct it, then restart.";
            return vec![Finding::fail("config", format!("{error:#}"), advice)];
        }
    };
    let mut findings = vec![if config.is_there {
        Finding::ok("config", format!("{} is right", name(&config.file)))
    } else {
        Finding::ok("config", format!("there is none; {} would be read", name(&config.file)))
    }];
    let within = Environment::of_host(Source::Asking, environment::all());
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("holdfast"));
    for (id, agent) in config.agents(&program) {
        let availability = port::availability(&agent, &within);
        if !port::is_shown(&agent, &availability) {
            continue;
        }
        findings.push(match availability {
            Availability::Available => version(&id, &agent, &within),
            Availability::Unavailable(why) => {
                let (what, advice) = why.split_once(". ").unwrap_or((&why, "Install it."));
                Finding::warn("agent", format!("{id}: {what}"), advice.to_owned())
            }
        });
    }
    findings
}

/// Which version a program says it is, and whether that is one that was tested.
fn version(id: &str, agent: &Agent, within: &Environment) -> Finding {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let program = detect::program(agent, within).filter(|_| tested(agent.kind).is_some());
    let version = match (runtime, program) {
        (Ok(runtime), Some(program)) => runtime.block_on(detect::ask(agent, &program, within)),
        (_, None) | (Err(_), _) => None,
    };
    let version = version.unwrap_or_default();
    match detect::hint(agent.kind, &version) {
        None => Finding::ok("agent", there(id, &version)),
        Some(hint) => Finding::warn("agent", there(id, &version), hint),
    }
}

/// What happens to agents when their owner logs out, or the container ends.
fn supervision() -> Finding {
    if ["/.dockerenv", "/run/.containerenv"].iter().any(|mark| Path::new(mark).exists()) {
        return Finding::warn(
            "sessions",
            "this is a container: agents end with its first process",
            "What they were doing is offered at the next start.",
        );
    }
    if !Path::new("/run/systemd/system").is_dir() {
        return Finding::ok("sessions", "no systemd: agents run on when you log out");
    }
    let user = environment::var("USER").or_else(|| environment::var("LOGNAME"));
    let lingers = user.is_some_and(|user| Path::new("/var/lib/systemd/linger").join(user).exists());
    if lingers || rustix::process::geteuid().is_root() {
        return Finding::ok("sessions", "systemd keeps your processes when you log out");
    }
    Finding::warn(
        "sessions",
        "systemd may end your processes, host and agents too, when you log out",
        "loginctl enable-linger",
    )
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    fn level_of(findings: &[Finding], check: &str) -> Vec<Level> {
        findings.iter().filter(|one| one.check == check).map(|one| one.level).collect()
    }

    #[test]
    fn a_sound_directory_is_sound() {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let findings = look(dir.path(), None);
        for check in ["data", "disk", "write", "lock", "config", "agent"] {
            assert_eq!(level_of(&findings, check), [Level::Ok], "{findings:?}");
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is left behind");
    }

    #[test]
    fn a_disk_of_another_machine_is_none() {
        let levels = [0xef53, 0x6969, 0x6573_5546].map(|kind| judge(kind).level);
        assert_eq!(levels, [Level::Ok, Level::Fail, Level::Warn]);
    }

    #[test]
    fn what_others_can_read_is_named() {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let token = dir.path().join(data_dir::TOKEN);
        fs::write(&token, "x").unwrap();
        fs::set_permissions(&token, fs::Permissions::from_mode(0o644)).unwrap();
        let findings = look(dir.path(), None);
        assert_eq!(level_of(&findings, "data"), [Level::Warn]);
        assert_eq!(level_of(&findings, "secrets"), [Level::Warn]);
    }

    #[test]
    fn what_is_broken_is_told_with_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        let config = dir.path().join("config.toml");
        fs::write(&config, "[agents.x]\nkind = \"acp\"\ncommand = [\"no-such-program-here\"]\n")
            .unwrap();
        assert_eq!(level_of(&look(dir.path(), None), "agent"), [Level::Ok, Level::Warn]);
        fs::write(&config, "nonsense = 1\n").unwrap();
        let findings = look(dir.path(), None);
        assert_eq!(level_of(&findings, "config"), [Level::Fail]);
        assert!(findings.iter().all(|one| one.level == Level::Ok || one.advice.is_some()));
        assert_eq!(level_of(&look(&config, None), "data"), [Level::Fail]);
    }
}

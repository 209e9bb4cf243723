//! What a service manager is told of a host.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests"
)]

use std::path::PathBuf;
use std::process::{Command, Output};

use holdfast_testkit::host::Place;
use serde_json::Value;

fn place(dir: &tempfile::TempDir) -> Place {
    Place::new(env!("CARGO_BIN_EXE_holdfast"), dir.path())
}

fn service(place: &Place, args: &[&str]) -> Output {
    let mut command = Command::new(&place.program);
    command.arg("service").args(args).env_clear().env("HOME", place.root.join("home"));
    command.env("HOLDFAST_DATA_DIR", place.root.join("my $data %d")).output().unwrap()
}

fn unit(place: &Place) -> PathBuf {
    place.root.join("home/.config/systemd/user/holdfast.service")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Whether systemd takes a unit, and what it says of it.
fn verify(place: &Place, unit: &PathBuf) -> (bool, String) {
    let runtime = place.root.join("runtime");
    std::fs::create_dir_all(&runtime).unwrap();
    let mut command = Command::new("systemd-analyze");
    command.args(["--user", "verify", "--man=no", "--recursive-errors=no"]).arg(unit);
    command.env("HOME", place.root.join("home")).env("XDG_RUNTIME_DIR", runtime);
    let output = command.output().unwrap();
    (output.status.success(), text(&output.stderr))
}

fn state(place: &Place) -> Value {
    serde_json::from_slice(&service(place, &["status", "--json"]).stdout).unwrap()
}

#[test]
fn the_unit_is_one_that_systemd_takes() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let installed = service(&place, &["install"]);
    assert!(installed.status.success(), "{}", text(&installed.stderr));
    let told = text(&installed.stdout);
    for next in ["systemctl --user daemon-reload", "enable --now holdfast", "enable-linger"] {
        assert!(told.contains(next), "{told}");
    }
    let written = std::fs::read_to_string(unit(&place)).unwrap();
    assert_eq!(verify(&place, &unit(&place)), (true, String::new()), "{written}");
    // It would have said so.
    let odd = place.root.join("odd.service");
    std::fs::write(&odd, written.replace("OOMPolicy=", "OOMPolice=")).unwrap();
    let (_, says) = verify(&place, &odd);
    assert!(says.contains("OOMPolice"), "{says}");
    for line in ["KillMode=process", "OOMPolicy=continue", "ExecReload=/bin/kill -HUP $MAINPID"] {
        assert!(written.lines().any(|found| found == line), "{written}");
    }
    let data = place.root.join("my $$data %%d").display().to_string();
    assert!(written.contains(&format!("serve\" \"--data-dir\" \"{data}\"")), "{written}");
}

#[test]
fn a_socket_comes_where_it_is_wanted_and_goes_with_the_unit() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let socket = unit(&place).with_extension("socket");
    assert!(service(&place, &["install"]).status.success());
    assert!(!socket.exists(), "nobody wanted it");
    let installed = service(&place, &["install", "--socket"]);
    let told = text(&installed.stdout);
    for next in ["enable --now holdfast.socket", "stop holdfast.socket holdfast"] {
        assert!(told.contains(next), "{told}");
    }
    let written = std::fs::read_to_string(&socket).unwrap();
    assert!(written.contains("\nListenStream=127.0.0.1:7433\n"), "{written}");
    assert_eq!(verify(&place, &socket), (true, String::new()), "{written}");
    let (_, says) = {
        let odd = place.root.join("odd.socket");
        std::fs::write(&odd, written.replace("ListenStream", "ListenSteam")).unwrap();
        verify(&place, &odd)
    };
    assert!(says.contains("ListenSteam"), "{says}");
    // It stays without being named again, and is brought up to date.
    assert_eq!(state(&place)["unit"], "current");
    std::fs::write(&socket, written.replace("7433", "7434")).unwrap();
    assert_eq!(state(&place)["unit"], "outdated");
    assert!(service(&place, &["install"]).status.success());
    assert_eq!(std::fs::read_to_string(&socket).unwrap(), written);
    // A stranger's stays, and so does the unit.
    std::fs::write(&socket, "[Socket]\nListenStream=1\n").unwrap();
    assert_eq!(service(&place, &["install", "--socket"]).status.code(), Some(4));
    std::fs::write(&socket, written).unwrap();
    assert!(service(&place, &["uninstall"]).status.success());
    assert!(!socket.exists() && !unit(&place).exists());
}

#[test]
fn a_unit_comes_stays_and_goes() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    assert_eq!(service(&place, &["status"]).status.code(), Some(3));
    assert_eq!(service(&place, &["uninstall"]).status.code(), Some(3));
    assert_eq!(state(&place)["unit"], "missing");
    let json = service(&place, &["install", "--json"]).stdout;
    let json: Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(
        (&json["changed"], &json["next"][0]),
        (&true.into(), &"systemctl --user daemon-reload".into())
    );
    let state = || state(&place);
    assert_eq!((&state()["unit"], &state()["running"]), (&"current".into(), &false.into()));
    let again = service(&place, &["install", "--json"]).stdout;
    assert_eq!(serde_json::from_slice::<Value>(&again).unwrap()["changed"], false);

    // Our own of another place is replaced; a stranger's is not touched.
    let ours = std::fs::read_to_string(unit(&place)).unwrap();
    std::fs::write(unit(&place), ours.replace("my $$data", "your data")).unwrap();
    assert_eq!(state()["unit"], "outdated");
    assert!(service(&place, &["install"]).status.success());
    assert_eq!(std::fs::read_to_string(unit(&place)).unwrap(), ours);
    let strange = "[Service]\nExecStart=/bin/true\n";
    std::fs::write(unit(&place), strange).unwrap();
    assert_eq!(state()["unit"], "foreign");
    for what in ["install", "uninstall"] {
        let refused = service(&place, &[what]);
        assert_eq!(refused.status.code(), Some(4), "{what}");
        assert!(text(&refused.stderr).contains("was not written by"), "{}", text(&refused.stderr));
        assert_eq!(std::fs::read_to_string(unit(&place)).unwrap(), strange);
    }
    std::fs::write(unit(&place), ours).unwrap();
    let removed = service(&place, &["uninstall"]);
    assert!(text(&removed.stdout).contains("disable --now"), "{}", text(&removed.stdout));
    assert!(!unit(&place).exists());
}

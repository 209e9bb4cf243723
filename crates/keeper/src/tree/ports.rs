use crate::limits::PORTS_SHOWN_MAX;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader};

/// `TCP_LISTEN` as `/proc/net/tcp` writes it.
const LISTEN: &str = "0A";
/// Lines of a socket table that are looked at.
const SOCKETS_MAX: usize = 65_536;

/// The TCP ports on which a process listens, ascending, at most [`PORTS_SHOWN_MAX`].
pub(crate) fn listening_ports(pid: u32) -> Vec<u16> {
    let sockets = sockets_of(pid);
    if sockets.is_empty() {
        return Vec::new();
    }
    let mut ports = BTreeSet::new();
    for table in ["tcp", "tcp6"] {
        let Ok(file) = File::open(format!("/proc/{pid}/net/{table}")) else { continue };
        for line in BufReader::new(file).lines().skip(1).take(SOCKETS_MAX).map_while(Result::ok) {
            if let Some((port, inode)) = listening(&line)
                && sockets.contains(&inode)
            {
                ports.insert(port);
            }
        }
    }
    ports.into_iter().take(PORTS_SHOWN_MAX).collect()
}

fn sockets_of(pid: u32) -> BTreeSet<u64> {
    let Ok(entries) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return BTreeSet::new() };
    entries
        .filter_map(|entry| {
            let target = std::fs::read_link(entry.ok()?.path()).ok()?;
            target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
        })
        .collect()
}

/// The port and the inode of a line of `/proc/net/tcp`, if it is of a listening socket.
fn listening(line: &str) -> Option<(u16, u64)> {
    let mut fields = line.split_ascii_whitespace();
    let (_, port) = fields.nth(1)?.rsplit_once(':')?;
    let state = fields.nth(1)?;
    let inode = fields.nth(5)?;
    let port = u16::from_str_radix(port, 16).ok()?;
    (state == LISTEN).then_some((port, inode.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_of_a_listener_is_found() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(listening_ports(std::process::id()).contains(&port));
        drop(listener);
        assert!(!listening_ports(std::process::id()).contains(&port));
    }

    #[test]
    fn a_connected_socket_is_no_listener() {
        let line =
            "   1: 0100007F:1F90 0100007F:A000 01 00000000:00000000 00:00000000 00000000 0 0 77 1";
        assert_eq!(listening(line), None);
        assert_eq!(listening(&line.replace(" 01 ", " 0A ")), Some((8080, 77)));
        assert_eq!(listening("nonsense"), None);
    }
}

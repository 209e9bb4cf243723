//! What service managers are told of a host.

use std::net::SocketAddr;
use std::path::Path;

/// The first words of what `service install` writes; another file is not ours to replace.
pub(super) const MARK: &str = "Written by `holdfast service install`";

/// A unit of a person's systemd. It has no need of a socket beside it ([`socket`]): agents run
/// whether or not somebody connects, so the host runs too.
pub(super) fn systemd(program: &Path, arguments: &[String]) -> String {
    let command: Vec<String> = std::iter::once(program.display().to_string())
        .chain(arguments.iter().cloned())
        .map(|word| quoted(&word))
        .collect();
    let command = command.join(" ");
    format!(
        "# {MARK}, which replaces it.\n\
         [Unit]\n\
         Description=Holdfast, which hosts coding-agent chats\n\
         \n\
         [Service]\n\
         Type=exec\n\
         ExecStart={command}\n\
         # The host is replaced, its agents go on.\n\
         ExecReload=/bin/kill -HUP $MAINPID\n\
         # A stop tells the host alone, which stops its agents and records what they were doing. If it\n\
         # crashes, its agents go on under their keepers, and the next host finds them.\n\
         KillMode=process\n\
         TimeoutStopSec=20\n\
         # One agent that takes too much memory does not take the others with it.\n\
         OOMPolicy=continue\n\
         Restart=on-failure\n\
         RestartSec=1\n\
         # A configuration that is wrong, and another host on the same data, do not pass by themselves.\n\
         RestartPreventExitStatus=2 4\n\
         \n\
         [Install]\n\
         WantedBy=default.target\n"
    )
}

/// A socket for the unit: it listens from the first moment, also while no host runs.
pub(super) fn socket(listen: SocketAddr) -> String {
    format!(
        "# {MARK}, which replaces it.\n\
         [Unit]\n\
         Description=Where Holdfast is reached\n\
         \n\
         [Socket]\n\
         ListenStream={listen}\n\
         \n\
         [Install]\n\
         WantedBy=sockets.target\n"
    )
}

/// One word of a command as systemd reads it.
fn quoted(word: &str) -> String {
    let mut text = String::from("\"");
    for c in word.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            '%' | '$' => text.extend([c, c]),
            '\n' => text.push_str("\\n"),
            c => text.push(c),
        }
    }
    text.push('"');
    text
}

/// The name under which launchd knows a host.
pub(super) const LAUNCHD_LABEL: &str = "dev.holdfast.host";

/// An agent of a person's launchd.
pub(super) fn launchd(program: &Path, arguments: &[String], log: &Path) -> String {
    let words = std::iter::once(program.display().to_string()).chain(arguments.iter().cloned());
    let words: String =
        words.map(|word| format!("        <string>{}</string>\n", escaped(&word))).collect();
    let log = escaped(&log.display().to_string());
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!-- {MARK}, which replaces it. -->\n\
         <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \
         \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
         <plist version=\"1.0\">\n\
         <dict>\n    \
             <key>Label</key>\n    <string>{LAUNCHD_LABEL}</string>\n    \
             <key>ProgramArguments</key>\n    <array>\n{words}    </array>\n    \
             <key>RunAtLoad</key>\n    <true/>\n    \
             <key>KeepAlive</key>\n    <dict>\n        \
                 <key>SuccessfulExit</key>\n        <false/>\n    </dict>\n    \
             <key>AbandonProcessGroup</key>\n    <true/>\n    \
             <key>ExitTimeOut</key>\n    <integer>20</integer>\n    \
             <key>StandardErrorPath</key>\n    <string>{log}</string>\n\
         </dict>\n\
         </plist>\n"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_reads_like_this() {
        let arguments = ["serve", "--data-dir", "/a b/100%/$x/\"q\"\\"].map(str::to_owned);
        let unit = systemd(Path::new("/opt/hold fast/holdfast"), &arguments);
        insta::assert_snapshot!(unit);
    }

    #[test]
    fn a_property_list_reads_like_this() {
        let arguments = ["serve", "--data-dir", "/a & <b>"].map(str::to_owned);
        let log = Path::new("/a & <b>/host.log");
        insta::assert_snapshot!(launchd(Path::new("/opt/holdfast"), &arguments, log));
    }
}

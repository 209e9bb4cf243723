//! Files that go with a message.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use uuid::Uuid;

use super::Scene;
use crate::client::query;
use crate::fault::Fault;
use crate::rows::word;

/// Bytes of a file that are read; the host takes no more, and says so.
const FILE_BYTES_MAX: u64 = 20 * 1024 * 1024;

/// What files are by the ends of their names; anything else is bytes.
const TYPES: [(&str, &str); 24] = [
    ("avif", "image/avif"),
    ("bmp", "image/bmp"),
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("diff", "text/x-diff"),
    ("gif", "image/gif"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript"),
    ("json", "application/json"),
    ("log", "text/plain"),
    ("md", "text/markdown"),
    ("patch", "text/x-diff"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("toml", "application/toml"),
    ("txt", "text/plain"),
    ("webp", "image/webp"),
    ("xml", "application/xml"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
];

/// The files that are named.
#[derive(Debug, clap::Args)]
pub(super) struct Files {
    /// A file to go with the message; several times for several files.
    #[arg(long, value_name = "FILE")]
    attach: Vec<PathBuf>,
}

/// A file that can be sent.
struct Sendable<'a> {
    path: &'a Path,
    name: &'a str,
    media_type: &'static str,
}

impl Files {
    pub(super) fn is_empty(&self) -> bool {
        self.attach.is_empty()
    }

    /// Looks at each of them, before anything is sent.
    pub(super) fn check(&self) -> Result<(), Fault> {
        self.attach.iter().try_for_each(|path| look(path).map(drop))
    }

    /// Sends them to a chat; answers their ids, in order. Repeated under the same key they are the same.
    pub(super) fn send(
        &self,
        scene: &Scene<'_>,
        chat: &str,
        key: Option<&str>,
    ) -> Result<Vec<String>, Fault> {
        let one = |(n, path): (usize, &PathBuf)| {
            let file = look(path)?;
            let bytes = fs::read(file.path).map_err(|error| unread(path, &error))?;
            let at = format!("/chats/{chat}/attachments?name={}", query(file.name));
            let key = key.map(|key| part(key, &format!("attachment {n}")));
            let kept = scene.client.upload(&at, bytes, file.media_type, key.as_deref())?;
            Ok(word(&kept, "id").to_owned())
        };
        self.attach.iter().enumerate().map(one).collect()
    }
}

/// The key of a part of what the caller named by one.
pub(super) fn part(key: &str, part: &str) -> String {
    Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("{key}\n{part}").as_bytes()).to_string()
}

/// The names of what goes with a message, as a line shows them.
pub(super) fn names(of: &Value) -> Option<String> {
    let names: Vec<String> = crate::rows::list(of, "attachments")
        .iter()
        .map(|one| crate::text::line(word(one, "name")))
        .collect();
    (!names.is_empty()).then(|| format!("[{}]", names.join(", ")))
}

fn look(path: &Path) -> Result<Sendable<'_>, Fault> {
    let shown = path.display();
    let found = fs::metadata(path).map_err(|error| unread(path, &error))?;
    if !found.is_file() {
        return Err(Fault::usage(format!("{shown} is no file. Nothing was sent.")));
    }
    if found.len() == 0 {
        return Err(Fault::usage(format!("{shown} is empty. Nothing was sent.")));
    }
    if found.len() > FILE_BYTES_MAX {
        let text = format!("{shown} has more than {FILE_BYTES_MAX} bytes. Nothing was sent.");
        return Err(Fault::usage(text));
    }
    let name = path.file_name().and_then(|name| name.to_str());
    let text = format!("{shown} has a name that is not UTF-8. Nothing was sent.");
    let name = name.ok_or_else(|| Fault::usage(text))?;
    let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
    let known = TYPES.iter().find(|(of, _)| end.eq_ignore_ascii_case(of));
    let media_type = known.map_or("application/octet-stream", |(_, media_type)| media_type);
    Ok(Sendable { path, name, media_type })
}

fn unread(path: &Path, error: &std::io::Error) -> Fault {
    Fault::usage(format!("{} cannot be read: {error}. Nothing was sent.", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_what_has_a_key_has_one_of_its_own() {
        assert_eq!(part("k", "attachment 1"), part("k", "attachment 1"));
        assert_ne!(part("k", "attachment 1"), part("k", "attachment 2"));
        assert_ne!(part("k", "message"), "k");
    }

    #[test]
    fn a_file_is_what_the_end_of_its_name_says() {
        assert!(TYPES.is_sorted());
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let (toml, dir) = (here.join("Cargo.toml"), here.join("src"));
        let found = look(&toml).unwrap();
        assert_eq!((found.name, found.media_type), ("Cargo.toml", "application/toml"));
        for odd in [here.join("nowhere"), dir] {
            assert!(look(&odd).is_err());
        }
    }
}

//! A power cut: kill -9 keeps what the kernel has, a power cut loses what was not synced. A copy of the
//! program under test gets a small library (`powercut/powercut.c`) that remembers how to take back
//! every write that was not synced; after everything was killed, the writes are taken back.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/powercut/powercut.c");
const RECORD_BYTES: usize = 24;

/// A program whose unsynced writes can be lost.
#[derive(Debug)]
pub struct PowerCut {
    /// The copy of the program that loses them.
    pub program: PathBuf,
    roots: Vec<PathBuf>,
    log: PathBuf,
    boot_id: PathBuf,
    boots: u32,
}

/// What a power cut took back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Files that were not as the program had written them.
    pub files: usize,
    /// Writes that were taken back.
    pub writes: usize,
}

impl PowerCut {
    /// Makes a copy of `program` in `dir` whose unsynced writes below `roots` can be lost.
    ///
    /// # Panics
    ///
    /// Without a C compiler or `patchelf`.
    pub fn prepare(program: &Path, dir: &Path, roots: &[PathBuf]) -> Self {
        let log = dir.join("undo");
        fs::create_dir_all(&log).unwrap();
        let boot_id = dir.join("boot_id");
        let library = dir.join("powercut.so");
        let list: String = roots.iter().map(|root| format!("{}\\0", root.display())).collect();
        run(Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"])
            .arg(&library)
            .arg(format!("-DROOTS=\"{list}\""))
            .arg(format!("-DLOG=\"{}\"", log.display()))
            .arg(format!("-DBOOT_ID=\"{}\"", boot_id.display()))
            .arg(SOURCE));
        let copy = dir.join("program");
        fs::copy(program, &copy).unwrap();
        run(Command::new("patchelf").arg("--add-needed").arg(&library).arg(&copy));
        let roots = roots.to_vec();
        let mut this = Self { program: copy, roots, log, boot_id, boots: 0 };
        this.boot();
        this
    }

    /// The machine starts anew.
    fn boot(&mut self) {
        self.boots += 1;
        let id = format!("00000000-0000-4000-8000-{:012}\n", self.boots);
        fs::write(&self.boot_id, id).unwrap();
    }

    /// The power goes, once everything that ran is killed: of each file the writes since its last
    /// sync are lost but for the first `kept(n)` of `n`, and the next start is another boot.
    pub fn cut(&mut self, mut kept: impl FnMut(usize) -> usize) -> Lost {
        let mut files = HashMap::new();
        for root in &self.roots {
            walk(root, &mut files);
        }
        let mut lost = Lost::default();
        for entry in fs::read_dir(&self.log).unwrap() {
            let undo = entry.unwrap().path();
            let inode: u64 = undo.file_name().unwrap().to_str().unwrap().parse().unwrap();
            let records = records(&fs::read(&undo).unwrap());
            let keep = if records.is_empty() { 0 } else { kept(records.len()) };
            if let Some(path) = files.get(&inode) {
                let file = OpenOptions::new().write(true).open(path).unwrap();
                for (offset, old_size, old) in records.iter().skip(keep).rev() {
                    file.write_all_at(old, *offset).unwrap();
                    file.set_len(*old_size).unwrap();
                }
                lost.writes += records.len() - keep;
                lost.files += usize::from(records.len() > keep);
            }
            fs::remove_file(undo).unwrap();
        }
        self.boot();
        lost
    }
}

/// Offset, size before, bytes before; a record that was not wholly written had no write yet.
fn records(mut bytes: &[u8]) -> Vec<(u64, u64, Vec<u8>)> {
    let mut records = Vec::new();
    let number =
        |bytes: &[u8], at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().unwrap());
    while bytes.len() >= RECORD_BYTES {
        let length = usize::try_from(number(bytes, 16)).unwrap();
        let Some(old) = bytes.get(RECORD_BYTES..RECORD_BYTES + length) else { break };
        records.push((number(bytes, 0), number(bytes, 8), old.to_vec()));
        bytes = &bytes[RECORD_BYTES + length..];
    }
    records
}

fn walk(dir: &Path, files: &mut HashMap<u64, PathBuf>) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let Ok(metadata) = entry.path().symlink_metadata() else { continue };
        if metadata.is_dir() {
            walk(&entry.path(), files);
        } else if metadata.is_file() {
            files.insert(metadata.ino(), entry.path());
        }
    }
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_synced_is_lost_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        fs::create_dir(&root).unwrap();
        let program = fs::canonicalize("/bin/dd").unwrap();
        let mut power = PowerCut::prepare(&program, dir.path(), std::slice::from_ref(&root));
        let (synced, lost) = (root.join("synced"), root.join("lost"));
        for (file, sync) in [(&synced, "conv=notrunc,fsync"), (&lost, "conv=notrunc")] {
            fs::write(file, b"before").unwrap();
            let input = dir.path().join("input");
            fs::write(&input, b"after, and longer").unwrap();
            run(Command::new(&power.program)
                .arg(format!("if={}", input.display()))
                .arg(format!("of={}", file.display()))
                .arg(sync));
            assert_eq!(fs::read(file).unwrap(), b"after, and longer");
        }
        assert_eq!(power.cut(|_| 0), Lost { files: 1, writes: 1 });
        assert_eq!(fs::read(&synced).unwrap(), b"after, and longer");
        assert_eq!(fs::read(&lost).unwrap(), b"before");
    }
}

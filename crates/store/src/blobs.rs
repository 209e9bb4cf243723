//! The bytes of attachments: one file each, below the data directory, named by ids alone.
//!
//! A file takes its place before its row is committed, and a *mark* says that this is not known to
//! have come about yet. So whatever a crash leaves half done stands among the marks, which are few,
//! and is settled at the next start by whether the row is there: with it the file is kept, without
//! it the file goes. A file that goes after its row is marked before.
//!
//! Everything here blocks.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use holdfast_core::ids::{AttachmentId, ChatId};
use holdfast_core::refusal::Refusal;

use crate::journal::CommitError;

/// The folder within the data directory.
const FOLDER: &str = "attachments";
/// The folder of the marks within it. It is no id of a chat.
const MARKS: &str = "incoming";

/// Where the files of attachments are. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Blobs {
    root: PathBuf,
}

/// An attachment on its way in. Dropped before it is kept it leaves nothing.
#[derive(Debug)]
pub struct Incoming {
    blobs: Blobs,
    chat: ChatId,
    id: AttachmentId,
    file: Option<File>,
}

/// An attachment whose bytes are durable and whose row may not be. Dropped as it is it stays
/// marked, for the next start to settle.
#[derive(Debug)]
#[must_use = "what is not settled stays marked"]
pub struct Kept {
    blobs: Blobs,
    chat: ChatId,
    id: AttachmentId,
}

impl Blobs {
    /// The files below this data directory.
    #[must_use]
    pub fn of(data_dir: &Path) -> Self {
        Self { root: data_dir.join(FOLDER) }
    }

    /// Makes the folders, once and before anybody needs them.
    ///
    /// # Errors
    /// The disk's.
    pub fn prepare(&self) -> io::Result<()> {
        make_dir(&self.root)?;
        make_dir(&self.root.join(MARKS))
    }

    /// Begins to take one in.
    ///
    /// # Errors
    /// The disk's; nothing is left then.
    pub fn begin(&self, chat: ChatId, id: AttachmentId) -> io::Result<Incoming> {
        self.prepare()?;
        let mark = self.mark(chat, id);
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&mark)?;
        Ok(Incoming { blobs: self.clone(), chat, id, file: Some(file) })
    }

    /// Opens one to read it.
    ///
    /// # Errors
    /// The disk's, `NotFound` among them.
    pub fn open(&self, chat: ChatId, id: AttachmentId) -> io::Result<File> {
        File::open(self.file(chat, id))
    }

    /// Gives another chat files of this one, under the same ids and without a copy of their bytes:
    /// each chat lets go of its own. One that is not there is passed over.
    ///
    /// # Errors
    /// The disk's; nothing is left then but marks.
    pub fn share(&self, from: ChatId, to: ChatId, ids: &[AttachmentId]) -> io::Result<Vec<Kept>> {
        let mut kept = Vec::new();
        if ids.is_empty() {
            return Ok(kept);
        }
        self.prepare()?;
        for id in ids {
            match fs::hard_link(self.file(from, *id), self.mark(to, *id)) {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                linked => {
                    linked?;
                    kept.push(Kept { blobs: self.clone(), chat: to, id: *id });
                }
            }
        }
        make_dir(&self.dir(to))?;
        sync(&self.root)?;
        // The marks have to be there whenever the files are.
        sync(&self.root.join(MARKS))?;
        for Kept { id, .. } in &kept {
            fs::hard_link(self.mark(to, *id), self.file(to, *id))?;
        }
        sync(&self.dir(to))?;
        Ok(kept)
    }

    /// Marks one whose row is about to go.
    ///
    /// # Errors
    /// The disk's; it is as it was then.
    pub fn leave(&self, chat: ChatId, id: AttachmentId) -> io::Result<Kept> {
        self.prepare()?;
        match fs::hard_link(self.file(chat, id), self.mark(chat, id)) {
            Err(error)
                if !matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) =>
            {
                return Err(error);
            }
            Ok(()) | Err(_) => sync(&self.root.join(MARKS))?,
        }
        Ok(Kept { blobs: self.clone(), chat, id })
    }

    /// Those of which it is not known whether their row is there: to be listed before anything
    /// begins, and to be settled then.
    ///
    /// # Errors
    /// The disk's.
    pub fn marked(&self) -> io::Result<Vec<(ChatId, AttachmentId, Kept)>> {
        let entries = match fs::read_dir(self.root.join(MARKS)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut marked = Vec::new();
        for entry in entries {
            let name = entry?.file_name().into_string().unwrap_or_default();
            let ids = name.split_once('.').map(|(chat, id)| (chat.parse(), id.parse()));
            // What nobody here wrote is left alone.
            let Some((Ok(chat), Ok(id))) = ids else { continue };
            marked.push((chat, id, Kept { blobs: self.clone(), chat, id }));
        }
        Ok(marked)
    }

    /// Removes up to so many files of a chat that is gone. Whether there are more.
    ///
    /// # Errors
    /// The disk's.
    pub fn reap(&self, chat: ChatId, most: usize) -> io::Result<bool> {
        let dir = self.dir(chat);
        let entries = match fs::read_dir(&dir) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            entries => entries?,
        };
        for (gone, entry) in entries.enumerate() {
            if gone == most {
                return Ok(true);
            }
            remove(&entry?.path())?;
        }
        match fs::remove_dir(&dir) {
            // One that is on its way in: it is refused, and takes itself away.
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => Ok(false),
            gone => gone.map(|()| false),
        }
    }

    fn dir(&self, chat: ChatId) -> PathBuf {
        self.root.join(chat.to_string())
    }

    fn file(&self, chat: ChatId, id: AttachmentId) -> PathBuf {
        self.dir(chat).join(id.to_string())
    }

    fn mark(&self, chat: ChatId, id: AttachmentId) -> PathBuf {
        self.root.join(MARKS).join(format!("{chat}.{id}"))
    }
}

impl Incoming {
    /// Its id.
    #[must_use]
    pub const fn id(&self) -> AttachmentId {
        self.id
    }

    /// Adds bytes at its end.
    ///
    /// # Errors
    /// The disk's.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), |file| file.write_all(bytes))
    }

    /// Has it stay, under its own name, whatever happens to the machine.
    ///
    /// # Errors
    /// The disk's; nothing is left then.
    pub fn keep(mut self) -> io::Result<Kept> {
        let Self { blobs, chat, id, .. } = &self;
        if let Some(file) = &self.file {
            file.sync_all()?;
        }
        let dir = blobs.dir(*chat);
        make_dir(&dir)?;
        // Whoever makes the folder of the chat at the same time may not have had it stay yet.
        sync(&blobs.root)?;
        // The mark has to be there whenever the file is.
        sync(&blobs.root.join(MARKS))?;
        fs::hard_link(blobs.mark(*chat, *id), blobs.file(*chat, *id))?;
        let kept = Kept { blobs: blobs.clone(), chat: *chat, id: *id };
        if let Err(error) = sync(&dir) {
            kept.discard();
            return Err(error);
        }
        self.file = None;
        Ok(kept)
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            // What cannot be removed now is found among the marks.
            let _ = fs::remove_file(self.blobs.mark(self.chat, self.id));
        }
    }
}

impl Kept {
    /// Its row is there.
    pub fn confirm(self) {
        // A mark that stays is settled at the next start.
        let _ = remove(&self.blobs.mark(self.chat, self.id));
    }

    /// Its row is not there: it goes.
    pub fn discard(self) {
        let Self { blobs, chat, id } = self;
        if remove(&blobs.file(chat, id)).is_ok() {
            // Only where the chat has no other file, and none that is on its way.
            let _ = fs::remove_dir(blobs.dir(chat));
            let _ = remove(&blobs.mark(chat, id));
        }
    }
}

/// Makes a folder, for its owner alone, and has that stay.
fn make_dir(dir: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(dir) {
        Ok(()) => dir.parent().map_or(Ok(()), sync),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// What whoever sends something is told that the disk did not take.
#[must_use]
pub fn refusal(error: &io::Error) -> Refusal {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => CommitError::StorageFull.refusal(),
        _ => CommitError::Failed(error.to_string()).refusal(),
    }
}

/// What is not there is removed.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn sync(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::fs::PermissionsExt;

    use uuid::Uuid;

    use super::*;

    const CHAT: ChatId = ChatId::new(Uuid::from_u128(1));

    fn id(n: u128) -> AttachmentId {
        AttachmentId::new(Uuid::from_u128(n))
    }

    fn files(dir: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for entry in fs::read_dir(dir).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                found.extend(files(&path));
            } else {
                found.push(path);
            }
        }
        found
    }

    fn keep(blobs: &Blobs, n: u128) -> Kept {
        let mut incoming = blobs.begin(CHAT, id(n)).unwrap();
        incoming.write(b"some ").unwrap();
        incoming.write(b"bytes").unwrap();
        incoming.keep().unwrap()
    }

    fn read(blobs: &Blobs, n: u128) -> Option<String> {
        let mut text = String::new();
        blobs.open(CHAT, id(n)).ok()?.read_to_string(&mut text).unwrap();
        Some(text)
    }

    #[test]
    fn what_is_kept_is_there_for_its_owner_alone() {
        let dir = tempfile::tempdir().unwrap();
        let blobs = Blobs::of(dir.path());
        keep(&blobs, 1).confirm();
        assert_eq!(read(&blobs, 1).as_deref(), Some("some bytes"));
        let found = files(dir.path());
        assert_eq!(found, [dir.path().join(format!("attachments/{CHAT}/{}", id(1)))]);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&found[0]), 0o600);
        assert_eq!(mode(&dir.path().join(FOLDER)), 0o700);
        assert_eq!(mode(found[0].parent().unwrap()), 0o700);
        assert!(blobs.marked().unwrap().is_empty());
    }

    #[test]
    fn what_is_not_kept_or_not_wanted_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let blobs = Blobs::of(dir.path());
        blobs.begin(CHAT, id(1)).unwrap().write(b"half").unwrap();
        assert_eq!(files(dir.path()), [] as [PathBuf; 0]);
        keep(&blobs, 2).discard();
        assert_eq!(files(dir.path()), [] as [PathBuf; 0]);
        keep(&blobs, 3).confirm();
        keep(&blobs, 4).discard();
        assert_eq!((read(&blobs, 3).is_some(), read(&blobs, 4)), (true, None));
    }

    /// What a host leaves that is killed at any moment is found, and can be settled either way.
    #[test]
    fn what_a_crash_leaves_half_done_stands_among_the_marks() {
        let dir = tempfile::tempdir().unwrap();
        let blobs = Blobs::of(dir.path());
        let half = blobs.begin(CHAT, id(1)).unwrap();
        std::mem::forget(half);
        drop(keep(&blobs, 2));
        drop(keep(&blobs, 3));
        keep(&blobs, 4).confirm();
        drop(blobs.leave(CHAT, id(4)).unwrap());
        fs::write(dir.path().join("attachments/incoming/rubbish"), "").unwrap();
        let mut marked: Vec<_> =
            blobs.marked().unwrap().into_iter().map(|(_, id, kept)| (id, kept)).collect();
        marked.sort_by_key(|(id, _)| *id);
        let ids: Vec<_> = marked.iter().map(|(id, _)| *id).collect();
        assert_eq!(ids, [id(1), id(2), id(3), id(4)]);
        for (n, kept) in marked {
            if n == id(2) { kept.confirm() } else { kept.discard() }
        }
        assert!(blobs.marked().unwrap().is_empty());
        assert_eq!(read(&blobs, 2).as_deref(), Some("some bytes"));
        assert_eq!([1, 3, 4].map(|n| read(&blobs, n)), [None, None, None]);
    }

    #[test]
    fn two_chats_share_a_file_and_each_lets_go_of_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let blobs = Blobs::of(dir.path());
        let other = ChatId::new(Uuid::from_u128(2));
        keep(&blobs, 1).confirm();
        let shared = blobs.share(CHAT, other, &[id(1), id(7)]).unwrap();
        assert_eq!(shared.len(), 1, "what is not there is not shared");
        let marked: Vec<_> = blobs.marked().unwrap().into_iter().map(|(c, i, _)| (c, i)).collect();
        assert_eq!(marked, [(other, id(1))]);
        shared.into_iter().for_each(Kept::confirm);
        assert!(blobs.marked().unwrap().is_empty());
        assert!(!blobs.reap(CHAT, 9).unwrap());
        assert_eq!(read(&blobs, 1), None);
        assert!(blobs.open(other, id(1)).is_ok());
        assert!(blobs.share(CHAT, other, &[]).unwrap().is_empty());
    }

    #[test]
    fn the_files_of_a_chat_go_in_slices() {
        let dir = tempfile::tempdir().unwrap();
        let blobs = Blobs::of(dir.path());
        for n in 1..=5 {
            keep(&blobs, n).confirm();
        }
        assert!(blobs.reap(CHAT, 2).unwrap());
        assert_eq!(files(dir.path()).len(), 3);
        assert!(blobs.reap(CHAT, 2).unwrap());
        assert!(!blobs.reap(CHAT, 2).unwrap());
        assert!(!dir.path().join(format!("attachments/{CHAT}")).exists());
        assert!(!blobs.reap(CHAT, 2).unwrap());
    }
}

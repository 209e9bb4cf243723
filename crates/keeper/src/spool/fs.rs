use rustix::fs::{FallocateFlags, Mode, OFlags};
use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::path::{Path, PathBuf};

/// A file of an attempt that the keeper's core reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FileName {
    /// The segment that begins with this record.
    Segment(u64),
    /// A frame that waits on disk.
    Frame(u64),
}

/// What the keeper's core needs of a file system.
pub trait SpoolFs {
    /// Creates an empty file; it must not be there.
    ///
    /// # Errors
    /// Those of the file system.
    fn create(&mut self, file: FileName) -> io::Result<()>;

    /// Makes sure that the first `bytes` bytes of the file can be written without asking for space. The
    /// file does not grow. A file system that cannot do this does nothing.
    ///
    /// # Errors
    /// Those of the file system, above all that no space is left.
    fn reserve(&mut self, file: FileName, bytes: u64) -> io::Result<()>;

    /// Writes all of `bytes` at `offset`. After an error any part of them may be there.
    ///
    /// # Errors
    /// Those of the file system.
    fn write_at(&mut self, file: FileName, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Cuts the file to `bytes` bytes, and gives back what is reserved beyond.
    ///
    /// # Errors
    /// Those of the file system.
    fn truncate(&mut self, file: FileName, bytes: u64) -> io::Result<()>;

    /// Makes the file's bytes durable.
    ///
    /// # Errors
    /// Those of the file system.
    fn sync(&mut self, file: FileName) -> io::Result<()>;

    /// Makes durable which segments there are.
    ///
    /// # Errors
    /// Those of the file system.
    fn sync_names(&mut self) -> io::Result<()>;

    /// Reads at `offset` until `buffer` is full or the file ends; says how many bytes it read.
    ///
    /// # Errors
    /// Those of the file system.
    fn read_at(&mut self, file: FileName, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// The file's length in bytes.
    ///
    /// # Errors
    /// Those of the file system.
    fn length(&mut self, file: FileName) -> io::Result<u64>;

    /// Removes the file.
    ///
    /// # Errors
    /// Those of the file system.
    fn remove(&mut self, file: FileName) -> io::Result<()>;

    /// The first records of all segments, ascending.
    ///
    /// # Errors
    /// Those of the file system.
    fn segments(&mut self) -> io::Result<Vec<u64>>;
}

const SEGMENTS_DIR: &str = "spool";
const FRAMES_DIR: &str = "frames";
const SEGMENT_SUFFIX: &str = ".seg";

/// The file system below an attempt's folder. Keeps one file open for writing and one for reading, which
/// is what a log and its one reader need.
#[derive(Debug)]
pub struct DirFs {
    root: PathBuf,
    writing: Option<(FileName, File)>,
    reading: Option<(FileName, File)>,
}

impl DirFs {
    /// The files below `root`; the folders for them are made.
    ///
    /// # Errors
    /// Those of making the folders.
    pub fn create(root: &Path) -> io::Result<Self> {
        for folder in [SEGMENTS_DIR, FRAMES_DIR] {
            DirBuilder::new().recursive(true).mode(0o700).create(root.join(folder))?;
        }
        Ok(Self::open(root))
    }

    /// The files below `root`, to be read.
    #[must_use]
    pub fn open(root: &Path) -> Self {
        Self { root: root.to_owned(), writing: None, reading: None }
    }

    fn path(&self, file: FileName) -> PathBuf {
        match file {
            FileName::Segment(first) => {
                self.root.join(SEGMENTS_DIR).join(format!("{first:020}{SEGMENT_SUFFIX}"))
            }
            FileName::Frame(number) => self.root.join(FRAMES_DIR).join(number.to_string()),
        }
    }

    fn writing(&mut self, file: FileName) -> io::Result<&File> {
        let path = self.path(file);
        keep_open(&mut self.writing, file, || open(&path, OFlags::RDWR))
    }

    fn reading(&mut self, file: FileName) -> io::Result<&File> {
        let path = self.path(file);
        keep_open(&mut self.reading, file, || open(&path, OFlags::RDONLY))
    }
}

fn open(path: &Path, flags: OFlags) -> io::Result<File> {
    let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    Ok(File::from(rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)?))
}

fn keep_open(
    slot: &mut Option<(FileName, File)>,
    file: FileName,
    open: impl FnOnce() -> io::Result<File>,
) -> io::Result<&File> {
    let kept = slot.take().filter(|(name, _)| *name == file);
    let opened = match kept {
        Some(kept) => kept,
        None => (file, open()?),
    };
    Ok(&slot.insert(opened).1)
}

impl SpoolFs for DirFs {
    fn create(&mut self, file: FileName) -> io::Result<()> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
        let created = open(&self.path(file), flags)?;
        self.writing = Some((file, created));
        Ok(())
    }

    fn reserve(&mut self, file: FileName, bytes: u64) -> io::Result<()> {
        use rustix::io::Errno;
        let target = self.writing(file)?;
        match rustix::fs::fallocate(target, FallocateFlags::KEEP_SIZE, 0, bytes) {
            Err(errno) if errno == Errno::OPNOTSUPP || errno == Errno::NOSYS => Ok(()),
            done => Ok(done?),
        }
    }

    fn write_at(&mut self, file: FileName, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.writing(file)?.write_all_at(bytes, offset)
    }

    fn truncate(&mut self, file: FileName, bytes: u64) -> io::Result<()> {
        self.writing(file)?.set_len(bytes)
    }

    fn sync(&mut self, file: FileName) -> io::Result<()> {
        self.writing(file)?.sync_data()
    }

    fn sync_names(&mut self) -> io::Result<()> {
        File::open(self.root.join(SEGMENTS_DIR))?.sync_all()
    }

    fn read_at(&mut self, file: FileName, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let source = self.reading(file)?;
        let mut filled = 0;
        while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match source.read_at(rest, offset + filled as u64) {
                Ok(0) => break,
                Ok(bytes) => filled += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }

    fn length(&mut self, file: FileName) -> io::Result<u64> {
        Ok(self.reading(file)?.metadata()?.len())
    }

    fn remove(&mut self, file: FileName) -> io::Result<()> {
        for slot in [&mut self.writing, &mut self.reading] {
            if slot.as_ref().is_some_and(|(name, _)| *name == file) {
                *slot = None;
            }
        }
        std::fs::remove_file(self.path(file))
    }

    fn segments(&mut self) -> io::Result<Vec<u64>> {
        let entries = match std::fs::read_dir(self.root.join(SEGMENTS_DIR)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut found = Vec::new();
        for entry in entries {
            let name = entry?.file_name();
            let first = name
                .to_str()
                .and_then(|name| name.strip_suffix(SEGMENT_SUFFIX))
                .and_then(|first| first.parse::<u64>().ok());
            found.extend(first);
        }
        found.sort_unstable();
        Ok(found)
    }
}

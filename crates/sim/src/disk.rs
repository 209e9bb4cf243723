//! The files of one keeper, over the file system that loses what was not synced. They can fill up,
//! and their writer can die between two writes of one step.

use std::cell::Cell;
use std::io;
use std::rc::Rc;

use holdfast_keeper::spool::{FileName, PowerCutFs, SpoolFs};

/// What the world does to the files of a keeper, from outside.
#[derive(Debug, Default)]
pub(crate) struct Fate {
    /// No more than what is allocated may be.
    pub(crate) full: Cell<bool>,
    /// After so many more writes the process is dead, though its step goes on.
    pub(crate) writes_left: Cell<Option<u32>>,
    /// It died in the middle of a step.
    pub(crate) dead: Cell<bool>,
}

/// The files of a keeper.
#[derive(Debug)]
pub(crate) struct Disk {
    files: PowerCutFs,
    fate: Rc<Fate>,
    was_full: bool,
}

impl Disk {
    pub(crate) fn new(fate: Rc<Fate>) -> Self {
        Self { files: PowerCutFs::new(), fate, was_full: false }
    }

    /// What is left when the process is gone.
    pub(crate) fn into_files(self) -> PowerCutFs {
        self.files
    }

    /// Whether a change still reaches the files.
    fn changes(&mut self) -> bool {
        if self.fate.full.get() != self.was_full {
            self.was_full = self.fate.full.get();
            let capacity = self.was_full.then(|| self.files.allocated());
            self.files.set_capacity(capacity);
        }
        match self.fate.writes_left.get() {
            _ if self.fate.dead.get() => false,
            Some(0) => {
                self.fate.dead.set(true);
                false
            }
            Some(left) => {
                self.fate.writes_left.set(Some(left - 1));
                true
            }
            None => true,
        }
    }
}

impl SpoolFs for Disk {
    fn create(&mut self, file: FileName) -> io::Result<()> {
        if self.changes() { self.files.create(file) } else { Ok(()) }
    }
    fn reserve(&mut self, file: FileName, bytes: u64) -> io::Result<()> {
        if self.changes() { self.files.reserve(file, bytes) } else { Ok(()) }
    }
    fn write_at(&mut self, file: FileName, offset: u64, bytes: &[u8]) -> io::Result<()> {
        if self.changes() { self.files.write_at(file, offset, bytes) } else { Ok(()) }
    }
    fn truncate(&mut self, file: FileName, bytes: u64) -> io::Result<()> {
        if self.changes() { self.files.truncate(file, bytes) } else { Ok(()) }
    }
    fn sync(&mut self, file: FileName) -> io::Result<()> {
        if self.changes() { self.files.sync(file) } else { Ok(()) }
    }
    fn sync_names(&mut self) -> io::Result<()> {
        if self.changes() { self.files.sync_names() } else { Ok(()) }
    }
    fn read_at(&mut self, file: FileName, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.files.read_at(file, offset, buffer)
    }
    fn length(&mut self, file: FileName) -> io::Result<u64> {
        self.files.length(file)
    }
    fn remove(&mut self, file: FileName) -> io::Result<()> {
        if self.changes() { self.files.remove(file) } else { Ok(()) }
    }
    fn segments(&mut self) -> io::Result<Vec<u64>> {
        self.files.segments()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: FileName = FileName::Segment(0);

    #[test]
    fn a_writer_that_dies_leaves_what_it_had_written() {
        let fate = Rc::new(Fate::default());
        let mut disk = Disk::new(Rc::clone(&fate));
        disk.create(NAME).unwrap();
        fate.writes_left.set(Some(1));
        disk.write_at(NAME, 0, b"ab").unwrap();
        assert!(!fate.dead.get());
        disk.write_at(NAME, 2, b"cd").unwrap();
        assert!(fate.dead.get(), "it goes on without knowing");
        assert_eq!(disk.length(NAME).unwrap(), 2);
    }

    #[test]
    fn a_full_disk_takes_nothing_until_there_is_room() {
        let fate = Rc::new(Fate::default());
        let mut disk = Disk::new(Rc::clone(&fate));
        disk.create(NAME).unwrap();
        fate.full.set(true);
        assert!(disk.write_at(NAME, 0, b"ab").is_err());
        fate.full.set(false);
        disk.write_at(NAME, 0, b"ab").unwrap();
    }
}

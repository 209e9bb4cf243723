//! The disk of a fuzzed keeper, which can be looked at and filled behind its back.

use super::{Given, read};
use crate::spool::{FileName, PowerCutFs, SpoolFs};
use std::cell::RefCell;
use std::io;
use std::rc::Rc;

/// One disk, however often it is cloned.
#[derive(Debug, Clone, Default)]
pub(super) struct Disk(Rc<RefCell<PowerCutFs>>);

impl Disk {
    /// The files as they are now.
    pub(super) fn files(&self) -> PowerCutFs {
        self.0.borrow().clone()
    }

    /// Everything that the spool gives from `position` on.
    pub(super) fn read(&self, position: u64) -> Vec<Given> {
        let given = read(&self.files(), position);
        let Some(Ok(given)) = given else {
            unreachable!("an unharmed spool cannot be read from {position}: {given:?}")
        };
        given
    }

    /// No more space than is allocated and some bytes.
    pub(super) fn fill(&self, more: u64) {
        let mut files = self.0.borrow_mut();
        let allocated = files.allocated();
        files.set_capacity(Some(allocated + more));
    }

    /// Space without a bound.
    pub(super) fn free(&self) {
        self.0.borrow_mut().set_capacity(None);
    }
}

impl SpoolFs for Disk {
    fn create(&mut self, file: FileName) -> io::Result<()> {
        self.0.borrow_mut().create(file)
    }

    fn reserve(&mut self, file: FileName, bytes: u64) -> io::Result<()> {
        self.0.borrow_mut().reserve(file, bytes)
    }

    fn write_at(&mut self, file: FileName, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.borrow_mut().write_at(file, offset, bytes)
    }

    fn truncate(&mut self, file: FileName, bytes: u64) -> io::Result<()> {
        self.0.borrow_mut().truncate(file, bytes)
    }

    fn sync(&mut self, file: FileName) -> io::Result<()> {
        self.0.borrow_mut().sync(file)
    }

    fn sync_names(&mut self) -> io::Result<()> {
        self.0.borrow_mut().sync_names()
    }

    fn read_at(&mut self, file: FileName, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.borrow_mut().read_at(file, offset, buffer)
    }

    fn length(&mut self, file: FileName) -> io::Result<u64> {
        self.0.borrow_mut().length(file)
    }

    fn remove(&mut self, file: FileName) -> io::Result<()> {
        self.0.borrow_mut().remove(file)
    }

    fn segments(&mut self) -> io::Result<Vec<u64>> {
        self.0.borrow_mut().segments()
    }
}

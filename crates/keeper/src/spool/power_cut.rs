use super::fs::{FileName, SpoolFs};
use std::collections::BTreeMap;
use std::io;

/// A file system in memory that tells what is written from what is durable, and has a size.
///
/// A power cut ([`PowerCutFs::power_cut`]) leaves of the unsynced writes what the caller's choices say, in
/// any order, whole or torn, as a disk may. Everything is deterministic, so that a simulation can replay
/// it.
#[derive(Debug, Clone, Default)]
pub struct PowerCutFs {
    files: BTreeMap<FileName, File>,
    /// Names that a power cut would find, with what is durable of each file.
    durable: BTreeMap<FileName, Vec<u8>>,
    /// Bytes that may be allocated; `None`: no bound.
    capacity: Option<u64>,
}

#[derive(Debug, Clone, Default)]
struct File {
    bytes: Vec<u8>,
    /// Writes since the last sync, in their order.
    unsynced: Vec<Write>,
    /// What is durable of the file, once its name is.
    synced: Vec<u8>,
    reserved: u64,
}

#[derive(Debug, Clone)]
enum Write {
    At { offset: usize, bytes: Vec<u8> },
    Truncate { length: usize },
}

impl PowerCutFs {
    /// An empty file system without a bound.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Bounds what may be allocated from now on, in bytes, or lifts the bound. What is allocated stays.
    pub fn set_capacity(&mut self, bytes: Option<u64>) {
        self.capacity = bytes;
    }

    /// Bytes allocated, reserves included.
    #[must_use]
    pub fn allocated(&self) -> u64 {
        self.files.values().map(File::allocated).sum()
    }

    /// Cuts the power: of the writes since the last sync those stay that `keep` says, each of them whole,
    /// torn at a byte, or not at all; `keep` is asked with the write's length, and answers how many of its
    /// bytes stay. Names that were not synced are kept or lost by the same question, with a length of 1.
    pub fn power_cut(&mut self, mut keep: impl FnMut(usize) -> usize) {
        let mut left = BTreeMap::new();
        for (name, file) in std::mem::take(&mut self.files) {
            if !self.durable.contains_key(&name) && keep(1) == 0 {
                continue;
            }
            let mut bytes = file.synced;
            for write in file.unsynced {
                match write {
                    Write::At { offset, bytes: written } => {
                        let kept = keep(written.len()).min(written.len());
                        if kept > 0 {
                            put(&mut bytes, offset, written.get(..kept).unwrap_or_default());
                        }
                    }
                    Write::Truncate { length } => {
                        if keep(1) > 0 {
                            bytes.resize(length, 0);
                        }
                    }
                }
            }
            left.insert(name, bytes);
        }
        // A removal that was not synced may be undone.
        for (name, bytes) in &self.durable {
            if !left.contains_key(name) && keep(1) > 0 {
                left.insert(*name, bytes.clone());
            }
        }
        self.durable.clone_from(&left);
        self.files = left
            .into_iter()
            .map(|(name, bytes)| {
                let synced = bytes.clone();
                (name, File { bytes, unsynced: Vec::new(), synced, reserved: 0 })
            })
            .collect();
    }

    /// Changes bytes behind everybody's back, as a failing disk does. Nothing outside the file changes.
    pub fn damage(&mut self, name: FileName, offset: usize, change: impl FnOnce(&mut u8)) {
        if let Some(byte) = self.files.get_mut(&name).and_then(|file| file.bytes.get_mut(offset)) {
            change(byte);
        }
    }

    fn file(&mut self, name: FileName) -> io::Result<&mut File> {
        self.files.get_mut(&name).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// How many more bytes may be allocated.
    fn free(&self) -> u64 {
        self.capacity.map_or(u64::MAX, |capacity| capacity.saturating_sub(self.allocated()))
    }
}

impl File {
    fn allocated(&self) -> u64 {
        self.reserved.max(self.bytes.len() as u64)
    }
}

fn put(bytes: &mut Vec<u8>, offset: usize, written: &[u8]) {
    let end = offset + written.len();
    if bytes.len() < end {
        bytes.resize(end, 0);
    }
    if let Some(slot) = bytes.get_mut(offset..end) {
        slot.copy_from_slice(written);
    }
}

impl SpoolFs for PowerCutFs {
    fn create(&mut self, name: FileName) -> io::Result<()> {
        if self.files.contains_key(&name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.files.insert(name, File::default());
        Ok(())
    }

    fn reserve(&mut self, name: FileName, bytes: u64) -> io::Result<()> {
        let free = self.free();
        let file = self.file(name)?;
        if bytes.saturating_sub(file.allocated()) > free {
            return Err(io::ErrorKind::StorageFull.into());
        }
        file.reserved = file.reserved.max(bytes);
        Ok(())
    }

    fn write_at(&mut self, name: FileName, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let free = self.free();
        let offset = usize::try_from(offset).map_err(io::Error::other)?;
        let file = self.file(name)?;
        let fits = file.allocated().saturating_add(free).saturating_sub(offset as u64);
        let fits = usize::try_from(fits).unwrap_or(usize::MAX);
        // Like a real disk: what fits is written before the error.
        let written = bytes.get(..fits).unwrap_or(bytes);
        put(&mut file.bytes, offset, written);
        file.unsynced.push(Write::At { offset, bytes: written.to_vec() });
        if written.len() < bytes.len() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    }

    fn truncate(&mut self, name: FileName, bytes: u64) -> io::Result<()> {
        let length = usize::try_from(bytes).map_err(io::Error::other)?;
        let file = self.file(name)?;
        file.bytes.resize(length, 0);
        file.reserved = bytes;
        file.unsynced.push(Write::Truncate { length });
        Ok(())
    }

    fn sync(&mut self, name: FileName) -> io::Result<()> {
        let file = self.file(name)?;
        file.unsynced.clear();
        file.synced.clone_from(&file.bytes);
        let synced = file.synced.clone();
        if let Some(durable) = self.durable.get_mut(&name) {
            *durable = synced;
        }
        Ok(())
    }

    fn sync_names(&mut self) -> io::Result<()> {
        self.durable = self.files.iter().map(|(name, file)| (*name, file.synced.clone())).collect();
        Ok(())
    }

    fn read_at(&mut self, name: FileName, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let offset = usize::try_from(offset).map_err(io::Error::other)?;
        let file = self.file(name)?;
        let rest = file.bytes.get(offset..).unwrap_or_default();
        let read = rest.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..read), rest.get(..read)) {
            to.copy_from_slice(from);
        }
        Ok(read)
    }

    fn length(&mut self, name: FileName) -> io::Result<u64> {
        Ok(self.file(name)?.bytes.len() as u64)
    }

    fn remove(&mut self, name: FileName) -> io::Result<()> {
        self.files.remove(&name).map(drop).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn segments(&mut self) -> io::Result<Vec<u64>> {
        Ok(self
            .files
            .keys()
            .filter_map(|name| match name {
                FileName::Segment(first) => Some(*first),
                FileName::Frame(_) => None,
            })
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: FileName = FileName::Segment(0);

    fn content(fs: &mut PowerCutFs) -> Option<Vec<u8>> {
        let mut buffer = [0; 32];
        fs.read_at(NAME, 0, &mut buffer).ok().map(|read| buffer[..read].to_vec())
    }

    #[test]
    fn only_what_was_synced_is_sure_to_stay() {
        let mut fs = PowerCutFs::new();
        fs.create(NAME).unwrap();
        fs.write_at(NAME, 0, b"abc").unwrap();
        fs.sync(NAME).unwrap();
        let mut unnamed = fs.clone();
        unnamed.power_cut(|_| 0);
        assert_eq!(content(&mut unnamed), None, "the name was not durable");
        fs.sync_names().unwrap();
        fs.write_at(NAME, 3, b"def").unwrap();
        fs.power_cut(|_| 2);
        assert_eq!(content(&mut fs).unwrap(), b"abcde");
        fs.write_at(NAME, 5, b"x").unwrap();
        fs.power_cut(|_| 0);
        assert_eq!(content(&mut fs).unwrap(), b"abcde");
    }

    #[test]
    fn a_full_disk_takes_what_fits_and_what_was_reserved() {
        let mut fs = PowerCutFs::new();
        fs.set_capacity(Some(6));
        fs.create(NAME).unwrap();
        fs.reserve(NAME, 4).unwrap();
        fs.create(FileName::Frame(1)).unwrap();
        let full = fs.write_at(FileName::Frame(1), 0, b"abc").unwrap_err();
        assert_eq!(full.kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs.length(FileName::Frame(1)).unwrap(), 2);
        fs.write_at(NAME, 0, b"abcd").unwrap();
        assert!(fs.write_at(NAME, 4, b"e").is_err());
        assert!(fs.reserve(NAME, 5).is_err());
    }
}

use crate::limits::RECORD_PAYLOAD_BYTES_MAX;
use uuid::Uuid;

/// Bytes in front of a record's payload.
pub const RECORD_HEADER_BYTES: usize = 24;
/// Bytes in front of a segment's first record.
pub const SEGMENT_HEADER_BYTES: usize = 48;

const SEGMENT_MAGIC: [u8; 4] = *b"HFSP";
const SEGMENT_VERSION: u16 = 1;

/// Set in the first part of a line.
pub(crate) const FLAG_FIRST: u8 = 1;
/// Set in the last part of a line.
pub(crate) const FLAG_LAST: u8 = 2;

/// What stands at the head of a segment: `magic 4, version u16, 2 unused, attempt 16, first u64,
/// back u32, salt u64, crc u32`, little endian; the checksum is over all before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SegmentHeader {
    pub(crate) attempt: Uuid,
    /// The segment's first record.
    pub(crate) first: u64,
    /// How many records before `first` the line begins that is open there; 0 for none.
    pub(crate) back: u32,
    /// Goes into the checksum of every record. The agent does not know it, so that nothing it writes can
    /// pass for a record when a reader searches damaged bytes for the next one.
    pub(crate) salt: u64,
}

impl SegmentHeader {
    pub(crate) fn encode(&self) -> [u8; SEGMENT_HEADER_BYTES] {
        let mut bytes = [0; SEGMENT_HEADER_BYTES];
        put(&mut bytes, 0, &SEGMENT_MAGIC);
        put(&mut bytes, 4, &SEGMENT_VERSION.to_le_bytes());
        put(&mut bytes, 8, self.attempt.as_bytes());
        put(&mut bytes, 24, &self.first.to_le_bytes());
        put(&mut bytes, 32, &self.back.to_le_bytes());
        put(&mut bytes, 36, &self.salt.to_le_bytes());
        let crc = crc32fast::hash(bytes.get(..44).unwrap_or_default());
        put(&mut bytes, 44, &crc.to_le_bytes());
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let crc = u32::from_le_bytes(array(bytes, 44)?);
        let sound = bytes.get(..4)? == SEGMENT_MAGIC
            && u16::from_le_bytes(array(bytes, 4)?) == SEGMENT_VERSION
            && crc32fast::hash(bytes.get(..44)?) == crc;
        sound.then_some(Self {
            attempt: Uuid::from_bytes(array(bytes, 8)?),
            first: u64::from_le_bytes(array(bytes, 24)?),
            back: u32::from_le_bytes(array(bytes, 32)?),
            salt: u64::from_le_bytes(array(bytes, 36)?),
        })
    }
}

/// What stands in front of a payload: `length u32, crc u32, number u64, back u32, kind u8, flags u8,
/// 2 unused`, little endian; the checksum is over the salt and all but itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RecordHeader {
    pub(crate) length: usize,
    pub(crate) crc: u32,
    pub(crate) number: u64,
    /// How many records before this one the line begins that is open when this record comes; 0 for none.
    pub(crate) back: u32,
    pub(crate) kind: u8,
    pub(crate) flags: u8,
}

impl RecordHeader {
    /// Reads a header; `None` while it is not whole or if it cannot be one.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let length = usize::try_from(u32::from_le_bytes(array(bytes, 0)?)).ok()?;
        if length > RECORD_PAYLOAD_BYTES_MAX {
            return None;
        }
        Some(Self {
            length,
            crc: u32::from_le_bytes(array(bytes, 4)?),
            number: u64::from_le_bytes(array(bytes, 8)?),
            back: u32::from_le_bytes(array(bytes, 16)?),
            kind: *bytes.get(20)?,
            flags: *bytes.get(21)?,
        })
        // The position behind the last of all numbers could not be told.
        .filter(|header| bytes.len() >= RECORD_HEADER_BYTES && header.number < u64::MAX)
    }

    /// Bytes of the whole record.
    pub(crate) fn record_bytes(&self) -> usize {
        RECORD_HEADER_BYTES + self.length
    }

    /// Whether `record`, which begins with this header, is whole and unharmed.
    pub(crate) fn is_sound(&self, record: &[u8], salt: u64) -> bool {
        record.get(..self.record_bytes()).and_then(|record| checksum(record, salt))
            == Some(self.crc)
    }
}

/// Appends a record to `out`.
pub(crate) fn write_record(
    out: &mut Vec<u8>,
    salt: u64,
    number: u64,
    back: u32,
    (kind, flags): (u8, u8),
    payload: &[u8],
) {
    let at = out.len();
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&number.to_le_bytes());
    out.extend_from_slice(&back.to_le_bytes());
    out.extend_from_slice(&[kind, flags, 0, 0]);
    out.extend_from_slice(payload);
    let record = out.get_mut(at..).unwrap_or_default();
    if let Some(crc) = checksum(record, salt) {
        put(record, 4, &crc.to_le_bytes());
    }
}

fn checksum(record: &[u8], salt: u64) -> Option<u32> {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&salt.to_le_bytes());
    hasher.update(record.get(..4)?);
    hasher.update(record.get(8..)?);
    Some(hasher.finalize())
}

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    if let Some(slot) = bytes.get_mut(at..at + value.len()) {
        slot.copy_from_slice(value);
    }
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HEADER: SegmentHeader =
        SegmentHeader { attempt: Uuid::from_u128(5), first: 77, back: 3, salt: 0xfeed };

    #[test]
    fn a_segment_header_comes_back_and_any_flipped_bit_is_seen() {
        let bytes = HEADER.encode();
        assert_eq!(SegmentHeader::decode(&bytes), Some(HEADER));
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(SegmentHeader::decode(&damaged), None, "bit {bit}");
        }
        assert_eq!(SegmentHeader::decode(&bytes[..47]), None);
    }

    #[test]
    fn any_flipped_bit_of_a_record_is_seen() {
        let mut bytes = Vec::new();
        write_record(&mut bytes, 9, 4, 0, (2, FLAG_FIRST | FLAG_LAST), b"payload");
        assert!(RecordHeader::decode(&bytes).unwrap().is_sound(&bytes, 9));
        assert!(!RecordHeader::decode(&bytes).unwrap().is_sound(&bytes, 8), "another salt");
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let sound =
                RecordHeader::decode(&damaged).is_some_and(|header| header.is_sound(&damaged, 9));
            assert!(!sound, "bit {bit}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = SegmentHeader::decode(&bytes);
            if let Some(header) = RecordHeader::decode(&bytes) {
                let _ = header.is_sound(&bytes, 1);
            }
        }
    }
}

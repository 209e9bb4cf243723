//! Tagged fields: the one encoding of protocol messages and of all spool records but lines.
//!
//! A body is a sequence of `tag: u8, length: u32 (little endian), value`. Readers skip tags that they do
//! not know, so that a message can grow and both ends can still be of any age. Integers are 8 bytes,
//! little endian; text is UTF-8 unless a field says otherwise.

use thiserror::Error;

const FIELD_HEADER_BYTES: usize = 5;

/// Why bytes are not a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum WireError {
    /// The bytes end inside a field.
    #[error("the message ends inside a field")]
    Short,
    /// A required field is not there.
    #[error("field {0} is missing")]
    Missing(u8),
    /// A field has not the form that its tag asks for.
    #[error("field {0} is malformed")]
    Malformed(u8),
}

/// Appends fields to a buffer.
#[derive(Debug)]
pub struct FieldWriter<'a> {
    out: &'a mut Vec<u8>,
}

impl<'a> FieldWriter<'a> {
    /// Fields are appended to `out`.
    pub fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out }
    }

    /// Appends raw bytes. Values are bounded by the message bounds, far below 4 GiB.
    pub fn bytes(&mut self, tag: u8, value: &[u8]) -> &mut Self {
        let length = u32::try_from(value.len()).unwrap_or(u32::MAX);
        self.out.push(tag);
        self.out.extend_from_slice(&length.to_le_bytes());
        self.out.extend_from_slice(value);
        self
    }

    /// Appends an integer.
    pub fn u64(&mut self, tag: u8, value: u64) -> &mut Self {
        self.bytes(tag, &value.to_le_bytes())
    }

    /// Appends an integer where there is one.
    pub fn u64_opt(&mut self, tag: u8, value: Option<u64>) -> &mut Self {
        if let Some(value) = value {
            self.u64(tag, value);
        }
        self
    }

    /// Appends text.
    pub fn text(&mut self, tag: u8, value: &str) -> &mut Self {
        self.bytes(tag, value.as_bytes())
    }

    /// Appends a body as the value of a field.
    pub fn nested(&mut self, tag: u8, write: impl FnOnce(&mut FieldWriter<'_>)) -> &mut Self {
        self.out.push(tag);
        let at = self.out.len();
        self.out.extend_from_slice(&[0; 4]);
        write(&mut FieldWriter::new(self.out));
        let length = u32::try_from(self.out.len() - at - 4).unwrap_or(u32::MAX);
        if let Some(slot) = self.out.get_mut(at..at + 4) {
            slot.copy_from_slice(&length.to_le_bytes());
        }
        self
    }
}

/// A checked body; the values are borrowed from it.
#[derive(Debug, Clone, Copy)]
pub struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    /// Checks that `bytes` is a whole sequence of fields.
    ///
    /// # Errors
    /// [`WireError::Short`] when it ends inside one.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, WireError> {
        let mut rest = bytes;
        while !rest.is_empty() {
            rest = split_field(rest).ok_or(WireError::Short)?.2;
        }
        Ok(Self(bytes))
    }

    /// The fields in their order.
    pub fn iter(&self) -> impl Iterator<Item = (u8, &'a [u8])> + use<'a> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let (tag, value, behind) = split_field(rest)?;
            rest = behind;
            Some((tag, value))
        })
    }

    /// All values of one tag.
    pub fn all(&self, tag: u8) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        self.iter().filter(move |(found, _)| *found == tag).map(|(_, value)| value)
    }

    /// The first value of a tag.
    #[must_use]
    pub fn bytes(&self, tag: u8) -> Option<&'a [u8]> {
        self.all(tag).next()
    }

    /// The first value of a tag that has to be there.
    ///
    /// # Errors
    /// [`WireError::Missing`].
    pub fn need_bytes(&self, tag: u8) -> Result<&'a [u8], WireError> {
        self.bytes(tag).ok_or(WireError::Missing(tag))
    }

    /// An integer, where there is one.
    ///
    /// # Errors
    /// [`WireError::Malformed`] when it has not eight bytes.
    pub fn u64(&self, tag: u8) -> Result<Option<u64>, WireError> {
        self.bytes(tag)
            .map(|value| {
                value.try_into().map(u64::from_le_bytes).map_err(|_| WireError::Malformed(tag))
            })
            .transpose()
    }

    /// An integer that has to be there.
    ///
    /// # Errors
    /// [`WireError::Missing`] or [`WireError::Malformed`].
    pub fn need_u64(&self, tag: u8) -> Result<u64, WireError> {
        self.u64(tag)?.ok_or(WireError::Missing(tag))
    }

    /// An integer of 32 bits that has to be there.
    ///
    /// # Errors
    /// [`WireError::Missing`] or [`WireError::Malformed`].
    pub fn need_u32(&self, tag: u8) -> Result<u32, WireError> {
        u32::try_from(self.need_u64(tag)?).map_err(|_| WireError::Malformed(tag))
    }

    /// Text that is shown to people; what is not UTF-8 in it is replaced. Empty where there is none.
    #[must_use]
    pub fn text_lossy(&self, tag: u8) -> String {
        String::from_utf8_lossy(self.bytes(tag).unwrap_or_default()).into_owned()
    }

    /// Sixteen bytes of an id.
    ///
    /// # Errors
    /// [`WireError::Missing`] or [`WireError::Malformed`].
    pub fn need_uuid(&self, tag: u8) -> Result<uuid::Uuid, WireError> {
        uuid::Uuid::from_slice(self.need_bytes(tag)?).map_err(|_| WireError::Malformed(tag))
    }
}

fn split_field(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, _) = bytes.split_first()?;
    let length = bytes.get(1..FIELD_HEADER_BYTES)?.try_into().ok().map(u32::from_le_bytes)?;
    let end = FIELD_HEADER_BYTES.checked_add(usize::try_from(length).ok()?)?;
    let value = bytes.get(FIELD_HEADER_BYTES..end)?;
    Some((tag, value, bytes.get(end..)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn unknown_tags_are_skipped_and_order_is_kept() {
        let mut out = Vec::new();
        FieldWriter::new(&mut out).u64(1, 7).bytes(200, b"later").text(2, "a").text(2, "b");
        let fields = Fields::parse(&out).unwrap();
        assert_eq!(fields.need_u64(1), Ok(7));
        assert_eq!(fields.all(2).collect::<Vec<_>>(), [b"a", b"b"]);
        assert_eq!(fields.need_u64(3), Err(WireError::Missing(3)));
        assert_eq!(fields.need_u64(2), Err(WireError::Malformed(2)));
    }

    #[test]
    fn a_body_cut_anywhere_inside_a_field_is_short() {
        let mut out = Vec::new();
        FieldWriter::new(&mut out).u64(1, 7);
        for cut in 1..out.len() {
            assert_eq!(Fields::parse(&out[..cut]).err(), Some(WireError::Short), "{cut}");
        }
    }

    #[test]
    fn nested_bodies_come_back() {
        let mut out = Vec::new();
        FieldWriter::new(&mut out)
            .nested(9, |inner| {
                inner.u64(1, 1);
            })
            .u64(2, 2);
        let fields = Fields::parse(&out).unwrap();
        assert_eq!(Fields::parse(fields.need_bytes(9).unwrap()).unwrap().need_u64(1), Ok(1));
        assert_eq!(fields.need_u64(2), Ok(2));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(fields) = Fields::parse(&bytes) {
                let total: usize = fields.iter().map(|(_, value)| value.len() + FIELD_HEADER_BYTES).sum();
                prop_assert_eq!(total, bytes.len());
            }
        }
    }
}

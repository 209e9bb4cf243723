//! A message as it is written to an agent: its text, and what is attached to it in the form that the
//! agent takes. The same bytes come out of it again after a crash.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use holdfast_agent::codec::{Attached, Form, Given};
use holdfast_core::attachment::Attachment;
use holdfast_core::ids::ChatId;
use holdfast_store::Blobs;

/// The folder within the temp directory of a chat where copies for its agent lie.
const FOLDER: &str = "attachments";
/// Bytes of the name of a file; more no file system takes.
const NAME_BYTES_MAX: usize = 255;

/// A message.
#[derive(Clone, Debug, Default)]
pub struct Letter {
    /// Its text.
    pub text: String,
    /// What is attached to it, in order.
    pub enclosed: Vec<Enclosed>,
}

/// One thing that is attached.
#[derive(Clone, Debug)]
pub struct Enclosed {
    /// What is known of it.
    pub attachment: Attachment,
    /// The thing itself.
    pub thing: Thing,
}

/// What is given to the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Thing {
    /// The bytes of an image.
    Image(Vec<u8>),
    /// A text, and the address of a copy.
    Text {
        /// All of it.
        text: String,
        /// A `file://` URI.
        uri: String,
    },
    /// The address of a copy.
    Link {
        /// A `file://` URI.
        uri: String,
    },
    /// The host has it no more.
    Lost,
}

impl Enclosed {
    /// It as the codec takes it.
    #[must_use]
    pub fn attached(&self) -> Attached<'_> {
        let Attachment { name, media_type, bytes, .. } = &self.attachment;
        let given = match &self.thing {
            Thing::Image(bytes) => Given::Image(bytes),
            Thing::Text { text, uri } => Given::Text { text, uri },
            Thing::Link { uri } => Given::Link { uri },
            Thing::Lost => Given::Lost,
        };
        Attached { name, media_type, bytes: *bytes, given }
    }
}

/// Where attachments are, and where the agent of a chat finds its copies.
#[derive(Clone, Debug)]
pub(crate) struct Shelf {
    pub(crate) blobs: Blobs,
    pub(crate) chat: ChatId,
    /// The temp directory of the chat.
    pub(crate) temp: PathBuf,
}

impl Shelf {
    /// Gets what is attached into these forms. Blocks.
    ///
    /// # Errors
    /// The disk's: it may be better in a moment. What is gone, or is not what was stored, is no error
    /// but is [`Thing::Lost`].
    pub(crate) fn enclose(&self, of: Vec<(Attachment, Form)>) -> io::Result<Vec<Enclosed>> {
        let enclose = |(attachment, form): (Attachment, Form)| {
            let thing = match self.thing(&attachment, form) {
                Err(Missing::Gone) => {
                    tracing::error!(chat = %self.chat, "the file of {} is damaged", attachment.id);
                    Thing::Lost
                }
                Err(Missing::Disk(error)) => return Err(error),
                Ok(thing) => thing,
            };
            Ok(Enclosed { attachment, thing })
        };
        of.into_iter().map(enclose).collect()
    }

    fn thing(&self, attachment: &Attachment, form: Form) -> Result<Thing, Missing> {
        match form {
            Form::Image => Ok(Thing::Image(self.read(attachment)?)),
            Form::Text => {
                let text = String::from_utf8(self.read(attachment)?);
                let uri = self.copy(attachment)?;
                Ok(text.map_or_else(
                    |_| Thing::Link { uri: uri.clone() },
                    |text| Thing::Text { text, uri: uri.clone() },
                ))
            }
            Form::Link => Ok(Thing::Link { uri: self.copy(attachment)? }),
        }
    }

    /// The file, if it is as long as what was stored.
    fn open(&self, attachment: &Attachment) -> Result<File, Missing> {
        let file = self.blobs.open(self.chat, attachment.id).map_err(Missing::of)?;
        if file.metadata().map_err(Missing::Disk)?.len() == attachment.bytes {
            Ok(file)
        } else {
            Err(Missing::Gone)
        }
    }

    fn read(&self, attachment: &Attachment) -> Result<Vec<u8>, Missing> {
        let mut bytes = Vec::new();
        let file = self.open(attachment)?;
        file.take(attachment.bytes).read_to_end(&mut bytes).map_err(Missing::Disk)?;
        Ok(bytes)
    }

    /// The address of a copy: what the agent does to it is done to no other.
    fn copy(&self, attachment: &Attachment) -> Result<String, Missing> {
        let mut from = self.open(attachment)?;
        let dir = self.temp.join(FOLDER).join(attachment.id.to_string());
        let path = dir.join(file_name(&attachment.name));
        let there = fs::symlink_metadata(&path);
        if !there.is_ok_and(|there| there.is_file() && there.len() == attachment.bytes) {
            DirBuilder::new().recursive(true).mode(0o700).create(&dir).map_err(Missing::Disk)?;
            // Whatever stands there is not followed.
            match fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(Missing::Disk(error));
                }
                Ok(()) | Err(_) => {}
            }
            let to = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
            let copied = to.and_then(|mut to| io::copy(&mut from, &mut to));
            if let Err(error) = copied {
                let _ = fs::remove_file(&path);
                return Err(Missing::Disk(error));
            }
        }
        Ok(uri(&path))
    }
}

/// Why something that was attached is not there.
#[derive(Debug)]
enum Missing {
    /// It is not what was stored.
    Gone,
    /// The disk failed.
    Disk(io::Error),
}

impl Missing {
    fn of(error: io::Error) -> Self {
        if error.kind() == ErrorKind::NotFound { Self::Gone } else { Self::Disk(error) }
    }
}

/// The name of a copy: that of the attachment, within what a file may be called. Its end says what it
/// is, and stays.
fn file_name(name: &str) -> String {
    if name.len() <= NAME_BYTES_MAX {
        return name.to_owned();
    }
    let dot = name.rfind('.').filter(|dot| name.len() - dot <= NAME_BYTES_MAX / 4);
    let (stem, end) = name.split_at(dot.unwrap_or(name.len()));
    let mut cut = NAME_BYTES_MAX - end.len();
    while !stem.is_char_boundary(cut) {
        cut -= 1;
    }
    format!("{}{end}", stem.get(..cut).unwrap_or_default())
}

/// The address of a file.
fn uri(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;

    let mut uri = "file://".to_owned();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => {
                uri.push(char::from(*byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use holdfast_core::ids::AttachmentId;
    use uuid::Uuid;

    use super::*;

    fn shelf(dir: &Path) -> Shelf {
        let chat = ChatId::new(Uuid::from_u128(1));
        Shelf { blobs: Blobs::of(dir), chat, temp: dir.join("tmp") }
    }

    fn keep(shelf: &Shelf, n: u128, name: &str, bytes: &[u8]) -> Attachment {
        let id = AttachmentId::new(Uuid::from_u128(n));
        let mut incoming = shelf.blobs.begin(shelf.chat, id).unwrap();
        incoming.write(bytes).unwrap();
        incoming.keep().unwrap().confirm();
        Attachment {
            id,
            name: name.to_owned(),
            media_type: "text/plain".to_owned(),
            bytes: bytes.len() as u64,
            sha256: String::new(),
        }
    }

    fn enclose(shelf: &Shelf, attachment: &Attachment, form: Form) -> Thing {
        shelf.enclose(vec![(attachment.clone(), form)]).unwrap().remove(0).thing
    }

    #[test]
    fn each_form_is_made_of_the_same_bytes_and_the_same_again() {
        let dir = tempfile::tempdir().unwrap();
        let shelf = shelf(dir.path());
        let text = keep(&shelf, 1, "ä b.txt", "grün".as_bytes());
        let path = dir.path().join(format!("tmp/attachments/{}/ä b.txt", text.id));
        for _ in 0..2 {
            assert_eq!(enclose(&shelf, &text, Form::Image), Thing::Image("grün".into()));
            let Thing::Text { text, uri } = enclose(&shelf, &text, Form::Text) else { panic!() };
            assert_eq!(text, "grün");
            assert!(uri.starts_with("file:///") && uri.ends_with("/%C3%A4%20b.txt"), "{uri}");
            assert_eq!(fs::read_to_string(&path).unwrap(), "grün");
        }
        let bytes = keep(&shelf, 2, "odd.txt", b"\xff\xfe");
        assert!(matches!(enclose(&shelf, &bytes, Form::Text), Thing::Link { .. }));
    }

    #[test]
    fn what_an_agent_does_to_its_copy_is_done_to_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let shelf = shelf(dir.path());
        let text = keep(&shelf, 1, "a.txt", b"kept");
        let _ = enclose(&shelf, &text, Form::Link);
        let copy = dir.path().join(format!("tmp/attachments/{}/a.txt", text.id));
        let victim = dir.path().join("victim");
        fs::write(&victim, "untouched").unwrap();
        fs::write(&copy, "longer than it was").unwrap();
        assert_eq!(enclose(&shelf, &text, Form::Image), Thing::Image(b"kept".into()));
        fs::remove_file(&copy).unwrap();
        std::os::unix::fs::symlink(&victim, &copy).unwrap();
        let _ = enclose(&shelf, &text, Form::Link);
        assert_eq!(fs::read_to_string(&copy).unwrap(), "kept");
        assert_eq!(fs::read_to_string(&victim).unwrap(), "untouched");
    }

    #[test]
    fn what_is_gone_or_damaged_is_said_to_be() {
        let dir = tempfile::tempdir().unwrap();
        let shelf = shelf(dir.path());
        let gone =
            Attachment { id: AttachmentId::new(Uuid::from_u128(9)), ..keep(&shelf, 1, "a", b"x") };
        let cut = Attachment { bytes: 2, ..keep(&shelf, 2, "a", b"x") };
        for form in [Form::Image, Form::Text, Form::Link] {
            assert_eq!(enclose(&shelf, &gone, form), Thing::Lost);
            assert_eq!(enclose(&shelf, &cut, form), Thing::Lost);
        }
        // A disk that fails is no such thing: it may be better in a moment.
        fs::write(dir.path().join("tmp"), "a file where a folder has to be").unwrap();
        let whole = keep(&shelf, 3, "a", b"x");
        assert!(shelf.enclose(vec![(whole, Form::Link)]).is_err());
    }

    #[test]
    fn a_long_name_is_cut_between_characters_and_keeps_its_end() {
        let name = file_name(&format!("{}.png", "é".repeat(190)));
        assert!(name.len() <= NAME_BYTES_MAX && name.ends_with("é.png"), "{name}");
        assert_eq!(file_name("a.png"), "a.png");
        assert!(file_name(&"é".repeat(200)).len() <= NAME_BYTES_MAX);
        let odd = file_name(&format!("a.{}", "é".repeat(198)));
        assert!(odd.len() <= NAME_BYTES_MAX && odd.starts_with("a."));
    }
}

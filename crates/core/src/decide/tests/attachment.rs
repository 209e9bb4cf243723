//! What is attached: kept, named, counted, let go.

use super::*;
use crate::attachment::Attachment;
use crate::limits::{
    ATTACHMENT_BYTES_MAX, CHAT_ATTACHMENTS_BYTES_MAX, CHAT_ATTACHMENTS_MAX, MESSAGE_ATTACHMENTS_MAX,
};

/// An attachment by its number.
pub(super) fn file(n: u128, bytes: u64) -> Attachment {
    Attachment {
        id: AttachmentId::new(Uuid::from_u128(n)),
        name: format!("{n}.png"),
        media_type: "image/png".to_owned(),
        bytes,
        sha256: "00".repeat(32),
    }
}

fn attached(scene: &mut Scene, n: u128) -> AttachmentId {
    scene.does(Command::Attach(file(n, 10)));
    file(n, 10).id
}

/// A message of a person that is nothing but what is attached.
fn silent(scene: &mut Scene, name: &str, attachments: Vec<AttachmentId>) -> Command {
    match scene.sending(name, (Author::Person, Send::Queue), attachments) {
        Command::Send { message, by, send, attachments, .. } => {
            Command::Send { message, text: " ".to_owned(), by, send, attachments }
        }
        other => other,
    }
}

#[test]
fn what_is_attached_is_answered_as_it_is_kept() {
    let mut scene = Scene::open();
    let sent = Attachment {
        name: " a.png ".to_owned(),
        media_type: "Image/PNG; q=1".to_owned(),
        ..file(1, 10)
    };
    scene.does(Command::Attach(sent));
    let kept = Attachment { name: "a.png".to_owned(), ..file(1, 10) };
    assert_eq!(scene.reply, Some(Reply::Attached(kept)));
    assert_eq!(scene.last(), ["attached a.png"]);
    for (odd, code) in [
        (Attachment { name: "../a".to_owned(), ..file(2, 10) }, Code::InvalidField),
        (Attachment { media_type: "png".to_owned(), ..file(2, 10) }, Code::InvalidField),
        (file(2, 0), Code::EmptyField),
        (file(2, 1 + u64::try_from(ATTACHMENT_BYTES_MAX).unwrap()), Code::BodyTooLarge),
    ] {
        assert_eq!(scene.refused(Command::Attach(odd)), code);
    }
    scene.does(CLOSE);
    assert_eq!(scene.refused(Command::Attach(file(2, 10))), Code::ChatClosed);
}

#[test]
fn a_chat_holds_so_many_and_so_many_bytes_and_no_more() {
    let mut scene = Scene::open();
    for n in 0..CHAT_ATTACHMENTS_MAX {
        attached(&mut scene, u128::try_from(n).unwrap());
    }
    assert_eq!(scene.refused(Command::Attach(file(7_000, 1))), Code::AttachmentsFull);
    scene.does(Command::Detach { attachment: file(0, 1).id });
    attached(&mut scene, 7_000);

    let mut scene = Scene::open();
    let most = u64::try_from(ATTACHMENT_BYTES_MAX).unwrap();
    let whole = CHAT_ATTACHMENTS_BYTES_MAX / most;
    for n in 0..whole {
        scene.does(Command::Attach(file(u128::from(n), most)));
    }
    let rest = CHAT_ATTACHMENTS_BYTES_MAX - whole * most;
    assert_eq!(scene.refused(Command::Attach(file(7_000, rest + 1))), Code::AttachmentsFull);
    scene.does(Command::Attach(file(7_000, rest)));
}

#[test]
fn a_message_names_what_its_chat_has_once_and_not_too_much() {
    let mut scene = Scene::open();
    let there = attached(&mut scene, 1);
    let nowhere = file(9, 1).id;
    let by = (Author::Person, Send::Queue);
    let unknown = scene.sending("m", by, vec![there, nowhere]);
    let refusal = scene.input(Input::Command(unknown)).unwrap_err();
    assert_eq!(
        (refusal.code, refusal.field.as_deref()),
        (Code::UnknownAttachment, Some("attachments"))
    );
    assert!(refusal.text.contains(&nowhere.to_string()), "{refusal}");
    let twice = scene.sending("m", by, vec![there, there]);
    assert_eq!(scene.refused(twice), Code::InvalidField);
    let many: Vec<_> = (0..=MESSAGE_ATTACHMENTS_MAX)
        .map(|n| attached(&mut scene, 100 + u128::try_from(n).unwrap()))
        .collect();
    let too_many = scene.sending("m", by, many.clone());
    assert_eq!(scene.refused(too_many), Code::InvalidField);
    let enough = scene.sending("m", by, many[1..].to_vec());
    scene.does(enough);
}

#[test]
fn what_is_attached_may_be_all_that_is_said() {
    let mut scene = Scene::open();
    let there = attached(&mut scene, 1);
    let nothing = silent(&mut scene, "m", Vec::new());
    assert_eq!(scene.refused(nothing), Code::EmptyField);
    scene.does(Command::PauseQueue);
    let command = silent(&mut scene, "m", vec![there]);
    scene.does(command).send("n");
    let edit = |name: &str| Command::EditQueued { message: id(name), text: String::new() };
    scene.does(edit("m"));
    assert_eq!(scene.refused(edit("n")), Code::EmptyField);
}

#[test]
fn what_a_message_names_stays_and_another_may_go() {
    let mut scene = Scene::open();
    let (named, free) = (attached(&mut scene, 1), attached(&mut scene, 2));
    let command = scene.sending("m0", (Author::Person, Send::Queue), vec![named]);
    scene.does(command);
    let detach = |attachment| Command::Detach { attachment };
    for _ in 0..2 {
        assert_eq!(scene.refused(detach(named)), Code::AttachmentInUse);
        scene.does(CLOSE).does(Command::Reopen);
    }
    scene.does(detach(free));
    assert_eq!(scene.refused(detach(free)), Code::AttachmentNotFound);
    scene.does(Command::WithdrawQueued { message: id("m0") });
    assert_eq!(scene.refused(detach(named)), Code::AttachmentInUse, "the message is still shown");
    scene.does(Command::Delete);
    assert!(scene.chat.aside.attachments.is_empty());
}

/// What is sent again may be edited to nothing: it still has what is attached.
#[test]
fn a_message_keeps_what_is_attached_wherever_it_goes() {
    let mut scene = Scene::open();
    let there = attached(&mut scene, 1);
    let command = scene.sending("m0", (Author::Person, Send::Queue), vec![there]);
    scene.does(command).born().ready().written();
    let frame = scene.frame();
    let (proof, text) = (crate::provider::Proof::NotTaken, "no".to_owned());
    scene.says(ProviderEvent::MessageFailed { frame, proof, text });
    assert_eq!(scene.stranded(), ["m0 refused"]);
    scene.does(Command::PauseQueue);
    scene.says(ProviderEvent::Stirred);
    scene.does(Command::Resolve { message: id("m0"), choice: Choice::SendAgain });
    let attached = scene.chat.head.outstanding.as_ref().map(|o| o.attached);
    let waiting = scene.chat.aside.queue.front().map(|queued| queued.attached);
    assert_eq!(attached.or(waiting), Some(1));
}

/// An agent may have made words of its own of what was attached: other words prove nothing.
#[test]
fn other_words_do_not_disprove_a_message_with_something_attached() {
    for (attachment, found) in [(false, "refused m0 not in store"), (true, "doubted m0")] {
        let mut scene = Scene::open();
        let there = attached(&mut scene, 1);
        let with = if attachment { vec![there] } else { Vec::new() };
        let command = scene.sending("m0", (Author::Person, Send::Queue), with);
        scene.does(command).born().ready().written().taken().lost();
        scene.send("next").born().replays(1, Some("other"));
        assert_eq!(scene.last(), [found]);
    }
    for (attachment, lost) in [(false, true), (true, false)] {
        let mut scene = Scene::idle();
        let there = attached(&mut scene, 1);
        let with = if attachment { vec![there] } else { Vec::new() };
        let command = scene.sending("m1", (Author::Person, Send::Queue), with);
        scene.does(command).runs().dead(Death::HostLost, Boot::Other);
        scene.send("m2").born().replays(1, Some("m0"));
        assert_eq!(scene.last().contains(&"disproved m1".to_owned()), lost);
    }
}

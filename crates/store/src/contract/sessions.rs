//! A session of an agent belongs to one chat.

use holdfast_core::fact::{Death, Fact, StopWhy};
use holdfast_core::ids::ItemId;
use holdfast_core::item::{Body, ItemKind, Role, Row};
use holdfast_core::provider::Handle;
use holdfast_core::time::Micros;

use super::Backend;
use super::pen::{Pen, opened};
use crate::CommitError;
use crate::rows::PageFrom;

fn adopted(session: &str) -> Fact {
    let handle = Handle { root: session.to_owned(), leaf: session.to_owned() };
    Fact::ChatAdopted { handle, messages: 3, shown: 0, older: 0 }
}

pub(super) async fn a_session_is_gone_on_with_by_one_chat(mut b: impl Backend) {
    let mut one = Pen::new(b.store(), 1);
    one.put([opened(), adopted("s-1")]).await;
    let wanted = || vec!["s-0".to_owned(), "s-1".to_owned(), "s-2".to_owned()];
    for _ in 0..2 {
        let taken = b.store().chats_by_sessions(wanted()).await.unwrap();
        assert_eq!(taken, [("s-1".to_owned(), one.id)]);
        let mut two = Pen::new(b.store(), 2);
        let refused = two.refused([opened(), adopted("s-1")], []).await;
        assert_eq!(refused, CommitError::SessionTaken { chat: one.id });
        assert_eq!(b.store().chat(two.id).await.unwrap(), None);
        b.reopen();
        one.store = b.store();
    }
    one.put([Fact::ChatClosed]).await;
    let mut two = Pen::new(b.store(), 2);
    two.refused([opened(), adopted("s-1")], []).await;
    one.put([Fact::ChatDeleted]).await;
    assert_eq!(b.store().chats_by_sessions(wanted()).await.unwrap(), []);
    let mut two = Pen::new(b.store(), 2);
    two.put([opened(), adopted("s-1")]).await;
    assert_eq!(b.store().chats_by_sessions(wanted()).await.unwrap()[0].1, two.id);
}

pub(super) async fn a_session_is_taken_until_the_agent_of_a_deleted_chat_is_dead(b: impl Backend) {
    let mut one = Pen::new(b.store(), 1);
    one.put([opened(), adopted("s-1")]).await;
    let attempt = one.start().await;
    one.put([Fact::StopRequested { attempt, why: StopWhy::Delete }, Fact::ChatDeleted]).await;
    let mut two = Pen::new(b.store(), 2);
    let refused = two.refused([opened(), adopted("s-1")], []).await;
    assert_eq!(refused, CommitError::SessionTaken { chat: one.id }, "two would write it");
    one.put([Fact::AttemptEnded { attempt, death: Death::HostLost }]).await;
    two.put([opened(), adopted("s-1")]).await;
}

pub(super) async fn an_entry_of_before_has_its_own_time(b: impl Backend) {
    let mut pen = Pen::new(b.store(), 1);
    let item = ItemId::new(1, 1);
    let added =
        Fact::ItemAdded { item, place: 1, kind: ItemKind::Message, role: Role::User, turn: None };
    let rows = [Row::ItemBody { item, body: Body::Text }, Row::ItemDated { item, at: Micros(7) }];
    pen.write([opened(), adopted("s-1"), added], rows).await;
    let items = b.store().items(pen.id, PageFrom::Newest, 9).await.unwrap();
    assert_eq!(
        items.iter().map(|item| (item.id, item.at)).collect::<Vec<_>>(),
        [(item, Micros(7))]
    );
    let error = pen.refused([], [Row::ItemDated { item: ItemId::new(1, 9), at: Micros(7) }]).await;
    assert!(matches!(error, CommitError::Refused(_)), "{error:?}");
}

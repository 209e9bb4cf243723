//! What every backend has to do. Each rule is a function that is run against all of them.

pub(crate) mod attachments;
mod chats;
pub(crate) mod feed;
mod forks;
mod items;
mod journal;
pub(crate) mod messages;
pub(crate) mod pen;
mod prompts;
mod random;
mod sessions;

use std::sync::Arc;

use pen::Pen;

use crate::{Memory, MemoryStore, Options, Sqlite, Store};

/// A store that can be closed and opened again.
trait Backend {
    fn make() -> Self;
    fn store(&self) -> Arc<dyn Store>;
    fn reopen(&mut self);
}

struct InMemory(Memory);

impl Backend for InMemory {
    fn make() -> Self {
        Self(Memory::new(MemoryStore::new(uuid::Uuid::from_u128(1))))
    }
    fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.0.clone())
    }
    fn reopen(&mut self) {
        let mut store = self.0.snapshot();
        store.reopen();
        self.0 = Memory::new(store);
    }
}

struct OnSqlite {
    dir: tempfile::TempDir,
    store: Sqlite,
}

impl Backend for OnSqlite {
    fn make() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Sqlite::open(&Options::new(dir.path())).unwrap();
        Self { dir, store }
    }
    fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.store.clone())
    }
    fn reopen(&mut self) {
        self.store.stop();
        self.store = Sqlite::open(&Options::new(self.dir.path())).unwrap();
    }
}

/// Runs each rule against each backend.
macro_rules! contract {
    ($($file:ident: $($rule:ident),+;)+) => {
        mod memory {
            use super::Backend;
            $($(
                #[tokio::test]
                async fn $rule() {
                    super::$file::$rule(super::InMemory::make()).await;
                }
            )+)+
        }
        mod sqlite {
            use super::Backend;
            $($(
                #[tokio::test]
                async fn $rule() {
                    super::$file::$rule(super::OnSqlite::make()).await;
                }
            )+)+
        }
    };
}

contract! {
    journal:
        a_decision_on_an_old_head_is_fenced,
        a_unit_that_contradicts_itself_is_refused,
        a_group_is_stored_as_a_whole_or_not_at_all,
        a_key_is_spent_once,
        a_row_that_was_shown_is_kept_as_it_was,
        an_operation_about_several_chats_is_kept_by_itself,
        a_failed_commit_spends_no_key,
        calls_at_the_same_time_fail_each_by_itself,
        what_was_committed_is_there_after_opening_again,
        progress_moves_with_the_commit_and_ends_with_its_attempt,
        facts_are_read_back_in_order;
    messages:
        the_queue_is_in_the_order_of_the_head,
        the_queue_is_read_in_pages_of_beginnings,
        a_message_goes_its_way,
        a_message_cannot_be_accepted_twice,
        the_last_prompt_is_a_persons_last_message,
        the_first_prompt_stays,
        loading_gives_what_was_decided_upon;
    attachments:
        what_is_attached_is_there_in_order_until_it_is_let_go,
        a_message_has_what_it_names_in_its_order_wherever_it_goes,
        nothing_attached_to_a_deleted_chat_is_shown;
    items:
        pieces_make_a_text,
        a_gap_and_a_torn_character_are_refused,
        ranges_meet_pieces_anywhere,
        heads_are_cut_at_a_character,
        pages_have_no_seam,
        abandoned_calls_are_unknown,
        the_text_of_a_message_is_shown_by_its_item,
        rows_of_what_is_not_there_are_refused;
    prompts:
        a_prompt_is_answered_once,
        an_answer_has_a_life,
        the_end_of_an_attempt_ends_what_it_had_going,
        turns_are_listed_backwards,
        grants_are_kept_until_they_end,
        commands_are_the_chats_own_or_its_places;
    chats:
        a_slot_belongs_to_one_open_chat,
        a_slot_moves_within_one_group,
        lists_are_paged_and_filtered,
        looking_and_arranging_move_no_chat,
        counts_follow_the_summaries,
        owing_chats_are_found,
        a_deleted_chat_is_gone,
        a_draft_is_kept_until_a_message_clears_it,
        a_draft_is_put_once_under_one_key;
    forks:
        a_fork_shows_what_the_other_chat_had,
        a_fork_copies_a_bounded_end,
        a_fork_shows_no_prompt_that_waits,
        a_chat_that_is_gone_is_not_forked,
        the_end_of_a_turn_is_a_place_until_it_is_left_behind,
        a_file_goes_with_the_messages_that_are_shown,
        a_fork_has_the_attachments_that_its_messages_name;
    sessions:
        a_session_is_gone_on_with_by_one_chat,
        a_session_is_taken_until_the_agent_of_a_deleted_chat_is_dead,
        an_entry_of_before_has_its_own_time;
    feed:
        every_change_is_told_in_order,
        a_commit_without_effect_tells_nothing,
        the_newest_change_is_announced,
        an_item_bears_the_number_of_its_last_change,
        an_offer_lives_until_it_ends,
        a_failure_lives_until_it_is_cleared;
}

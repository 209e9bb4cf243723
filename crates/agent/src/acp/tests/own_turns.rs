//! Turns that the agent opens by itself.

use super::*;

#[test]
fn output_without_a_message_stirs_and_other_things_do_not() {
    for update in [SAY, THINK, PLAN, CALL, CALL_DONE] {
        assert!(Chat::ready().updates(&[update]).starts_with("stirred\n"), "{update}");
    }
    let mut chat = Chat::ready();
    let _ = chat.update(CALL);
    assert!(!chat.updates(&[CALL_DONE]).contains("stirred"));
    // Each line of it, because only the host knows when it closed the turn.
    assert!(chat.updates(&[SAY]).starts_with("stirred\n"));
    assert!(chat.updates(&[SAY]).starts_with("stirred\n"));
}

//! The one message that carries on with what was stopped.

/// The body of a continuation: a pure function of the offer, and the same for every offer. It
/// names no task and repeats no prompt, so that nothing in it can be out of date.
pub const TEXT: &str = "Your work in this chat was stopped from outside before it was finished, \
and the program that ran you was started again.

Please carry on:
- First check what had already been finished; do not repeat anything before you have looked.
- A tool call that was running when you were stopped has an unknown result: find out what it did.
- Start again what was running in the background and is still needed.
- If you were waiting for an answer or an approval from me, ask again.
- Then go on with what you were doing.";

#[cfg(test)]
mod tests {
    #[test]
    fn the_body_is_pinned() {
        // A continuation that is sent again has the same bytes: another text is another message.
        insta::assert_snapshot!(crate::digest(super::TEXT));
    }
}

//! The rules: ids, facts, the head of a chat, fold and decide. No I/O.

//! What was found damaged while the store was open, for a person to read.

use std::sync::{Arc, Mutex, PoisonError};

/// Sentences that are kept; further ones are dropped, for the first tell what is wrong.
const SENTENCES_MAX: usize = 64;

/// A shared list of sentences.
#[derive(Clone, Debug, Default)]
pub(super) struct Damage(Arc<Mutex<Vec<String>>>);

impl Damage {
    fn with<T>(&self, act: impl FnOnce(&mut Vec<String>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds a sentence, once.
    pub(super) fn note(&self, sentence: impl Into<String>) {
        let sentence = sentence.into();
        self.with(|all| {
            if all.len() < SENTENCES_MAX && !all.contains(&sentence) {
                all.push(sentence);
            }
        });
    }

    /// Takes a sentence back: what it says is over.
    pub(super) fn over(&self, sentence: &str) {
        self.with(|all| all.retain(|known| known != sentence));
    }

    pub(super) fn all(&self) -> Vec<String> {
        self.with(|all| all.clone())
    }
}

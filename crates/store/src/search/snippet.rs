//! The text around what was found.

use super::Terms;

/// Characters before the first place that is shown, and behind its beginning.
const BEFORE_CHARS: usize = 40;
const AFTER_CHARS: usize = 160;
/// Characters behind the first place that are looked through for a better one.
const LOOKED_THROUGH_CHARS_MAX: usize = 64 * 1024;

/// A part of a snippet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its text, without line breaks.
    pub text: String,
    /// Whether it is what was searched for.
    pub found: bool,
}

/// The part of the text that holds the most different terms, the first such. Where a text was found
/// by other letters than it has (an accent), its beginning.
pub(super) fn of(text: &str, terms: &Terms) -> Vec<Part> {
    let chars: Vec<char> = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let terms: Vec<Vec<char>> = terms.as_slice().iter().map(|term| folded(term.chars())).collect();
    let at =
        |place: usize| terms.iter().filter(|term| begins(&chars, place, term)).map(Vec::len).max();
    let first = (0..chars.len()).find(|place| at(*place).is_some()).unwrap_or(0);
    let first = fullest(&chars, &terms, first);
    let start = first.saturating_sub(BEFORE_CHARS);
    let end = first.saturating_add(AFTER_CHARS).min(chars.len());
    let mut parts = Parts::default();
    if start > 0 {
        parts.push("…".chars(), false);
    }
    let mut place = start;
    while place < end {
        let length = at(place).unwrap_or(0);
        let upto = place.saturating_add(length.max(1)).min(chars.len());
        parts.push(chars.get(place..upto).unwrap_or_default().iter().copied(), length > 0);
        place = upto;
    }
    if place < chars.len() {
        parts.push("…".chars(), false);
    }
    parts.0
}

/// Where the window begins that holds the most different terms, from the first of them on.
fn fullest(chars: &[char], terms: &[Vec<char>], first: usize) -> usize {
    let upto = first.saturating_add(LOOKED_THROUGH_CHARS_MAX).min(chars.len());
    let mut last: Vec<Option<usize>> = vec![None; terms.len()];
    // Each window begins with a term: gone through from the end, the next place of each is known.
    let (mut best, mut most) = (first, 0);
    for place in (first..upto).rev() {
        let mut begins_here = false;
        for (term, last) in terms.iter().zip(&mut last) {
            if begins(chars, place, term) {
                *last = Some(place);
                begins_here = true;
            }
        }
        if !begins_here {
            continue;
        }
        let end = place.saturating_add(AFTER_CHARS);
        let within = |(term, last): &(&Vec<char>, &Option<usize>)| {
            last.is_some_and(|at| at.saturating_add(term.len()) <= end)
        };
        let found = terms.iter().zip(&last).filter(within).count();
        if found >= most {
            (best, most) = (place, found);
        }
    }
    best
}

#[derive(Default)]
struct Parts(Vec<Part>);

impl Parts {
    fn push(&mut self, chars: impl Iterator<Item = char>, found: bool) {
        match self.0.last_mut().filter(|last| last.found == found) {
            Some(last) => last.text.extend(chars),
            None => self.0.push(Part { text: chars.collect(), found }),
        }
    }
}

/// One character for each: what a lower case makes two of stays as it is.
fn folded(chars: impl Iterator<Item = char>) -> Vec<char> {
    chars.map(fold).collect()
}

fn fold(c: char) -> char {
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(lower), None) => lower,
        _ => c,
    }
}

fn begins(chars: &[char], place: usize, term: &[char]) -> bool {
    let here = chars.get(place..place.saturating_add(term.len())).unwrap_or_default();
    here.len() == term.len() && here.iter().zip(term).all(|(c, wanted)| fold(*c) == *wanted)
}

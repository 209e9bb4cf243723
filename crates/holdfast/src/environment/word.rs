//! What the login shell is asked to say, and how it is told from whatever else it prints: between
//! two marks, counted, each variable ended by a NUL.

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process::ExitCode;

use super::{all, var};

/// The variable with the mark, random for each question.
pub(super) const MARK_VARIABLE: &str = "HOLDFAST_MARK";

/// Variables, in their order.
pub(super) type Variables = Vec<(OsString, OsString)>;

/// Says all variables; this process stands where the shell was.
pub(super) fn say() -> ExitCode {
    let Some(mark) = var(MARK_VARIABLE) else { return ExitCode::FAILURE };
    let said = write(mark.as_bytes(), all());
    match std::io::stdout().lock().write_all(&said) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn write(mark: &[u8], variables: impl Iterator<Item = (OsString, OsString)>) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, value) in variables {
        body.extend_from_slice(name.as_bytes());
        body.push(b'=');
        body.extend_from_slice(value.as_bytes());
        body.push(0);
    }
    let mut said = [mark, b":", body.len().to_string().as_bytes(), b"\0"].concat();
    said.extend_from_slice(&body);
    said.extend_from_slice(mark);
    said
}

/// What was heard.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// The word is not over, or has not begun.
    More,
    /// All of it.
    Whole(Variables),
    /// Something else was printed in the middle of it.
    Garbled,
}

/// Reads what was printed so far.
pub(super) fn read(printed: &[u8], mark: &str) -> Heard {
    let begin = [mark.as_bytes(), b":"].concat();
    let Some(at) = find(printed, &begin) else { return Heard::More };
    let rest = &printed[at + begin.len()..];
    let Some(end) = rest.iter().take(20).position(|byte| *byte == 0) else {
        return if rest.len() < 20 { Heard::More } else { Heard::Garbled };
    };
    let length = std::str::from_utf8(&rest[..end]).ok().and_then(|text| text.parse::<usize>().ok());
    let Some(length) = length else { return Heard::Garbled };
    let body = &rest[end + 1..];
    let Some(whole) = length.checked_add(mark.len()) else { return Heard::Garbled };
    if body.len() < whole {
        return Heard::More;
    }
    let (body, after) = body.split_at(length);
    if !after.starts_with(mark.as_bytes()) {
        return Heard::Garbled;
    }
    let entries = body.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
    let variables = entries.map(|entry| {
        // As the system has it: the name may begin with the sign, and is never empty.
        let sign = entry.iter().skip(1).position(|byte| *byte == b'=')? + 1;
        let (name, value) = (&entry[..sign], &entry[sign + 1..]);
        Some((OsString::from_vec(name.to_vec()), OsString::from_vec(value.to_vec())))
    });
    variables.collect::<Option<Variables>>().map_or(Heard::Garbled, Heard::Whole)
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said() -> (Vec<u8>, Variables) {
        let odd = OsString::from_vec(vec![b'x', 0xff, b'\n', b'=']);
        let variables: Variables =
            vec![("A".into(), "1".into()), ("EMPTY".into(), "".into()), ("ODD".into(), odd)];
        (write(b"mark", variables.clone().into_iter()), variables)
    }

    #[test]
    fn it_is_found_among_whatever_else_is_printed() {
        let (said, variables) = said();
        for before in [&b""[..], b"Welcome!\nA=2\0", b"mar", b"mark", b"\xff\0\0"] {
            for after in [&b""[..], b"bye", b"mark:3\0"] {
                let printed = [before, &said, after].concat();
                assert_eq!(read(&printed, "mark"), Heard::Whole(variables.clone()), "{before:?}");
            }
        }
    }

    #[test]
    fn a_part_of_it_is_waited_for_and_noise_within_is_seen() {
        let (said, _) = said();
        for end in 0..said.len() {
            assert_eq!(read(&said[..end], "mark"), Heard::More, "{end}");
        }
        for at in 6..said.len() - 4 {
            let noisy = [&said[..at], b"noise", &said[at..]].concat();
            assert_eq!(read(&noisy, "mark"), Heard::Garbled, "{at}");
        }
        assert_eq!(read(b"mark:99999999999999999999999", "mark"), Heard::Garbled);
        assert_eq!(read(b"mark:18446744073709551615\0", "mark"), Heard::Garbled);
    }
}

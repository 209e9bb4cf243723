//! Which versions of an agent's program are tested: the one table of them. `docs/agents.md` says the same.

use crate::codec::AgentKind;

/// The versions of a program between which it is known to work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tested {
    /// The oldest.
    pub oldest: &'static str,
    /// The newest.
    pub newest: &'static str,
}

/// Where a version stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is older than what was tested: what it says may not be understood.
    TooOld,
    /// It is among what was tested.
    Tested,
    /// It is newer than what was tested, which is no reason not to use it.
    Newer,
}

/// The tested versions of the program of this kind; of an ACP agent, which may be any, none are known.
#[must_use]
pub const fn tested(kind: AgentKind) -> Option<Tested> {
    match kind {
        AgentKind::Claude => Some(Tested { oldest: "2.1.197", newest: "2.1.332" }),
        AgentKind::Codex => Some(Tested { oldest: "0.171.0", newest: "0.171.0" }),
        AgentKind::Acp => None,
    }
}

impl Tested {
    /// The range in words: `2.1.197 to 2.1.332`.
    #[must_use]
    pub fn words(&self) -> String {
        if self.oldest == self.newest {
            return self.newest.to_owned();
        }
        format!("{} to {}", self.oldest, self.newest)
    }

    /// Where this version stands; none where it is not one.
    #[must_use]
    pub fn standing(&self, version: &str) -> Option<Standing> {
        let (version, oldest, newest) =
            (numbers(version)?, numbers(self.oldest)?, numbers(self.newest)?);
        Some(if version < oldest {
            Standing::TooOld
        } else if version > newest {
            Standing::Newer
        } else {
            Standing::Tested
        })
    }
}

/// The version in what a program prints when it is asked for it: `2.1.332 (Claude Code)`,
/// `codex-cli 0.171.0`.
#[must_use]
pub fn version_in(printed: &str) -> Option<String> {
    let first = printed.lines().find(|line| !line.trim().is_empty())?;
    // It is shown as it is, also on terminals.
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-+".contains(&byte);
    let is_version =
        |word: &&str| word.len() <= 64 && word.bytes().all(plain) && numbers(word).is_some();
    first.split_whitespace().find(is_version).map(str::to_owned)
}

/// The numbers of a version; what stands behind them does not count.
fn numbers(version: &str) -> Option<[u64; 3]> {
    let plain = version.split(['-', '+']).next()?;
    let mut parts = plain.split('.').map(str::parse);
    let numbers = [parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?];
    parts.next().is_none().then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_what_programs_print() {
        for (printed, version) in [
            ("2.1.332 (Claude Code)\n", Some("2.1.332")),
            ("codex-cli 0.171.0\n", Some("0.171.0")),
            ("\n\ncodex-cli 0.172.0-alpha.3", Some("0.172.0-alpha.3")),
            ("error: no such option", None),
            ("1.2", None),
            ("2.1.332-\u{1b}[2J", None),
            ("\u{1b}[1m2.1.332\u{1b}[0m 2.1.3+b 2.1.4", Some("2.1.3+b")),
            ("", None),
        ] {
            assert_eq!(version_in(printed).as_deref(), version, "{printed}");
        }
    }

    #[test]
    fn a_version_stands_by_its_numbers() {
        let tested = Tested { oldest: "2.1.197", newest: "2.1.332" };
        for (version, standing) in [
            ("2.1.196", Some(Standing::TooOld)),
            ("1.99.999", Some(Standing::TooOld)),
            ("2.1.197", Some(Standing::Tested)),
            ("2.1.332", Some(Standing::Tested)),
            ("2.1.1000", Some(Standing::Newer)),
            ("3.0.0", Some(Standing::Newer)),
            ("new", None),
        ] {
            assert_eq!(tested.standing(version), standing, "{version}");
        }
        assert_eq!(tested.words(), "2.1.197 to 2.1.332");
    }
}

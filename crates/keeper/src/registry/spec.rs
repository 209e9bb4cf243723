use crate::limits::{GRACE_DEFAULT, HOST_GONE_MAX, SPOOL_BYTES_MAX_DEFAULT, START_WAIT};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;
use subtle::ConstantTimeEq;
use uuid::Uuid;

const SECRET_BYTES: usize = 32;

/// What the host proves itself with to the keeper of one attempt.
#[derive(Clone)]
pub struct Secret([u8; SECRET_BYTES]);

impl Secret {
    /// A new random secret.
    ///
    /// # Errors
    /// The operating system has no randomness to give.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; SECRET_BYTES];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// The secret that was stored as these bytes.
    #[must_use]
    pub fn from_bytes(bytes: [u8; SECRET_BYTES]) -> Self {
        Self(bytes)
    }

    /// The secret that was stored as these bytes, if there are as many as a secret has.
    #[must_use]
    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// The bytes, to be stored.
    #[must_use]
    pub fn expose(&self) -> &[u8; SECRET_BYTES] {
        &self.0
    }

    fn to_hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn from_hex(hex: &str) -> Option<Self> {
        if hex.len() != 2 * SECRET_BYTES || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let mut bytes = [0; SECRET_BYTES];
        for (index, slot) in bytes.iter_mut().enumerate() {
            *slot = u8::from_str_radix(hex.get(2 * index..2 * index + 2)?, 16).ok()?;
        }
        Some(Self(bytes))
    }
}

/// In constant time.
impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for Secret {}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl Serialize for Secret {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_hex())
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let hex = String::deserialize(deserializer)?;
        Self::from_hex(&hex).ok_or_else(|| serde::de::Error::custom("not a secret"))
    }
}

/// What a keeper is told before its socket is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// The attempt that it keeps.
    pub attempt: Uuid,
    /// What a host has to know to be let in.
    pub secret: Secret,
    /// The incarnation of the store that the attempt belongs to.
    pub incarnation: Uuid,
    /// Its bounds.
    pub limits: Limits,
}

/// The bounds of one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Bytes that may be spooled and not acknowledged, before nothing more is read from the agent.
    pub spool_bytes_max: u64,
    /// How long the agent lives without any host (awake time).
    pub host_gone_ms: u64,
    /// How long the keeper waits for the greeting that starts the agent (awake time).
    pub start_wait_ms: u64,
    /// The grace between TERM and KILL where no host names one.
    pub grace_ms: u64,
}

impl Default for Limits {
    fn default() -> Self {
        let ms = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        Self {
            spool_bytes_max: SPOOL_BYTES_MAX_DEFAULT,
            host_gone_ms: ms(HOST_GONE_MAX),
            start_wait_ms: ms(START_WAIT),
            grace_ms: ms(GRACE_DEFAULT),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> Spec {
        Spec {
            attempt: Uuid::from_u128(1),
            secret: Secret::from_bytes([0xa5; 32]),
            incarnation: Uuid::from_u128(2),
            limits: Limits::default(),
        }
    }

    #[test]
    fn a_spec_comes_back_and_may_leave_limits_out() {
        let json = serde_json::to_string(&spec()).unwrap();
        assert_eq!(serde_json::from_str::<Spec>(&json).unwrap(), spec());
        let mut value: serde_json::Value = serde_json::from_str(&json).unwrap();
        value["limits"] = serde_json::json!({ "grace_ms": 1, "of_a_newer_host": 2 });
        let read: Spec = serde_json::from_value(value).unwrap();
        assert_eq!(read.limits, Limits { grace_ms: 1, ..Limits::default() });
    }

    #[test]
    fn a_secret_is_not_shown_and_not_guessed_from_another_form() {
        assert_eq!(format!("{:?}", spec().secret), "Secret(…)");
        for bad in ["", "a5", &"a".repeat(63), &"g".repeat(64), &"é".repeat(32)] {
            assert!(Secret::from_hex(bad).is_none(), "{bad}");
        }
        assert_ne!(Secret::random().unwrap(), Secret::random().unwrap());
    }
}

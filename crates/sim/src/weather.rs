//! What goes wrong, and how often: each history has a weather of its own.

use crate::agent::plan::Manners;
use crate::rng::Rng;

/// Rates, in so many of a thousand: of steps where nothing else is said.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Weather {
    pub(crate) host_crash: u64,
    pub(crate) keeper_kill: u64,
    /// A keeper dies between two writes of one step.
    pub(crate) keeper_dies_writing: u64,
    pub(crate) keeper_signal: u64,
    pub(crate) agent_kill: u64,
    pub(crate) kill_everything: u64,
    pub(crate) power_cut: u64,
    pub(crate) stop: u64,
    pub(crate) disk_full: u64,
    pub(crate) clock_jump: u64,
    /// Of commits.
    pub(crate) commit_fails: u64,
    /// Of births.
    pub(crate) birth_fails: u64,
    /// Of texts that are read for a frame.
    pub(crate) texts_unread: u64,
    /// Of frames: the keeper has no room for them then.
    pub(crate) frames_refused: u64,
    /// Of answers.
    pub(crate) answers_lost: u64,
    /// Of requests.
    pub(crate) requests_doubled: u64,
    /// Idleness after which an agent is released, in microseconds.
    pub(crate) release_after: Option<u64>,
    /// Quiet after which an agent at work is stopped, in microseconds.
    pub(crate) ceiling_after: Option<u64>,
    pub(crate) manners: Option<Manners>,
    /// How long a keeper waits for a host, or for its first greeting; none: as it does by default.
    pub(crate) keeper_patience: Option<u64>,
    /// Of deaths: something of the tree may live on.
    pub(crate) survivors: u64,
}

impl Weather {
    /// Nothing goes wrong.
    pub(crate) fn fair() -> Self {
        Self::default()
    }

    pub(crate) fn of(rng: &mut Rng) -> Self {
        let mut weather = Self {
            answers_lost: 50,
            requests_doubled: 50,
            release_after: rng.permille(300).then_some(20_000_000),
            ceiling_after: rng.permille(100).then_some(40_000_000),
            ..Self::default()
        };
        if rng.permille(500) {
            weather.manners = Some(Manners::Odd);
        }
        if rng.permille(200) {
            weather.keeper_patience = Some(500 + rng.next() % 3000);
        }
        if rng.permille(100) {
            weather.survivors = 200;
        }
        if rng.permille(200) {
            weather.frames_refused = 150;
        }
        if rng.permille(100) {
            weather.texts_unread = 400;
        }
        match rng.below(10) {
            0 => {}
            1 | 2 => weather.host_crash = 12,
            3 => weather.kill_everything = 8,
            4 => {
                weather.keeper_kill = 5;
                weather.keeper_dies_writing = 5;
                weather.agent_kill = 5;
                weather.birth_fails = 60;
            }
            5 => weather.power_cut = 8,
            6 => {
                weather.stop = 8;
                weather.keeper_signal = 3;
            }
            7 => {
                weather.commit_fails = 40;
                weather.disk_full = 6;
                weather.host_crash = 4;
            }
            _ => {
                weather.host_crash = 4;
                weather.keeper_kill = 2;
                weather.keeper_dies_writing = 2;
                weather.agent_kill = 2;
                weather.kill_everything = 2;
                weather.power_cut = 2;
                weather.stop = 2;
                weather.keeper_signal = 1;
                weather.commit_fails = 10;
                weather.disk_full = 2;
                weather.clock_jump = 3;
                weather.birth_fails = 20;
            }
        }
        weather
    }
}

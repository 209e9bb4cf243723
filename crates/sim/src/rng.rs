//! Seeded randomness: the whole of a history follows from its seed.

use uuid::Uuid;

/// SplitMix64: small, and the same on every machine.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        // Neighbouring seeds must not walk the same road one step apart.
        let mut rng = Self(seed.wrapping_mul(0xd134_2543_de82_ef95) ^ 0x5851_f42d_4c95_7f2d);
        rng.next();
        rng
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`; 0 where `n` is 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        let n = u64::try_from(n).unwrap_or(u64::MAX);
        usize::try_from(self.next().checked_rem(n).unwrap_or(0)).unwrap_or(0)
    }

    /// A number of microseconds up to so many milliseconds.
    pub(crate) fn millis(&mut self, up_to: u64) -> u64 {
        self.next() % (up_to * 1000 + 1)
    }

    /// Whether something that happens so many times in a thousand happens now.
    pub(crate) fn permille(&mut self, rate: u64) -> bool {
        self.next() % 1000 < rate
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        let at = self.below(from.len());
        from.get(at)
    }

    pub(crate) fn uuid(&mut self) -> Uuid {
        let bytes = Uuid::from_u64_pair(self.next(), self.next()).into_bytes();
        uuid::Builder::from_random_bytes(bytes).into_uuid()
    }
}

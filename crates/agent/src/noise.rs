//! What a codec cannot read: kept and shown, each with a reason, up to a bound.

use holdfast_core::item::{Body, Field, ItemKind, Role};
use holdfast_core::limits::UNRECOGNISED_BYTES_MAX;
use holdfast_core::provider::ProviderEvent;
use serde::{Deserialize, Serialize};

use crate::ordinals::{Ordinals, head};

/// Unrecognised lines of an attempt that are told apart; further ones are counted.
const UNRECOGNISED_ITEMS_MAX: u32 = 100;

/// What came that says nothing to this build.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Noise {
    /// Unrecognised lines.
    unrecognised: u64,
}

impl Noise {
    /// Shows a line, at most [`UNRECOGNISED_BYTES_MAX`] of it.
    pub(crate) fn show(
        &mut self,
        reason: &str,
        line: &[u8],
        ordinals: &mut Ordinals,
        out: &mut Vec<ProviderEvent>,
    ) {
        self.unrecognised = self.unrecognised.saturating_add(1);
        let max = u64::from(UNRECOGNISED_ITEMS_MAX);
        let (reason, text) = match self.unrecognised {
            n if n < max => {
                let kept = line.get(..line.len().min(UNRECOGNISED_BYTES_MAX)).unwrap_or_default();
                (reason, String::from_utf8_lossy(kept).into_owned())
            }
            n if n == max => {
                ("flood", "Further lines that cannot be read are counted, not shown.".to_owned())
            }
            _ => return,
        };
        let item = ordinals.item();
        out.push(ProviderEvent::ItemOpened {
            item,
            kind: ItemKind::Unrecognised,
            role: Role::Agent,
            body: Body::Unrecognised { reason: reason.to_owned() },
        });
        let text = head(&text, UNRECOGNISED_BYTES_MAX).to_owned();
        if !text.is_empty() {
            out.push(ProviderEvent::ItemText { item, field: Field::Text, at: 0, text });
        }
        out.push(ProviderEvent::ItemClosed { item });
    }
}

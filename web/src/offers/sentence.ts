// What a chat was doing, in the page's words.

import type { Offer } from "../events/wire.ts";
import { type Params, t } from "../i18n/t.ts";
import { type Key, TEXTS } from "../i18n/texts.ts";

/** The sentence of an offer; parts that this page does not know are read from the host's text. */
export function sentence(offer: Offer): string {
  const { parts, text } = offer.summary;
  if (parts.length === 0) return text || t("offers.nothing");
  if (parts.some((part) => !(part.key in TEXTS))) return text;
  return parts.map((part) => t(part.key as Key, part.params as Params)).join(" · ");
}

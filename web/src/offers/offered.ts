// When the resume dialog opens by itself: once for each offer that this tab has not put off.

import { useEffect, useState } from "react";
import { useHost } from "../events/host.ts";
import type { Offer } from "../events/wire.ts";

const KEPT_AS = "holdfast.seen-offers";

function nameOf(offer: Offer): string {
  return `${offer.chat} ${offer.recorded_at}`;
}

function seen(): Set<string> {
  return new Set((sessionStorage.getItem(KEPT_AS) ?? "").split("\n"));
}

/** Causes that stop many chats at once; a single agent's death is told in its chat alone. */
const AT_ONCE = new Set(["quit", "update", "host_lost", "keeper_lost"]);
/** Milliseconds after a start in which the host may still find what had stopped. */
const FOUND_LATE = 10_000;

export function useOffered(): [boolean, (open: boolean) => void] {
  const offers = useHost((host) => host.offers);
  const started = useHost((host) => host.startedAt);
  const [open, setOpen] = useState(false);
  useEffect(() => {
    const known = seen();
    const fresh = [...offers.values()].filter((offer) => !known.has(nameOf(offer)));
    if (fresh.length === 0) return;
    sessionStorage.setItem(KEPT_AS, [...offers.values()].map(nameOf).join("\n"));
    const start = Date.now() - started < FOUND_LATE;
    if (start || fresh.some((offer) => AT_ONCE.has(offer.cause ?? "quit"))) setOpen(true);
  }, [offers, started]);
  return [open, setOpen];
}

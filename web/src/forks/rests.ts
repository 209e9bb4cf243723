// Whether a fork is offered at the end of a transcript.

import type { Item, Row } from "../events/wire.ts";

/**
 * Where the agent can, the chat rests, and the agent spoke last. Elsewhere the menu of the chat gets the
 * host's word for why not.
 */
export function offersFork(row: Row | undefined, last: Item): boolean {
  if (!row?.capabilities.includes("fork")) return false;
  const rests = row.status.shown === "idle" || row.status.shown === "monitoring";
  return rests && last.kind === "message" && last.role === "agent";
}

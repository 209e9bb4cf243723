// Whether a fork is offered at the end of a transcript, and a way back at the end of a turn.

import type { Item, Row } from "../events/wire.ts";

/**
 * Where the agent can, the chat rests, and the agent spoke last. Elsewhere the menu of the chat gets the
 * host's word for why not.
 */
export function offersFork(row: Row | undefined, last: Item): boolean {
  if (!row?.capabilities.includes("fork")) return false;
  return rests(row) && last.kind === "message" && last.role === "agent";
}

/** Whether a way back, or a fork, is offered at an entry: an agent that can names the end of a turn there. */
export function offersBack(row: Row | undefined, item: Item): boolean {
  if (!item.turn_end || !row?.capabilities.includes("rewind")) return false;
  return rests(row);
}

function rests(row: Row): boolean {
  return row.status.shown === "idle" || row.status.shown === "monitoring";
}

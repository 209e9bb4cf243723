// Resuming and dismissing offers.

import { write } from "../events/host.ts";
import { to } from "../events/request.ts";
import type { Failure, Offer, Result, ResumeOne } from "../events/wire.ts";

export async function resume(chats: ResumeOne[]): Promise<Result[]> {
  return (await write(to("POST", "/offers/resume", { body: { chats } }), "offers")).results;
}

export async function dismiss(offers: readonly Offer[]): Promise<Result[]> {
  const chats = offers.map(({ chat, recorded_at }) => ({ chat, recorded_at }));
  return (await write(to("POST", "/offers/dismiss", { body: { chats } }), "offers")).results;
}

/** An offer as it was seen, for a call about it. */
export function asSeen(chat: string, offer: Offer | undefined): ResumeOne {
  return offer ? { chat, recorded_at: offer.recorded_at } : { chat };
}

/** What a person can do about a failure in its chat. */
export function actionsOf(failure: Failure): Failure["actions"] {
  return failure.actions.filter((action) => action !== "open_chat");
}

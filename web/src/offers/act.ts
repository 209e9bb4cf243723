// Resuming and dismissing offers.

import { write } from "../events/host.ts";
import type { Choice, Failure, Offer, Result } from "../events/wire.ts";

export interface Wanted {
  chat: string;
  recorded_at?: string;
  choice?: Choice;
  fresh?: boolean;
  recap?: string;
  anyway?: boolean;
}

export async function resume(chats: readonly Wanted[]): Promise<Result[]> {
  return post("resume", chats);
}

export async function dismiss(offers: readonly Offer[]): Promise<Result[]> {
  return post(
    "dismiss",
    offers.map(({ chat, recorded_at }) => ({ chat, recorded_at })),
  );
}

async function post(what: "resume" | "dismiss", chats: readonly Wanted[]): Promise<Result[]> {
  const path = `/offers/${what}`;
  const answer = await write<{ results: Result[] }>({
    method: "POST",
    path,
    body: { chats },
    lane: "offers",
  });
  return answer.results;
}

/** An offer as it was seen, for a call about it. */
export function asSeen(chat: string, offer: Offer | undefined): Wanted {
  return offer ? { chat, recorded_at: offer.recorded_at } : { chat };
}

/** What a person can do about a failure in its chat. */
export function actionsOf(failure: Failure): Failure["actions"] {
  return failure.actions.filter((action) => action !== "open_chat");
}

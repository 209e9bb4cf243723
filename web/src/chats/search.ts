// What the host finds for some words: chats, and places in their transcripts.

import { call } from "../events/api.ts";
import { type Paged, usePaged } from "../events/paged.ts";
import { to } from "../events/request.ts";
import type { Found, FoundItem, Row, RowPage } from "../events/wire.ts";

/** Milliseconds of quiet after which a search is asked. */
const QUIET = 150;

/** Chats by their titles, prompts, projects, and by what was said in them; closed ones too. */
export function useFoundChats(words: string): Paged<Row, RowPage> {
  const q = words.trim();
  return usePaged(q === "" ? null : q, QUIET, (before, signal) =>
    call(to("GET", "/chats", { query: { q, state: "all", ...before } }), { signal }),
  );
}

/** Items of all transcripts, the newest first. */
export function useFoundItems(words: string): Paged<FoundItem, Found> {
  const q = words.trim();
  return usePaged(q === "" ? null : q, QUIET, (before, signal) =>
    call(to("GET", "/search", { query: { q, ...before } }), { signal }),
  );
}

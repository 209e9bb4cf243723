// What a person is writing, kept by the host: the same on every device.

import { useEffect, useSyncExternalStore } from "react";
import { call, Refused } from "../events/api.ts";
import { to } from "../events/request.ts";

/** Milliseconds of quiet after which a draft is kept. */
const QUIET = 400;
/** Milliseconds until a draft that could not be kept is tried again. */
const AGAIN = 2000;

interface Draft {
  /** What stands in the composer. */
  text: string;
  /** What the host has, as far as known. */
  kept: string | null;
  timer: ReturnType<typeof setTimeout> | null;
  busy: boolean;
  /** Why the host does not keep it. */
  fault: string | null;
}

const drafts = new Map<string, Draft>();
const listeners = new Set<() => void>();

function draftOf(chat: string): Draft {
  const known = drafts.get(chat);
  if (known) return known;
  const fresh: Draft = { text: "", kept: null, timer: null, busy: false, fault: null };
  drafts.set(chat, fresh);
  return fresh;
}

function tell(): void {
  for (const listener of listeners) listener();
}

/** The draft of a chat. It is asked for when the chat or the page is looked at again. */
export function useDraft(chat: string): { text: string; fault: string | null } {
  useEffect(() => {
    const ask = () => document.visibilityState === "visible" && void load(chat);
    ask();
    document.addEventListener("visibilitychange", ask);
    window.addEventListener("focus", ask);
    return () => {
      document.removeEventListener("visibilitychange", ask);
      window.removeEventListener("focus", ask);
    };
  }, [chat]);
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const text = useSyncExternalStore(subscribe, () => drafts.get(chat)?.text ?? "");
  const fault = useSyncExternalStore(subscribe, () => drafts.get(chat)?.fault ?? null);
  return { text, fault };
}

/** Takes what the host has, unless somebody writes here. */
async function load(chat: string): Promise<void> {
  const draft = draftOf(chat);
  const clean = () => draft.timer === null && !draft.busy && draft.text === (draft.kept ?? "");
  if (!clean()) return;
  try {
    const { text } = await call(to("GET", "/chats/{chat}/draft", { at: { chat } }));
    if (!clean()) return;
    draft.kept = text;
    draft.text = text;
    tell();
  } catch {
    // It is asked again when the page is looked at.
  }
}

/** Changes the draft, and keeps it once nobody writes for a moment. */
export function keepText(chat: string, text: string): void {
  const draft = draftOf(chat);
  draft.text = text;
  later(chat, draft, QUIET);
  tell();
}

/** Empties the composer for a message: its acceptance is what empties the host's draft. */
export function emptied(chat: string): void {
  const draft = draftOf(chat);
  if (draft.timer) clearTimeout(draft.timer);
  draft.timer = null;
  draft.text = "";
  draft.fault = null;
  tell();
}

/** A message was accepted. A draft that was on its way then may have come after it. */
export function accepted(chat: string): void {
  const draft = draftOf(chat);
  if (draft.busy || draft.text !== "") later(chat, draft, QUIET);
  else draft.kept = "";
}

function later(chat: string, draft: Draft, wait: number): void {
  if (draft.timer) clearTimeout(draft.timer);
  draft.timer = setTimeout(() => {
    draft.timer = null;
    void put(chat, draft);
  }, wait);
}

async function put(chat: string, draft: Draft): Promise<void> {
  if (draft.busy) {
    later(chat, draft, QUIET);
    return;
  }
  draft.busy = true;
  const text = draft.text;
  try {
    await call(to("PUT", "/chats/{chat}/draft", { at: { chat }, body: { text } }));
    draft.kept = text;
    draft.fault = null;
  } catch (fault) {
    // The same text would be refused again: it is tried when it is another.
    if (fault instanceof Refused) draft.fault = fault.problem.detail;
    else if (draft.timer === null && draft.text !== "") later(chat, draft, AGAIN);
  } finally {
    draft.busy = false;
    tell();
  }
}

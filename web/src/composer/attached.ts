// Files that a person puts beside a message, per chat: each is sent to the host at once, and named by
// the message when that is sent. One that the host did not take stays here and says why.

import { useSyncExternalStore } from "react";
import { device } from "../events/api.ts";
import { newKey } from "../events/key.ts";
import type { Attachment, Problem } from "../events/wire.ts";
import { t } from "../i18n/t.ts";

/** Files of one message. */
export const FILES_MAX = 20;

export interface Beside {
  /** Its name here, and the key under which it is sent. */
  key: string;
  file: File;
  state: { at: "sending" } | { at: "kept"; as: Attachment } | { at: "failed"; why: string };
}

const NONE: readonly Beside[] = [];
const beside = new Map<string, readonly Beside[]>();
const listeners = new Set<() => void>();

function put(chat: string, files: readonly Beside[]): void {
  if (files.length > 0) beside.set(chat, files);
  else beside.delete(chat);
  for (const listener of listeners) listener();
}

function change(chat: string, key: string, state: Beside["state"]): void {
  const files = beside.get(chat) ?? NONE;
  put(
    chat,
    files.map((one) => (one.key === key ? { ...one, state } : one)),
  );
}

/** What stands beside the message that is being written. */
export function useBeside(chat: string): readonly Beside[] {
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  return useSyncExternalStore(subscribe, () => beside.get(chat) ?? NONE);
}

/** Puts files beside the message; further ones than a message takes are not taken. */
export function addFiles(chat: string, files: Iterable<File>): void {
  const room = FILES_MAX - (beside.get(chat)?.length ?? 0);
  for (const file of [...files].slice(0, Math.max(room, 0))) {
    const one: Beside = { key: newKey(), file, state: { at: "sending" } };
    put(chat, [...(beside.get(chat) ?? NONE), one]);
    void send(chat, one);
  }
}

/** Tries once more, under the same key: the host keeps it once. */
export function sendAgain(chat: string, one: Beside): void {
  change(chat, one.key, { at: "sending" });
  void send(chat, one);
}

/** Takes a file away again; the host lets go of what no message names. */
export function removeFile(chat: string, one: Beside): void {
  put(
    chat,
    (beside.get(chat) ?? NONE).filter((other) => other.key !== one.key),
  );
  if (one.state.at === "kept") drop(one.state.as);
}

/** What goes with the message that is sent now. */
export function takeKept(chat: string): readonly Beside[] {
  const files = beside.get(chat) ?? NONE;
  put(chat, []);
  return files;
}

/** The message was refused: what was to go with it is there again. */
export function putBack(chat: string, files: readonly Beside[]): void {
  put(chat, [...files, ...(beside.get(chat) ?? NONE)]);
}

/** The ids of what the host has of these. */
export function idsOf(files: readonly Beside[]): string[] {
  return files.flatMap((one) => (one.state.at === "kept" ? [one.state.as.id] : []));
}

async function send(chat: string, one: Beside): Promise<void> {
  const name = encodeURIComponent(one.file.name || "attachment");
  try {
    const response = await fetch(`/api/v1/chats/${chat}/attachments?name=${name}`, {
      method: "POST",
      headers: {
        Accept: "application/json",
        "Content-Type": one.file.type || "application/octet-stream",
        "Holdfast-Device": device(),
        "Idempotency-Key": one.key,
      },
      body: one.file,
      credentials: "same-origin",
    });
    if (response.ok) {
      const as = (await response.json()) as Attachment;
      const wanted = beside.get(chat)?.some((other) => other.key === one.key);
      // Whoever took it away meanwhile does not want it at the host either.
      if (wanted) change(chat, one.key, { at: "kept", as });
      else drop(as);
      return;
    }
    const problem = (await response.json().catch(() => null)) as Problem | null;
    const why = problem?.detail ?? `HTTP ${response.status}`;
    change(chat, one.key, { at: "failed", why });
  } catch {
    change(chat, one.key, { at: "failed", why: t("attach.unreachable") });
  }
}

/** A courtesy: what stays at the host counts against the chat's bound, and no more. */
function drop(attachment: Attachment): void {
  const headers = { "Holdfast-Device": device(), "Idempotency-Key": newKey() };
  void fetch(attachment.href, { method: "DELETE", headers, credentials: "same-origin" }).catch(
    () => undefined,
  );
}

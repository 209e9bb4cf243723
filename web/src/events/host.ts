// The one store: what the host tells, what is on its way to it, and whether it answers.

import { useSyncExternalStore } from "react";
import { call, Refused, SignedOut, Unreachable } from "./api.ts";
import { type Outbox, type Turned, type Write, Writes } from "./outbox.ts";
import { type Request, to } from "./request.ts";
import * as apply from "./state.ts";
import { type Link, Stream } from "./stream.ts";
import type { Agent, Change, Frame, Row } from "./wire.ts";

export interface Host extends apply.State {
  link: Link;
  /** `null`: not asked yet. */
  signedIn: boolean | null;
  outbox: Outbox;
  /** What the host refused, for the person to read and put away. */
  turned: readonly Shown[];
  agents: readonly Agent[];
  /** The life of the host that is listened to, and when this page first heard of it. */
  generation: number | null;
  startedAt: number;
  /** A sign-in link was opened that does not count. */
  linkRefused: boolean;
  /** A chat that was looked for and is not there. */
  missing: string | null;
  /** Why the transcript of the open chat could not be read further, and how to try again. */
  stuck: { why: string; again(): void } | null;
}

/** What was refused, with a number of its own. */
export interface Shown extends Turned {
  id: number;
}

/** Items that are asked for around a place, half of them before it. */
const AROUND = 50;
/** Milliseconds until a host that does not answer is asked again who is signed in. */
const ASK_AGAIN = 1000;

const writes = new Writes(sessionStorage, {
  change: (outbox) => set({ outbox }),
  turned: show,
  signedOut: () => set({ signedIn: false }),
});

let state: Host = {
  ...apply.EMPTY,
  link: "connecting",
  signedIn: null,
  outbox: writes.now(),
  turned: [],
  agents: [],
  generation: null,
  startedAt: 0,
  linkRefused: false,
  missing: null,
  stuck: null,
};

const listeners = new Set<() => void>();
let scheduled = false;

/** Milliseconds after which listeners are told even where no picture is drawn. */
const UNDRAWN = 100;

/** Frames come faster than anybody reads: who listens is told once for each picture. */
function set(part: Partial<Host>): void {
  state = { ...state, ...part };
  if (scheduled) return;
  scheduled = true;
  const tell = () => {
    if (!scheduled) return;
    scheduled = false;
    clearTimeout(timer);
    for (const listener of listeners) listener();
  };
  const timer = setTimeout(tell, UNDRAWN);
  requestAnimationFrame(tell);
}

const stream = new Stream({
  link(link) {
    set({ link });
    if (link === "live") {
      writes.flush();
      if (state.agents.length === 0) void loadAgents();
    }
  },
  frame: take,
  unwelcome: () => void whoAmI(),
});

function take(frame: Frame): void {
  switch (frame.type) {
    case "hello":
      if (frame.generation !== state.generation) {
        set({ generation: frame.generation, startedAt: Date.now() });
      }
      // Without a cursor, and after a gap, a snapshot follows.
      if (frame.verdict === "ok" && state.known) void loadOpen();
      return;
    case "snapshot":
      set(apply.snapshot(state, frame));
      void loadOpen();
      return;
    case "changes":
      if (frame.changes.some((change) => change.what === "queue")) queueChanges += 1;
      changed(frame.changes);
      // A change tells the beginning of a long queue alone.
      if (state.open?.queue?.next) void loadQueue(state.open.id).catch(() => {});
      return;
    case "delta":
      set(apply.delta(state, frame));
      return;
  }
}

function changed(changes: readonly Change[]): void {
  const looked = state.open?.id;
  set(apply.changes(state, changes));
  if (looked && !state.open) set({ missing: looked });
}

/** Begins: with a sign-in link, by using it up; then by listening. */
export async function begin(chat: string | null, at: number | null): Promise<void> {
  set(apply.look(state, chat, at));
  const code = takeCode();
  if (!code) return whoAmI();
  if ((await signIn({ code })) === "refused") set({ linkRefused: true });
}

/** The code of a sign-in link. It is taken out of the address, so that it stands in no history. */
function takeCode(): string | null {
  const code = new URLSearchParams(location.hash.slice(1)).get("sign-in");
  if (code) history.replaceState(null, "", location.pathname + location.search);
  return code;
}

/** Signs this browser in; says what the host says where it does not. */
export async function signIn(secret: { code: string } | { token: string }): Promise<string | null> {
  try {
    await call(to("POST", "/session", { body: secret }));
    welcome();
    return null;
  } catch (fault) {
    // Who opens a used link may be signed in all the same.
    await whoAmI();
    return fault instanceof Refused || fault instanceof SignedOut ? "refused" : "unreachable";
  }
}

export async function signOut(): Promise<void> {
  await call(to("DELETE", "/session"));
  stream.stop();
  set({ ...apply.EMPTY, signedIn: false });
}

async function whoAmI(): Promise<void> {
  try {
    await call(to("GET", "/session"));
    if (state.signedIn !== true) welcome();
  } catch (fault) {
    if (fault instanceof SignedOut) {
      stream.stop();
      set({ signedIn: false });
    } else if (state.signedIn === null) {
      // The page came from somewhere: the host is on its way back.
      set({ link: "lost" });
      setTimeout(() => void whoAmI(), ASK_AGAIN);
    }
  }
}

function welcome(): void {
  set({ signedIn: true });
  stream.listen(state.open?.id ?? null);
  writes.flush();
}

/** Looks at a chat, at a place in it or at its end; or at none. */
export function lookAt(chat: string | null, at: number | null = null): void {
  const open = state.open;
  if ((open?.id ?? null) === chat && (open?.at ?? null) === at) return;
  set({ ...apply.look(state, chat, at), missing: null, stuck: null });
  if (!state.signedIn) return;
  if (open?.id === chat) void loadOpen();
  else stream.listen(chat);
}

/** Asks for what is there of the open chat, where that did not come. */
export async function loadOpen(): Promise<void> {
  const open = state.open;
  if (!open) return;
  const chat = open.id;
  set({ stuck: null });
  try {
    if (!state.chats.has(chat)) know(await call(to("GET", "/chats/{chat}", { at: { chat } })));
    const begin = open.at === null ? {} : { before: open.at + AROUND / 2, limit: AROUND };
    const first = open.before === undefined ? loadPage(begin) : null;
    await Promise.all([first, loadQueue(chat)]);
    // A place before the first that a transcript has leads to that.
    if (open.at !== null && state.open?.items.length === 0) await loadNewer();
  } catch (fault) {
    if (fault instanceof Refused && fault.problem.code === "chat_not_found") set({ missing: chat });
    else stopped(fault, loadOpen);
  }
}

/** A host that does not answer is told of elsewhere; one that says why is heard. */
function stopped(fault: unknown, again: () => void): void {
  const said = fault instanceof Refused || fault instanceof Unreachable ? fault.problem : null;
  if (said) set({ stuck: { why: said.detail, again } });
}

async function loadPage(query: { before?: number; limit?: number }): Promise<void> {
  const open = state.open;
  if (!open) return;
  const page = await call(to("GET", "/chats/{chat}/items", { at: { chat: open.id }, query }));
  set(apply.page(state, open.id, page, open));
}

/** A page at a time, in one direction. */
function oneByOne(load: () => Promise<void>): () => Promise<void> {
  let loading: Promise<void> | null = null;
  const page = () => {
    loading ??= load()
      .then(
        () => set({ stuck: null }),
        (fault: unknown) => stopped(fault, page),
      )
      .finally(() => {
        loading = null;
      });
    return loading;
  };
  return page;
}

/** Asks for the page of the transcript before what is here. */
export const loadOlder = oneByOne(async () => {
  const before = state.open?.before;
  if (before) await loadPage({ before });
});

/** Asks for the page after what is here, where that is not the end. */
export const loadNewer = oneByOne(async () => {
  const open = state.open;
  const after = open?.items.at(-1)?.seq ?? (open?.before === null ? 0 : undefined);
  if (!open || open.beyond === null || after === undefined) return;
  const query = { after };
  const page = await call(to("GET", "/chats/{chat}/items", { at: { chat: open.id }, query }));
  if (state.open?.at === open.at) set(apply.newer(state, open.id, page));
});

/** Changes of queues that were told, so that an answer that is older than one is not believed. */
let queueChanges = 0;

async function loadQueue(chat: string): Promise<void> {
  for (;;) {
    const before = queueChanges;
    let page = await call(to("GET", "/chats/{chat}/queue", { at: { chat } }));
    while (page.next) {
      const query = { from: page.next };
      const more = await call(to("GET", "/chats/{chat}/queue", { at: { chat }, query }));
      page = { ...more, items: [...page.items, ...more.items] };
    }
    if (before !== queueChanges && state.open?.id === chat) continue;
    set(apply.queue(state, chat, page));
    return;
  }
}

/** Asks which agents there are. */
export async function loadAgents(): Promise<void> {
  const agents = await call(to("GET", "/agents")).catch(() => null);
  if (agents) set({ agents: agents.items });
}

/**
 * Makes a write that is kept until the host has answered. Writes of one lane arrive in their order.
 * Rejects with `Refused` alone.
 */
export function write<A>(
  request: Request<A>,
  lane: string,
  message?: Write["message"],
): Promise<A> {
  return writes.add({ ...request, lane, ...(message ? { message } : {}) });
}

/** Shows what the host refused, where that cannot be shown where it was asked for. */
export function show(turned: Turned): void {
  refusals += 1;
  set({ turned: [...state.turned, { ...turned, id: refusals }] });
}

let refusals = 0;

export function putAway(turned: Shown): void {
  set({ turned: state.turned.filter((one) => one !== turned) });
}

/** Takes a row that a write answered. */
export function know(row: Row): void {
  set(apply.row(state, row));
}

export function now(): Host {
  return state;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** A part of the store; it has to be a stable one. */
export function useHost<T>(select: (host: Host) => T): T {
  return useSyncExternalStore(subscribe, () => select(state));
}

// The one store: what the host tells, what is on its way to it, and whether it answers.

import { useSyncExternalStore } from "react";
import { call, get, Refused, SignedOut } from "./api.ts";
import { type Outbox, type Turned, type Write, Writes } from "./outbox.ts";
import * as apply from "./state.ts";
import { type Link, Stream } from "./stream.ts";
import type { Agent, Frame, Item, Page, Queue, Row } from "./wire.ts";

export interface Host extends apply.State {
  link: Link;
  /** `null`: not asked yet. */
  signedIn: boolean | null;
  outbox: Outbox;
  /** What the host refused, for the person to read and put away. */
  turned: readonly Turned[];
  agents: readonly Agent[];
  /** The life of the host that is listened to, and when this page first heard of it. */
  generation: number | null;
  startedAt: number;
  /** A sign-in link was opened that does not count. */
  linkRefused: boolean;
  /** A chat that was looked for and is not there. */
  missing: string | null;
}

/** Milliseconds until a host that does not answer is asked again who is signed in. */
const ASK_AGAIN = 1000;

const writes = new Writes(sessionStorage, {
  change: (outbox) => set({ outbox }),
  turned: (turned) => set({ turned: [...state.turned, turned] }),
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
      set(apply.changes(state, frame.changes));
      // A change tells the beginning of a long queue alone.
      if (state.open?.queue?.next) void loadQueue(state.open.id).catch(() => {});
      return;
    case "delta":
      set(apply.delta(state, frame));
      return;
  }
}

/** Begins: with a sign-in link, by using it up; then by listening. */
export async function begin(chat: string | null): Promise<void> {
  set(apply.look(state, chat));
  const code = takeCode();
  if (!code) return whoAmI();
  if ((await signIn({ code })) === "refused") set({ linkRefused: true });
}

/** The code of a sign-in link. It is taken out of the address, so that it stands in no history. */
function takeCode(): string | null {
  const code = new URLSearchParams(location.hash.slice(1)).get("sign-in");
  if (code) history.replaceState(null, "", location.pathname);
  return code;
}

/** Signs this browser in; says what the host says where it does not. */
export async function signIn(secret: { code: string } | { token: string }): Promise<string | null> {
  try {
    await call({ method: "POST", path: "/session", body: secret });
    welcome();
    return null;
  } catch (fault) {
    // Who opens a used link may be signed in all the same.
    await whoAmI();
    return fault instanceof Refused || fault instanceof SignedOut ? "refused" : "unreachable";
  }
}

export async function signOut(): Promise<void> {
  await call({ method: "DELETE", path: "/session" });
  stream.stop();
  set({ ...apply.EMPTY, signedIn: false });
}

async function whoAmI(): Promise<void> {
  try {
    await get("/session");
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

/** Looks at a chat, or at none. */
export function lookAt(chat: string | null): void {
  if ((state.open?.id ?? null) === chat) return;
  set({ ...apply.look(state, chat), missing: null });
  if (state.signedIn) stream.listen(chat);
}

async function loadOpen(): Promise<void> {
  const chat = state.open?.id;
  if (!chat) return;
  try {
    if (!state.chats.has(chat)) set(apply.row(state, await get<Row>(`/chats/${chat}`)));
    const begun = state.open?.before !== undefined;
    await Promise.all([begun ? null : loadPage(chat, null), loadQueue(chat)]);
  } catch (fault) {
    if (fault instanceof Refused) set({ missing: chat });
  }
}

async function loadPage(chat: string, before: number | null): Promise<void> {
  const query = before === null ? "" : `?before=${before}`;
  const page = await get<Page<Item, number>>(`/chats/${chat}/items${query}`);
  set(apply.page(state, chat, page));
}

let older: Promise<void> | null = null;

/** Asks for the page of the transcript before what is here. */
export function loadOlder(): Promise<void> {
  const open = state.open;
  if (!open?.before) return Promise.resolve();
  older ??= loadPage(open.id, open.before)
    .catch(() => {})
    .finally(() => {
      older = null;
    });
  return older;
}

/** Changes of queues that were told, so that an answer that is older than one is not believed. */
let queueChanges = 0;

async function loadQueue(chat: string): Promise<void> {
  for (;;) {
    const before = queueChanges;
    let page = await get<Queue>(`/chats/${chat}/queue`);
    while (page.next) {
      const more = await get<Queue>(`/chats/${chat}/queue?from=${page.next}`);
      page = { ...more, items: [...page.items, ...more.items] };
    }
    if (before !== queueChanges && state.open?.id === chat) continue;
    set(apply.queue(state, chat, page));
    return;
  }
}

async function loadAgents(): Promise<void> {
  const agents = await get<Page<Agent, null>>("/agents").catch(() => null);
  if (agents) set({ agents: agents.items });
}

/** Makes a write that is kept until the host has answered. Rejects with `Refused` alone. */
export function write<T>(wanted: Omit<Write, "key">): Promise<T> {
  return writes.add<T>(wanted);
}

/** The same where nobody waits: a refusal is shown. */
export function send(wanted: Omit<Write, "key">): void {
  const lane = { ...wanted, key: "" };
  writes.add(wanted).catch((fault: unknown) => {
    if (fault instanceof Refused) show({ write: lane, problem: fault.problem });
  });
}

/** Shows what the host refused. */
export function show(turned: Turned): void {
  set({ turned: [...state.turned, turned] });
}

export function putAway(turned: Turned): void {
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

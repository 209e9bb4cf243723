// What the page shows, and how frames of the event stream change it. Pure: no clock, no network.

import type {
  Change,
  Counts,
  Delta,
  Failure,
  Item,
  ItemPage,
  Offer,
  Prompt,
  Queue,
  Row,
  Snapshot,
} from "./wire.ts";

type Grown = "text" | "output";

/** An item with the bytes of what is here of its texts, so that live text can be told from a gap. */
export interface Entry extends Item {
  have: Record<Grown, number>;
}

/** The chat that is looked at. */
export interface OpenChat {
  id: string;
  /** By `seq`, oldest first. */
  items: readonly Entry[];
  /** What the page before is asked with; `null`: there is none; `undefined`: nothing came yet. */
  before: number | null | undefined;
  /** The place that a search led to; `null`: the end. */
  at: number | null;
  /**
   * Where the items here do not reach the newest one: the highest place that was heard of beyond
   * them. `null`: they do.
   */
  beyond: number | null;
  queue: Queue | null;
}

export interface State {
  /** Whether a first snapshot came. */
  known: boolean;
  counts: Counts;
  chats: ReadonlyMap<string, Row>;
  offers: ReadonlyMap<string, Offer>;
  failures: ReadonlyMap<string, Failure>;
  open: OpenChat | null;
}

/** Bytes of live text that are shown while it comes; the rest is asked for. */
export const LIVE_TEXT_BYTES_MAX = 256 * 1024;

export const EMPTY: State = {
  known: false,
  counts: { running: 0, to_resume: 0, to_check: 0, open: 0, queued: 0 },
  chats: new Map(),
  offers: new Map(),
  failures: new Map(),
  open: null,
};

const utf8 = new TextEncoder();

export function byteLength(text: string | null): number {
  return text ? utf8.encode(text).length : 0;
}

/** Looks at another chat, or another place of it, or at none. */
export function look(state: State, chat: string | null, at: number | null = null): State {
  const open = state.open;
  if (chat === null) return { ...state, open: null };
  if (open?.id === chat && open.at === at) return state;
  const queue = open?.id === chat ? open.queue : null;
  const beyond = at === null ? null : 0;
  return { ...state, open: { id: chat, items: [], before: undefined, at, beyond, queue } };
}

/** All that the host shows, in place of what was known. */
export function snapshot(state: State, told: Snapshot): State {
  const open = state.open;
  // It tells the newest items: a place further back is read anew.
  const ended = open !== null && open.at === null;
  const items = ended ? told.items.filter((item) => item.chat === open.id) : [];
  const listed = new Map(told.chats.map((row) => [row.id, row]));
  // A snapshot lists open chats; a closed one that is looked at stays as it was.
  const looked = open && state.chats.get(open.id);
  if (looked && looked.state === "closed" && !listed.has(looked.id)) listed.set(looked.id, looked);
  return {
    known: true,
    counts: told.counts,
    chats: listed,
    offers: new Map(told.offers.map((offer) => [offer.chat, offer])),
    failures: new Map(told.failures.map((failure) => [failure.chat, failure])),
    open: open && {
      ...open,
      items: merged([], items),
      before: items[0] ? (items[0].seq > 1 ? items[0].seq : null) : ended ? open.before : undefined,
      beyond: ended ? null : 0,
      queue: null,
    },
  };
}

/**
 * A page of the transcript that was asked for: the newest one, or one before what was here when it
 * was `asked` for. Meanwhile somebody may have gone on to another place, or a snapshot have put other
 * items there: it is not taken then.
 */
export function page(state: State, chat: string, got: ItemPage, asked = state.open): State {
  const open = state.open;
  if (open?.id !== chat || open.at !== asked?.at || open.before !== asked.before) return state;
  const first = open.items[0];
  // Not every transcript begins at the first place: nothing lies before an empty page.
  const oldest = got.items[0];
  const older = !first || !oldest || oldest.seq < first.seq;
  const before = older || open.before === undefined ? got.next : open.before;
  // What changed long before the first page, while it was asked for, comes with its own page.
  const from = open.before === undefined ? (got.items[0]?.seq ?? 0) : 0;
  const here = open.items.filter((item) => item.seq >= from);
  return { ...state, open: { ...open, items: merged(here, got.items), before } };
}

/** The page after what is here; nothing lies beyond a page that is empty, as far as was heard. */
export function newer(state: State, chat: string, got: ItemPage): State {
  const open = state.open;
  if (open?.id !== chat || open.beyond === null) return state;
  const items = merged(open.items, got.items);
  const reached = got.items.length === 0 && open.beyond <= (items.at(-1)?.seq ?? 0);
  return { ...state, open: { ...open, items, beyond: reached ? null : open.beyond } };
}

/** The queue as it was asked for. */
export function queue(state: State, chat: string, got: Queue): State {
  if (state.open?.id !== chat) return state;
  return { ...state, open: { ...state.open, queue: got } };
}

/** A row that was asked for, or that a write answered. */
export function row(state: State, got: Row): State {
  const known = state.chats.get(got.id);
  if (known && known.seq > got.seq) return state;
  return { ...state, chats: put(state.chats, got.id, got) };
}

/** Changes, each with the state that its thing has now. */
export function changes(state: State, list: readonly Change[]): State {
  return list.reduce(change, state);
}

function change(state: State, told: Change): State {
  if (told.what === "counts") return told.value ? { ...state, counts: told.value } : state;
  // All others are about a chat.
  return told.chat === null ? state : ofChat(state, { ...told, chat: told.chat });
}

type OfChat<C> = C extends { what: "counts" } ? never : C & { chat: string };

function ofChat(state: State, told: OfChat<Change>): State {
  switch (told.what) {
    case "chat":
      return told.value ? row(state, told.value) : removed(state, told.chat);
    case "removed":
      return removed(state, told.chat);
    case "offer":
      return { ...state, offers: put(state.offers, told.chat, told.value) };
    case "failure":
      return { ...state, failures: put(state.failures, told.chat, told.value) };
    case "item":
      return told.value ? withItems(state, told.chat, [told.value]) : state;
    case "prompt":
      return told.value ? withPrompt(state, told.chat, told.value) : state;
    case "queue":
      return told.value ? queue(state, told.chat, told.value) : state;
    default:
      return state;
  }
}

/** Live text: taken where it goes on exactly where we are; otherwise the next state heals it. */
export function delta(state: State, told: Delta): State {
  const open = state.open;
  if (open?.id !== told.chat || told.field === "input") return state;
  const field: Grown = told.field;
  const at = open.items.findLastIndex((entry) => entry.id === told.item);
  const entry = open.items[at];
  if (!entry || entry.have[field] !== told.at || told.at >= LIVE_TEXT_BYTES_MAX) return state;
  const have = { ...entry.have, [field]: told.at + byteLength(told.text) };
  const grown = { ...withText(entry, field, textOf(entry, field) + told.text), have };
  return { ...state, open: { ...open, items: open.items.with(at, grown) } };
}

function removed(state: State, chat: string): State {
  const open = state.open?.id === chat ? null : state.open;
  const [chats, offers] = [put(state.chats, chat, null), put(state.offers, chat, null)];
  return { ...state, chats, offers, failures: put(state.failures, chat, null), open };
}

function withItems(state: State, chat: string, items: readonly Item[]): State {
  const open = state.open;
  if (open?.id !== chat) return state;
  // What lies before or behind the pages that are here comes with its page.
  const oldest = open.before ?? 0;
  const newest = open.beyond === null ? Number.POSITIVE_INFINITY : (open.items.at(-1)?.seq ?? 0);
  const here = items.filter((item) => item.seq >= oldest && item.seq <= newest);
  const heard = Math.max(open.beyond ?? 0, ...items.map((item) => item.seq));
  const beyond = open.beyond === null ? null : heard;
  return { ...state, open: { ...open, items: merged(open.items, here), beyond } };
}

function withPrompt(state: State, chat: string, prompt: Prompt): State {
  const open = state.open;
  if (open?.id !== chat) return state;
  const at = open.items.findIndex((entry) => entry.id === prompt.item);
  const entry = open.items[at];
  if (!entry) return state;
  return { ...state, open: { ...open, items: open.items.with(at, { ...entry, prompt }) } };
}

/** Items into a list that is kept by `seq`; of one item the newer state stays. */
function merged(old: readonly Entry[], items: readonly Item[]): readonly Entry[] {
  const all = new Map(old.map((entry) => [entry.id, entry]));
  let grew = false;
  for (const item of items) {
    const known = all.get(item.id);
    if (known && known.version > item.version) continue;
    grew ||= !known;
    all.set(item.id, settled(known, item));
  }
  const list = [...all.values()];
  return grew ? list.sort((a, b) => a.seq - b.seq) : list;
}

/** The state that the host tells of an item, with the live text that runs ahead of it. */
function settled(known: Entry | undefined, item: Item): Entry {
  const have = { text: byteLength(item.text), output: byteLength(textOf(item, "output")) };
  let entry: Entry = { ...item, have };
  if (!known) return entry;
  for (const field of ["text", "output"] as const) {
    const [ours, theirs] = [textOf(known, field), textOf(item, field)];
    const ahead = known.have[field] > have[field] && ours.startsWith(theirs);
    const total = (field === "text" ? item.full : item.call?.output.full)?.bytes ?? have[field];
    if (ahead && (!item.closed || known.have[field] <= total)) {
      entry = {
        ...withText(entry, field, ours),
        have: { ...entry.have, [field]: known.have[field] },
      };
    }
  }
  return entry;
}

function textOf(item: Item, field: Grown): string {
  return (field === "text" ? item.text : item.call?.output.text) ?? "";
}

function withText(entry: Entry, field: Grown, text: string): Entry {
  if (field === "text") return { ...entry, text };
  const call = entry.call;
  return call ? { ...entry, call: { ...call, output: { ...call.output, text } } } : entry;
}

function put<T>(map: ReadonlyMap<string, T>, key: string, value: T | null): ReadonlyMap<string, T> {
  if (value === null && !map.has(key)) return map;
  const next = new Map(map);
  if (value === null) next.delete(key);
  else next.set(key, value);
  return next;
}

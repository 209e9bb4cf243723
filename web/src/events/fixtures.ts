// Small states for tests, with all their fields.

import type { Item, Offer, Row, Snapshot } from "./wire.ts";

export function aRow(id: string, more: Partial<Row>): Row {
  return {
    id,
    slot: null,
    title: null,
    agent: "demo",
    model: null,
    mode: null,
    effort: null,
    efforts: [],
    forked_from: null,
    capabilities: [],
    project: null,
    cwd: "/home/a",
    state: "open",
    status: { shown: "idle", lead: "done", since: "", evidence: "", process: "stopped" },
    activity: {
      lead: "done",
      starting: false,
      prompts: [],
      tasks: [],
      more_tasks: 0,
      leftovers: [],
    },
    offer: null,
    failure: null,
    pinned: false,
    folder: null,
    tags: [],
    muted: false,
    unread: false,
    last_prompt: null,
    first_prompt: null,
    queue_length: 0,
    queue_paused: false,
    pending_context: 0,
    user_messages: 0,
    created_at: "",
    updated_at: "",
    seq: 1,
    unreadable: null,
    ...more,
  };
}

export function anItem(id: string, seq: number, text: string): Item {
  return {
    id,
    seq,
    turn: null,
    kind: "message",
    role: "agent",
    at: "",
    parent: null,
    text,
    full: null,
    attachments: [],
    delivery: null,
    call: null,
    prompt: null,
    plan: null,
    notice: null,
    reason: null,
    closed: true,
    version: 1,
    turn_end: false,
  };
}

export function anOffer(chat: string, more: Partial<Offer> = {}): Offer {
  return {
    chat,
    cause: "quit",
    recorded_at: "2026-01-01T00:00:00.000000Z",
    summary: { parts: [], text: "" },
    details: [],
    snapshot: null,
    needs_choice: false,
    resuming: false,
    readable: true,
    ...more,
  };
}

export function aSnapshot(): Snapshot {
  const counts = { running: 0, to_resume: 0, to_check: 0, open: 0, queued: 0 };
  return {
    type: "snapshot",
    cursor: "x-1",
    counts,
    chats: [],
    offers: [],
    failures: [],
    items: [],
  };
}

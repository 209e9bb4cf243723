import { describe, expect, it } from "vitest";
import { anItem, aRow, aSnapshot } from "./fixtures.ts";
import * as apply from "./state.ts";
import { byteLength, EMPTY, type State } from "./state.ts";
import type { Change } from "./wire.ts";

const looking = (state: State = EMPTY) => apply.look(apply.snapshot(state, aSnapshot()), "c");
const item = (value: ReturnType<typeof anItem>): Change => ({ what: "item", chat: "c", value });
const texts = (state: State) => state.open?.items.map((one) => one.text);
const begun = (state: State) => apply.page(state, "c", { items: [], next: null });
const delta = (at: number, text: string) =>
  ({ type: "delta", chat: "c", item: "i1", field: "text", at, text }) as const;

describe("items", () => {
  it("are kept by seq, each in its newest state, however they come", () => {
    const [one, two] = [anItem("i1", 1, "one"), anItem("i2", 2, "two")];
    const late = { ...one, text: "old", version: 0 };
    const state = apply.changes(begun(looking()), [item(two), item(one), item(late), item(two)]);
    expect(texts(state)).toEqual(["one", "two"]);
  });

  it("of other chats are not taken", () => {
    const other: Change = { what: "item", chat: "d", value: anItem("i1", 1, "x") };
    expect(texts(apply.changes(begun(looking()), [other]))).toEqual([]);
  });

  it("before the first page wait for their page", () => {
    const page = { items: [anItem("i5", 5, "five")], next: 5 };
    const state = apply.page(looking(), "c", page);
    expect(texts(apply.changes(state, [item(anItem("i2", 2, "two"))]))).toEqual(["five"]);
    const older = apply.page(state, "c", { items: [anItem("i2", 2, "two")], next: null });
    expect(texts(older)).toEqual(["two", "five"]);
    expect(older.open?.before).toBeNull();
  });

  it("end upwards at an empty page, whatever the first place is", () => {
    const first = apply.page(looking(), "c", { items: [anItem("i21", 21, "21")], next: 21 });
    expect(first.open?.before).toBe(21);
    const ended = apply.page(first, "c", { items: [], next: null });
    expect(ended.open?.before).toBeNull();
    expect(texts(ended)).toEqual(["21"]);
  });

  it("that were asked for before others came in their place are not taken", () => {
    const asked = apply.page(looking(), "c", { items: [anItem("i5", 5, "5")], next: 5 });
    const told = { ...aSnapshot(), items: [{ ...anItem("i90", 90, "90"), chat: "c" }] };
    const now = apply.snapshot(asked, told);
    for (const items of [[], [anItem("i4", 4, "4")]]) {
      expect(apply.page(now, "c", { items, next: null }, asked.open)).toBe(now);
    }
    const [end, elsewhere] = [looking(), apply.look(looking(), "c", 3)];
    expect(apply.page(elsewhere, "c", { items: [], next: null }, end.open)).toBe(elsewhere);
  });

  it("that changed far before the first page leave no hole", () => {
    const early = apply.changes(looking(), [item(anItem("i2", 2, "two"))]);
    const state = apply.page(early, "c", { items: [anItem("i9", 9, "nine")], next: 9 });
    expect(texts(state)).toEqual(["nine"]);
  });

  it("come with a snapshot, whose first says whether there are others before", () => {
    const told = { ...aSnapshot(), items: [{ ...anItem("i7", 7, "seven"), chat: "c" }] };
    expect(apply.snapshot(looking(), told).open?.before).toBe(7);
    const whole = { ...told, items: [{ ...anItem("i1", 1, "one"), chat: "c" }] };
    expect(apply.snapshot(looking(), whole).open?.before).toBeNull();
  });
});

describe("a place further back", () => {
  const at = (seq: number, state: State = EMPTY) =>
    apply.look(apply.snapshot(state, aSnapshot()), "c", seq);
  const page = (...seqs: number[]) => ({
    items: seqs.map((seq) => anItem(`i${seq}`, seq, String(seq))),
    next: (seqs[0] ?? 1) > 1 ? (seqs[0] ?? null) : null,
  });
  const around = apply.page(at(5), "c", page(4, 5, 6));

  it("is read without what is newer, which comes with its page", () => {
    const told = apply.changes(around, [item(anItem("i9", 9, "nine"))]);
    expect(texts(told)).toEqual(["4", "5", "6"]);
    const newer = { ...anItem("i6", 6, "6!"), version: 2 };
    expect(texts(apply.changes(told, [item(newer)]))).toEqual(["4", "5", "6!"]);
    const next = apply.newer(told, "c", page(7, 8));
    expect(texts(next)).toEqual(["4", "5", "6", "7", "8"]);
  });

  it("reaches the end with an empty page, unless something was heard of beyond it", () => {
    expect(apply.newer(around, "c", page()).open?.beyond).toBeNull();
    const heard = apply.changes(around, [item(anItem("i7", 7, "7"))]);
    const still = apply.newer(heard, "c", page());
    expect(still.open?.beyond).toBe(7);
    const ended = apply.newer(apply.newer(still, "c", page(7)), "c", page());
    expect(ended.open?.beyond).toBeNull();
    expect(texts(apply.changes(ended, [item(anItem("i8", 8, "8"))]))?.at(-1)).toBe("8");
  });

  it("is read anew after a snapshot, which tells the end", () => {
    const told = { ...aSnapshot(), items: [{ ...anItem("i9", 9, "nine"), chat: "c" }] };
    // Also where the end had been reached: what was said between is not known.
    const state = apply.snapshot(apply.newer(around, "c", page()), told);
    expect([texts(state), state.open?.before, state.open?.beyond]).toEqual([[], undefined, 0]);
  });

  it("and its end are two places of one chat", () => {
    const end = apply.look(around, "c");
    expect([texts(end), end.open?.before, end.open?.beyond]).toEqual([[], undefined, null]);
    expect(apply.look(around, "c", 5)).toBe(around);
  });
});

describe("live text", () => {
  const growing = apply.changes(begun(looking()), [
    item({ ...anItem("i1", 1, "hé"), closed: false }),
  ]);

  it("is taken where it goes on in bytes, and nowhere else", () => {
    const state = apply.delta(growing, delta(3, "llo €"));
    expect(texts(state)).toEqual(["héllo €"]);
    expect(apply.delta(state, delta(3, "again"))).toBe(state);
    expect(apply.delta(state, delta(99, "later"))).toBe(state);
    expect(texts(apply.delta(state, delta(byteLength("héllo €"), "!")))).toEqual(["héllo €!"]);
  });

  it("is not lost to a state that is behind it, nor doubled by one that holds it", () => {
    const ahead = apply.delta(growing, delta(3, "llo"));
    const behind = { ...anItem("i1", 1, "hél"), closed: false, version: 2 };
    const state = apply.changes(ahead, [item(behind)]);
    expect(texts(state)).toEqual(["héllo"]);
    expect(texts(apply.delta(state, delta(6, "!")))).toEqual(["héllo!"]);
    const same = { ...behind, text: "héllo", version: 3 };
    expect(texts(apply.changes(state, [item(same)]))).toEqual(["héllo"]);
  });

  it("gives way to another text and to the end", () => {
    const ahead = apply.delta(growing, delta(3, "llo"));
    const other = { ...anItem("i1", 1, "ho"), closed: false, version: 2 };
    expect(texts(apply.changes(ahead, [item(other)]))).toEqual(["ho"]);
    const closed = { ...anItem("i1", 1, "hé"), version: 2 };
    expect(texts(apply.changes(ahead, [item(closed)]))).toEqual(["hé"]);
  });

  it("stays longer than the beginning that a state tells of a big text", () => {
    const ahead = apply.delta(growing, delta(3, "llo"));
    const head = { ...anItem("i1", 1, "hé"), full: { bytes: 6, href: "/x" }, version: 2 };
    expect(texts(apply.changes(ahead, [item(head)]))).toEqual(["héllo"]);
  });

  it("grows no further than its bound", () => {
    const big = { ...anItem("i1", 1, "x".repeat(apply.LIVE_TEXT_BYTES_MAX)), closed: false };
    const state = apply.changes(begun(looking()), [item(big)]);
    expect(apply.delta(state, delta(apply.LIVE_TEXT_BYTES_MAX, "more"))).toBe(state);
  });
});

describe("the rest", () => {
  it("keeps the newer row of a chat", () => {
    const newer = apply.row(EMPTY, aRow("c", { seq: 5, title: "new" }));
    expect(apply.row(newer, aRow("c", { seq: 4, title: "old" }))).toBe(newer);
  });

  it("forgets a chat that is removed, with all that belongs to it", () => {
    const state = apply.changes(looking(), [
      { what: "chat", chat: "c", value: aRow("c", {}) },
      { what: "removed", chat: "c", value: null },
    ]);
    expect([state.chats.has("c"), state.open]).toEqual([false, null]);
  });

  it("ends an offer and a failure where they are told as gone", () => {
    const failure = { chat: "c", code: "x", text: "x", actions: [], at: "" };
    const state = apply.changes(looking(), [
      { what: "failure", chat: "c", value: failure },
      { what: "failure", chat: "c", value: null },
    ]);
    expect(state.failures.size).toBe(0);
  });

  it("keeps a closed chat that is looked at across a snapshot", () => {
    const closed = apply.row(looking(), aRow("c", { state: "closed" }));
    expect(apply.snapshot(closed, aSnapshot()).chats.has("c")).toBe(true);
  });

  it("takes in words that it does not know", () => {
    const strange = { what: "weather", chat: "c", value: 7 } as unknown as Change;
    const state = looking();
    expect(apply.changes(state, [strange])).toBe(state);
  });
});

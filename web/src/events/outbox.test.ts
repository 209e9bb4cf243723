import { beforeEach, describe, expect, it, vi } from "vitest";
import { aProblem, type How, Refused, SignedOut, Unreachable } from "./api.ts";
import { Writes } from "./outbox.ts";
import type { Request } from "./request.ts";
import type { Problem } from "./wire.ts";

const write = (text: string, lane = "c") => ({
  method: "POST" as const,
  path: "/x",
  body: { text },
  lane,
});
const problem = (code: Problem["code"]) => aProblem(code, code, 409);

/** A host that answers as it is told, and remembers what it was asked. */
function scene(kept = new Map<string, string>()) {
  const asked: (Request<unknown> & How)[] = [];
  const answers: (() => Promise<unknown>)[] = [];
  const turned: string[] = [];
  const store = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  };
  const make = async <A>(request: Request<A>, how?: How): Promise<A> => {
    asked.push({ ...request, ...how });
    return (await (answers.shift() ?? (async () => ({})))()) as A;
  };
  const signedOut = vi.fn();
  const on = {
    change: () => {},
    turned: (one: { problem: { code: string } }) => void turned.push(one.problem.code),
    signedOut,
  };
  return { asked, answers, turned, signedOut, kept, writes: new Writes(store, on, make) };
}

const gone = () => Promise.reject(new Unreachable(null));

describe("a write", () => {
  beforeEach(() => void vi.useFakeTimers());

  it("is made again with the same key until the host answers", async () => {
    const { writes, answers, asked } = scene();
    answers.push(gone, gone);
    const answer = writes.add(write("a"));
    await vi.advanceTimersByTimeAsync(5000);
    await expect(answer).resolves.toEqual({});
    expect(new Set(asked.map((one) => one.key)).size).toBe(1);
    expect(asked).toHaveLength(3);
    expect(writes.now().writes).toEqual([]);
  });

  it("outlives the page", async () => {
    const first = scene();
    first.answers.push(gone);
    void first.writes.add(write("a"));
    await vi.advanceTimersByTimeAsync(0);
    const second = scene(first.kept);
    expect(second.writes.now().writes).toHaveLength(1);
    second.writes.flush();
    await vi.advanceTimersByTimeAsync(0);
    expect(second.asked[0]?.key).toBe(first.asked[0]?.key);
    expect(scene(first.kept).writes.now().writes).toEqual([]);
  });

  it("waits for the one before it in its lane, and for no other lane", async () => {
    const { writes, answers, asked } = scene();
    answers.push(gone);
    void writes.add(write("a"));
    void writes.add(write("b"));
    void writes.add(write("c", "d"));
    await vi.advanceTimersByTimeAsync(0);
    const bodies = () => asked.map((one) => (one.body as { text: string }).text);
    expect(bodies()).toEqual(["a", "c"]);
    await vi.advanceTimersByTimeAsync(5000);
    expect(bodies()).toEqual(["a", "c", "a", "b"]);
  });

  it("that is refused is over, for who waits and for who does not any more", async () => {
    const { writes, answers, kept, turned } = scene();
    answers.push(() => Promise.reject(new Refused(problem("queue_full"))));
    await expect(writes.add(write("a"))).rejects.toThrow("queue_full");
    expect(writes.now().writes).toEqual([]);
    expect(turned).toEqual([]);
    kept.set("holdfast.writes", JSON.stringify([{ ...write("b"), key: "k" }]));
    const later = scene(kept);
    later.answers.push(() => Promise.reject(new Refused(problem("chat_closed"))));
    later.writes.flush();
    await vi.advanceTimersByTimeAsync(0);
    expect(later.turned).toEqual(["chat_closed"]);
  });

  it("waits until somebody is signed in", async () => {
    const { writes, answers, signedOut, asked } = scene();
    answers.push(() => Promise.reject(new SignedOut()));
    void writes.add(write("a"));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(signedOut).toHaveBeenCalledOnce();
    expect(asked).toHaveLength(1);
    writes.flush();
    await vi.advanceTimersByTimeAsync(0);
    expect(writes.now().writes).toEqual([]);
  });

  it("says why the host could not take it", async () => {
    const { writes, answers } = scene();
    answers.push(() => Promise.reject(new Unreachable(problem("storage_full"))));
    void writes.add(write("a"));
    await vi.advanceTimersByTimeAsync(0);
    expect(writes.now()).toMatchObject({ why: "storage_full", stuck: true });
  });
});

it("passes over what it cannot read of earlier writes", () => {
  const kept = new Map([["holdfast.writes", "{"]]);
  expect(scene(kept).writes.now().writes).toEqual([]);
});

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { address, Stream } from "./stream.ts";
import type { Frame } from "./wire.ts";

it("is at the page's own host, for its chat, after its place", () => {
  const page = { protocol: "http:", host: "localhost:7433" };
  expect(address(page, null, null)).toBe("ws://localhost:7433/api/v1/events");
  const there = "wss://localhost:7433/api/v1/events?after=a-1&chat=chat_1";
  expect(address({ ...page, protocol: "https:" }, "a-1", "chat_1")).toBe(there);
});

/** A socket that does what a test says. */
class Socket {
  static all: Socket[] = [];
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  closed = false;
  readonly url: string;
  constructor(url: string) {
    this.url = url;
    Socket.all.push(this);
  }
  close(): void {
    this.closed = true;
  }
  tell(frame: object): void {
    this.onmessage?.({ data: JSON.stringify(frame) });
  }
  end(code: number): void {
    this.onclose?.({ code });
  }
}

const HELLO = { type: "hello", generation: 1, incarnation: "a", cursor: "a-9", verdict: "ok" };

describe("the stream", () => {
  beforeEach(() => {
    vi.useFakeTimers();
    Socket.all = [];
    vi.stubGlobal("WebSocket", Socket);
  });
  afterEach(() => void vi.unstubAllGlobals());

  const begin = () => {
    const links: string[] = [];
    const frames: Frame[] = [];
    const unwelcome = vi.fn();
    const on = {
      link: (link: string) => void links.push(link),
      frame: (frame: Frame) => void frames.push(frame),
      unwelcome,
    };
    const stream = new Stream(on);
    stream.listen("c");
    const last = () => Socket.all.at(-1) as unknown as Socket;
    return { stream, links, frames, unwelcome, last };
  };

  it("comes back at the place of the last changes, not of the greeting", async () => {
    const { last, links } = begin();
    last().tell(HELLO);
    last().tell({ type: "changes", cursor: "a-3", changes: [] });
    last().end(1006);
    expect(links).toEqual(["connecting", "live", "lost"]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(new URL(last().url).searchParams.get("after")).toBe("a-3");
  });

  it("that was too slow comes back at once, and is not called lost", async () => {
    const { last, links } = begin();
    last().tell(HELLO);
    last().tell({ type: "snapshot", cursor: "a-5" });
    last().end(4408);
    await vi.advanceTimersByTimeAsync(0);
    expect(Socket.all).toHaveLength(2);
    expect(new URL(last().url).searchParams.get("after")).toBe("a-5");
    expect(links).not.toContain("lost");
  });

  it("has no cursor of what could not be taken in", async () => {
    const { last, frames } = begin();
    last().tell(HELLO);
    vi.spyOn(frames, "push").mockImplementationOnce(() => {
      throw new Error("not taken in");
    });
    expect(() => last().tell({ type: "changes", cursor: "a-3", changes: [] })).toThrow();
    last().end(1006);
    await vi.advanceTimersByTimeAsync(1000);
    expect(new URL(last().url).searchParams.get("after")).toBeNull();
  });

  it("asks who is signed in where it is not greeted, and waits longer each time", async () => {
    const { last, unwelcome } = begin();
    for (let times = 0; times < 4; times += 1) {
      last().end(1006);
      await vi.advanceTimersByTimeAsync(6000);
    }
    expect(unwelcome).toHaveBeenCalledTimes(4);
    const before = Socket.all.length;
    last().end(1006);
    await vi.advanceTimersByTimeAsync(1000);
    expect(Socket.all).toHaveLength(before);
  });

  it("hears nothing of a socket that it left", () => {
    const { stream, frames } = begin();
    const [first] = Socket.all;
    stream.listen("d");
    first?.tell(HELLO);
    expect(first?.closed).toBe(true);
    expect(frames).toEqual([]);
  });
});

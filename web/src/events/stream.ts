// The event stream: a socket that comes back by itself, from the place where it was.

import type { Frame } from "./wire.ts";

export type Link = "connecting" | "live" | "lost";

interface On {
  link(link: Link): void;
  frame(frame: Frame): void;
  /** It was never greeted: nobody may be signed in. */
  unwelcome(): void;
}

/** The host cut us since we did not read fast enough; it has nothing against our coming back. */
const TOO_SLOW = 4408;
/** Milliseconds between two attempts. */
const AGAIN_FIRST = 250;
const AGAIN_MOST = 4000;
/** Milliseconds of silence after which a page that is looked at again does not trust its socket. */
const SILENCE_MOST = 45_000;

export class Stream {
  #socket: WebSocket | null = null;
  #cursor: string | null = null;
  #chat: string | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #wait = AGAIN_FIRST;
  #heard = 0;
  #on: On;

  constructor(on: On) {
    this.#on = on;
    window.addEventListener("online", () => this.connect());
    document.addEventListener("visibilitychange", () => {
      const silent = Date.now() - this.#heard > SILENCE_MOST;
      if (document.visibilityState === "visible" && silent) this.connect();
    });
  }

  /** Listens to what happens within this chat; rows, counts and offers come of all. */
  listen(chat: string | null): void {
    this.#chat = chat;
    this.connect();
  }

  /** Begins anew at the place where it was. */
  connect(): void {
    this.stop();
    this.#on.link("connecting");
    const socket = new WebSocket(address(location, this.#cursor, this.#chat));
    this.#socket = socket;
    let greeted = false;
    socket.onmessage = (event: MessageEvent<string>) => {
      if (socket !== this.#socket) return;
      const frame = JSON.parse(event.data) as Frame;
      greeted = true;
      this.#heard = Date.now();
      this.#wait = AGAIN_FIRST;
      // A frame is taken in before its cursor, so that what fails here is told again.
      this.#on.frame(frame);
      if ("cursor" in frame && frame.type !== "hello") this.#cursor = frame.cursor;
      if (frame.type === "hello") this.#on.link("live");
    };
    socket.onclose = (event) => {
      if (socket !== this.#socket) return;
      this.#socket = null;
      if (!greeted) this.#on.unwelcome();
      if (event.code !== TOO_SLOW) this.#on.link("lost");
      this.#again(event.code === TOO_SLOW ? 0 : this.#wait);
    };
  }

  /** Ends, and does not come back by itself. */
  stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
  }

  #again(wait: number): void {
    this.#timer = setTimeout(() => this.connect(), wait * (0.75 + Math.random() / 2));
    this.#wait = Math.min(this.#wait * 2, AGAIN_MOST);
  }
}

/** Where the stream is. */
export function address(
  page: { protocol: string; host: string },
  cursor: string | null,
  chat: string | null,
): string {
  const query = new URLSearchParams();
  if (cursor) query.set("after", cursor);
  if (chat) query.set("chat", chat);
  const scheme = page.protocol === "https:" ? "wss:" : "ws:";
  const text = query.toString();
  return `${scheme}//${page.host}/api/v1/events${text ? `?${text}` : ""}`;
}

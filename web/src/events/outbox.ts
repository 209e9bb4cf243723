// Writes that are on their way. A write is kept until the host has said yes or no: without an answer
// it is made again with the same key, which the host takes once, also after a reload of the page.

import { call, Refused, SignedOut, Unreachable } from "./api.ts";
import { newKey } from "./key.ts";
import type { Request } from "./request.ts";
import type { Problem } from "./wire.ts";

export interface Write extends Request<unknown> {
  key: string;
  /** Writes of one lane arrive in their order. */
  lane: string;
  /** What it is for the person, where that is shown while it waits. */
  message?: { chat: string; text: string };
}

/** What the host refused, where nobody in the page waits for it any more. */
export interface Turned {
  /** The message that it was. */
  message?: { chat: string; text: string };
  problem: Problem;
}

export interface Outbox {
  writes: readonly Write[];
  /** Why the first one could not be made, where the host said why. */
  why: string | null;
  /** Whether somebody waits for an answer that does not come. */
  stuck: boolean;
}

interface Waiter {
  resolve(value: unknown): void;
  reject(fault: unknown): void;
}

interface Store {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

const KEPT_AS = "holdfast.writes";
/** Milliseconds between two attempts. */
const AGAIN_FIRST = 500;
const AGAIN_MOST = 8000;

export class Writes {
  #writes: Write[];
  #busy = new Set<string>();
  #waiters = new Map<string, Waiter>();
  #wait = AGAIN_FIRST;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #why: string | null = null;
  #stuck = false;
  readonly #store: Store;
  readonly #tell: (outbox: Outbox) => void;
  readonly #turned: (turned: Turned) => void;
  readonly #signedOut: () => void;
  readonly #make: typeof call;

  constructor(
    store: Store,
    on: { change(outbox: Outbox): void; turned(turned: Turned): void; signedOut(): void },
    make: typeof call = call,
  ) {
    this.#store = store;
    this.#tell = on.change;
    this.#turned = on.turned;
    this.#signedOut = on.signedOut;
    this.#make = make;
    this.#writes = read(store);
  }

  now(): Outbox {
    return { writes: this.#writes, why: this.#why, stuck: this.#stuck };
  }

  /** Makes a write, now or as soon as the host answers. Rejects with `Refused` alone. */
  add<A>(write: Request<A> & Pick<Write, "lane" | "message">): Promise<A> {
    const whole: Write = { ...write, key: newKey() };
    this.#writes = [...this.#writes, whole];
    this.#keep();
    const answer = new Promise<unknown>((resolve, reject) => {
      this.#waiters.set(whole.key, { resolve, reject });
    });
    this.flush();
    return answer as Promise<A>;
  }

  /** Tries at once: the host is there again, or somebody signed in. */
  flush(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const lanes = new Set(this.#writes.map((write) => write.lane));
    for (const lane of lanes) void this.#drain(lane);
  }

  async #drain(lane: string): Promise<void> {
    if (this.#busy.has(lane)) return;
    this.#busy.add(lane);
    try {
      for (;;) {
        const write = this.#writes.find((one) => one.lane === lane);
        if (!write || !(await this.#attempt(write))) return;
      }
    } finally {
      this.#busy.delete(lane);
    }
  }

  /** Whether the lane may go on. */
  async #attempt(write: Write): Promise<boolean> {
    const waiter = this.#waiters.get(write.key);
    try {
      const { method, path, body, key } = write;
      const request = { method, path, ...(body === undefined ? {} : { body }) };
      const answer = await this.#make(request, { key });
      this.#done(write);
      waiter?.resolve(answer);
      return true;
    } catch (fault) {
      if (fault instanceof Refused) {
        this.#done(write);
        if (waiter) waiter.reject(fault);
        else {
          const { message } = write;
          this.#turned({ ...(message ? { message } : {}), problem: fault.problem });
        }
        return true;
      }
      if (fault instanceof SignedOut) this.#signedOut();
      else this.#later(fault instanceof Unreachable ? (fault.problem?.detail ?? null) : null);
      return false;
    }
  }

  #done(write: Write): void {
    this.#writes = this.#writes.filter((one) => one.key !== write.key);
    this.#waiters.delete(write.key);
    this.#wait = AGAIN_FIRST;
    this.#why = null;
    this.#stuck = false;
    this.#keep();
  }

  #later(why: string | null): void {
    this.#why = why;
    this.#stuck = true;
    this.#tell(this.now());
    if (this.#timer) return;
    this.#timer = setTimeout(() => this.flush(), this.#wait);
    this.#wait = Math.min(this.#wait * 2, AGAIN_MOST);
  }

  #keep(): void {
    try {
      this.#store.setItem(KEPT_AS, JSON.stringify(this.#writes));
    } catch {
      // A full or forbidden storage costs the reload, not the write.
    }
    this.#tell(this.now());
  }
}

function read(store: Store): Write[] {
  try {
    const kept: unknown = JSON.parse(store.getItem(KEPT_AS) ?? "[]");
    return Array.isArray(kept) ? (kept as Write[]) : [];
  } catch {
    return [];
  }
}

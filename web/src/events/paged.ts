// What the host gives in pages, for as long as somebody looks at it.

import { useEffect, useRef, useState } from "react";
import { type Fault, faultOf } from "./act.ts";

interface PageOf<T> {
  items: readonly T[];
  next: string | null;
}

export interface Paged<T, P extends PageOf<T>> {
  /** All pages so far; `null` while the first is asked for. */
  items: readonly T[] | null;
  /** The last page that came. */
  last: P | null;
  fault: Fault | null;
  /** Asks for the next page, where there is one. */
  more: (() => void) | null;
  /** Asks anew after something went wrong. */
  again(): void;
}

interface Got<T, P> {
  key: string;
  items: readonly T[];
  last: P;
}

/**
 * Pages of what `key` names, asked for once it stays the same for `quiet` milliseconds. Nothing is
 * asked without a key.
 */
export function usePaged<T, P extends PageOf<T>>(
  key: string | null,
  quiet: number,
  ask: (before: { before?: string }, signal: AbortSignal) => Promise<P & PageOf<T>>,
): Paged<T, P> {
  const [got, setGot] = useState<Got<T, P> | null>(null);
  const [fault, setFault] = useState<Fault | null>(null);
  const [times, setTimes] = useState(0);
  const asking = useRef(ask);
  asking.current = ask;
  const cancel = useRef<AbortController | null>(null);
  const load = async (old: Got<T, P> | null, wanted: string, signal: AbortSignal) => {
    try {
      const before = old?.last.next ? { before: old.last.next } : {};
      const page = await asking.current(before, signal);
      if (signal.aborted) return;
      setFault(null);
      setGot({ key: wanted, items: [...(old?.items ?? []), ...page.items], last: page });
    } catch (thrown) {
      if (!signal.aborted) setFault(faultOf(thrown));
    }
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked for by key, and again when told
  useEffect(() => {
    setFault(null);
    if (key === null) return;
    const abort = new AbortController();
    cancel.current = abort;
    const timer = setTimeout(() => void load(null, key, abort.signal), quiet);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [key, quiet, times]);
  const mine = got?.key === key ? got : null;
  const signal = cancel.current?.signal;
  const more = mine?.last.next && signal ? () => void load(mine, mine.key, signal) : null;
  return {
    items: mine?.items ?? null,
    last: mine?.last ?? null,
    fault,
    more,
    again: () => setTimes((count) => count + 1),
  };
}

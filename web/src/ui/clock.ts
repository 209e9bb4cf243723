// The time of the page, for ages; one tick for all.

import { useSyncExternalStore } from "react";

const TICK = 30_000;
let now = Date.now();
const listeners = new Set<() => void>();

setInterval(() => {
  now = Date.now();
  for (const listener of listeners) listener();
}, TICK);

export function useNow(): number {
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  return useSyncExternalStore(subscribe, () => now);
}

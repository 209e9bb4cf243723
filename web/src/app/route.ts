// Which screen the address names.

import { useSyncExternalStore } from "react";

export type Screen = "list" | "new" | "history" | "chat";

const listeners = new Set<() => void>();

function tell(): void {
  for (const listener of listeners) listener();
}

if (typeof window !== "undefined") window.addEventListener("popstate", tell);

/** The chat that an address names. */
export function chatOf(path: string): string | null {
  return /^\/chats\/([^/]+)$/.exec(path)?.[1] ?? null;
}

export function screenOf(path: string): Screen {
  if (chatOf(path)) return "chat";
  if (path === "/new") return "new";
  return path === "/history" ? "history" : "list";
}

export function go(path: string): void {
  if (path === location.pathname) return;
  history.pushState(null, "", path);
  tell();
}

/** Follows a link within the page, unless a person wants it elsewhere. */
export function follow(event: React.MouseEvent<HTMLAnchorElement>): void {
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
  event.preventDefault();
  go(event.currentTarget.pathname);
}

export function usePath(): string {
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  return useSyncExternalStore(subscribe, () => location.pathname);
}

// Which screen the address names.

import { useSyncExternalStore } from "react";

export type Screen = "list" | "new" | "before" | "history" | "chat" | "nowhere";

const listeners = new Set<() => void>();
/** How often an address was gone to that was there already. */
let visits = 0;

function tell(): void {
  for (const listener of listeners) listener();
}

if (typeof window !== "undefined") window.addEventListener("popstate", tell);

/** The chat that an address names. */
export function chatOf(path: string): string | null {
  return /^\/chats\/([^/?]+)(\?|$)/.exec(path)?.[1] ?? null;
}

/** The place in its transcript that an address of a chat names: `?at=SEQ`. */
export function placeOf(path: string): number | null {
  const place = /^[^?]*\?at=([1-9]\d{0,14})$/.exec(path)?.[1];
  return place ? Number(place) : null;
}

/** The address of a chat, or of a place in it. */
export function chatPath(chat: string, at: number | null = null): string {
  return at === null ? `/chats/${chat}` : `/chats/${chat}?at=${at}`;
}

export function screenOf(path: string): Screen {
  if (chatOf(path)) return "chat";
  switch (path.split("?")[0]) {
    case "/":
    case "/sign-in":
      return "list";
    case "/new":
      return "new";
    case "/before":
      return "before";
    case "/history":
      return "history";
    default:
      return "nowhere";
  }
}

function address(place: { pathname: string; search: string }): string {
  return place.pathname + place.search;
}

export function go(path: string): void {
  if (path === address(location)) visits += 1;
  else history.pushState(null, "", path);
  tell();
}

/** Follows a link within the page, unless a person wants it elsewhere. */
export function follow(event: React.MouseEvent<HTMLAnchorElement>): void {
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
  event.preventDefault();
  go(address(event.currentTarget));
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function usePath(): string {
  return useSyncExternalStore(subscribe, () => address(location));
}

/** Another number each time somebody goes to where they are: they want to be at its beginning. */
export function useVisit(): number {
  return useSyncExternalStore(subscribe, () => visits);
}

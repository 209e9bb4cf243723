// Which chats a list shows, and in what groups.

import type { Failure, Row } from "../events/wire.ts";

/** What a list is narrowed to. */
export type Only =
  | { by: "all" | "needs_you" | "unread" | "to_check" }
  | { by: "folder"; name: string }
  | { by: "tag"; name: string };

export const ALL: Only = { by: "all" };

export interface Group {
  kind: "pinned" | "folder" | "loose";
  /** The name of the folder. */
  name: string;
  rows: readonly Row[];
}

/** Open chats that are wanted, the last changed first. */
export function narrowed(
  chats: Iterable<Row>,
  only: Only,
  failures: ReadonlyMap<string, Failure>,
): Row[] {
  const open = [...chats].filter((row) => row.state === "open" && isWanted(row, only, failures));
  return open.sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1));
}

function isWanted(row: Row, only: Only, failures: ReadonlyMap<string, Failure>): boolean {
  switch (only.by) {
    case "all":
      return true;
    case "needs_you":
      return needsYou(row);
    case "unread":
      return row.unread;
    case "to_check":
      return row.status.shown === "to_check" || failures.has(row.id);
    case "folder":
      return row.folder === only.name;
    case "tag":
      return row.tags.includes(only.name);
  }
}

/** Whether an agent waits for a person. What was stopped is offered instead. */
export function needsYou(row: Row): boolean {
  return row.state === "open" && row.status.shown === "blocked" && !row.offer;
}

/** How many chats need somebody. */
export function neededIn(chats: Iterable<Row>): number {
  return [...chats].filter(needsYou).length;
}

/** How many chats other than this one need somebody who did not mute them. */
export function neededBeside(chats: Iterable<Row>, here: string): number {
  return neededIn([...chats].filter((row) => row.id !== here && !row.muted));
}

/** Pinned chats first, then folders by their names, then all others. Empty groups are left out. */
export function grouped(rows: readonly Row[]): Group[] {
  const pinned = rows.filter((row) => row.pinned);
  const others = rows.filter((row) => !row.pinned);
  const folders = names(others.map((row) => row.folder)).map((name): Group => {
    return { kind: "folder", name, rows: others.filter((row) => row.folder === name) };
  });
  const groups: Group[] = [
    { kind: "pinned", name: "", rows: pinned },
    ...folders,
    { kind: "loose", name: "", rows: others.filter((row) => row.folder === null) },
  ];
  return groups.filter((group) => group.rows.length > 0);
}

/** Names, each once, in their order. */
export function names(all: Iterable<string | null>): string[] {
  const some = [...new Set(all)].filter((name) => name !== null);
  return some.sort((a, b) => a.localeCompare(b));
}

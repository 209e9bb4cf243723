// What a person changed of a chat.

import type { ChatChange, Row } from "../events/wire.ts";

/** A chat as a form shows it. */
export interface Form {
  title: string;
  folder: string;
  tags: string;
  model: string;
  mode: string;
  effort: string;
}

export function formOf(row: Row): Form {
  return {
    title: row.title ?? "",
    folder: row.folder ?? "",
    tags: row.tags.join(", "),
    model: row.model ?? "",
    mode: row.mode ?? "",
    effort: row.effort ?? "",
  };
}

/** Only what is another than it was: what somebody else changed meanwhile stays. */
export function changeOf(before: Form, now: Form): ChatChange {
  const change: ChatChange = {};
  for (const field of ["title", "folder", "model", "mode", "effort"] as const) {
    if (now[field].trim() !== before[field]) change[field] = now[field].trim();
  }
  const tags = tagsOf(now.tags);
  if (tags.join("\n") !== tagsOf(before.tags).join("\n")) change.tags = tags;
  return change;
}

/** Tags as they are written: with commas between them. */
export function tagsOf(text: string): string[] {
  const tags = text.split(",").map((tag) => tag.trim());
  return [...new Set(tags)].filter((tag) => tag !== "");
}

// What a chat is called and how it is, in words.

import type { Row } from "../events/wire.ts";
import { t, tword } from "../i18n/t.ts";

const NAME_CHARS_MAX = 80;

/** Its title, or the beginning of what was asked first, which stays. */
export function nameOf(row: Row): string {
  const first = row.first_prompt ?? row.last_prompt;
  const name = row.title ?? first?.trim().split("\n")[0] ?? "";
  const short = [...name].slice(0, NAME_CHARS_MAX).join("");
  return short === "" ? t("list.untitled") : short.length < name.length ? `${short}…` : short;
}

/** The last part of its directory. */
export function directoryOf(row: Row): string {
  return row.cwd.split("/").filter(Boolean).at(-1) ?? "/";
}

/** The word for its state. */
export function stateOf(row: Row): string {
  if (row.state === "closed") return t("state.closed");
  if (row.offer) return t("state.toResume");
  const { shown, process } = row.status;
  if (process === "starting" && shown === "working") return t("process.starting");
  return tword("state", shown);
}

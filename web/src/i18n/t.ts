// Texts by their names.

import { type Key, TEXTS } from "./texts.ts";

export type Params = Record<string, string | number>;
type Forms<K> = K extends `${infer Name}.one` ? Name : never;

/** A text with its placeholders filled. */
export function t(key: Key, params: Params = {}): string {
  return TEXTS[key].replaceAll(/\{(\w+)\}/g, (whole, name: string) =>
    String(params[name] ?? whole),
  );
}

/** A text in its form for a count. */
export function tn(name: Forms<Key>, count: number, params: Params = {}): string {
  return t(`${name}.${count === 1 ? "one" : "other"}` as Key, { count, ...params });
}

/** A text whose name ends in a word of the host; an unknown word is shown as it came. */
export function tword(prefix: string, word: string, params: Params = {}): string {
  const key = `${prefix}.${word}`;
  return key in TEXTS ? t(key as Key, params) : word.replaceAll("_", " ");
}

/** How long ago something was, in a word. */
export function ago(at: string, now: number): string {
  const minutes = Math.floor((now - Date.parse(at)) / 60_000);
  if (!(minutes >= 1)) return t("time.now");
  if (minutes < 60) return t("time.minutes", { count: minutes });
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return t("time.hours", { count: hours });
  return t("time.days", { count: Math.floor(hours / 24) });
}

/** A number of bytes for a person. */
export function bytes(count: number): string {
  if (count < 1000) return t("bytes.b", { count });
  if (count < 1_000_000) return t("bytes.kb", { count: Math.round(count / 1000) });
  return t("bytes.mb", { count: (count / 1_000_000).toFixed(1) });
}

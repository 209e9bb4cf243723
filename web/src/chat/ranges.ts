// A big text in ranges of bytes, which may begin and end within a character.

import type { Full } from "../events/wire.ts";

/** Bytes that are asked for first. */
export const RANGE_BYTES = 128 * 1024;
/** Bytes that are asked for at once, at most. */
export const RANGE_BYTES_MAX = 1024 * 1024;

/** What was read after the beginning that came with the item. */
export interface More {
  /** The byte after that beginning. */
  from: number;
  /** The byte after what was read. */
  upto: number;
  text: string;
}

type Fetch = (href: string, init: { headers: Record<string, string> }) => Promise<Response>;

/** Reads the next range, as long as what is here: who goes on wants more each time. Ends before a character that is not whole, except at the very end. */
export async function readMore(
  full: Full,
  old: More | null,
  have: number,
  ask: Fetch = fetch,
): Promise<More> {
  const at = old?.upto ?? have;
  const bytes = Math.min(Math.max(RANGE_BYTES, at), RANGE_BYTES_MAX);
  const end = Math.min(at + bytes, full.bytes);
  const response = await ask(full.href, { headers: { Range: `bytes=${at}-${end - 1}` } });
  if (response.status !== 206) throw new Error(`HTTP ${response.status}`);
  const got = new Uint8Array(await response.arrayBuffer());
  const whole = end === full.bytes ? got.length : wholeCharacters(got);
  const text = new TextDecoder().decode(got.subarray(0, whole));
  return { from: have, upto: at + whole, text: (old?.text ?? "") + text };
}

/** The bytes up to the end of the last whole character. */
export function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(4, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return bytes.length - back + 1;
    if (byte >= 0xc0) {
      const needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return needs === back ? bytes.length : bytes.length - back;
    }
  }
  return bytes.length;
}

import { expect, it } from "vitest";
import { RANGE_BYTES, RANGE_BYTES_MAX, readMore, wholeCharacters } from "./ranges.ts";

const utf8 = new TextEncoder();

it("reads a text in ranges without breaking a character", async () => {
  // Characters of three bytes never fit a range exactly.
  const whole = "€".repeat(2 * RANGE_BYTES_MAX);
  const bytes = utf8.encode(whole);
  const full = { bytes: bytes.length, href: "/x" };
  const asked: number[] = [];
  const ask = async (_: string, init: { headers: Record<string, string> }) => {
    const [, from, to] = /bytes=(\d+)-(\d+)/.exec(init.headers.Range ?? "") ?? [];
    asked.push(Number(to) - Number(from) + 1);
    return new Response(bytes.slice(Number(from), Number(to) + 1), { status: 206 });
  };
  let more = await readMore(full, null, 30, ask);
  while (more.upto < full.bytes) more = await readMore(full, more, 30, ask);
  expect("€".repeat(10) + more.text === whole).toBe(true);
  expect([asked[0], Math.max(...asked)]).toEqual([RANGE_BYTES, RANGE_BYTES_MAX]);
});

it("does not take a whole text for a part", async () => {
  const ask = async () => new Response("all", { status: 200 });
  await expect(readMore({ bytes: 9, href: "/x" }, null, 3, ask)).rejects.toThrow("200");
});

it("finds the last whole character", () => {
  const euro = utf8.encode("a€");
  expect([1, 2, 3, 4].map((end) => wholeCharacters(euro.subarray(0, end)))).toEqual([1, 1, 1, 4]);
  const smile = utf8.encode("😀");
  expect([1, 2, 3, 4].map((end) => wholeCharacters(smile.subarray(0, end)))).toEqual([0, 0, 0, 4]);
});

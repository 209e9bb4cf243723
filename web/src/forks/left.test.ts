import { expect, it } from "vitest";
import { anItem } from "../events/fixtures.ts";
import type { Entry } from "../events/state.ts";
import { type Line, lines, newestEnd } from "./left.ts";

const said = (seq: number, end = false): Entry => ({
  ...anItem(`i${seq}`, seq, `entry ${seq}`),
  have: { text: 0, output: 0 },
  turn_end: end,
});
const back = (seq: number, to: number): Entry => ({
  ...said(seq),
  kind: "notice",
  notice: {
    kind: "went_back",
    to,
    cause: null,
    code: null,
    tried: null,
    tries: null,
    shown: null,
    older: null,
    since: null,
    chat: null,
  },
});
const short = (all: Line[]) =>
  all.map((line) =>
    line.kind === "item"
      ? `${line.item.seq}${line.left ? "-" : ""}`
      : `${line.count} by ${line.by}${line.open ? " open" : ""}`,
  );

it("what was left behind is one line, which opens", () => {
  const items = [said(1), said(2, true), said(3), said(4, true), back(5, 2), said(6)];
  expect(short(lines(items, new Set()))).toEqual(["1", "2", "2 by 5", "5", "6"]);
  const shown = ["1", "2", "2 by 5 open", "3-", "4-", "5", "6"];
  expect(short(lines(items, new Set([5])))).toEqual(shown);
  // So it is where a search led into it.
  expect(short(lines(items, new Set(), 4))).toEqual(shown);
  expect(short(lines(items, new Set(), 2))).toEqual(["1", "2", "2 by 5", "5", "6"]);
  expect(newestEnd(lines(items, new Set([5])))).toBe(2);
});

it("a way back over another takes that with it", () => {
  const items = [said(1), said(2), said(3), back(4, 2), said(5), back(6, 1), said(7)];
  expect(short(lines(items, new Set()))).toEqual(["1", "4 by 6", "6", "7"]);
  expect(short(lines(items, new Set([6])))).toEqual([
    "1",
    "4 by 6 open",
    "2-",
    "3-",
    "4-",
    "5-",
    "6",
    "7",
  ]);
});

it("one that begins above what is here is there as well, and one of nothing is none", () => {
  expect(short(lines([said(8), back(9, 2), said(10)], new Set()))).toEqual(["6 by 9", "9", "10"]);
  expect(short(lines([said(1), back(2, 1)], new Set()))).toEqual(["1", "2"]);
  expect(newestEnd(lines([said(1)], new Set()))).toBe(null);
});

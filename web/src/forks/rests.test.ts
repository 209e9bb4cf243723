import { expect, it } from "vitest";
import { anItem, aRow } from "../events/fixtures.ts";
import type { Row } from "../events/wire.ts";
import { offersBack, offersFork } from "./rests.ts";

const row = (shown: Row["status"]["shown"], can: Row["capabilities"] = ["load", "fork"]) => {
  const plain = aRow("c", { capabilities: can });
  return { ...plain, status: { ...plain.status, shown } };
};

it("a fork is offered below what an agent that can said last, once the chat rests", () => {
  const said = anItem("i1", 1, "so");
  expect(offersFork(row("idle"), said)).toBe(true);
  expect(offersFork(row("monitoring"), said)).toBe(true);
  for (const shown of ["blocked", "working", "to_check"] as const) {
    expect(offersFork(row(shown), said), shown).toBe(false);
  }
  expect(offersFork(row("idle", ["load"]), said)).toBe(false);
  expect(offersFork(row("idle"), { ...said, role: "user" })).toBe(false);
  expect(offersFork(row("idle"), { ...said, kind: "thinking" })).toBe(false);
  expect(offersFork(undefined, said)).toBe(false);
});

it("a way back is offered at the end of a turn that the agent can be taken back to", () => {
  const end = { ...anItem("i1", 1, "so"), turn_end: true };
  const can: Row["capabilities"] = ["fork", "rewind"];
  expect(offersBack(row("idle", can), end)).toBe(true);
  expect(offersBack(row("working", can), end)).toBe(false);
  expect(offersBack(row("idle", ["fork"]), end)).toBe(false);
  expect(offersBack(row("idle", can), { ...end, turn_end: false })).toBe(false);
  expect(offersBack(undefined, end)).toBe(false);
});

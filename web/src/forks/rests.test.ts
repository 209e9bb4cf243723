import { expect, it } from "vitest";
import { anItem, aRow } from "../events/fixtures.ts";
import type { Row } from "../events/wire.ts";
import { offersFork } from "./rests.ts";

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

import { describe, expect, it } from "vitest";
import type { Answered, Prompt } from "../events/wire.ts";
import { grantOf, keptOption } from "./answer.ts";

const by = (who: string): Answered => ({
  option: "always",
  text: null,
  input: null,
  answers: null,
  by: who,
  device: null,
  at: "",
  life: "taken",
});

const prompt = (kind: Prompt["kind"], ...options: string[]): Prompt => ({
  id: "p1",
  item: "i1",
  kind,
  label: "make",
  at: "",
  options: options.map((id) => ({ id, label: id, kind: id })),
  questions: null,
  state: "open",
  answer: null,
});

describe("an answer", () => {
  it("of a grant is told from those of persons, whatever they are called", () => {
    expect(grantOf(by("grant g7"))).toBe("g7");
    for (const who of ["owner", "grant", "grant g", "grant g7 ", "a grant g7", "Grant g7"]) {
      expect(grantOf(by(who)), who).toBeNull();
    }
  });
});

describe("the option that is kept", () => {
  it("is that of an approval that is for good", () => {
    expect(keptOption(prompt("approval", "allow_once", "allow_always"))?.id).toBe("allow_always");
    expect(keptOption(prompt("approval", "allow_once", "reject_always"))).toBeNull();
    expect(keptOption(prompt("question", "allow_always"))).toBeNull();
  });
});

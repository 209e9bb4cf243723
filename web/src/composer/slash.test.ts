import { expect, it } from "vitest";
import { completed, isBegun, proposed, written } from "./slash.ts";

const command = (name: string, hint = "") => ({ name, description: `does ${name}`, hint });
const COMMANDS = [
  command("memory"),
  command("memory show", "[what]"),
  command("Compact"),
  command("recompute", "FILE"),
];
const names = (text: string) => proposed(text, COMMANDS).map((one) => one.name);

it("proposes what begins so, then what holds it, and nothing for another text", () => {
  expect(names("/")).toEqual(["memory", "memory show", "Compact", "recompute"]);
  expect(names("/comp")).toEqual(["Compact", "recompute"]);
  expect(names("/memory s")).toEqual(["memory show"]);
  for (const text of ["", "comp", " /comp", "a /comp", "/comp\n", "/recompute ", "/none"]) {
    expect(names(text), text).toEqual([]);
  }
  expect(isBegun("/usr/bin is a path")).toBe(true);
  expect(names("/usr/bin is a path")).toEqual([]);
});

it("completes a command with room for what follows, where something may", () => {
  expect(completed(command("a"))).toBe("/a");
  expect(completed(command("a", "FILE"))).toBe("/a ");
});

it("knows the command that is written by its longest name", () => {
  expect(written("/memory show it", COMMANDS)?.name).toBe("memory show");
  expect(written("/memory", COMMANDS)?.name).toBe("memory");
  expect(written("/memoryx", COMMANDS)).toBeUndefined();
});

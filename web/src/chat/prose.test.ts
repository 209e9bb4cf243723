import { expect, it } from "vitest";
import { split } from "./prose.ts";

it("finds fenced code between words", () => {
  const text = "Look:\n\n```ts\nlet a = 1;\n\nlet b;\n```\n\nThere.";
  expect(split(text)).toEqual([
    { kind: "words", text: "Look:" },
    { kind: "code", text: "let a = 1;\n\nlet b;" },
    { kind: "words", text: "There." },
  ]);
});

it("takes a fence that is still open as code, and loses no line", () => {
  expect(split("a\n```\nb\nc")).toEqual([
    { kind: "words", text: "a" },
    { kind: "code", text: "b\nc" },
  ]);
});

it("ends a fence only with one like it", () => {
  expect(split("````\n```\nx\n```\n````")).toEqual([{ kind: "code", text: "```\nx\n```" }]);
});

it("keeps what begins a line", () => {
  expect(split("  indented\n    more")).toEqual([{ kind: "words", text: "  indented\n    more" }]);
  expect(split("")).toEqual([]);
});

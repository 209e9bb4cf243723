import { expect, it } from "vitest";
import { aRow } from "../events/fixtures.ts";
import { changeOf, formOf, tagsOf } from "./edit.ts";

it("sends only what was changed", () => {
  const before = formOf(aRow("c", { title: "Shop", tags: ["a", "b"], model: "big" }));
  expect(changeOf(before, before)).toEqual({});
  expect(changeOf(before, { ...before, tags: " a,b , " })).toEqual({});
  expect(changeOf(before, { ...before, title: " Store ", folder: "Work" })).toEqual({
    title: "Store",
    folder: "Work",
  });
  expect(changeOf(before, { ...before, tags: "b", model: "" })).toEqual({ tags: ["b"], model: "" });
});

it("reads tags with commas between them", () => {
  expect(tagsOf("a, b c,,a")).toEqual(["a", "b c"]);
  expect(tagsOf(" ")).toEqual([]);
});

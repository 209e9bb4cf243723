import { expect, it } from "vitest";
import { moved } from "./order.ts";

it("moves one and keeps the order of the others", () => {
  expect(moved(["a", "b", "c"], 0, 1)).toEqual(["b", "a", "c"]);
  expect(moved(["a", "b", "c"], 2, 0)).toEqual(["c", "a", "b"]);
});

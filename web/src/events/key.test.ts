import { expect, it } from "vitest";
import { newKey } from "./key.ts";

it("is a UUIDv7 with its time, and never the same", () => {
  const key = newKey(0x0123456789ab);
  expect(key).toMatch(/^01234567-89ab-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(newKey()).not.toBe(newKey());
});

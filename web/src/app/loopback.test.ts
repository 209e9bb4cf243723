import { expect, it } from "vitest";
import { isLoopback } from "./loopback.ts";

it.each([
  ["localhost", true],
  ["a.localhost", true],
  ["127.0.0.1", true],
  ["[::1]", true],
  ["192.168.0.7", false],
  ["127.example.org", false],
  ["localhost.example.org", false],
])("%s leads to the machine itself: %s", (name, here) => {
  expect(isLoopback(name)).toBe(here);
});

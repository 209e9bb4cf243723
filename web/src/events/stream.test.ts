import { expect, it } from "vitest";
import { address } from "./stream.ts";

it("goes on at its place, for its chat, on the page's own host", () => {
  const page = { protocol: "http:", host: "localhost:7433" };
  expect(address(page, null, null)).toBe("ws://localhost:7433/api/v1/events");
  const there = "wss://localhost:7433/api/v1/events?after=a-1&chat=chat_1";
  expect(address({ ...page, protocol: "https:" }, "a-1", "chat_1")).toBe(there);
});

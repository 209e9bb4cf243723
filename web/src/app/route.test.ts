import { expect, it } from "vitest";
import { chatOf, screenOf } from "./route.ts";

it.each([
  ["/", "list"],
  ["/new", "new"],
  ["/history", "history"],
  ["/chats/chat_1", "chat"],
  ["/chats/", "list"],
  ["/elsewhere", "list"],
])("%s is the screen %s", (path, screen) => {
  expect(screenOf(path)).toBe(screen);
});

it("names a chat", () => {
  expect([chatOf("/chats/chat_1"), chatOf("/chats/a/b")]).toEqual(["chat_1", null]);
});

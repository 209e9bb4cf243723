import { expect, it } from "vitest";
import { chatOf, chatPath, placeOf, screenOf } from "./route.ts";

it.each([
  ["/", "list"],
  ["/new", "new"],
  ["/before", "before"],
  ["/history", "history"],
  ["/chats/chat_1", "chat"],
  ["/chats/chat_1?at=7", "chat"],
  ["/sign-in", "list"],
  ["/chats/", "nowhere"],
  ["/elsewhere", "nowhere"],
])("%s is the screen %s", (path, screen) => {
  expect(screenOf(path)).toBe(screen);
});

it("names a chat", () => {
  expect([chatOf("/chats/chat_1"), chatOf("/chats/a/b")]).toEqual(["chat_1", null]);
});

it("names a place in a chat", () => {
  expect(chatOf(chatPath("chat_1", 7))).toBe("chat_1");
  const places = ["/chats/c?at=7", "/chats/c?at=x", "/chats/c?at=0", chatPath("c")].map(placeOf);
  expect(places).toEqual([7, null, null, null]);
});

import { expect, it } from "vitest";
import { to } from "./request.ts";

it("fills the path and the query, and leaves out what was not said", () => {
  expect(to("GET", "/chats/{chat}/items", { at: { chat: "a/b" }, query: { before: 3 } })).toEqual({
    method: "GET",
    path: "/chats/a%2Fb/items?before=3",
  });
  const query = { q: "a b&c", before: undefined as never };
  expect(to("GET", "/search", { query }).path).toBe("/search?q=a+b%26c");
});

it("gives a write a body", () => {
  const at = { chat: "c" };
  expect(to("POST", "/chats/{chat}/reopen", { at }).body).toEqual({});
  expect(to("DELETE", "/chats/{chat}", { at }).body).toBeUndefined();
  expect(to("PATCH", "/chats/{chat}", { at, body: { pinned: true } }).body).toEqual({
    pinned: true,
  });
});

it("does not compile where the document has no such thing", () => {
  // @ts-expect-error the document has no such path
  to("POST", "/nothing");
  // @ts-expect-error a chat has no such field
  to("PATCH", "/chats/{chat}", { at: { chat: "c" }, body: { colour: "red" } });
  // @ts-expect-error the path names a chat
  to("GET", "/chats/{chat}", {});
  // @ts-expect-error a list is not asked for by a name
  to("GET", "/chats", { query: { name: "a" } });
});

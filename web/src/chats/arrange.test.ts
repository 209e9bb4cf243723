import { expect, it } from "vitest";
import { aRow } from "../events/fixtures.ts";
import type { Row } from "../events/wire.ts";
import { ALL, grouped, names, narrowed, neededBeside, neededIn, type Only } from "./arrange.ts";

const blocked = { ...aRow("any", {}).status, shown: "blocked" as const };
const rows = [
  aRow("old", { updated_at: "2026-01-01", folder: "Work", tags: ["a"] }),
  aRow("new", { updated_at: "2026-01-03", unread: true }),
  aRow("pinned", { updated_at: "2026-01-02", pinned: true, folder: "Work", status: blocked }),
  aRow("home", { updated_at: "2026-01-02", folder: "Home", tags: ["a", "b"] }),
  aRow("closed", { updated_at: "2026-01-04", state: "closed" }),
];
const none = new Map();

it("shows open chats, the last changed first", () => {
  const ids = narrowed(rows, ALL, none).map((row) => row.id);
  expect([ids[0], ids.at(-1), ids.length]).toEqual(["new", "old", 4]);
});

it.each<[Only, string[]]>([
  [{ by: "unread" }, ["new"]],
  [{ by: "needs_you" }, ["pinned"]],
  [{ by: "folder", name: "Work" }, ["old", "pinned"]],
  [{ by: "tag", name: "a" }, ["home", "old"]],
  [{ by: "to_check" }, ["home"]],
])("narrows to %j", (only, ids) => {
  const failure = { chat: "home", code: "x", text: "", actions: [], at: "" };
  const failures = new Map([["home", failure]]);
  const found = narrowed(rows, only, failures).map((row) => row.id);
  expect(found.sort()).toEqual(ids.sort());
});

it("groups pinned ones first, whatever their folder, then folders, then others", () => {
  const groups = grouped(narrowed(rows, ALL, none));
  const said = groups.map((group) => [group.kind, group.name, group.rows.map((row) => row.id)]);
  expect(said).toEqual([
    ["pinned", "", ["pinned"]],
    ["folder", "Home", ["home"]],
    ["folder", "Work", ["old"]],
    ["loose", "", ["new"]],
  ]);
});

it("names each once", () => {
  expect(names(["b", null, "a", "b"])).toEqual(["a", "b"]);
});

it("counts whom an agent waits for, beside a chat without those that are muted", () => {
  const offer = { text: "", recorded_at: "" } as unknown as NonNullable<Row["offer"]>;
  const chats = [
    ...rows,
    aRow("muted", { status: blocked, muted: true }),
    aRow("closed", { status: blocked, state: "closed" }),
    aRow("stopped", { status: blocked, offer }),
  ];
  expect(neededIn(chats)).toBe(2);
  expect([neededBeside(chats, "old"), neededBeside(chats, "pinned")]).toEqual([1, 0]);
});

import { describe, expect, it } from "vitest";
import { anOffer, aRow } from "../events/fixtures.ts";
import type { Action } from "../events/wire.ts";
import {
  askedOf,
  type Branch,
  build,
  fresh,
  key,
  leaves,
  lines,
  tickOf,
  toggle,
  wanted,
} from "./tree.ts";

const chats = new Map([
  ["a", aRow("a", { cwd: "/w/api", title: "A" })],
  ["b", aRow("b", { cwd: "/w/api", title: "B" })],
  ["c", aRow("c", { cwd: "/w/shop", title: "C" })],
]);
const failed = (chat: string, ...actions: Action[]) =>
  new Map([[chat, { chat, code: "x", text: "x", actions, at: "" }]]);
const name = (row: { title: string | null } | undefined) => row?.title ?? "?";
const offers = ["a", "b", "c"].map((id) => anOffer(id));
const tree = build(offers, chats, new Map(), name);
const shape = (nodes: typeof tree) =>
  lines(nodes, new Set()).map((line) => `${line.level} ${line.node.label}`);

function one(label: string): Branch {
  return { kind: "directory", id: label, label, nodes: [] };
}

describe("the tree", () => {
  it("goes by directory, and by project where there are projects", () => {
    expect(shape(tree)).toEqual(["1 /w/api", "2 A", "2 B", "1 /w/shop", "2 C"]);
    const projects = new Map(chats).set(
      "c",
      aRow("c", { project: "Shop", cwd: "/w/shop", title: "C" }),
    );
    expect(shape(build(offers, projects, new Map(), name))).toEqual([
      "1 ",
      "2 /w/api",
      "3 A",
      "3 B",
      "1 Shop",
      "2 /w/shop",
      "3 C",
    ]);
  });

  it("shows an offer whose chat cannot be read", () => {
    expect(shape(build([anOffer("z", { readable: false })], chats, new Map(), name))).toEqual([
      "1 /",
      "2 ?",
    ]);
  });

  it("ticks what is fresh, and lets nothing be ticked that no retry mends", () => {
    expect(fresh(tree)).toEqual(new Set(["a", "b", "c"]));
    const hopeless = build(offers, chats, failed("a", "start_fresh_with_recap"), name);
    expect(fresh(hopeless)).toEqual(new Set(["b", "c"]));
    expect(leaves(hopeless).map((leaf) => tickOf(leaf, new Set(["a"])))[0]).toBeNull();
    const retry = build(offers, chats, failed("a", "retry"), name);
    expect(fresh(retry)).toEqual(new Set(["b", "c"]));
    expect(toggle(retry, new Set(["b", "c"]))).toEqual(new Set(["a", "b", "c"]));
  });

  it("has three states for a branch", () => {
    const [api = one("nothing")] = tree;
    expect([[], ["a"], ["a", "b"]].map((ids) => tickOf(api, new Set(ids)))).toEqual([
      "none",
      "some",
      "all",
    ]);
    expect(toggle([api], new Set(["a", "c"]))).toEqual(new Set(["a", "b", "c"]));
    expect(toggle([api], new Set(["a", "b", "c"]))).toEqual(new Set(["c"]));
  });

  it("asks for what is ticked as it was seen, and leaves out what needs a choice", () => {
    const doubt = build(
      [anOffer("a", { needs_choice: true }), anOffer("c")],
      chats,
      new Map(),
      name,
    );
    const ticked = new Set(["a", "c"]);
    expect(wanted(doubt, ticked, new Map()).map((one) => one.chat)).toEqual(["c"]);
    expect(wanted(doubt, ticked, new Map([["a", "arrived"]]))[0]).toEqual({
      chat: "a",
      recorded_at: anOffer("a").recorded_at,
      choice: "arrived",
    });
    expect(
      wanted(build([anOffer("a", { resuming: true })], chats, new Map(), name), ticked, new Map()),
    ).toEqual([]);
  });
});

describe("keys", () => {
  const seen = lines(tree, new Set());
  const [api = "", shop = ""] = tree.map((node) => node.id);
  it.each([
    ["ArrowDown", api, { focus: "a" }],
    ["ArrowUp", api, { focus: api }],
    ["ArrowUp", shop, { focus: "b" }],
    ["Home", "c", { focus: api }],
    ["End", api, { focus: "c" }],
    ["ArrowLeft", "b", { focus: api }],
    ["ArrowLeft", api, { shut: api }],
    ["ArrowRight", api, { focus: "a" }],
    ["ArrowRight", "a", null],
    [" ", "a", { toggle: "a" }],
    ["Enter", "a", { resume: true }],
    ["x", "a", null],
  ])("%s at %s", (name, focus, move) => {
    expect(key(name, seen, focus, new Set())).toEqual(move);
  });

  it("open what is shut", () => {
    const closed = new Set([api]);
    expect(lines(tree, closed).map((line) => line.node.label)).toEqual(["/w/api", "/w/shop", "C"]);
    expect(key("ArrowRight", lines(tree, closed), api, closed)).toEqual({ open: api });
  });
});

it("tells what a chat was last asked, not what still waits", () => {
  const asked = { title: "A", last_prompt: "Do it" };
  expect(askedOf(aRow("a", asked))).toBe("Do it");
  expect(askedOf(aRow("a", { ...asked, queue_length: 1 }))).toBe(null);
  expect(askedOf(aRow("a", { ...asked, title: null }))).toBe(null);
});

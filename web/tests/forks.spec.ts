import type { Browser, Page as Tab } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ItemPage, Row } from "../src/events/wire.ts";
import { accessible, context, faults, open, said, signedIn, until } from "./browser.ts";
import { TestHost } from "./host.ts";

/** Items that a fork shows of the other chat, at most. */
const FORK_ITEMS_MAX = 2000;

const host = new TestHost();
let browser: Browser;
let page: Tab;
let noted: string[];

beforeAll(async () => {
  await host.start();
  browser = await open();
  page = await signedIn(await context(browser), host);
  noted = faults(page);
});

afterAll(async () => {
  await browser.close();
  await host.remove();
});

const main = () => page.getByRole("region", { name: "Chat", exact: true });
const header = () => main().getByRole("banner").or(main().locator("header")).first();
const transcript = () => page.getByRole("region", { name: "Transcript" });
const send = async (text: string) => {
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.getByRole("textbox", { name: "Message" }).press("Enter");
};
const menu = async (item: string) => {
  await main().getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem", { name: item, exact: true }).click();
};
const goTo = (chat: string) => page.goto(`${host.url}/chats/${chat}`);
const here = () => new URL(page.url()).pathname.split("/").at(-1) ?? "";
const elsewhere = (chat: string) => until("another chat", () => here() !== chat && here());
const idle = (chat: string) =>
  until("it rests", async () => {
    const row = await host.call<Row>("GET", `/chats/${chat}`);
    return row.status.shown === "idle";
  });

test("a chat is forked at its end, and the other agent knows what was said", async () => {
  const first = await host.chat({ title: "The shop", message: "[[say one]]" });
  await goTo(first);
  await until("it is said", async () => (await said(page)).includes("one"));
  await transcript().getByRole("button", { name: "Fork from here" }).click();
  const second = await elsewhere(first);
  const notice = transcript().getByText("Here this chat was forked from “The shop”.");
  await notice.getByText("Anything older than what is shown here is there.").waitFor();
  expect(await said(page)).toEqual(["one"]);
  await header().getByRole("link", { name: "“The shop”" }).waitFor();
  expect((await host.call<Row>("GET", `/chats/${second}`)).forked_from).toBe(first);
  await accessible(page);
  await send("[[count]]");
  await until("both messages are known", async () => (await said(page)).at(-1) === "2");
  // The agent's own log: the other session was asked once, and is not the first one's.
  const prompts = host.notes().filter((note) => note.prompt !== undefined);
  expect(prompts.map((note) => note.prompt)).toEqual(["[[say one]]", "[[count]]"]);
  expect(new Set(prompts.map((note) => note.session)).size).toBe(2);
  await transcript().getByRole("link", { name: "“The shop”" }).click();
  expect(here()).toBe(first);
  await until("the first is as it was", async () => (await said(page)).join() === "one");
  await page.goBack();
  await page
    .getByRole("navigation", { name: "Open chats" })
    .getByRole("link", { name: /forked from another chat/ })
    .waitFor();
});

test("what cannot be forked is said where it was asked for", async () => {
  const chat = await host.chat({ title: "Refused" });
  await goTo(chat);
  await page.getByText("Nothing was said yet.").waitFor();
  await menu("Fork");
  const alert = main().getByRole("alert");
  await alert.getByText("Nothing was said here yet that could be forked.").waitFor();
  await send("[[say a]] [[slow 600]]");
  await until("it is said", async () => (await said(page)).includes("a"));
  expect(await page.getByRole("button", { name: "Fork from here" }).count()).toBe(0);
  await menu("Fork");
  await alert.getByText("A turn is running. Wait for its end, or stop it.").waitFor();
  await accessible(page);
  expect(here()).toBe(chat);
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await idle(chat);
  await menu("Fork");
  await elsewhere(chat);
});

test("who went on meanwhile is not taken to the fork", async () => {
  const chat = await host.chat({ title: "Slow host", message: "[[say so]]" });
  const other = await host.chat({ title: "Elsewhere" });
  await goTo(chat);
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route("**/fork", async (route) => {
    await held;
    await route.continue();
  });
  await transcript().getByRole("button", { name: "Fork from here" }).click();
  const list = page.getByRole("navigation", { name: "Open chats" });
  await list.getByRole("link", { name: /Elsewhere/ }).click();
  const answered = page.waitForResponse("**/fork");
  release();
  await (await answered).finished();
  await list.getByRole("link", { name: /Slow host.*forked/ }).waitFor();
  expect(here()).toBe(other);
  await page.unroute("**/fork");
});

test("a fork says when the chat that it came from is gone, and whenever it goes", async () => {
  const first = await host.chat({ title: "Short-lived", message: "[[say here]]" });
  await goTo(first);
  await transcript().getByRole("button", { name: "Fork from here" }).click();
  const second = await elsewhere(first);
  await header().getByRole("link", { name: "“Short-lived”" }).waitFor();
  // A closed chat is in no list, and still there.
  await host.call("POST", `/chats/${first}/close`, {});
  await page.reload();
  await header().getByRole("link", { name: "“Short-lived”" }).click();
  await page.getByText("This chat is closed.").waitFor();
  await transcript().getByRole("button", { name: "Fork from here" }).click();
  await elsewhere(first);
  await goTo(second);
  await header().getByRole("link", { name: "“Short-lived”" }).waitFor();
  await host.call("DELETE", `/chats/${first}`);
  await header().getByText("forked from a chat that is not there any more").waitFor();
  await transcript().getByText("Anything older than what is shown here is gone with it.").waitFor();
  await page.reload();
  await header().getByText("forked from a chat that is not there any more").waitFor();
  expect(await said(page)).toEqual(["here"]);
  await accessible(page);
  expect(here()).toBe(second);
});

test("what a fork was not given is found upwards", async () => {
  const says = Array.from({ length: FORK_ITEMS_MAX + 60 }, (_, at) => `[[say part ${at + 1}.]]`);
  const first = await host.chat({ title: "Long", message: says.join("") });
  await idle(first);
  // Where its end is not looked at, the end is where it is forked all the same.
  await page.goto(`${host.url}/chats/${first}?at=5`);
  await transcript().getByText("Found here").waitFor();
  await menu("Fork");
  const second = await elsewhere(first);
  const items = await host.call<ItemPage>("GET", `/chats/${second}/items?after=0&limit=1`);
  const from = items.items[0]?.seq ?? 0;
  expect(from).toBeGreaterThan(50);
  // A place before the first leads to the first.
  await page.goto(`${host.url}/chats/${second}?at=1`);
  const earlier = transcript().getByText("What came before is in “Long”");
  await earlier.waitFor();
  await accessible(page);
  await page.goto(`${host.url}/chats/${second}?at=${from + 3}`);
  await transcript().focus();
  await until("the beginning", async () => {
    await page.keyboard.press("PageUp");
    return await earlier.isVisible();
  });
  expect(await transcript().getByText("Loading what came before…").count()).toBe(0);
  await earlier.getByRole("link", { name: "“Long”" }).click();
  expect(page.url()).toBe(`${host.url}/chats/${first}?at=${from - 1}`);
  await transcript().getByText("Found here").waitFor();
  expect(noted).toEqual([]);
});

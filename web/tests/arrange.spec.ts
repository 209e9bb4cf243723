import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Row } from "../src/events/wire.ts";
import { accessible, context, faults, open, PHONE, signedIn, until } from "./browser.ts";
import { TestHost } from "./host.ts";

const host = new TestHost();
let browser: Browser;
let page: Page;
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

const row = (id: string) => host.call<Row>("GET", `/chats/${id}`);
const list = () => page.getByRole("navigation", { name: "Open chats" });
const line = (title: string) => list().getByRole("listitem").filter({ hasText: title });
const composer = () => page.getByRole("textbox", { name: "Message" });
const menu = async (item: string) => {
  const chat = page.getByRole("region", { name: "Chat", exact: true });
  await chat.getByRole("button", { name: "Chat menu" }).click();
  await page.getByRole("menuitem", { name: item, exact: true }).click();
};
const look = async (title: string) => {
  await line(title).getByRole("link").click();
  await page.getByRole("heading", { name: title }).waitFor();
};

test("a chat is filed, tagged, tuned and pinned, and the list is narrowed to it", async () => {
  const chat = await host.chat({ title: "Cart" });
  await host.chat({ title: "Loose" });
  await look("Cart");
  await menu("Edit…");
  const dialog = page.getByRole("dialog", { name: "Edit chat" });
  await accessible(page);
  expect(await dialog.getByLabel("Title").inputValue()).toBe("Cart");
  await dialog.getByLabel("Folder").fill("Shop");
  await dialog.getByLabel("Tags").fill("bug, money");
  await dialog.getByLabel("Model").fill("large");
  await dialog.getByLabel("Mode", { exact: true }).fill("careful");
  await dialog.getByLabel("Mode", { exact: true }).press("Enter");
  await dialog.waitFor({ state: "detached" });
  await page.getByText(/demo · large · careful · .* · in Shop · #bug · #money/).waitFor();
  expect(await row(chat)).toMatchObject({
    title: "Cart",
    folder: "Shop",
    tags: ["bug", "money"],
    model: "large",
    mode: "careful",
  });
  await list().getByRole("heading", { name: "Shop" }).waitFor();
  await accessible(page);
  // A folder that is closed shows nothing of its chats, also after a reload.
  await list().getByRole("heading", { name: "Shop" }).click();
  await line("Cart").waitFor({ state: "hidden" });
  await page.reload();
  await line("Loose").waitFor();
  expect(await line("Cart").isVisible()).toBe(false);
  const only = page.getByRole("combobox", { name: "Which chats" });
  await only.selectOption({ label: "#money" });
  await line("Loose").waitFor({ state: "detached" });
  await only.selectOption({ label: "Unread" });
  await list().getByText("No open chat is so.").waitFor();
  await list().getByRole("button", { name: "Show all" }).click();
  await menu("Pin");
  await list().getByRole("heading", { name: "Pinned" }).waitFor();
  await menu("Mute");
  await line("Cart").getByText("muted").waitFor({ state: "attached" });
  expect(await row(chat)).toMatchObject({ pinned: true, muted: true });
});

test("a pinned chat is not deleted, and the dialog says so", async () => {
  const chat = (await row((await rows("Cart"))[0] ?? "")).id;
  await menu("Delete chat");
  const dialog = page.getByRole("dialog", { name: "Delete this chat?" });
  await dialog.getByRole("button", { name: "Delete chat" }).click();
  await dialog.getByRole("alert").getByText("The chat is pinned. Unpin it first").waitFor();
  await accessible(page);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  expect((await row(chat)).state).toBe("open");
  await menu("Unpin");
  await until("it is not", async () => !(await row(chat)).pinned);
  await menu("Delete chat");
  await dialog.getByRole("button", { name: "Delete chat" }).click();
  await line("Cart").waitFor({ state: "detached" });
  await page.getByText("Pick a chat, or start a new one.").waitFor();
});

/** The ids of chats that have this title. */
async function rows(title: string): Promise<string[]> {
  const page = await host.call<{ items: Row[] }>("GET", "/chats");
  return page.items.filter((one) => one.title === title).map((one) => one.id);
}

test("what nobody looked at is unread, until somebody does", async () => {
  const chat = await host.chat({ title: "News", message: "[[say Something new.]]" });
  await line("News").getByText("unread").waitFor({ state: "attached" });
  expect((await row(chat)).unread).toBe(true);
  await look("News");
  await until("it was seen", async () => !(await row(chat)).unread);
  await line("News").getByText("unread").waitFor({ state: "detached" });
  // What comes while somebody looks at it is seen as well.
  await host.call("POST", `/chats/${chat}/messages`, { text: "[[say More.]]" });
  await page.getByText("More.", { exact: true }).waitFor();
  await until("that too", async () => {
    const now = await row(chat);
    return now.status.shown === "idle" && !now.unread;
  });
  await menu("Mark as unread");
  await page.getByText("Pick a chat, or start a new one.").waitFor();
  await line("News").getByText("unread").waitFor({ state: "attached" });
  expect((await row(chat)).unread).toBe(true);
});

test("a refusal is said where it was asked for", async () => {
  const chat = await host.chat({ title: "Refusals" });
  await look("Refusals");
  await menu("Edit…");
  const dialog = page.getByRole("dialog", { name: "Edit chat" });
  await dialog.getByLabel("Title").fill(" ");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByRole("alert").getByText(/title/).waitFor();
  expect(await dialog.getByLabel("Title").getAttribute("aria-invalid")).toBe("true");
  await dialog.getByLabel("Title").fill("Refusals");
  await dialog.getByLabel("Tags").fill("x".repeat(33));
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByRole("alert").getByText(/32/).waitFor();
  await page.keyboard.press("Escape");
  expect(await row(chat)).toMatchObject({ title: "Refusals", tags: [] });

  // Longer than a message may be: neither the draft nor the message is taken, and no word is lost.
  const long = "x".repeat(1024 * 1024 + 1);
  const region = page.getByRole("region", { name: "Chat", exact: true });
  await composer().fill(long);
  await region.getByRole("alert").getByText("does not keep this draft").waitFor();
  await composer().press("Enter");
  await region.getByRole("alert").getByText("This message was not sent").waitFor();
  await region.getByRole("button", { name: "Put the text back" }).click();
  expect((await composer().inputValue()).length).toBe(long.length);
  await composer().fill("");
  expect(host.notes().filter((note) => note.prompt === long)).toEqual([]);

  // Somebody else deleted it meanwhile.
  await host.call("POST", `/chats/${chat}/close`, {});
  await page.getByRole("link", { name: "Closed chats" }).click();
  const reopen = page.getByRole("button", { name: "Reopen Refusals" });
  await reopen.waitFor();
  await host.call("DELETE", `/chats/${chat}`);
  await reopen.click();
  const closed = page.getByRole("listitem").filter({ hasText: "Refusals" });
  await closed
    .getByRole("alert")
    .getByText(/There is no (such )?chat/)
    .waitFor();
  await accessible(page);
});

test("closed chats are searched and opened again", async () => {
  for (const title of ["Apples", "Pears"]) {
    const chat = await host.chat({ title });
    await host.call("POST", `/chats/${chat}/close`, {});
  }
  await page.goto(`${host.url}/history`);
  const closed = page.getByRole("region", { name: "Chat", exact: true });
  await closed.getByText("Pears").waitFor();
  await page.getByRole("searchbox", { name: "Search closed chats" }).fill("apple");
  await closed.getByText("Pears").waitFor({ state: "detached" });
  await accessible(page);
  await page.getByRole("button", { name: "Reopen Apples" }).click();
  await composer().waitFor();
  await line("Apples").waitFor();
  expect(noted).toEqual([]);
});

test("on a phone chats are arranged and found as well", async () => {
  const chat = await host.chat({ title: "Pocket", message: "[[say A plum is blue.]]" });
  await host.call("PATCH", `/chats/${chat}`, { folder: "Fruit", tags: ["blue", "round"] });
  const phone = { viewport: PHONE, hasTouch: true, isMobile: true, colorScheme: "dark" } as const;
  const there = await signedIn(await context(browser, phone), host);
  const narrow = async () => {
    await accessible(there);
    const wide = await there.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    expect(wide).toBe(false);
  };
  await there.getByRole("heading", { name: "Fruit" }).waitFor();
  await narrow();
  await there.getByRole("searchbox").fill("plum");
  const results = there.getByRole("navigation", { name: "Search results" });
  await results.getByRole("link", { name: /Agent: A plum is blue/ }).waitFor();
  await narrow();
  await results.getByRole("link", { name: /Agent: A plum is blue/ }).tap();
  await there.getByText("Found here").waitFor();
  await there.getByRole("button", { name: "Chat menu" }).tap();
  await there.getByRole("menuitem", { name: "Edit…" }).tap();
  await there.getByRole("dialog", { name: "Edit chat" }).waitFor();
  await narrow();
  await there.close();
});

test("a chat begins with a title, a model and a mode", async () => {
  await page.goto(`${host.url}/new`);
  await page.getByText("Title, model, mode and effort").click();
  await page.getByLabel("Title").fill("Begun");
  await page.getByLabel("Model").fill("large");
  await accessible(page);
  await page.getByLabel("Model").press("Enter");
  await page.getByRole("heading", { name: "Begun" }).waitFor();
  await page.getByText(/demo · large ·/).waitFor();
  const [chat] = await rows("Begun");
  expect(await row(chat ?? "")).toMatchObject({ title: "Begun", model: "large", mode: null });
});

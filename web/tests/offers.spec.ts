import type { Browser } from "playwright-core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { accessible, context, faults, open, PHONE, said, signedIn, until } from "./browser.ts";
import { TestHost } from "./host.ts";

let host: TestHost;
let browser: Browser;

beforeEach(async () => {
  host = new TestHost();
  await host.start();
  browser = await open();
});

afterEach(async () => {
  await browser.close();
  await host.remove();
});

const shown = (id: string, word: string) =>
  until(`${id} is ${word}`, async () => {
    const row = await host.call<{ status: { shown: string } }>("GET", `/chats/${id}`);
    return row.status.shown === word;
  });

test("after a stop the dialog shows what was done, and keys resume it", async () => {
  const [shop, api] = [host.directory("shop"), host.directory("api")];
  const one = await host.chat({ cwd: shop, title: "One", message: "[[approve make]]" });
  const two = await host.chat({ cwd: api, title: "Two", message: "[[ask Which?|A|B]]" });
  const done = await host.chat({ cwd: api, title: "Done", message: "[[say done]]" });
  await Promise.all([shown(one, "blocked"), shown(two, "blocked"), shown(done, "idle")]);
  await host.call("POST", `/chats/${two}/messages`, { text: "Said later" });
  const page = await signedIn(await context(browser), host, `/chats/${one}`);
  const noted = faults(page);
  await page.getByRole("region", { name: "Needs your approval" }).waitFor();
  await host.stop();
  await page.getByText("The host does not answer.").waitFor();
  await host.start();
  const dialog = page.getByRole("dialog", { name: "Carry on where it stopped" });
  await dialog.waitFor();
  await accessible(page);
  await dialog.getByText("Waiting for your approval: make").waitFor();
  await dialog.getByText("Waiting for your answer: Which?").waitFor();
  const tree = dialog.getByRole("tree");
  expect(await tree.getByText("Done").count()).toBe(0);
  // The agent never had what still waits: it was not at work on that.
  expect(await tree.getByText("Said later").count()).toBe(0);
  const dismissAll = dialog.getByRole("button", { name: "Dismiss all" });
  await dialog.getByRole("button", { name: "Dismiss 2" }).waitFor();
  expect(await dismissAll.count()).toBe(0);
  const item = (name: string) => tree.getByRole("treeitem").filter({ hasText: name });
  // Down to the first chat, unticked: its directory is empty then, and all is mixed.
  await tree.getByRole("treeitem").first().focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Space");
  expect(await item("Two").getAttribute("aria-checked")).toBe("false");
  await dialog.getByRole("button", { name: "Dismiss 1" }).waitFor();
  await dismissAll.waitFor();
  expect(await item("/api").getAttribute("aria-checked")).toBe("false");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await page.getByText("2 to resume").click();
  await dialog.waitFor();
  expect(await item("Two").getAttribute("aria-checked")).toBe("false");
  await item("One").focus();
  await page.keyboard.press("Enter");
  await page.getByText("1 to resume").waitFor();
  const continued = host.notes().filter((note) => String(note.prompt).includes("was stopped"));
  expect(continued).toHaveLength(1);
  await page.keyboard.press("Escape");
  await page.getByText("Resumed.").waitFor();
  await page.getByRole("link", { name: /Two/ }).click();
  await page
    .getByRole("region", { name: "to resume" })
    .getByText("Waiting for your answer")
    .waitFor();
  await accessible(page);
  await page.getByRole("button", { name: "Dismiss" }).click();
  await page.getByText("0 to resume").waitFor();
  expect(noted).toEqual([]);
});

test("a crash of everything makes the same offer, and a recap starts afresh", async () => {
  const chat = await host.chat({ title: "Lost", message: "[[say An apple is red.]]" });
  await shown(chat, "idle");
  const path = `/chats/${chat}`;
  const page = await signedIn(await context(browser), host, path);
  await page.getByRole("textbox", { name: "Message" }).fill("[[stream 100000 50]]");
  await page.getByRole("textbox", { name: "Message" }).press("Enter");
  await until("it streams", async () => (await said(page)).some((text) => text.includes("line 3")));
  await host.kill();
  for (const pid of host.attempts()) process.kill(pid, "SIGKILL");
  await host.start({ HOLDFAST_DEMO_REFUSE_LOAD: "1" });
  const dialog = page.getByRole("dialog", { name: "Carry on where it stopped" });
  await dialog.getByText("Was mid-reply").waitFor();
  // No agent runs that could be asked now.
  await page.getByText("will be asked whether it arrived when this is resumed").waitFor();
  expect(await page.getByText("asking the agent").count()).toBe(0);
  await dialog.getByRole("button", { name: "Resume 1" }).click();
  await dialog.getByText("Could not be resumed").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Start fresh with a recap…" }).click();
  const recap = page.getByRole("dialog", { name: "Start fresh with a recap" });
  const text = recap.getByRole("textbox", { name: "Recap" });
  await until("the recap", async () => (await text.inputValue()).includes("An apple is red."));
  await accessible(page);
  await text.fill("We spoke of an apple. [[say afresh]]");
  await recap.getByLabel("A message is in doubt").selectOption({ label: "Discard" });
  await recap.getByRole("button", { name: "Start fresh" }).click();
  await until("it goes on", async () => (await said(page)).includes("afresh"));
  await page.getByText("0 to resume").waitFor();
  const told = host.notes().filter((note) => String(note.prompt).includes("We spoke of an apple."));
  expect(told).toHaveLength(1);
});

test("on a phone list and chat are two screens", async () => {
  const chat = await host.chat({ title: "Pocket", message: "[[approve make]]" });
  await shown(chat, "blocked");
  const phone = { viewport: PHONE, hasTouch: true, isMobile: true, colorScheme: "dark" } as const;
  const page = await signedIn(await context(browser, phone), host);
  await accessible(page);
  expect(await page.getByRole("region", { name: "Chat", exact: true }).isVisible()).toBe(false);
  await page.getByRole("link", { name: /Pocket/ }).tap();
  await page.getByRole("button", { name: "Allow once" }).waitFor();
  expect(await page.getByRole("navigation", { name: "Open chats" }).isVisible()).toBe(false);
  await accessible(page);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  expect(wide).toBe(false);
  await page.getByRole("button", { name: "Allow once" }).tap();
  await page.getByText(/Answered/).waitFor();
  await page.getByRole("link", { name: "Back to all chats" }).tap();
  await page.getByRole("navigation", { name: "Open chats" }).waitFor();
  for (const [to, there] of [
    ["New chat", "First message"],
    ["Closed chats", "No closed chats."],
  ] as const) {
    await page.getByRole("link", { name: to }).tap();
    await page.getByText(there).waitFor();
    await accessible(page);
    await page.getByRole("link", { name: "Back to all chats" }).tap();
    await page.getByRole("navigation", { name: "Open chats" }).waitFor();
  }
  await host.stop();
  await page.getByText("The host does not answer.").waitFor();
});

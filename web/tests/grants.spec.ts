import type { Browser, Page as Tab } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Row } from "../src/events/wire.ts";
import { accessible, context, faults, open, prompts, signedIn, until } from "./browser.ts";
import { TestHost } from "./host.ts";

const host = new TestHost();
let browser: Browser;
let page: Tab;
let noted: string[];
let chat: string;

beforeAll(async () => {
  await host.start();
  browser = await open();
  page = await signedIn(await context(browser), host);
  noted = faults(page);
  chat = await host.chat({ title: "Builds" });
  await page.goto(`${host.url}/chats/${chat}`);
});

afterAll(async () => {
  await browser.close();
  await host.remove();
});

const main = () => page.getByRole("region", { name: "Chat", exact: true });
/** The newest prompt. */
const prompt = () => prompts(page, "Needs your approval").last();
const granted = () => page.getByRole("group", { name: "Allowed for good: make test" });
const send = async (text: string) => {
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.getByRole("textbox", { name: "Message" }).press("Enter");
};
const ran = (command: string) => host.notes().filter((note) => note.ran === command).length;
const grants = async () => {
  await main().getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem", { name: "Allowed for good…" }).click();
  return page.getByRole("dialog", { name: "Allowed for good" });
};
/** Ends the agent, so that another one has to ask again. */
const anotherAgent = async () => {
  await host.call("POST", `/chats/${chat}/interrupt`, { agent: "stop" });
  await until("it ended", async () => {
    const row = await host.call<Row>("GET", `/chats/${chat}`);
    return row.status.process === "stopped";
  });
};

test("what is allowed for good says that it is kept, and is listed", async () => {
  const dialog = await grants();
  await dialog.getByText("Nothing is allowed for good in this chat.").waitFor();
  await accessible(page);
  await page.keyboard.press("Escape");
  await send("[[approve make test]]");
  const always = prompt().getByRole("button", { name: "Always allow" });
  await always.waitFor();
  await prompt()
    .getByText("“Always allow” is kept for this chat: the very same thing is not asked again.")
    .waitFor();
  await accessible(page);
  await always.click();
  await until("it ran", () => ran("make test") === 1);
  await grants();
  await dialog.getByText("make test").waitFor();
  await dialog.getByText("may keep what it was told until it ends").waitFor();
  await accessible(page);
  await dialog.getByRole("button", { name: "Close" }).click();
});

test("another agent after a crash of the host and a restart is answered by it", async () => {
  await anotherAgent();
  const dialog = await grants();
  await dialog.getByText("make test").waitFor();
  // No agent runs that could know more.
  await dialog.getByText("until it ends").waitFor({ state: "detached" });
  await page.keyboard.press("Escape");
  await host.kill();
  await host.start();
  await send("[[approve make test]]");
  await until("it ran again", () => ran("make test") === 2);
  await granted()
    .last()
    .getByText("Answered by what was allowed for good (g1): Always allow")
    .waitFor();
  expect(await prompt().getByRole("button").count()).toBe(0);
  await accessible(page);
});

test("a chat that was closed and reopened keeps it", async () => {
  await host.call("POST", `/chats/${chat}/close`, {});
  await page.getByRole("button", { name: "Reopen" }).click();
  await send("[[approve make test]]");
  await until("it ran a third time", () => ran("make test") === 3);
  await until("it is said again", async () => (await granted().count()) === 2);
});

test("what is taken back is asked again", async () => {
  const dialog = await grants();
  await dialog.getByRole("button", { name: "Take back make test" }).click();
  await dialog.getByText("Taken back:").waitFor();
  await dialog.getByText("Nothing is allowed for good in this chat.").waitFor();
  await accessible(page);
  await page.keyboard.press("Escape");
  await anotherAgent();
  await send("[[approve make test]]");
  await prompt().getByRole("button", { name: "Allow once" }).click();
  await until("it ran a fourth time", () => ran("make test") === 4);
});

test("who comes second with taking back is told so, and the list is right", async () => {
  await anotherAgent();
  await send("[[approve make all]]");
  await prompt().getByRole("button", { name: "Always allow" }).click();
  await until("it ran", () => ran("make all") === 1);
  const dialog = await grants();
  await dialog.getByText("make all").waitFor();
  await host.call("DELETE", `/chats/${chat}/grants/g2`);
  await dialog.getByRole("button", { name: "Take back make all" }).click();
  await dialog.getByRole("alert").getByText("The chat has no grant g2.").waitFor();
  await dialog.getByText("Nothing is allowed for good in this chat.").waitFor();
  expect(noted).toEqual([]);
});

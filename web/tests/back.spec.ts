import type { Browser, Page as Tab } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Row } from "../src/events/wire.ts";
import { accessible, context, faults, open, PHONE, said, signedIn, until } from "./browser.ts";
import { TestHost } from "./host.ts";

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

const transcript = () => page.getByRole("region", { name: "Transcript" });
const idle = (chat: string) =>
  until("it rests", async () => {
    const row = await host.call<Row>("GET", `/chats/${chat}`);
    return row.status.shown === "idle" && row.queue_length === 0;
  });
const here = () => new URL(page.url()).pathname.split("/").at(-1) ?? "";
const picture = async (name: string) => {
  const folder = process.env.HOLDFAST_PICTURES;
  if (folder) await page.screenshot({ path: `${folder}/${name}.png` });
};

/** A chat that has said three things. */
async function talked(title: string): Promise<string> {
  const chat = await host.chat({ title });
  for (const word of ["one", "two", "three"]) {
    await host.call("POST", `/chats/${chat}/messages`, { text: `[[say ${word}]]` });
    await idle(chat);
  }
  return chat;
}

/** Opens the menu at the end of a turn, and chooses. */
async function choose(turn: number, item: string): Promise<void> {
  await transcript().getByRole("button", { name: "From here", exact: true }).nth(turn).click();
  await page.getByRole("menuitem", { name: item, exact: true }).click();
}

test("a chat goes back to the end of an earlier turn, and what came after is folded away", async () => {
  const chat = await talked("The shop");
  await page.goto(`${host.url}/chats/${chat}`);
  await until("it is said", async () => (await said(page)).join() === "one,two,three");
  await transcript().getByRole("button", { name: "From here", exact: true }).first().hover();
  await picture("back-turns");
  await choose(0, "Go back to here…");
  const dialog = page.getByRole("dialog", { name: "Go back to here?" });
  await dialog.getByText("Files are not changed").waitFor();
  await accessible(page);
  await dialog.getByLabel("Say this instead").fill("[[count]]");
  await picture("back-dialog");
  await dialog.getByRole("button", { name: "Go back", exact: true }).click();
  await until("the agent knows the first alone", async () => (await said(page)).at(-1) === "2");
  expect(await said(page)).toEqual(["one", "2"]);
  await transcript().getByText("The chat went back").waitFor();
  const fold = transcript().getByRole("button", { name: "4 entries left behind" });
  await accessible(page);
  await picture("back-folded");
  await fold.click();
  await until("what was left", async () => (await said(page)).join() === "one,two,three,2");
  await accessible(page);
  await picture("back-open");
  await page.setViewportSize(PHONE);
  await picture("back-phone");
  await fold.click();
  await until("it is folded", async () => (await said(page)).join() === "one,2");
  await picture("back-phone-folded");
  await page.setViewportSize({ width: 1280, height: 800 });
  // Where a search leads into it, it is shown.
  await page.goto(`${host.url}/chats/${chat}?at=4`);
  await transcript().getByText("Found here").waitFor();
  expect(await said(page)).toEqual(["one", "two", "three", "2"]);
  expect(noted).toEqual([]);
});

test("another chat begins at the end of an earlier turn", async () => {
  const chat = await talked("The yard");
  await page.goto(`${host.url}/chats/${chat}`);
  await until("it is said", async () => (await said(page)).join() === "one,two,three");
  await choose(1, "Fork from here");
  await until("another chat", () => here() !== chat);
  await until("what was said until then", async () => (await said(page)).join() === "one,two");
  await page.getByRole("textbox", { name: "Message" }).fill("[[count]]");
  await page.getByRole("textbox", { name: "Message" }).press("Enter");
  await until("it knows both", async () => (await said(page)).at(-1) === "3");
});

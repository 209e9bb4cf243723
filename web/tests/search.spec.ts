import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Found, Row } from "../src/events/wire.ts";
import { accessible, context, faults, open, said, signedIn, until } from "./browser.ts";
import { TestHost } from "./host.ts";

const host = new TestHost();
let browser: Browser;
let page: Page;
let noted: string[];
let long: string;

beforeAll(async () => {
  await host.start();
  browser = await open();
  const part = (at: number) =>
    at === 42 ? `[[say part 42 has the quince.]]` : `[[say part ${at}.]]`;
  const says = Array.from({ length: 170 }, (_, at) => part(at + 1)).join(" ");
  long = await host.chat({ title: "Long", message: says });
  const closed = await host.chat({ title: "Shut", message: "[[say A quince is yellow.]]" });
  for (const chat of [long, closed]) {
    await until("all is said", async () => {
      return (await host.call<Row>("GET", `/chats/${chat}`)).status.shown === "idle";
    });
  }
  await host.call("POST", `/chats/${closed}/close`, {});
  await host.chat({ title: "Nothing of it" });
  await until("it is indexed", async () => {
    return (await host.call<Found>("GET", "/search?q=quince")).items.length === 4;
  });
  page = await signedIn(await context(browser), host);
  noted = faults(page);
});

afterAll(async () => {
  await browser.close();
  await host.remove();
});

const transcript = () => page.getByRole("region", { name: "Transcript" });
const results = () => page.getByRole("navigation", { name: "Search results" });
const parts = async () =>
  (await said(page)).map((text) => Number(/part (\d+)/.exec(text)?.[1])).filter((at) => at > 0);

test("a search finds chats and what was said in them", async () => {
  await page.getByRole("searchbox").fill("quince");
  await results().getByText("2 chats, 4 places in transcripts").waitFor();
  await accessible(page);
  expect(await results().getByText("Nothing of it").count()).toBe(0);
  const marks = await results().locator("mark").allInnerTexts();
  expect(new Set(marks)).toEqual(new Set(["quince"]));
  await page.getByRole("searchbox").fill("no such word");
  await results().getByText("No chat matches “no such word”.").waitFor();
});

test("a place that was found opens the chat there, and the rest is read from it", async () => {
  await page.getByRole("searchbox").fill("quince");
  await results()
    .getByRole("link", { name: /Agent: part 42 has the quince/ })
    .click();
  await transcript().getByText("Found here").waitFor();
  const current = results().locator("[aria-current]").filter({ hasText: "part 42 has" });
  expect(await current.count()).toBe(1);
  const item = transcript().getByText("part 42 has the quince.", { exact: true });
  await until("it is in sight", () => inSight(page, "part 42 has the quince."));
  expect(await item.count()).toBe(1);
  await accessible(page);
  // Who reads by ear is there too.
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Found here");
  // What is said now is at the end, which is not here.
  await host.call("POST", `/chats/${long}/messages`, { text: "[[say part 171.]]" });
  await until("it is said", async () => {
    const row = await host.call<Row>("GET", `/chats/${long}`);
    return row.user_messages === 2 && row.status.shown === "idle";
  });
  expect(await parts()).not.toContain(171);
  await transcript().focus();
  const connected = async () => {
    const seen = await parts();
    expect(seen).toEqual(seen.map((_, at) => (seen[0] ?? 0) + at));
    return seen;
  };
  await until("the end", async () => {
    await page.keyboard.press("PageDown");
    return (await connected()).includes(171);
  });
  await until("the beginning", async () => {
    await page.keyboard.press("PageUp");
    return (await connected())[0] === 1;
  });
  // At the end again what comes is followed.
  await page.getByRole("button", { name: "To the newest" }).click();
  await until("the end again", async () => (await parts()).at(-1) === 171);
  await host.call("POST", `/chats/${long}/messages`, { text: "[[say part 172.]]" });
  await until("what is new", async () => (await parts()).at(-1) === 172);
});

test("the way back to the end of a chat is one click, without all that lies between", async () => {
  const hit = results().getByRole("link", { name: /Agent: part 42 has the quince/ });
  // Going to where one is leads to its beginning again.
  await hit.click();
  await until("it is in sight", () => inSight(page, "part 42 has the quince."));
  await page.goto(host.url);
  await page.getByRole("searchbox").fill("quince");
  await hit.click();
  await transcript().getByText("Found here").waitFor();
  await page.getByRole("button", { name: "To the newest" }).click();
  await until("the end", async () => (await parts()).at(-1) === 172);
  expect(new URL(page.url()).search).toBe("");
  // The browser's way back leads to the place, and a reload stays there.
  await page.goBack();
  await transcript().getByText("Found here").waitFor();
  await page.reload();
  await transcript().getByText("Found here").waitFor();
  await until("it is in sight", () => inSight(page, "part 42 has the quince."));
});

test("what was found comes in pages", async () => {
  await page.getByRole("searchbox").fill("part");
  await results().getByText("1 chat, 20 places in transcripts").waitFor();
  await results().getByRole("button", { name: "Show more" }).click();
  await results().getByText("1 chat, 40 places in transcripts").waitFor();
  const hits = await results()
    .getByRole("link", { name: /Agent: part/ })
    .allInnerTexts();
  expect(new Set(hits).size).toBe(hits.length);
});

test("a place in a closed chat is found and read", async () => {
  await page.getByRole("searchbox").fill("yellow");
  await results()
    .getByRole("link", { name: /Agent: A quince is yellow/ })
    .click();
  await page.getByText("This chat is closed.").waitFor();
  await transcript().getByText("Found here").waitFor();
  expect(noted).toEqual([]);
});

/** Whether a text of the transcript is within what can be seen of it. */
async function inSight(page: Page, text: string): Promise<boolean> {
  const [item, all] = await Promise.all([
    page.getByRole("region", { name: "Transcript" }).getByText(text, { exact: true }).boundingBox(),
    page.getByRole("region", { name: "Transcript" }).boundingBox(),
  ]);
  if (!item || !all) return false;
  return item.y >= all.y && item.y + item.height <= all.y + all.height;
}

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { context, faults, open, said, signedIn, until } from "./browser.ts";
import { TestHost } from "./host.ts";

const host = new TestHost();
let browser: Browser;

beforeAll(async () => {
  await host.start();
  browser = await open();
});

afterAll(async () => {
  await browser.close();
  await host.remove();
});

const transcript = (page: Page) => page.getByRole("region", { name: "Transcript" });

test("a long transcript begins at its end, and is read back to its beginning in pages", async () => {
  const says = Array.from({ length: 170 }, (_, at) => `[[say part ${at + 1}.]]`).join(" ");
  const chat = await host.chat({ title: "Long", message: says });
  await until("all is said", async () => {
    const row = await host.call<{ status: { shown: string } }>("GET", `/chats/${chat}`);
    return row.status.shown === "idle";
  });
  const page = await signedIn(await context(browser), host, `/chats/${chat}`);
  const noted = faults(page);
  await until("the end", async () => (await said(page)).at(-1) === "part 170.");
  expect(await transcript(page).getByText("part 170.", { exact: true }).isVisible()).toBe(true);
  await transcript(page).focus();
  let first = 170;
  await until("the beginning", async () => {
    await page.keyboard.press("PageUp");
    const parts = (await said(page)).map((text) => Number(/part (\d+)/.exec(text)?.[1]));
    // What is shown hangs together, and only a part of it is there at once.
    expect(parts).toEqual(parts.map((_, at) => (parts[0] ?? 0) + at));
    expect(parts.length).toBeLessThan(60);
    // Reading back never throws the reader forth by more than a screen.
    expect(parts[0] ?? 0).toBeLessThan(first + 30);
    first = Math.min(first, parts[0] ?? first);
    return parts[0] === 1;
  });
  await page.getByRole("button", { name: "To the newest" }).click();
  await until("the end again", async () => (await said(page)).at(-1) === "part 170.");
  await page.getByRole("button", { name: "To the newest" }).waitFor({ state: "detached" });
  expect(noted).toEqual([]);
});

test("a flood stays a page that can be used", async () => {
  const chat = await host.chat({ title: "Flood", message: "[[flood 3000000]]" });
  const page = await signedIn(await context(browser), host, `/chats/${chat}`);
  await page.getByText("delivered").waitFor({ state: "attached" });
  await page.getByRole("button", { name: /Show more \(\d+ kB of 3.0 MB\)/ }).waitFor();
  const shown = (await said(page)).join("").length;
  expect(shown).toBeLessThan(300_000);
  await page.getByRole("textbox", { name: "Message" }).fill("[[say still here]]");
  await page.getByRole("textbox", { name: "Message" }).press("Enter");
  await until("the answer", async () => (await said(page)).includes("still here"));
});

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
  await page.getByRole("main").getByText("idle").first().waitFor();
  await page.getByRole("button", { name: /Show more \(\d+ kB of 3.0 MB\)/ }).waitFor();
  const shown = (await said(page)).join("").length;
  expect(shown).toBeLessThan(300_000);
  await page.getByRole("textbox", { name: "Message" }).fill("[[say still here]]");
  await page.getByRole("textbox", { name: "Message" }).press("Enter");
  await until("the answer", async () => (await said(page)).includes("still here"));
});

test("a tool output of 5 MB is read whole, in ranges, byte by byte as the agent wrote it", async () => {
  const size = 5_000_000;
  const chat = await host.chat({ title: "Output", message: `[[output ${size}]]` });
  const page = await signedIn(await context(browser), host, `/chats/${chat}`);
  const ranges: [number, number][] = [];
  page.on("request", (request) => {
    const range = /bytes=(\d+)-(\d+)/.exec(request.headers().range ?? "");
    if (range) ranges.push([Number(range[1]), Number(range[2])]);
  });
  const call = page.locator("details", { hasText: "bytes of output" }).last();
  await call.locator("summary").click();
  const more = call.getByRole("button", { name: /Show more/ });
  await call.getByRole("button", { name: /Show more \(16 kB of 5.0 MB\)/ }).waitFor();
  const have = () =>
    call
      .locator("pre")
      .last()
      .evaluate((pre) => pre.textContent?.length ?? 0);
  let before = await have();
  while (before < size) {
    await more.click();
    before = await until("more of it", async () => {
      const now = await have();
      return now > before && now;
    });
  }
  expect(await more.count()).toBe(0);
  // What the demo agent writes, again and again.
  const wrote = "0123456789abcde\n".repeat(size / 16).slice(0, size);
  const text = await call
    .locator("pre")
    .last()
    .evaluate((pre) => pre.textContent ?? "");
  expect(text.length).toBe(size);
  expect(text === wrote).toBe(true);
  // No range was large, and each began where the one before it ended.
  expect(ranges.length).toBeGreaterThan(5);
  const ends = ranges.map(([, end]) => end + 1);
  expect(ranges.slice(1).map(([start]) => start)).toEqual(ends.slice(0, -1));
  expect(ends.at(-1)).toBe(size);
  expect(Math.max(...ranges.map(([start, end]) => end - start + 1))).toBeLessThanOrEqual(1 << 20);
});

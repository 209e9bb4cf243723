import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { accessible, context, faults, open, PHONE, signedIn } from "./browser.ts";
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

// What is no id at all, and an id that no chat has.
test.each(["chat_nope", "chat_00000000000070008000000000000000"])(
  "where %s is no chat the page says so, and the list works",
  async (id) => {
    const chat = await host.chat({ title: `Beside ${id}` });
    const page = await signedIn(await context(browser), host, `/chats/${id}`);
    const noted = faults(page);
    await page.getByText("There is no such chat").waitFor();
    const line = page.getByRole("link", { name: `Beside ${id}` });
    await line.waitFor();
    await accessible(page);
    // The list goes on by itself: what the host tells comes.
    await host.call("PATCH", `/chats/${chat}`, { title: `Still beside ${id}` });
    await page.getByRole("link", { name: `Still beside ${id}` }).waitFor();
    expect(await page.getByText("The host does not answer").count()).toBe(0);
    await line.click();
    await page.getByRole("heading", { name: `Still beside ${id}` }).waitFor();
    expect(await page.getByText("There is no such chat").count()).toBe(0);
    expect(noted).toEqual([]);
  },
);

test("on a phone there is a way from no chat to the list", async () => {
  const made = await context(browser, { viewport: PHONE, hasTouch: true, isMobile: true });
  const page = await signedIn(made, host);
  await page.goto(`${host.url}/chats/chat_nope`);
  await page.getByText("There is no such chat").waitFor();
  await page.getByRole("link", { name: "Back to all chats" }).click();
  await page.getByRole("navigation", { name: "Open chats" }).waitFor();
});

test("an address that is none shows the page, which says so", async () => {
  const page = await signedIn(await context(browser), host);
  const answer = await page.goto(`${host.url}/nowhere`);
  expect(answer?.status()).toBe(404);
  await page.getByText("Not found: there is nothing at this address.").waitFor();
  await page.getByRole("navigation", { name: "Open chats" }).waitFor();
  await accessible(page);
});

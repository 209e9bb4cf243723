import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Row } from "../src/events/wire.ts";
import { accessible, context, open, PHONE, prompts, signedIn, until } from "./browser.ts";
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

const shown = (id: string, word: string) =>
  until(`${id} is ${word}`, async () => {
    return (await host.call<Row>("GET", `/chats/${id}`)).status.shown === word;
  });

test("what waits for a person is counted, listed, and seen from within another chat", async () => {
  const quiet = await host.chat({ title: "Quiet", message: "[[say hi]]" });
  await shown(quiet, "idle");
  const page = await signedIn(await context(browser), host, `/chats/${quiet}`);
  const made = await context(browser, { viewport: PHONE, hasTouch: true, isMobile: true });
  const phone = await signedIn(made, host, `/chats/${quiet}`);
  await page.getByText("0 need you").waitFor();
  await phone.getByRole("link", { name: "Back to all chats", exact: true }).waitFor();
  const asks = await host.chat({ title: "Asks", message: "[[ask Which?|Red|Blue]]" });
  await page.getByText("0 working").waitFor();
  await page.getByRole("button", { name: "1 needs you" }).click();
  const list = page.getByRole("navigation", { name: "Open chats" });
  await list.getByRole("link", { name: /Asks/ }).waitFor();
  await list.getByRole("link", { name: /Quiet/ }).waitFor({ state: "detached" });
  await accessible(page);
  const back = phone.getByRole("link", { name: "Back to all chats: 1 other chat needs you" });
  await back.waitFor();
  await accessible(phone);
  await back.tap();
  await phone.getByRole("link", { name: /Asks/ }).tap();
  // Within the one that asks nothing else does.
  await phone.getByRole("link", { name: "Back to all chats", exact: true }).waitFor();
  await phone.getByRole("button", { name: "Red" }).tap();
  await shown(asks, "idle");
  await page.getByText("0 need you").waitFor();
  await page.getByText("No open chat is so.").waitFor();
  // What was answered asks nobody any more.
  const card = prompts(phone, "Asks you");
  expect(await card.getByRole("heading").textContent()).toBe("Question");
});

test("while the host is gone nothing looks as if it went on", async () => {
  await host.chat({ title: "Works", message: "[[slow 600]]" });
  const page = await signedIn(await context(browser, { reducedMotion: "no-preference" }), host);
  const sign = page.locator(".live").first();
  const moves = () => sign.evaluate((element) => getComputedStyle(element).animationName);
  await sign.waitFor();
  expect(await moves()).toBe("live");
  await host.kill();
  await until("it rests", async () => (await moves()) === "none");
  await host.start();
  await until("it goes on", async () => (await moves()) === "live");
});

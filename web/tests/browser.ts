// Debian's Chromium, driven; and what every page has to be: without faults, and accessible.

import { createRequire } from "node:module";
import {
  type Browser,
  type BrowserContext,
  chromium,
  type Locator,
  type Page,
} from "playwright-core";
import { expect } from "vitest";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const DESKTOP = { width: 1280, height: 800 };
export const PHONE = { width: 390, height: 844 };

export async function open(): Promise<Browser> {
  const executablePath = process.env.HOLDFAST_CHROMIUM ?? "/usr/bin/chromium";
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  return chromium.launch({ executablePath, args });
}

/** A browser of its own, whose pages note what goes wrong in them. */
export async function context(
  browser: Browser,
  options: Parameters<Browser["newContext"]>[0] = {},
): Promise<BrowserContext> {
  const made = await browser.newContext({ viewport: DESKTOP, reducedMotion: "reduce", ...options });
  made.setDefaultTimeout(20_000);
  return made;
}

/** Notes what a page says goes wrong; a host that is gone is no fault of the page. */
export function faults(page: Page): string[] {
  const noted: string[] = [];
  page.on("pageerror", (fault) => noted.push(String(fault)));
  page.on("console", (said) => {
    const expected = /ERR_CONNECTION|WebSocket connection|status of (4|5)\d\d/.test(said.text());
    if (said.type() === "error" && !expected) noted.push(said.text());
  });
  return noted;
}

interface Violation {
  id: string;
  nodes: { html: string; failureSummary?: string }[];
}

/** No rule of axe is broken on what the page shows now. */
export async function accessible(page: Page): Promise<void> {
  // The page's policy lets no script in; a test looks from outside.
  const source = process.getBuiltinModule("node:fs").readFileSync(AXE, "utf8");
  await page.evaluate(source);
  const found = await page.evaluate(async () => {
    const axe = (globalThis as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } })
      .axe;
    return (await axe.run()).violations;
  });
  const said = found.map((one) => ({ id: one.id, nodes: one.nodes.map((node) => node.html) }));
  expect(said).toEqual([]);
}

/** A page at a screen of the host, signed in by a link. */
export async function signedIn(
  made: BrowserContext,
  host: { link(): Promise<string>; url: string },
  path = "/",
): Promise<Page> {
  const page = await made.newPage();
  await page.goto(await host.link());
  await page.getByRole("navigation", { name: "Open chats" }).waitFor();
  // The list is drawn before the host has answered: who leaves the page then is not signed in, and
  // the link is used up.
  await until("the cookie", async () => (await made.cookies()).length > 0);
  if (path !== "/") await page.goto(host.url + path);
  return page;
}

/** What an agent asks in the open chat: a landmark, and a group once nobody waits for the answer. */
export function prompts(page: Page, name: "Needs your approval" | "Asks you"): Locator {
  return page.getByRole("region", { name }).or(page.getByRole("group", { name }));
}

/** The text of what an agent said in the open chat. */
export async function said(page: Page, agent = "demo"): Promise<string[]> {
  return page.getByRole("article", { name: agent, exact: true }).allInnerTexts();
}

/** Asks until something is so. */
export async function until<T>(
  what: string,
  ask: () => Promise<T | false> | T | false,
): Promise<T> {
  const end = Date.now() + 20_000;
  for (;;) {
    const got = await ask();
    if (got !== false) return got;
    if (Date.now() > end) throw new Error(`not in time: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

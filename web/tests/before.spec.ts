import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page as Tab } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { accessible, context, faults, open, PHONE, signedIn, until } from "./browser.ts";
import { TestHost } from "./host.ts";

const host = new TestHost();
let browser: Browser;
let page: Tab;
let noted: string[];

const id = (n: number) => `5a62fd6e-45b1-4008-9dce-aa3dc895${String(n).padStart(4, "0")}`;

/** A session as Claude Code keeps it. */
function session(n: number, cwd: string, lines: Record<string, unknown>[]): void {
  const folder = join(host.home, ".claude", "projects", cwd.replaceAll(/[^A-Za-z0-9]/g, "-"));
  mkdirSync(folder, { recursive: true });
  const all = lines.map((line) =>
    JSON.stringify({ cwd, timestamp: "2026-11-30T22:51:32.320Z", isSidechain: false, ...line }),
  );
  writeFileSync(join(folder, `${id(n)}.jsonl`), `${all.join("\n")}\n`);
}

const user = (content: string) => ({ type: "user", message: { role: "user", content } });
const agent = (text: string) => ({
  type: "assistant",
  message: { role: "assistant", content: [{ type: "text", text }] },
});

beforeAll(async () => {
  // A program that says its version, and is never started for a chat here.
  const bin = join(host.home, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "claude"), "#!/bin/sh\necho '99.0.0 (Claude Code)'\n", { mode: 0o755 });
  const parser = realpathSync(host.directory("parser"));
  const title = { type: "ai-title", aiTitle: "The parser" };
  session(1, parser, [user("Fix the parser"), agent("It is fixed."), title]);
  session(2, join(host.home, "work", "gone"), [user("Somewhere else"), agent("Yes.")]);
  const path = `${bin}:${process.env.PATH}`;
  await host.start({ PATH: path, SHELL: "/bin/sh" });
  browser = await open();
  page = await signedIn(await context(browser), host);
  noted = faults(page);
});

afterAll(async () => {
  await browser.close();
  await host.remove();
});

const main = () => page.getByRole("region", { name: "Chat", exact: true });

test("what was begun in a terminal is found and gone on with", async () => {
  await page.goto(`${host.url}/new`);
  await page.getByText("99.0.0 is newer than what was tested").waitFor();
  await accessible(page);
  await main().getByRole("link", { name: "Continue from before" }).click();
  await main().getByRole("heading", { name: "Continue something from before" }).waitFor();
  await main().getByText("The parser", { exact: true }).waitFor();
  await accessible(page);
  if (process.env.HOLDFAST_SHOTS)
    await page.screenshot({ path: join(process.env.HOLDFAST_SHOTS, "before.png") });
  const gone = main().getByRole("button", { name: "Continue Somewhere else" });
  expect(await gone.isDisabled()).toBe(true);
  await main().getByText("Its directory is not there any more.").waitFor();
  await main().getByRole("searchbox").fill("nothing like it");
  await main()
    .getByText("Nothing was found")
    .or(main().getByText("nothing like it"))
    .first()
    .waitFor();
  await main().getByRole("searchbox").fill("parser");
  await until("one is found", async () => (await main().getByRole("listitem").count()) === 1);
  await main().getByRole("button", { name: "Continue The parser" }).click();
  await page.getByText("It is fixed.").waitFor();
  await page.getByText("Above are 2 entries of a conversation begun on").waitFor();
  await page.getByRole("article", { name: "You" }).getByText("Fix the parser").waitFor();
  await accessible(page);
  if (process.env.HOLDFAST_SHOTS)
    await page.screenshot({ path: join(process.env.HOLDFAST_SHOTS, "adopted.png") });
  await page.goto(`${host.url}/before`);
  await main().getByRole("link", { name: "Open chat: The parser" }).click();
  await page.getByText("It is fixed.").waitFor();
  expect((await host.call<{ items: unknown[] }>("GET", "/chats")).items.length).toBe(1);
  expect(noted).toEqual([]);
});

test("on a phone nothing stands beside the screen", async () => {
  const phone = await signedIn(
    await context(browser, { viewport: PHONE, hasTouch: true }),
    host,
    "/before",
  );
  await phone.getByRole("listitem").getByText("The parser", { exact: true }).last().waitFor();
  const wide = await phone.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  expect(wide).toBe(false);
  await accessible(phone);
  if (process.env.HOLDFAST_SHOTS) {
    await phone.screenshot({ path: join(process.env.HOLDFAST_SHOTS, "before-phone.png") });
    await phone.goto(`${host.url}/new`);
    await phone.getByRole("heading", { name: "New chat" }).waitFor();
    await phone.screenshot({ path: join(process.env.HOLDFAST_SHOTS, "new-phone.png") });
  }
});

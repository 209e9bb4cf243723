import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { accessible, context, faults, open } from "./browser.ts";
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

test("a link signs a browser in, once, and leaves no trace of its code", async () => {
  const made = await context(browser);
  const page = await made.newPage();
  const noted = faults(page);
  const asked: string[] = [];
  page.on("request", (request) => {
    const { referer } = request.headers();
    asked.push(request.url(), referer ?? "");
  });
  const link = await host.link();
  const code = link.split("=")[1] ?? "";
  expect(code.length).toBeGreaterThan(30);
  await page.goto(link);
  await page.getByText("No chats yet.").waitFor();
  await accessible(page);
  expect(page.url()).toBe(`${host.url}/`);
  expect(asked.filter((text) => text.split("#")[0]?.includes(code))).toEqual([]);
  const [cookie] = await made.cookies();
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict", path: "/" });
  expect(cookie?.value).not.toContain(host.token);
  expect(await page.evaluate(() => document.cookie)).toBe("");

  const other = await (await context(browser)).newPage();
  await other.goto(link);
  await other.getByRole("alert").getByText("does not count").waitFor();
  await accessible(other);
  await other.getByLabel("Token").fill(host.token);
  await other.getByRole("button", { name: "Sign in" }).click();
  await other.getByText("No chats yet.").waitFor();
  await other.getByRole("button", { name: "More" }).click();
  await other.getByRole("menuitem", { name: "Sign out" }).click();
  await other.getByRole("heading", { name: "Sign in" }).waitFor();
  await other.reload();
  await other.getByRole("heading", { name: "Sign in" }).waitFor();
  expect(noted).toEqual([]);
});

test("another device is signed in from the page", async () => {
  const page = await (await context(browser)).newPage();
  await page.goto(await host.link());
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Sign in another device" }).click();
  const link = await page.getByRole("textbox", { name: "Sign in another device" }).inputValue();
  const other = await (await context(browser)).newPage();
  await other.goto(link);
  await other.getByText("No chats yet.").waitFor();
});

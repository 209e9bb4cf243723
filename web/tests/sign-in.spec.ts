import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { accessible, context, faults, open, until } from "./browser.ts";
import { BINARY, TestHost } from "./host.ts";

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
  await other.getByText("`holdfast token` prints it").waitFor();
  await accessible(other);
  await other.getByLabel("Token").fill(host.token);
  await other.getByRole("button", { name: "Sign in" }).click();
  await other.getByText("No chats yet.").waitFor();
  await other.getByRole("button", { name: "Holdfast menu" }).click();
  await other.getByRole("menuitem", { name: "Sign out" }).click();
  await other.getByRole("heading", { name: "Sign in" }).waitFor();
  await other.reload();
  await other.getByRole("heading", { name: "Sign in" }).waitFor();
  expect(noted).toEqual([]);
});

test("another device is signed in from the page", async () => {
  const made = await context(browser);
  await made.grantPermissions(["clipboard-read", "clipboard-write"]);
  const page = await made.newPage();
  await page.goto(await host.link());
  await page.getByRole("button", { name: "Holdfast menu" }).click();
  await page.getByRole("menuitem", { name: "Sign in another device" }).click();
  const link = await page.getByRole("textbox", { name: "Sign in another device" }).inputValue();
  await page.getByText("the link works in browsers of this machine alone").waitFor();
  await page.getByRole("button", { name: "Copy" }).click();
  await page.getByText("Copied.").waitFor();
  await accessible(page);
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(link);
  const other = await (await context(browser)).newPage();
  await other.goto(link);
  await other.getByText("No chats yet.").waitFor();
});

test("serve prints a link and opens it, and no command line shows its code", async () => {
  const home = mkdtempSync(join(tmpdir(), "holdfast-open-"));
  const bin = join(home, "bin");
  mkdirSync(bin);
  // What a person's system would open: it notes what it was given.
  const opener = join(bin, "xdg-open");
  writeFileSync(opener, `#!/bin/sh\necho "$@" > ${home}/new && mv ${home}/new ${home}/opened\n`);
  chmodSync(opener, 0o755);
  const data = join(home, "data");
  const args = ["serve", "--listen", "127.0.0.1:0", "--data-dir", data, "--open"];
  const env = { ...process.env, PATH: `${bin}:${process.env.PATH}` };
  const child = spawn(BINARY, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  child.stdout.on("data", (text) => {
    said += text;
  });
  let logged = "";
  child.stderr.on("data", (text) => {
    logged += text;
  });
  try {
    const printed = await until("the link", () => {
      return /http:\/\/\S+\/#sign-in=\w+/.exec(said)?.[0] ?? false;
    });
    const opened = join(home, "opened");
    await until("the opener", () => existsSync(opened));
    const file = readFileSync(opened, "utf8").trim();
    expect(file).toBe(join(data, "open.html"));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const page = await (await context(browser)).newPage();
    await page.goto(`file://${file}`);
    await page.getByText("No chats yet.").waitFor();
    // Each of the two links counts.
    const other = await (await context(browser)).newPage();
    await other.goto(printed);
    await other.getByText("No chats yet.").waitFor();
    expect(logged).not.toContain("sign-in=");
  } finally {
    const gone = once(child, "exit");
    child.kill("SIGTERM");
    await gone;
    rmSync(home, { recursive: true, force: true });
  }
});

import type { Browser } from "playwright-core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { accessible, context, faults, open, prompts, said, signedIn, until } from "./browser.ts";
import { TestHost } from "./host.ts";

let host: TestHost;
let browser: Browser;

beforeEach(async () => {
  host = new TestHost();
  await host.start();
  browser = await open();
});

afterEach(async () => {
  await browser.close();
  await host.remove();
});

const lines = (count: number) =>
  Array.from({ length: count }, (_, at) => `line ${at + 1}`).join("\n");

test("a reload in the middle of a reply loses no text and doubles none", async () => {
  const chat = await host.chat({ title: "Streams", message: "[[stream 150 20]]" });
  const page = await signedIn(await context(browser), host, `/chats/${chat}`);
  for (const seen of ["line 20", "line 60", "line 100"]) {
    await until(seen, async () => (await said(page)).join("\n").includes(`${seen}\n`));
    const text = (await said(page)).join("\n");
    expect(text).toBe(lines(text.split("\n").length));
    await page.reload();
  }
  await until("the end", async () => (await said(page)).join("\n") === lines(150));
});

test("the page heals after the host was killed, and what was sent meanwhile arrives once", async () => {
  const chat = await host.chat({ title: "Killed", message: "[[stream 200 30]]" });
  const page = await signedIn(await context(browser), host, `/chats/${chat}`);
  const noted = faults(page);
  await until("it streams", async () => (await said(page)).join("\n").includes("line 10\n"));
  await host.kill();
  await page.getByText("The host does not answer.").waitFor();
  expect((await said(page)).join("\n")).toContain("line 10\n");
  await accessible(page);
  const composer = page.getByRole("textbox", { name: "Message" });
  await composer.fill("[[say sent while away]]");
  await composer.press("Enter");
  await page.getByText("1 change is kept").waitFor();
  await page.getByText("on its way to the host").waitFor();
  await host.start();
  await page.getByText("The host does not answer.").waitFor({ state: "detached" });
  await until("the whole reply", async () => (await said(page)).includes(lines(200)));
  await until("the answer", async () => (await said(page)).includes("sent while away"));
  const prompts = host.notes().filter((note) => note.prompt === "[[say sent while away]]");
  expect(prompts).toHaveLength(1);
  expect(noted).toEqual([]);
});

test("a write outlives a reload of the page while the host is away", async () => {
  const chat = await host.chat({ title: "Away" });
  const page = await signedIn(await context(browser), host, `/chats/${chat}`);
  await page.getByText("Nothing was said yet.").waitFor();
  // The answer to the write is lost, not the write.
  await page.route("**/messages", async (route) => {
    await route.fetch();
    await route.abort("connectionreset");
  });
  const composer = page.getByRole("textbox", { name: "Message" });
  await composer.fill("[[say once]]");
  await composer.press("Enter");
  await until("it arrived", () => host.notes().some((note) => note.prompt === "[[say once]]"));
  await page.unroute("**/messages");
  await page.reload();
  await until("its answer", async () => (await said(page)).includes("once"));
  await page.getByText("on its way to the host").waitFor({ state: "detached" });
  expect(host.notes().filter((note) => note.prompt)).toHaveLength(1);
  const row = await host.call<{ user_messages: number }>("GET", `/chats/${chat}`);
  expect(row.user_messages).toBe(1);
});

test("a transcript that the host could not give is asked for again", async () => {
  await host.chat({ title: "Later", message: "[[say here it is]]" });
  const page = await signedIn(await context(browser), host);
  // What stands between page and host answers instead of it.
  let times = 0;
  await page.route("**/items*", (route) => {
    times += 1;
    return route.fulfill({ status: 503, body: "try later" });
  });
  await page.getByRole("link", { name: /Later/ }).click();
  const alert = page.getByRole("alert").getByText("The transcript could not be read: HTTP 503");
  await alert.waitFor();
  await accessible(page);
  expect(times).toBe(1);
  await page.unroute("**/items*");
  await page.getByRole("button", { name: "Try again" }).click();
  await until("it is there", async () => (await said(page)).includes("here it is"));
  await alert.waitFor({ state: "detached" });
});

test("of two tabs that answer one wins, and the other is told", async () => {
  const chat = await host.chat({ title: "Race", message: "[[approve deploy]]" });
  const one = await signedIn(await context(browser), host, `/chats/${chat}`);
  const two = await signedIn(await context(browser), host, `/chats/${chat}`);
  const card = (page: typeof one) => prompts(page, "Needs your approval");
  await card(two).getByRole("button", { name: "Reject" }).waitFor();
  // The second tab answers before it can know of the first answer.
  let first = Promise.resolve();
  await two.route("**/answer", async (route) => {
    first = card(one).getByRole("button", { name: "Allow once" }).click();
    await first;
    await card(one).getByText("Allow once").waitFor();
    await card(one)
      .getByText(/Answered/)
      .waitFor();
    await route.continue();
  });
  await card(two).getByRole("button", { name: "Reject" }).click();
  await card(two).getByText("Somebody answered first.").waitFor();
  await card(two)
    .getByText(/Answered on .*: Allow once/)
    .waitFor();
  await until("it ran", () => host.notes().filter((note) => note.ran === "deploy").length === 1);
});

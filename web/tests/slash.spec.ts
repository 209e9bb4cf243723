import type { Browser, Page as Tab } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { accessible, context, faults, open, PHONE, said, signedIn, until } from "./browser.ts";
import { TestHost } from "./host.ts";

const host = new TestHost();
let browser: Browser;
let page: Tab;
let noted: string[];
let cwd: string;

beforeAll(async () => {
  await host.start();
  browser = await open();
  page = await signedIn(await context(browser), host);
  noted = faults(page);
  cwd = host.directory("slash");
  const chat = await host.chat({ title: "Commands", cwd });
  await page.goto(`${host.url}/chats/${chat}`);
});

afterAll(async () => {
  await browser.close();
  await host.remove();
});

const box = () => page.getByRole("textbox", { name: "Message" });
const list = () => page.getByRole("listbox", { name: "Commands of the agent" });
const options = async () =>
  (await list().getByRole("option").allInnerTexts()).map((text) => text.replaceAll("\n", " "));
/** What a reader of the text area is pointed at. */
const pointed = async () => {
  const id = await box().getAttribute("aria-activedescendant");
  return id === null ? null : page.locator(`[id="${id}"]`).textContent();
};
const prompted = () => host.notes().flatMap((note) => (note.prompt ? [note.prompt] : []));

test("nothing is proposed before an agent has told anything", async () => {
  await box().fill("/");
  // What is asked has been answered once the same question is answered again.
  await page.waitForLoadState("networkidle");
  expect(await list().count()).toBe(0);
  await box().fill("hello");
  await box().press("Enter");
  await until("it answers", async () => (await said(page)).length === 1);
});

test("the keyboard chooses, completes and sends", async () => {
  await box().pressSequentially("/");
  await list().waitFor();
  expect(await options()).toEqual([
    "/count How many messages this session has seen",
    "/say TEXT Says it back, in several pieces",
  ]);
  expect(await pointed()).toMatch(/^\/count/);
  await page.getByRole("status").getByText("2 commands fit.").waitFor();
  await accessible(page);
  if (process.env.HOLDFAST_SHOTS) {
    await page.screenshot({ path: `${process.env.HOLDFAST_SHOTS}/slash.png` });
  }
  await box().press("ArrowDown");
  expect(await pointed()).toMatch(/^\/say/);
  await box().press("ArrowDown");
  expect(await pointed()).toMatch(/^\/count/);
  await box().press("ArrowUp");
  await box().press("Enter");
  expect(await box().inputValue()).toBe("/say ");
  expect(await list().count()).toBe(0);
  await page.getByText("Then: TEXT").waitFor();
  await box().pressSequentially("good morning");
  await box().press("Enter");
  await until("it says it", async () =>
    (await said(page)).some((text) => /good morning/.test(text)),
  );
  expect(prompted()).toEqual(["hello", "/say good morning"]);
});

test("Tab completes, and what is written whole is sent", async () => {
  await box().pressSequentially("/co");
  expect(await options()).toHaveLength(1);
  await box().press("Tab");
  expect(await box().inputValue()).toBe("/count");
  await expect(box().evaluate((at) => at === document.activeElement)).resolves.toBe(true);
  await box().press("Enter");
  await until("it counts", async () => (await said(page)).some((text) => /\b3\b/.test(text)));
  expect(prompted().at(-1)).toBe("/count");
});

test("Escape puts it away until a slash is begun anew, and other keys are the text's", async () => {
  await box().pressSequentially("/");
  await list().waitFor();
  await box().press("Escape");
  await list().waitFor({ state: "detached" });
  await box().pressSequentially("s");
  expect(await list().count()).toBe(0);
  await box().fill("");
  await box().pressSequentially("/s");
  await list().waitFor();
  // A line is begun, nothing is chosen.
  await box().press("Shift+Enter");
  expect(await box().inputValue()).toBe("/s\n");
  expect(await list().count()).toBe(0);
  await box().fill("a /");
  expect(await list().count()).toBe(0);
  await box().fill("");
});

test("a new chat of the same directory proposes what was told last, on a phone by a tap", async () => {
  await host.kill();
  await host.start();
  const made = await context(browser, { viewport: PHONE, hasTouch: true, isMobile: true });
  page = await signedIn(made, host);
  const seen = faults(page);
  const chat = await host.chat({ title: "Another", cwd });
  await page.goto(`${host.url}/chats/${chat}`);
  await box().pressSequentially("/");
  await list().waitFor();
  await accessible(page);
  if (process.env.HOLDFAST_SHOTS) {
    await page.screenshot({ path: `${process.env.HOLDFAST_SHOTS}/slash-phone.png` });
  }
  await list().getByRole("option", { name: "/say" }).tap();
  expect(await box().inputValue()).toBe("/say ");
  await box().pressSequentially("tapped");
  await page.getByRole("button", { name: "Send" }).click();
  await until("it says it", async () => (await said(page)).some((text) => /tapped/.test(text)));
  expect([...noted, ...seen]).toEqual([]);
});

import type { Browser, Page as Tab } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ItemPage } from "../src/events/wire.ts";
import { accessible, context, faults, open, prompts, said, signedIn, until } from "./browser.ts";
import { TestHost } from "./host.ts";

const host = new TestHost();
let browser: Browser;
let page: Tab;
let noted: string[];

beforeAll(async () => {
  await host.start();
  browser = await open();
  page = await signedIn(await context(browser), host);
  noted = faults(page);
});

afterAll(async () => {
  await browser.close();
  await host.remove();
});

const composer = () => page.getByRole("textbox", { name: "Message" });
const transcript = () => page.getByRole("region", { name: "Transcript" });
/** Goes to a chat of its own. */
const begin = async (title: string) => {
  const id = await host.chat({ title });
  await page.getByRole("link", { name: new RegExp(title) }).click();
  await page.getByText("Nothing was said yet.").waitFor();
  return id;
};
const send = async (text: string) => {
  await composer().fill(text);
  await composer().press("Enter");
};

test("a chat is begun, and a prompt answered by keyboard", async () => {
  await page.getByRole("link", { name: "New chat" }).click();
  await accessible(page);
  await page.getByLabel("Directory").fill("/no/such/directory");
  await page.getByLabel("First message").fill("Hello");
  await page.getByRole("button", { name: "Start chat" }).click();
  await page.getByRole("alert").getByText("cannot be used").waitFor();
  await page.getByLabel("Directory").fill(host.directory("shop"));
  await page
    .getByLabel("First message")
    .fill("[[think hm]] [[plan one|two]] [[say Look at `this`]] [[approve make test]]");
  await page.getByLabel("First message").press("Enter");
  const prompt = prompts(page, "Needs your approval");
  await prompt.waitFor();
  await accessible(page);
  await prompt.getByRole("button", { name: "Allow once" }).focus();
  await page.keyboard.press("Enter");
  await prompt.getByText(/Answered on Chrome on Linux: Allow once · taken/).waitFor();
  await page.getByText("delivered").waitFor();
  expect(host.notes().filter((note) => note.ran === "make test")).toHaveLength(1);
  expect(await said(page)).toContain("Look at this");
});

test("questions are answered, in one's own words too", async () => {
  await begin("Questions");
  await send("[[ask Which one?|First|Second]]");
  const prompt = prompts(page, "Asks you");
  await prompt.waitFor();
  await accessible(page);
  const second = prompt.getByText("Second");
  await second.click();
  const answer = prompt.getByRole("button", { name: "Answer" });
  if (await answer.isVisible()) await answer.click();
  await prompt.getByText(/Answered on .*Second/).waitFor();
  await until("the agent has it", () => JSON.stringify(host.notes()).includes("Second"));
});

test("Shift+Enter begins a line, and big outputs come in ranges", async () => {
  await begin("Outputs");
  await composer().fill("two");
  await composer().press("Shift+Enter");
  await composer().pressSequentially("lines [[output 200000]]");
  await composer().press("Enter");
  await transcript().getByText("two\nlines").waitFor();
  const call = page.locator("details", { hasText: "output" }).last();
  await call.locator("summary").click();
  const more = call.getByRole("button", { name: /Show more \(16 kB of 200 kB\)/ });
  await more.click();
  await call.getByRole("button", { name: /Show more \(14\d kB of 200 kB\)/ }).click();
  await until("all of it", async () => {
    const text = await call.locator("pre").last().textContent();
    return text?.length === 200_000;
  });
});

test("what waits is edited, ordered, held, taken back and sent", async () => {
  await begin("Queue");
  await send("[[slow 600]]");
  await page.getByRole("button", { name: "Stop" }).waitFor();
  for (const text of ["[[say a]]", "[[say b]]", "[[say c]]"]) await send(text);
  await page.getByText("3 messages wait").waitFor();
  await accessible(page);
  const waiting = page.getByRole("region", { name: /messages? waits?/ }).getByRole("listitem");
  const line = (text: string) => waiting.filter({ hasText: text });
  await line("[[say c]]").getByRole("button", { name: "Move up" }).click();
  await until(
    "the order",
    async () => (await waiting.nth(1).textContent())?.includes("say c") === true,
  );
  await line("[[say b]]").getByRole("button", { name: "Take back" }).click();
  await page.getByText("2 messages wait").waitFor();
  await line("[[say c]]").getByRole("button", { name: "Edit" }).click();
  await page.getByRole("textbox", { name: "Waiting message" }).fill("[[say d]]");
  await page.getByRole("textbox", { name: "Waiting message" }).press("Enter");
  await line("[[say d]]").waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("held since you stopped the agent").waitFor();
  await line("[[say d]]").getByRole("button", { name: "Send now" }).click();
  await until("d", async () => (await said(page)).includes("d"));
  await page.getByText("1 message waits").waitFor();
  await page.getByRole("button", { name: "Let it run" }).click();
  await until("a", async () => (await said(page)).includes("a"));
  const prompts = host.notes().map((note) => note.prompt);
  expect(prompts.filter((text) => text === "[[say b]]" || text === "[[say c]]")).toEqual([]);
});

test("tasks are stopped", async () => {
  await begin("Tasks");
  await send("[[task 600 Review it]]");
  await page.getByRole("button", { name: "Stop Review it" }).click();
  await page.getByText("1 task in the background").waitFor({ state: "detached" });
  expect(host.notes().filter((note) => note.stop)).toHaveLength(1);
});

test("what is not known or was not taken is for the person to say", async () => {
  const chat = await begin("Doubts");
  await send("[[error -32603]] doubt");
  await page.getByRole("button", { name: "It arrived" }).waitFor();
  await page.getByText("1 to check").waitFor();
  await accessible(page);
  await page.getByRole("button", { name: "Send again" }).click();
  const times = (text: string) => host.notes().filter((note) => note.prompt === text).length;
  await until("the second time", () => times("[[error -32603]] doubt") === 2);
  await until("the second doubt", async () => {
    const page = await host.call<ItemPage>("GET", `/chats/${chat}/items`);
    return page.items[0]?.delivery?.state === "unknown";
  });
  await page.getByRole("button", { name: "It arrived" }).click();
  // The agent's error is a failure of its own, until the person goes on.
  const failure = page.getByRole("region", { name: "Needs a look" });
  await failure.getByText("told to answer with error -32603").waitFor();
  await failure.getByRole("button", { name: "Try again" }).click();
  await page.getByText("0 to check").waitFor();
  await send("[[error -32602]]");
  await page.getByText("The agent did not take this message").waitFor();
  expect(await page.getByRole("button", { name: "It arrived" }).count()).toBe(0);
  await page.getByRole("button", { name: "Discard" }).click();
  await page.getByText("taken back").waitFor();
});

test("a draft is the same on another device", async () => {
  await composer().fill("half a thought");
  const path = new URL(page.url()).pathname;
  await until("it is kept", async () => {
    const draft = await host.call<{ text: string }>("GET", `${path}/draft`);
    return draft.text === "half a thought";
  });
  const other = await signedIn(await context(browser), host, path);
  const there = other.getByRole("textbox", { name: "Message" });
  await until("it is there", async () => (await there.inputValue()) === "half a thought");
  await there.fill("");
  await until("it is gone", async () => {
    return (await host.call<{ text: string }>("GET", `${path}/draft`)).text === "";
  });
  await other.close();
});

test("a chat is named, found, closed, opened again and deleted", async () => {
  await page
    .getByRole("region", { name: "Chat", exact: true })
    .getByRole("button", { name: "More" })
    .click();
  await accessible(page);
  await page.getByRole("menuitem", { name: "Edit…" }).click();
  await page.getByRole("textbox", { name: "Title" }).fill("The shop");
  await page.getByRole("textbox", { name: "Title" }).press("Enter");
  await page.getByRole("heading", { name: "The shop" }).waitFor();
  await host.chat({ title: "Another" });
  const list = page.getByRole("navigation", { name: "Open chats" });
  await list.getByText("Another").waitFor();
  await page.getByRole("searchbox").fill("the shop");
  await list.waitFor({ state: "detached" });
  const results = page.getByRole("navigation", { name: "Search results" });
  await results.getByText("The shop").waitFor();
  expect(await results.getByText("Another").count()).toBe(0);
  await page.getByRole("searchbox").fill("");
  await page
    .getByRole("region", { name: "Chat", exact: true })
    .getByRole("button", { name: "More" })
    .click();
  await page.getByRole("menuitem", { name: "Close chat" }).click();
  await accessible(page);
  await page.getByRole("dialog").getByRole("button", { name: "Close chat" }).click();
  await page.getByText("This chat is closed.").waitFor();
  await page.getByRole("link", { name: "Closed chats" }).click();
  await page.getByRole("region", { name: "Chat", exact: true }).getByText("The shop").waitFor();
  await accessible(page);
  await page.getByRole("button", { name: "Reopen" }).click();
  await composer().waitFor();
  await page
    .getByRole("region", { name: "Chat", exact: true })
    .getByRole("button", { name: "More" })
    .click();
  await page.getByRole("menuitem", { name: "Delete chat" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete chat" }).click();
  await list.getByText("The shop").waitFor({ state: "detached" });
  expect(noted).toEqual([]);
});

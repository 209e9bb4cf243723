import type { Browser, Page as Tab } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Attachment, Item, Page } from "../src/events/wire.ts";
import { accessible, context, faults, open, signedIn, until } from "./browser.ts";
import { TestHost } from "./host.ts";

const host = new TestHost();
let browser: Browser;
let page: Tab;
let noted: string[];
let chat: string;

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==",
  "base64",
);

beforeAll(async () => {
  await host.start();
  browser = await open();
  chat = await host.chat({ title: "Files" });
  page = await signedIn(await context(browser), host, `/chats/${chat}`);
  noted = faults(page);
});

afterAll(async () => {
  await browser.close();
  await host.remove();
});

const composer = () => page.getByRole("textbox", { name: "Message" });
const chooser = () => page.locator('input[type="file"]');
const beside = () => page.locator("form").getByRole("list", { name: "Attached files" });
const kept = () => host.call<Page<Attachment, null>>("GET", `/chats/${chat}/attachments`);
const items = () => host.call<Page<Item, number>>("GET", `/chats/${chat}/items`);

/** Gives the composer a file as a person's paste or drop does. */
const give = (kind: "paste" | "drop", name: string) =>
  composer().evaluate(
    (area, [kind, name]) => {
      const data = new DataTransfer();
      data.items.add(new File(["dropped"], name ?? "", { type: "text/plain" }));
      const more = { bubbles: true, cancelable: true };
      area.dispatchEvent(
        kind === "paste"
          ? new ClipboardEvent("paste", { ...more, clipboardData: data })
          : new DragEvent("drop", { ...more, dataTransfer: data }),
      );
    },
    [kind, name] as const,
  );

test("files are chosen, pasted and dropped, one is taken away, and all go with the message", async () => {
  await composer().waitFor();
  await chooser().setInputFiles({ name: "a b.png", mimeType: "image/png", buffer: PNG });
  await beside().getByText("a b.png").waitFor();
  await give("paste", "pasted.txt");
  await give("drop", "dropped.txt");
  await beside().getByText("dropped.txt").waitFor();
  await until("all are kept", async () => (await kept()).items.length === 3);
  await accessible(page);
  await page.getByRole("button", { name: "Remove pasted.txt" }).click();
  await until("it is let go", async () => (await kept()).items.length === 2);
  await composer().fill("look at these");
  await composer().press("Enter");
  const mine = page.getByRole("article", { name: "You" });
  await mine.getByText("dropped.txt").waitFor();
  expect(await beside().count()).toBe(0);
  const image = mine.locator("img");
  await until("the image is shown", () =>
    image.evaluate((one) => (one as HTMLImageElement).naturalWidth === 1),
  );
  await accessible(page);
  const came = host.notes().find((note) => note.prompt === "look at these");
  const blocks = (came?.attached ?? []) as { type: string }[];
  expect(blocks.map((block) => block.type)).toEqual(["image", "resource"]);
  expect(noted).toEqual([]);
});

test("a file that is not taken says why, and the text stays", async () => {
  await composer().fill("my words");
  await chooser().setInputFiles({ name: "none.txt", mimeType: "text/plain", buffer: Buffer.of() });
  await page.getByRole("alert").getByText("The body is empty").waitFor();
  expect(await page.getByRole("button", { name: "Send" }).isDisabled()).toBe(true);
  await composer().press("Enter");
  expect(await composer().inputValue()).toBe("my words");
  await accessible(page);
  await page.getByRole("button", { name: "Remove none.txt" }).click();
  await composer().press("Enter");
  await page.getByRole("article", { name: "You" }).getByText("my words").waitFor();
});

test("a file may be all that is said", async () => {
  await chooser().setInputFiles({ name: "only.png", mimeType: "image/png", buffer: PNG });
  await beside().locator("img").waitFor();
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("article", { name: "You" }).getByText("only.png").waitFor();
  const sent = (await items()).items.filter((item) => item.role === "user");
  expect(sent.at(-1)?.attachments?.map((one) => one.name)).toEqual(["only.png"]);
});

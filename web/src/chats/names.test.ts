import { expect, it } from "vitest";
import { aRow } from "../events/fixtures.ts";
import { nameOf } from "./names.ts";

it("calls a chat by its title, then by what was asked first, whatever was asked since", () => {
  const asked = { first_prompt: "Make a shop\nwith all", last_prompt: "Now paint it" };
  expect(nameOf(aRow("a", { ...asked, title: "Shop" }))).toBe("Shop");
  expect(nameOf(aRow("a", asked))).toBe("Make a shop");
  expect(nameOf(aRow("a", {}))).toBe("New chat");
});

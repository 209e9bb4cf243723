import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import { Said } from "./Said.tsx";

it("fills a text's placeholders with what is no text", () => {
  const said = renderToStaticMarkup(
    <Said name="fork.before" parts={{ chat: <a href="/x">it</a> }} />,
  );
  expect(said).toBe(
    'What came before is in <span><a href="/x">it</a></span>, from which this chat was forked.',
  );
});

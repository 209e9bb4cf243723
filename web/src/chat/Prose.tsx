import { memo } from "react";
import { split } from "./prose.ts";

/** A text as it was written; code in fences and backticks is set as code. Nothing of it is ever run. */
export const Prose = memo(function Prose({ text }: { text: string }) {
  return (
    <div className="wrap-anywhere">
      {split(text).map((part, index) =>
        part.kind === "code" ? (
          <pre
            // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text have no other name
            key={index}
            // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
            tabIndex={0}
            className="my-2 overflow-x-auto rounded-md border border-edge bg-panel px-3 py-2 font-mono text-sm"
          >
            <code>{part.text}</code>
          </pre>
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text have no other name
          <Words key={index} text={part.text} />
        ),
      )}
    </div>
  );
});

function Words({ text }: { text: string }) {
  const parts = text.split(/(`[^`\n]+`)/);
  return (
    <p className="whitespace-pre-wrap">
      {parts.map((part, index) =>
        index % 2 === 1 ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text have no other name
          <code key={index} className="rounded bg-panel px-1 font-mono text-[0.9em]">
            {part.slice(1, -1)}
          </code>
        ) : (
          part
        ),
      )}
    </p>
  );
}

import { memo } from "react";
import { chatOf, chatPath, follow, usePath } from "../app/route.ts";
import type { Row } from "../events/wire.ts";
import { ago, t, tn } from "../i18n/t.ts";
import { useNow } from "../ui/clock.ts";
import { Icon } from "../ui/Icon.tsx";
import { Dot } from "./Dot.tsx";
import { directoryOf, nameOf } from "./names.ts";

/** A chat in a list. */
export const ChatLine = memo(function ChatLine({ row }: { row: Row }) {
  const current = chatOf(usePath()) === row.id;
  const now = useNow();
  return (
    <li className="[contain-intrinsic-size:auto_4rem] [content-visibility:auto]">
      <a
        href={chatPath(row.id)}
        onClick={follow}
        aria-current={current ? "page" : undefined}
        className="block rounded-lg px-3 py-2 -outline-offset-2 hover:bg-raised aria-[current]:bg-mine"
      >
        <span className="flex items-baseline justify-between gap-2">
          <span className={`truncate ${row.unread ? "font-bold" : "font-medium"}`}>
            {nameOf(row)}
          </span>
          <span className="flex shrink-0 items-center gap-1 self-center text-xs text-soft">
            {row.forked_from && <Sign name="fork" word={t("row.forked")} />}
            {row.pinned && <Sign name="pin" word={t("row.pinned")} />}
            {row.muted && <Sign name="mute" word={t("row.muted")} />}
            {ago(row.updated_at, now)}
            {row.unread && (
              <span className="ml-0.5 size-2 rounded-full bg-brand" title={t("row.unread")}>
                <span className="sr-only">{t("row.unread")}</span>
              </span>
            )}
          </span>
        </span>
        <span className="flex items-center justify-between gap-2">
          <Dot row={row} />
          <span className="truncate text-sm text-soft" title={row.cwd}>
            {row.queue_length > 0 && `${tn("list.queued", row.queue_length)} · `}
            {directoryOf(row)} · {row.agent}
          </span>
        </span>
        {row.tags.length > 0 && (
          <span className="block truncate text-xs text-soft">
            {row.tags.map((tag) => `#${tag}`).join(" ")}
          </span>
        )}
      </a>
    </li>
  );
});

/** A picture that says a word. */
function Sign({ name, word }: { name: "fork" | "pin" | "mute"; word: string }) {
  return (
    <span title={word} className="[&_svg]:size-3.5">
      <Icon name={name} />
      <span className="sr-only">{word}</span>
    </span>
  );
}

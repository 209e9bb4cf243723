import { memo, type ReactNode } from "react";
import { chatPath, follow, usePath } from "../app/route.ts";
import { useHost } from "../events/host.ts";
import type { Paged } from "../events/paged.ts";
import type { FoundItem } from "../events/wire.ts";
import { ago, t, tn, tword } from "../i18n/t.ts";
import { Button } from "../ui/Button.tsx";
import { useNow } from "../ui/clock.ts";
import { ChatLine } from "./ChatLine.tsx";
import { nameOf } from "./names.ts";
import { useFoundChats, useFoundItems } from "./search.ts";

/** What was found: chats, and places in transcripts, each a way to where it was said. */
export function SearchResults({ words }: { words: string }) {
  const known = useHost((host) => host.chats);
  const chats = useFoundChats(words);
  const items = useFoundItems(words);
  const nothing = chats.items?.length === 0 && !chats.more && items.items?.length === 0;
  return (
    <nav aria-label={t("search.results")} className="min-h-0 flex-1 overflow-y-auto px-2 pb-2">
      <p role="status" className="px-3 py-1 text-sm text-soft">
        {said(words, chats, items)}
      </p>
      {!nothing && (
        <>
          <Section label={t("search.chats")} paged={chats}>
            {chats.items?.map((row) => (
              <ChatLine key={row.id} row={known.get(row.id) ?? row} />
            ))}
          </Section>
          <Section label={t("search.items")} paged={items}>
            {items.items?.map((item) => (
              <Hit key={item.item} item={item} />
            ))}
          </Section>
        </>
      )}
      {items.last?.complete === false && (
        <p className="px-3 py-2 text-sm text-warn">{t("search.incomplete")}</p>
      )}
    </nav>
  );
}

type Any = Pick<Paged<unknown, { items: readonly unknown[]; next: string | null }>, "items"> & {
  fault: { text: string } | null;
  more: (() => void) | null;
  again(): void;
};

/** What was found, for who only hears it. */
function said(words: string, chats: Any, items: Any): string {
  const waits = (one: Any) => one.items === null && one.fault === null;
  if (waits(chats) || waits(items)) return t("list.searching");
  const [many, places] = [chats.items?.length ?? 0, items.items?.length ?? 0];
  if (many + places === 0 && !chats.fault && !items.fault) return t("list.nothing", { words });
  return `${tn("search.count.chats", many)}, ${tn("search.count.items", places)}`;
}

function Section({ label, paged, children }: { label: string; paged: Any; children: ReactNode }) {
  if (paged.items?.length === 0 && !paged.fault && !paged.more) return null;
  return (
    <section className="pt-1">
      <h2 className="px-3 py-1 text-xs font-semibold text-soft">{label}</h2>
      <ul className="flex flex-col gap-px">{children}</ul>
      {paged.fault && (
        <div className="flex items-start gap-2 rounded-md bg-bad-ground px-3 py-2 text-sm text-bad">
          <p role="alert" className="min-w-0 flex-1">
            {paged.fault.text}
          </p>
          <Button size="small" onClick={paged.again}>
            {t("action.retry")}
          </Button>
        </div>
      )}
      {paged.more && (
        <Button size="small" look="quiet" className="mx-3 my-1" onClick={paged.more}>
          {t("history.more")}
        </Button>
      )}
    </section>
  );
}

/** A place in a transcript. */
const Hit = memo(function Hit({ item }: { item: FoundItem }) {
  const row = useHost((host) => host.chats.get(item.chat));
  const now = useNow();
  const path = chatPath(item.chat, item.seq);
  const current = usePath() === path;
  const name = row ? nameOf(row) : (item.title ?? t("list.untitled"));
  return (
    <li>
      <a
        href={path}
        onClick={follow}
        aria-current={current ? "page" : undefined}
        className="block rounded-lg px-3 py-2 -outline-offset-2 hover:bg-raised aria-[current]:bg-mine"
      >
        <span className="flex items-baseline justify-between gap-2">
          <span className="truncate text-sm font-medium">
            {name}
            {item.state === "closed" && (
              <span className="font-normal text-soft"> · {t("state.closed")}</span>
            )}
          </span>
          <span className="shrink-0 text-xs text-soft">{ago(item.at, now)}</span>
        </span>
        <span className="line-clamp-2 text-sm wrap-anywhere text-soft">
          {whose(item)}:{" "}
          {item.snippet.map((part, index) =>
            part.found ? (
              // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text have no other name
              <mark key={index} className="rounded-xs bg-found text-ink">
                {part.text}
              </mark>
            ) : (
              part.text
            ),
          )}
        </span>
      </a>
    </li>
  );
});

function whose(item: FoundItem): string {
  if (item.kind === "message") return item.role === "user" ? t("item.you") : t("item.agent");
  return tword("kind", item.kind);
}

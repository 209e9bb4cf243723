import { memo, useMemo, useState } from "react";
import { chatOf, follow, usePath } from "../app/route.ts";
import { useHost } from "../events/host.ts";
import type { Row } from "../events/wire.ts";
import { ago, t, tn } from "../i18n/t.ts";
import { buttonClass } from "../ui/Button.tsx";
import { useNow } from "../ui/clock.ts";
import { Input } from "../ui/Field.tsx";
import { Dot } from "./Dot.tsx";
import { directoryOf, nameOf } from "./names.ts";
import { useFound } from "./search.ts";

/** All open chats, the last changed first; or those that a search finds, closed ones too. */
export function ChatList({ only, onAll }: { only: "to_check" | null; onAll: () => void }) {
  const [words, setWords] = useState("");
  const chats = useHost((host) => host.chats);
  const failures = useHost((host) => host.failures);
  const known = useHost((host) => host.known);
  const found = useFound(words);
  const rows = useMemo(() => {
    const wanted = (row: Row) =>
      only === null || row.status.shown === "to_check" || failures.has(row.id);
    const open = [...chats.values()].filter((row) => row.state === "open" && wanted(row));
    return open.sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1));
  }, [chats, failures, only]);
  const shown = words.trim() === "" ? rows : (found ?? []).map((row) => chats.get(row.id) ?? row);
  return (
    <>
      <div className="flex gap-2 px-3 pb-2">
        <Input
          type="search"
          aria-label={t("list.search")}
          placeholder={t("list.search")}
          value={words}
          onChange={(event) => setWords(event.target.value)}
        />
        <a href="/new" onClick={follow} className={buttonClass("brand")}>
          {t("list.new")}
        </a>
      </div>
      {only && (
        <p className="flex items-center justify-between px-4 pb-1 text-sm text-soft">
          {t("list.onlyToCheck")}
          <button type="button" onClick={onAll} className="underline">
            {t("list.all")}
          </button>
        </p>
      )}
      <nav aria-label={t("list.open")} className="min-h-0 flex-1 overflow-y-auto px-2">
        {shown.length > 0 && (
          <ul className="flex flex-col gap-px pb-2">
            {shown.map((row) => (
              <Line key={row.id} row={row} />
            ))}
          </ul>
        )}
        <Nothing words={words.trim()} found={found} empty={known && rows.length === 0} />
      </nav>
    </>
  );
}

function Nothing({ words, found, empty }: { words: string; found: Row[] | null; empty: boolean }) {
  if (words !== "") {
    if (found?.length) return null;
    const text = found ? t("list.nothing", { words }) : t("list.searching");
    return (
      <p role="status" className="px-2 py-4 text-soft">
        {text}
      </p>
    );
  }
  if (!empty) return null;
  return (
    <div className="px-2 py-4 text-soft">
      <p className="font-medium text-ink">{t("list.empty")}</p>
      <p>{t("list.empty.hint")}</p>
    </div>
  );
}

const Line = memo(function Line({ row }: { row: Row }) {
  const current = chatOf(usePath()) === row.id;
  const now = useNow();
  return (
    <li className="[contain-intrinsic-size:auto_4rem] [content-visibility:auto]">
      <a
        href={`/chats/${row.id}`}
        onClick={follow}
        aria-current={current ? "page" : undefined}
        className="block rounded-lg px-3 py-2 -outline-offset-2 hover:bg-raised aria-[current]:bg-mine"
      >
        <span className="flex items-baseline justify-between gap-2">
          <span className="truncate font-medium">{nameOf(row)}</span>
          <span className="shrink-0 text-xs text-soft">{ago(row.updated_at, now)}</span>
        </span>
        <span className="flex items-center justify-between gap-2">
          <Dot row={row} />
          <span className="truncate text-sm text-soft" title={row.cwd}>
            {row.queue_length > 0 && `${tn("list.queued", row.queue_length)} · `}
            {directoryOf(row)} · {row.agent}
          </span>
        </span>
      </a>
    </li>
  );
});

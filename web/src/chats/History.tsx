import { useState } from "react";
import { Back } from "../app/Back.tsx";
import { chatPath, follow, go } from "../app/route.ts";
import { useAct } from "../events/act.ts";
import { call } from "../events/api.ts";
import { know, useHost, write } from "../events/host.ts";
import { usePaged } from "../events/paged.ts";
import { to } from "../events/request.ts";
import type { Row, RowPage } from "../events/wire.ts";
import { ago, t } from "../i18n/t.ts";
import { Button } from "../ui/Button.tsx";
import { useNow } from "../ui/clock.ts";
import { FaultLine } from "../ui/FaultLine.tsx";
import { Input } from "../ui/Field.tsx";
import { DeleteDialog } from "./DeleteDialog.tsx";
import { nameOf } from "./names.ts";

/** Milliseconds of quiet after which words are looked for. */
const QUIET = 150;

/** Closed chats, in pages. */
export function History() {
  const [words, setWords] = useState("");
  const [deleting, setDeleting] = useState<Row | null>(null);
  const [gone, setGone] = useState<ReadonlySet<string>>(new Set());
  const live = useHost((host) => host.link === "live");
  const q = words.trim();
  const page = usePaged<Row, RowPage>(
    live ? `closed ${q}` : null,
    q ? QUIET : 0,
    (before, signal) =>
      call(to("GET", "/chats", { query: { state: "closed", ...(q ? { q } : {}), ...before } }), {
        signal,
      }),
  );
  const rows = page.items?.filter((row) => !gone.has(row.id));
  return (
    <section className="mx-auto flex min-h-0 w-full max-w-3xl flex-1 flex-col gap-3 overflow-y-auto p-5">
      <header className="flex items-center gap-1">
        <Back />
        <h2 className="text-xl font-semibold">{t("history.title")}</h2>
      </header>
      <Input
        type="search"
        aria-label={t("history.search")}
        placeholder={t("history.search")}
        value={words}
        onChange={(event) => setWords(event.target.value)}
      />
      {page.fault && (
        <p className="flex items-center gap-2 rounded-md bg-bad-ground px-3 py-2 text-bad">
          <span role="alert" className="min-w-0 flex-1">
            {page.fault.text}
          </span>
          <Button size="small" onClick={page.again}>
            {t("action.retry")}
          </Button>
        </p>
      )}
      {rows?.length === 0 && !page.more && (
        <p className="text-soft">{q ? t("list.nothing", { words: q }) : t("history.empty")}</p>
      )}
      <ul className="flex flex-col divide-y divide-edge">
        {rows?.map((row) => (
          <Closed key={row.id} row={row} onDelete={() => setDeleting(row)} />
        ))}
      </ul>
      {page.more && (
        <Button className="self-center" onClick={page.more}>
          {t("history.more")}
        </Button>
      )}
      <DeleteDialog
        row={deleting}
        onClose={() => setDeleting(null)}
        onDeleted={(row) => setGone((old) => new Set([...old, row.id]))}
      />
    </section>
  );
}

function Closed({ row, onDelete }: { row: Row; onDelete: () => void }) {
  const act = useAct();
  const now = useNow();
  const name = nameOf(row);
  const reopen = async () => {
    const wanted = to("POST", "/chats/{chat}/reopen", { at: { chat: row.id } });
    const open = await act.run(() => write(wanted, row.id));
    if (!open) return;
    know(open);
    go(chatPath(row.id));
  };
  return (
    <li className="flex flex-wrap items-center gap-2 py-2">
      <a href={chatPath(row.id)} onClick={follow} className="min-w-0 flex-1 basis-60">
        <span className="block truncate font-medium">{name}</span>
        <span className="block truncate text-sm text-soft">
          {row.cwd} · {row.agent} · {ago(row.updated_at, now)}
          {row.tags.map((tag) => ` · #${tag}`)}
        </span>
      </a>
      <span className="flex gap-2">
        <Button
          size="small"
          disabled={act.busy}
          aria-label={t("history.reopenLabel", { chat: name })}
          onClick={() => void reopen()}
        >
          {t("history.reopen")}
        </Button>
        <Button
          size="small"
          look="bad"
          aria-label={t("history.deleteLabel", { chat: name })}
          onClick={onDelete}
        >
          {t("history.delete")}
        </Button>
      </span>
      <FaultLine act={act} className="basis-full" />
    </li>
  );
}

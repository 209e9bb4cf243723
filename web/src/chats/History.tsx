import { useCallback, useEffect, useState } from "react";
import { Back } from "../app/Back.tsx";
import { follow, go } from "../app/route.ts";
import { get } from "../events/api.ts";
import { know, send, useHost, write } from "../events/host.ts";
import type { Page, Row } from "../events/wire.ts";
import { ago, t } from "../i18n/t.ts";
import { Button } from "../ui/Button.tsx";
import { useNow } from "../ui/clock.ts";
import { DeleteDialog } from "./DeleteDialog.tsx";
import { nameOf } from "./names.ts";

/** Closed chats, in pages. */
export function History() {
  const [rows, setRows] = useState<Row[] | null>(null);
  const [next, setNext] = useState<string | null>(null);
  const [deleting, setDeleting] = useState<Row | null>(null);
  const live = useHost((host) => host.link === "live");
  const load = useCallback(async (before: string | null) => {
    const query = new URLSearchParams({ state: "closed", ...(before ? { before } : {}) });
    const page = await get<Page<Row, string>>(`/chats?${query}`);
    setRows((old) => (before ? [...(old ?? []), ...page.items] : page.items));
    setNext(page.next);
  }, []);
  useEffect(() => {
    if (live) load(null).catch(() => {});
  }, [live, load]);
  const gone = (row: Row) => setRows((old) => old?.filter((one) => one.id !== row.id) ?? null);
  const reopen = async (row: Row) => {
    const path = `/chats/${row.id}/reopen`;
    know(await write<Row>({ method: "POST", path, body: {}, lane: row.id }));
    go(`/chats/${row.id}`);
  };
  const now = useNow();
  return (
    <section className="mx-auto flex min-h-0 w-full max-w-3xl flex-1 flex-col gap-3 overflow-y-auto p-5">
      <header className="flex items-center gap-1">
        <Back />
        <h2 className="text-xl font-semibold">{t("history.title")}</h2>
      </header>
      {rows?.length === 0 && <p className="text-soft">{t("history.empty")}</p>}
      <ul className="flex flex-col divide-y divide-edge">
        {rows?.map((row) => (
          <li key={row.id} className="flex flex-wrap items-center gap-2 py-2">
            <a href={`/chats/${row.id}`} onClick={follow} className="min-w-0 flex-1 basis-60">
              <span className="block truncate font-medium">{nameOf(row)}</span>
              <span className="block truncate text-sm text-soft">
                {row.cwd} · {row.agent} · {ago(row.updated_at, now)}
              </span>
            </a>
            <Button size="small" onClick={() => void reopen(row).catch(() => {})}>
              {t("history.reopen")}
            </Button>
            <Button size="small" look="bad" onClick={() => setDeleting(row)}>
              {t("history.delete")}
            </Button>
          </li>
        ))}
      </ul>
      {next && (
        <Button className="self-center" onClick={() => void load(next).catch(() => {})}>
          {t("history.more")}
        </Button>
      )}
      <DeleteDialog
        row={deleting}
        onClose={() => setDeleting(null)}
        onDelete={(row) => {
          send({ method: "DELETE", path: `/chats/${row.id}`, lane: row.id });
          gone(row);
        }}
      />
    </section>
  );
}

import { useEffect } from "react";
import { nameOf } from "../chats/names.ts";
import { Composer } from "../composer/Composer.tsx";
import { know, useHost, write } from "../events/host.ts";
import type { Row } from "../events/wire.ts";
import { t } from "../i18n/t.ts";
import { Banner } from "../offers/Banner.tsx";
import { QueueList } from "../queue/QueueList.tsx";
import { Button } from "../ui/Button.tsx";
import { Header } from "./Header.tsx";
import { Tasks } from "./Tasks.tsx";
import { Transcript } from "./Transcript.tsx";

/** One chat: what was said, what waits, and where to write. */
export function Chat({ id }: { id: string }) {
  const row = useHost((host) => host.chats.get(id));
  const missing = useHost((host) => host.missing === id);
  useTitle(row);
  if (missing) return <p className="m-auto p-6 text-soft">{t("chat.missing")}</p>;
  if (!row) return <p className="m-auto p-6 text-soft">{t("chat.loading")}</p>;
  return (
    <>
      <Header row={row} />
      <Transcript id={id} agent={row.agent} />
      <div className="mx-auto flex w-full max-w-3xl flex-col gap-2 px-3 pt-1 pb-[max(0.75rem,env(safe-area-inset-bottom))] md:px-5">
        <Banner row={row} />
        <Tasks row={row} />
        <QueueList id={id} />
        <Foot row={row} />
      </div>
    </>
  );
}

function Foot({ row }: { row: Row }) {
  if (row.unreadable) {
    return <p className="py-2 text-soft">{t("chat.unreadable", { why: row.unreadable })}</p>;
  }
  if (row.state !== "closed") return <Composer row={row} />;
  const reopen = async () => {
    const path = `/chats/${row.id}/reopen`;
    know(await write<Row>({ method: "POST", path, body: {}, lane: row.id }));
  };
  return (
    <div className="flex items-center justify-between gap-2 rounded-lg border border-edge bg-panel px-4 py-3">
      <p>{t("chat.closed")}</p>
      <Button onClick={() => void reopen().catch(() => {})}>{t("chat.reopen")}</Button>
    </div>
  );
}

function useTitle(row: Row | undefined): void {
  const name = row ? nameOf(row) : null;
  useEffect(() => {
    document.title = name ? `${name} · ${t("app.name")}` : t("app.name");
    return () => {
      document.title = t("app.name");
    };
  }, [name]);
}

import { useEffect } from "react";
import { NotThere } from "../app/NotThere.tsx";
import { useVisit } from "../app/route.ts";
import { nameOf } from "../chats/names.ts";
import { Composer } from "../composer/Composer.tsx";
import { useAct } from "../events/act.ts";
import { know, useHost, write } from "../events/host.ts";
import { to } from "../events/request.ts";
import type { Row } from "../events/wire.ts";
import { t } from "../i18n/t.ts";
import { Banner } from "../offers/Banner.tsx";
import { QueueList } from "../queue/QueueList.tsx";
import { Button } from "../ui/Button.tsx";
import { FaultLine } from "../ui/FaultLine.tsx";
import { Header } from "./Header.tsx";
import { useSeen } from "./seen.ts";
import { Tasks } from "./Tasks.tsx";
import { Transcript } from "./Transcript.tsx";

/** One chat: what was said, from a place on or up to its end; what waits, and where to write. */
export function Chat({ id, at }: { id: string; at: number | null }) {
  const row = useHost((host) => host.chats.get(id));
  const missing = useHost((host) => host.missing === id);
  const visit = useVisit();
  useTitle(row);
  useSeen(row);
  if (missing) return <NotThere>{t("chat.missing")}</NotThere>;
  if (!row) return <Loading />;
  return (
    <>
      <Header row={row} />
      <Transcript key={`${at} ${visit}`} id={id} agent={row.agent} at={at} />
      <Stuck />
      <div className="mx-auto flex w-full max-w-3xl flex-col gap-2 px-3 pt-1 pb-[max(0.75rem,env(safe-area-inset-bottom))] md:px-5">
        <Banner row={row} />
        <Tasks row={row} />
        <QueueList id={id} />
        <Foot row={row} />
      </div>
    </>
  );
}

function Loading() {
  return (
    <div className="m-auto flex flex-col gap-2 p-6">
      <p className="text-soft">{t("chat.loading")}</p>
      <Stuck />
    </div>
  );
}

/** Why what was said could not be read, and the way to try it again. */
function Stuck() {
  const stuck = useHost((host) => host.stuck);
  if (!stuck) return null;
  return (
    <div className="mx-auto flex w-full max-w-3xl items-center gap-2 rounded-md bg-bad-ground px-4 py-2 text-sm text-bad">
      <p role="alert" className="min-w-0 flex-1">
        {t("chat.stuck", { why: stuck.why })}
      </p>
      <Button size="small" onClick={() => stuck.again()}>
        {t("action.retry")}
      </Button>
    </div>
  );
}

function Foot({ row }: { row: Row }) {
  const act = useAct();
  if (row.unreadable) {
    return <p className="py-2 text-soft">{t("chat.unreadable", { why: row.unreadable })}</p>;
  }
  if (row.state !== "closed") return <Composer row={row} />;
  const reopen = async () => {
    const wanted = to("POST", "/chats/{chat}/reopen", { at: { chat: row.id } });
    const open = await act.run(() => write(wanted, row.id));
    if (open) know(open);
  };
  return (
    <>
      <FaultLine act={act} />
      <div className="flex items-center justify-between gap-2 rounded-lg border border-edge bg-panel px-4 py-3">
        <p>{t("chat.closed")}</p>
        <Button disabled={act.busy} onClick={() => void reopen()}>
          {t("chat.reopen")}
        </Button>
      </div>
    </>
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

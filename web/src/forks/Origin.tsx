import { useEffect, useState } from "react";
import { chatPath, follow } from "../app/route.ts";
import { nameOf } from "../chats/names.ts";
import { call, Refused } from "../events/api.ts";
import { know, useHost } from "../events/host.ts";
import { to } from "../events/request.ts";
import type { Row } from "../events/wire.ts";
import { Said } from "../i18n/Said.tsx";
import { t } from "../i18n/t.ts";

/** Says that a chat was forked, and leads to the chat that it came from, as long as that is there. */
export function ForkedFrom({ chat }: { chat: string }) {
  const from = useOrigin(chat);
  return <Said name="fork.from" parts={{ chat: <OriginLink chat={chat} from={from} /> }} />;
}

/** The notice of a fork: where it came from, and where the rest is. */
export function ForkedNotice({ chat }: { chat: string }) {
  const from = useOrigin(chat);
  return (
    <>
      <Said name="fork.notice" parts={{ chat: <OriginLink chat={chat} from={from} /> }} />{" "}
      <span>{t(from === "gone" ? "fork.older.gone" : "fork.older.there")}</span>
    </>
  );
}

/** Stands above the first item that a fork has, where it was not given all: the rest is elsewhere. */
export function Earlier({ id, first }: { id: string; first: number }) {
  const origin = useHost((host) => host.chats.get(id)?.forked_from ?? null);
  const begun = useHost((host) => host.open?.id === id && host.open.before === null);
  if (!origin || !begun || first <= 1) return null;
  return <EarlierIn chat={origin} place={first - 1} />;
}

function EarlierIn({ chat, place }: { chat: string; place: number }) {
  const from = useOrigin(chat);
  return (
    <p className="mb-2 text-center text-sm text-soft">
      {from === "gone" ? (
        t("fork.before.gone")
      ) : (
        <Said
          name="fork.before"
          parts={{ chat: <OriginLink chat={chat} from={from} place={place} /> }}
        />
      )}
    </p>
  );
}

function OriginLink({
  chat,
  from,
  place = null,
}: {
  chat: string;
  from: Origin;
  place?: number | null;
}) {
  if (from === "gone") return t("fork.gone");
  return (
    <a href={chatPath(chat, place)} onClick={follow} className="underline hover:text-ink">
      {from ? t("fork.named", { title: nameOf(from) }) : t("fork.another")}
    </a>
  );
}

/** A chat that another came from; `null`: it was not heard of yet. */
type Origin = Row | "gone" | null;

/** Lists tell open chats alone: another one is asked for, and again when it went away. */
function useOrigin(chat: string): Origin {
  const row = useHost((host) => host.chats.get(chat));
  const live = useHost((host) => host.link === "live");
  const [gone, setGone] = useState<string | null>(null);
  const known = row !== undefined;
  useEffect(() => {
    if (known || !live) return;
    const cancel = new AbortController();
    call(to("GET", "/chats/{chat}", { at: { chat } }), { signal: cancel.signal })
      .then(know)
      .catch((fault: unknown) => {
        if (fault instanceof Refused && fault.problem.code === "chat_not_found") setGone(chat);
      });
    return () => cancel.abort();
  }, [chat, known, live]);
  return row ?? (gone === chat ? "gone" : null);
}

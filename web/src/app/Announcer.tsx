import { useEffect, useRef, useState } from "react";
import { nameOf } from "../chats/names.ts";
import { useHost } from "../events/host.ts";
import type { Row } from "../events/wire.ts";
import { t } from "../i18n/t.ts";

/** Says aloud, for who does not see it, that an agent finished or needs somebody. */
export function Announcer() {
  const chats = useHost((host) => host.chats);
  const [said, setSaid] = useState("");
  const before = useRef(chats);
  useEffect(() => {
    const told = [...chats.values()].map((row) => saidOf(before.current.get(row.id), row));
    before.current = chats;
    const last = told.filter((text) => text !== null).at(-1);
    if (last) setSaid(last);
  }, [chats]);
  return (
    <p role="status" className="sr-only">
      {said}
    </p>
  );
}

function saidOf(old: Row | undefined, row: Row): string | null {
  if (!old || row.muted) return null;
  const [was, is] = [old.status.lead, row.status.lead];
  const chat = nameOf(row);
  if (is === "blocked" && was !== "blocked") return t("chat.said.blocked", { chat });
  if (is === "done" && was !== "done" && !row.offer) return t("chat.said.finished", { chat });
  return null;
}

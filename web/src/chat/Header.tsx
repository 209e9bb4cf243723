import { useState } from "react";
import { Back } from "../app/Back.tsx";
import { go } from "../app/route.ts";
import { DeleteDialog } from "../chats/DeleteDialog.tsx";
import { Dot } from "../chats/Dot.tsx";
import { EditDialog } from "../chats/EditDialog.tsx";
import { nameOf } from "../chats/names.ts";
import { useAct } from "../events/act.ts";
import { know, write } from "../events/host.ts";
import { to } from "../events/request.ts";
import type { ChatChange, Row } from "../events/wire.ts";
import { fork } from "../forks/fork.ts";
import { ForkedFrom } from "../forks/Origin.tsx";
import { GrantsDialog } from "../grants/GrantsDialog.tsx";
import { t } from "../i18n/t.ts";
import { FaultLine } from "../ui/FaultLine.tsx";
import { Icon } from "../ui/Icon.tsx";
import { Menu } from "../ui/Menu.tsx";
import { CloseDialog } from "./CloseDialog.tsx";

/** The name of a chat, its state, and what can be done with all of it. */
export function Header({ row }: { row: Row }) {
  const [asking, setAsking] = useState<"edit" | "grants" | "close" | "delete" | null>(null);
  const act = useAct();
  const at = { chat: row.id };
  const change = async (body: ChatChange) => {
    const wanted = to("PATCH", "/chats/{chat}", { at, body });
    const changed = await act.run(() => write(wanted, row.id));
    if (changed) know(changed);
    return changed !== undefined;
  };
  const markUnread = async () => {
    // Who looks at it would have seen it again at once.
    if (await change({ unread: true })) go("/");
  };
  const stopAgent = () => {
    const wanted = to("POST", "/chats/{chat}/interrupt", { at, body: { agent: "stop" } });
    return act.run(() => write(wanted, `${row.id}/act`));
  };
  const running = row.status.process === "running" || row.status.process === "starting";
  const open = row.state === "open";
  const choices = [
    { label: t("chat.edit"), act: () => setAsking("edit") },
    {
      label: t(row.pinned ? "chat.unpin" : "chat.pin"),
      act: () => void change({ pinned: !row.pinned }),
    },
    {
      label: t(row.muted ? "chat.unmute" : "chat.mute"),
      act: () => void change({ muted: !row.muted }),
    },
    { label: t("fork.fork"), act: () => void act.run(() => fork(row.id)) },
    { label: t("grants.menu"), act: () => setAsking("grants") },
    ...(open ? [{ label: t("chat.markUnread"), act: () => void markUnread() }] : []),
    ...(running ? [{ label: t("chat.stopAgent"), act: () => void stopAgent() }] : []),
    ...(open ? [{ label: t("chat.closeChat"), act: () => setAsking("close") }] : []),
    { label: t("chat.delete"), act: () => setAsking("delete"), bad: true },
  ];
  return (
    <header className="flex flex-col gap-1 border-b border-edge px-2 py-1.5 md:px-5">
      <div className="flex items-center gap-2">
        <Back from={row.id} />
        <div className="min-w-0 flex-1">
          <h2 className="truncate font-semibold">{nameOf(row)}</h2>
          <p
            className="line-clamp-2 text-sm wrap-anywhere text-soft md:line-clamp-1"
            title={row.cwd}
          >
            <Dot row={row} /> {agentOf(row).join(" · ")}
            {row.forked_from && (
              <>
                {" · "}
                <ForkedFrom chat={row.forked_from} />
              </>
            )}
            {" · "}
            {placeOf(row).join(" · ")}
          </p>
        </div>
        {row.pinned && <Sign name="pin" word={t("row.pinned")} />}
        {row.muted && <Sign name="mute" word={t("row.muted")} />}
        <Menu label={t("chat.menu")} choices={choices}>
          <Icon name="more" />
        </Menu>
      </div>
      <FaultLine act={act} />
      <EditDialog row={row} open={asking === "edit"} onClose={() => setAsking(null)} />
      <GrantsDialog row={row} open={asking === "grants"} onClose={() => setAsking(null)} />
      <CloseDialog row={row} open={asking === "close"} onClose={() => setAsking(null)} />
      <DeleteDialog
        row={asking === "delete" ? row : null}
        onClose={() => setAsking(null)}
        onDeleted={() => go("/")}
      />
    </header>
  );
}

/** The agent, with what it works. */
function agentOf(row: Row): string[] {
  return [row.agent, ...[row.model, row.mode, row.effort].filter((word) => word !== null)];
}

/** Where it works, and where the chat was put. */
function placeOf(row: Row): string[] {
  const folder = row.folder ? [t("chat.inFolder", { folder: row.folder })] : [];
  return [row.cwd, ...folder, ...row.tags.map((tag) => `#${tag}`)];
}

function Sign({ name, word }: { name: "pin" | "mute"; word: string }) {
  return (
    <span title={word} className="text-soft">
      <Icon name={name} />
      <span className="sr-only">{word}</span>
    </span>
  );
}

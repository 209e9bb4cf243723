import { useState } from "react";
import { Back } from "../app/Back.tsx";
import { go } from "../app/route.ts";
import { DeleteDialog } from "../chats/DeleteDialog.tsx";
import { Dot } from "../chats/Dot.tsx";
import { nameOf } from "../chats/names.ts";
import { know, send, write } from "../events/host.ts";
import type { Row } from "../events/wire.ts";
import { t } from "../i18n/t.ts";
import { Button } from "../ui/Button.tsx";
import { Input } from "../ui/Field.tsx";
import { Icon } from "../ui/Icon.tsx";
import { Menu } from "../ui/Menu.tsx";
import { CloseDialog } from "./CloseDialog.tsx";

/** The name of a chat, its state, and what can be done with all of it. */
export function Header({ row }: { row: Row }) {
  const [editing, setEditing] = useState(false);
  const [asking, setAsking] = useState<"close" | "delete" | null>(null);
  const running = row.status.process === "running" || row.status.process === "starting";
  const choices = [
    { label: t("chat.rename"), act: () => setEditing(true) },
    ...(running ? [{ label: t("chat.stopAgent"), act: () => stopAgent(row.id) }] : []),
    ...(row.state === "open"
      ? [{ label: t("chat.closeChat"), act: () => setAsking("close") }]
      : []),
    { label: t("chat.delete"), act: () => setAsking("delete"), bad: true },
  ];
  return (
    <header className="flex items-center gap-2 border-b border-edge px-2 py-1.5 md:px-5">
      <Back />
      <div className="min-w-0 flex-1">
        {editing ? (
          <Rename row={row} onDone={() => setEditing(false)} />
        ) : (
          <>
            <h2 className="truncate font-semibold">{nameOf(row)}</h2>
            <p className="flex items-center gap-2 text-sm text-soft">
              <Dot row={row} />
              <span className="truncate" title={row.cwd}>
                {row.agent} · {row.cwd}
              </span>
            </p>
          </>
        )}
      </div>
      <Menu label={t("app.more")} choices={choices}>
        <Icon name="more" />
      </Menu>
      <CloseDialog row={row} open={asking === "close"} onClose={() => setAsking(null)} />
      <DeleteDialog
        row={asking === "delete" ? row : null}
        onClose={() => setAsking(null)}
        onDelete={() => {
          send({ method: "DELETE", path: `/chats/${row.id}`, lane: row.id });
          go("/");
        }}
      />
    </header>
  );
}

function stopAgent(id: string): void {
  const path = `/chats/${id}/interrupt`;
  send({ method: "POST", path, body: { agent: "stop" }, lane: `${id}/act` });
}

function Rename({ row, onDone }: { row: Row; onDone: () => void }) {
  const [title, setTitle] = useState(row.title ?? "");
  const save = async () => {
    onDone();
    if (title.trim() === "" || title.trim() === row.title) return;
    const body = { title: title.trim() };
    know(await write<Row>({ method: "PATCH", path: `/chats/${row.id}`, body, lane: row.id }));
  };
  return (
    <form
      className="flex gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        void save().catch(() => {});
      }}
      onKeyDown={(event) => event.key === "Escape" && onDone()}
    >
      <Input
        autoFocus
        aria-label={t("chat.title")}
        value={title}
        maxLength={200}
        onChange={(event) => setTitle(event.target.value)}
      />
      <Button type="submit">{t("chat.save")}</Button>
    </form>
  );
}

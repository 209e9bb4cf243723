import { useState } from "react";
import { useAct } from "../events/act.ts";
import { useHost, write } from "../events/host.ts";
import { type Request, to } from "../events/request.ts";
import type { Waiting } from "../events/wire.ts";
import { t, tn, tword } from "../i18n/t.ts";
import { Button } from "../ui/Button.tsx";
import { FaultLine } from "../ui/FaultLine.tsx";
import { INPUT } from "../ui/Field.tsx";
import { Icon } from "../ui/Icon.tsx";
import { type Choice, Menu } from "../ui/Menu.tsx";
import { moved } from "./order.ts";

/** The messages that wait, and why they do. */
export function QueueList({ id }: { id: string }) {
  const queue = useHost((host) => (host.open?.id === id ? host.open.queue : null));
  const [editing, setEditing] = useState<string | null>(null);
  const act = useAct();
  if (!queue || queue.items.length === 0) return null;
  const chat = { chat: id };
  const make = (wanted: Request<unknown>) => void act.run(() => write(wanted, `${id}/act`));
  const order = (from: number, place: number) => {
    const all = queue.items.map((one) => one.message);
    const body = { messages: moved(all, from, place) };
    make(to("PUT", "/chats/{chat}/queue/order", { at: chat, body }));
  };
  const edit = (message: string, text: string) =>
    make(
      to("PATCH", "/chats/{chat}/queue/{message}", { at: { ...chat, message }, body: { text } }),
    );
  const actsOf = ({ message, full }: Waiting, place: number): Choice[] => {
    const at = { ...chat, message };
    const last = queue.items.length - 1;
    return [
      ...(place > 0 ? [{ label: t("queue.up"), act: () => order(place, place - 1) }] : []),
      ...(place < last ? [{ label: t("queue.down"), act: () => order(place, place + 1) }] : []),
      ...(full === null ? [{ label: t("queue.edit"), act: () => setEditing(message) }] : []),
      {
        label: t("queue.withdraw"),
        act: () => make(to("DELETE", "/chats/{chat}/queue/{message}", { at })),
      },
      {
        label: t("queue.now"),
        act: () => make(to("POST", "/chats/{chat}/queue/{message}/send-now", { at })),
      },
    ];
  };
  // A person's own pause may be lifted here; an offer or a failed start has its own buttons.
  const own = ["stop", "close", "person", "dismiss"].includes(queue.reason ?? "");
  return (
    <section
      aria-label={tn("queue.title", queue.items.length)}
      className="max-h-[30dvh] overflow-y-auto rounded-lg border border-edge bg-panel px-3 py-2"
    >
      <header className="flex flex-wrap items-center gap-2">
        <h3 className="text-sm font-semibold">{tn("queue.title", queue.items.length)}</h3>
        <p className="flex-1 text-sm text-warn">
          {queue.reason && tword("queue.held", queue.reason)}
        </p>
        {queue.paused ? (
          own && (
            <Button
              size="small"
              onClick={() => make(to("POST", "/chats/{chat}/queue/resume", { at: chat }))}
            >
              {t("queue.resume")}
            </Button>
          )
        ) : (
          <Button
            size="small"
            look="quiet"
            onClick={() => make(to("POST", "/chats/{chat}/queue/pause", { at: chat }))}
          >
            {t("queue.pause")}
          </Button>
        )}
      </header>
      <FaultLine act={act} />
      <ol className="divide-y divide-edge">
        {queue.items.map((one, at) => (
          <li key={one.message} className="flex items-center gap-1 py-1">
            {editing === one.message ? (
              <Edit
                one={one}
                onDone={(text) => {
                  setEditing(null);
                  if (text !== null) edit(one.message, text);
                }}
              />
            ) : (
              <>
                <p className="min-w-0 flex-1 truncate" title={one.text}>
                  {one.text.trim() === ""
                    ? one.attachments?.map((file) => file.name).join(", ")
                    : one.text}
                </p>
                <Acts acts={actsOf(one, at)} />
              </>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

/** What can be done with a waiting message: side by side where there is room, else in a menu. */
function Acts({ acts }: { acts: readonly Choice[] }) {
  return (
    <>
      <span className="hidden items-center md:flex">
        {acts.map(({ label, act }) => (
          <Button key={label} size="small" look="quiet" onClick={act}>
            {label}
          </Button>
        ))}
      </span>
      <span className="md:hidden">
        <Menu label={t("app.more")} choices={acts}>
          <Icon name="more" />
        </Menu>
      </span>
    </>
  );
}

function Edit({ one, onDone }: { one: Waiting; onDone: (text: string | null) => void }) {
  const [text, setText] = useState(one.text);
  const save = () => onDone(text.trim() === "" || text === one.text ? null : text);
  return (
    <form
      className="flex w-full flex-col gap-2 py-1"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <textarea
        // biome-ignore lint/a11y/noAutofocus: the person has just asked to write here
        autoFocus
        rows={3}
        aria-label={t("queue.text")}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") onDone(null);
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          save();
        }}
        className={INPUT}
      />
      <p className="flex justify-end gap-2">
        <Button size="small" onClick={() => onDone(null)}>
          {t("app.cancel")}
        </Button>
        <Button size="small" look="brand" type="submit">
          {t("queue.save")}
        </Button>
      </p>
    </form>
  );
}

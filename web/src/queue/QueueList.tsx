import { useState } from "react";
import { send, useHost } from "../events/host.ts";
import type { Waiting } from "../events/wire.ts";
import { t, tn, tword } from "../i18n/t.ts";
import { Button } from "../ui/Button.tsx";
import { INPUT } from "../ui/Field.tsx";
import { Icon } from "../ui/Icon.tsx";
import { moved } from "./order.ts";

/** The messages that wait, and why they do. */
export function QueueList({ id }: { id: string }) {
  const queue = useHost((host) => (host.open?.id === id ? host.open.queue : null));
  const [editing, setEditing] = useState<string | null>(null);
  if (!queue || queue.items.length === 0) return null;
  const path = `/chats/${id}/queue`;
  const act = (what: string, body: unknown, method: "POST" | "PUT" | "PATCH" | "DELETE") =>
    send({ method, path: `${path}/${what}`, body, lane: `${id}/act` });
  const order = (from: number, to: number) =>
    act(
      "order",
      {
        messages: moved(
          queue.items.map((one) => one.message),
          from,
          to,
        ),
      },
      "PUT",
    );
  // A person's own pause may be lifted here; an offer or a failed start has its own buttons.
  const own = queue.reason === "stop" || queue.reason === "person" || queue.reason === "dismiss";
  return (
    <section className="max-h-[30dvh] overflow-y-auto rounded-lg border border-edge bg-panel px-3 py-2">
      <header className="flex flex-wrap items-center gap-2">
        <h2 className="text-sm font-semibold">{tn("queue.title", queue.items.length)}</h2>
        <p className="flex-1 text-sm text-warn">
          {queue.reason && tword("queue.held", queue.reason)}
        </p>
        {queue.paused ? (
          own && (
            <Button size="small" onClick={() => act("resume", {}, "POST")}>
              {t("queue.resume")}
            </Button>
          )
        ) : (
          <Button size="small" look="quiet" onClick={() => act("pause", {}, "POST")}>
            {t("queue.pause")}
          </Button>
        )}
      </header>
      <ol className="divide-y divide-edge">
        {queue.items.map((one, at) => (
          <li key={one.message} className="flex flex-wrap items-center gap-1 py-1">
            {editing === one.message ? (
              <Edit
                one={one}
                onDone={(text) => {
                  setEditing(null);
                  if (text !== null) act(one.message, { text }, "PATCH");
                }}
              />
            ) : (
              <>
                <p className="min-w-0 flex-1 basis-48 truncate" title={one.text}>
                  {one.text}
                </p>
                <Button
                  size="small"
                  look="quiet"
                  aria-label={t("queue.up")}
                  title={t("queue.up")}
                  disabled={at === 0}
                  onClick={() => order(at, at - 1)}
                >
                  <Icon name="up" />
                </Button>
                <Button
                  size="small"
                  look="quiet"
                  aria-label={t("queue.down")}
                  title={t("queue.down")}
                  disabled={at === queue.items.length - 1}
                  onClick={() => order(at, at + 1)}
                >
                  <Icon name="down" />
                </Button>
                <Button
                  size="small"
                  look="quiet"
                  disabled={one.full !== null}
                  onClick={() => setEditing(one.message)}
                >
                  {t("queue.edit")}
                </Button>
                <Button size="small" look="quiet" onClick={() => act(one.message, {}, "DELETE")}>
                  {t("queue.withdraw")}
                </Button>
                <Button
                  size="small"
                  look="quiet"
                  onClick={() => act(`${one.message}/send-now`, {}, "POST")}
                >
                  {t("queue.now")}
                </Button>
              </>
            )}
          </li>
        ))}
      </ol>
    </section>
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

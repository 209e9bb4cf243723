import { useEffect, useId, useRef, useState } from "react";
import { Refused } from "../events/api.ts";
import { send, show, write } from "../events/host.ts";
import type { Row } from "../events/wire.ts";
import { t } from "../i18n/t.ts";
import { Button } from "../ui/Button.tsx";
import { Icon } from "../ui/Icon.tsx";
import { AttachButton, BesideList, takesFiles } from "./Attach.tsx";
import { idsOf, putBack, takeKept, useBeside } from "./attached.ts";
import { accepted, emptied, keepText, useDraft } from "./kept.ts";

type Way = "queue" | "interrupt";

/** Milliseconds after which an agent that was told to stop may be stopped itself. */
const STOP_PATIENCE = 10_000;

/** Where a person writes to the agent. */
export function Composer({ row }: { row: Row }) {
  const text = useDraft(row.id);
  const [way, setWay] = useState<Way>("queue");
  const hint = useId();
  const area = useGrowing(text);
  const busy = row.status.lead !== "done";
  const files = useBeside(row.id);
  const failed = files.some((one) => one.state.at === "failed");
  const kept = files.every((one) => one.state.at === "kept");
  const ready = kept && (text.trim() !== "" || files.length > 0);
  const submit = () => {
    if (!ready) return;
    emptied(row.id);
    void post(row.id, text, busy ? way : "queue");
    setWay("queue");
  };
  return (
    <form
      className="rounded-xl border border-edge bg-raised shadow-xs focus-within:border-brand"
      {...takesFiles(row.id)}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <BesideList chat={row.id} files={files} />
      <textarea
        ref={area}
        rows={1}
        aria-label={t("composer.label")}
        aria-describedby={hint}
        placeholder={t("composer.placeholder", { agent: row.agent })}
        value={text}
        onChange={(event) => keepText(row.id, event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          submit();
        }}
        className="block max-h-[40dvh] w-full resize-none rounded-xl bg-transparent px-4 pt-3 pb-1 placeholder:text-soft focus:outline-none pointer-coarse:text-base"
      />
      <div className="flex items-center justify-end gap-2 px-2 pb-2">
        <AttachButton chat={row.id} />
        <p id={hint} className="mr-auto hidden pl-2 text-xs text-soft sm:block">
          {failed ? t("attach.failed") : t("composer.hint")}
        </p>
        {busy && ready && (
          <select
            aria-label={t("composer.delivery")}
            value={way}
            onChange={(event) => setWay(event.target.value as Way)}
            className="min-h-9 rounded-md border border-edge bg-raised px-2 text-sm"
          >
            <option value="queue">{t("composer.queue")}</option>
            <option value="interrupt">{t("composer.interrupt")}</option>
          </select>
        )}
        {busy && <Stop row={row} />}
        <Button type="submit" look="brand" disabled={!ready}>
          <Icon name="send" />
          {t("composer.send")}
        </Button>
      </div>
    </form>
  );
}

async function post(chat: string, text: string, delivery: Way): Promise<void> {
  const files = takeKept(chat);
  const attachments = idsOf(files);
  const names = files.map((one) => one.file.name).join(", ");
  const wanted = {
    method: "POST",
    path: `/chats/${chat}/messages`,
    body: { text, delivery, ...(attachments.length > 0 ? { attachments } : {}) },
    lane: chat,
    message: { chat, text: text.trim() === "" ? names : text },
  } as const;
  try {
    await write(wanted);
    accepted(chat);
  } catch (fault) {
    putBack(chat, files);
    if (fault instanceof Refused) show({ write: { ...wanted, key: "" }, problem: fault.problem });
  }
}

/** Ends the turn; where the agent does not obey, the agent itself. */
function Stop({ row }: { row: Row }) {
  const [asked, setAsked] = useState(false);
  const [late, setLate] = useState(false);
  useEffect(() => {
    if (!asked) return;
    const timer = setTimeout(() => setLate(true), STOP_PATIENCE);
    return () => clearTimeout(timer);
  }, [asked]);
  const stop = (agent: boolean) => {
    setAsked(true);
    const path = `/chats/${row.id}/interrupt`;
    const body = agent ? { agent: "stop" } : {};
    send({ method: "POST", path, body, lane: `${row.id}/act` });
  };
  if (late) {
    return (
      <Button look="bad" onClick={() => stop(true)}>
        {t("composer.stopAgent")}
      </Button>
    );
  }
  return (
    <Button onClick={() => stop(false)} disabled={asked}>
      <Icon name="stop" />
      {asked ? t("composer.stopping") : t("composer.stop")}
    </Button>
  );
}

/** A text area that is as high as what stands in it. */
function useGrowing(text: string) {
  const area = useRef<HTMLTextAreaElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows the text
  useEffect(() => {
    const element = area.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${element.scrollHeight}px`;
  }, [text]);
  return area;
}

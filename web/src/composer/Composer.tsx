import { useEffect, useId, useRef, useState } from "react";
import { type Act, useAct } from "../events/act.ts";
import { Refused } from "../events/api.ts";
import { show, useHost, write } from "../events/host.ts";
import { to } from "../events/request.ts";
import type { Row } from "../events/wire.ts";
import { t } from "../i18n/t.ts";
import { Button } from "../ui/Button.tsx";
import { FaultLine } from "../ui/FaultLine.tsx";
import { Icon } from "../ui/Icon.tsx";
import { AttachButton, BesideList, takesFiles } from "./Attach.tsx";
import { idsOf, putBack, takeKept, useBeside } from "./attached.ts";
import { accepted, emptied, keepText, useDraft } from "./kept.ts";
import { Refusal } from "./Refusal.tsx";
import { SlashList, useSlash } from "./SlashList.tsx";

type Way = "queue" | "steer" | "interrupt";

/** Milliseconds after which an agent that was told to stop may be stopped itself. */
const STOP_PATIENCE = 10_000;

/** Where a person writes to the agent. */
export function Composer({ row }: { row: Row }) {
  const { text, fault } = useDraft(row.id);
  const act = useAct();
  const turned = useHost((host) => host.turned);
  const [way, setWay] = useState<Way>("queue");
  const hint = useId();
  const area = useGrowing(text);
  const busy = row.status.lead !== "done";
  const files = useBeside(row.id);
  const failed = files.some((one) => one.state.at === "failed");
  const kept = files.every((one) => one.state.at === "kept");
  const ready = kept && (text.trim() !== "" || files.length > 0);
  const slash = useSlash(row.id, text, (changed) => keepText(row.id, changed));
  const submit = () => {
    if (!ready) return;
    emptied(row.id);
    void post(row.id, text, busy ? way : "queue");
    setWay("queue");
  };
  return (
    <>
      {turned.map((one) => one.message?.chat === row.id && <Refusal key={one.id} turned={one} />)}
      <FaultLine act={act} />
      {fault && (
        <p role="alert" className="text-sm text-bad">
          {t("composer.notKept", { why: fault })}
        </p>
      )}
      <form
        className="relative rounded-xl border border-edge bg-raised shadow-xs outline-brand focus-within:border-brand has-[textarea:focus-visible]:outline-1"
        {...takesFiles(row.id)}
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <SlashList slash={slash} />
        <BesideList chat={row.id} files={files} />
        <textarea
          ref={area}
          rows={1}
          aria-label={t("composer.label")}
          aria-describedby={hint}
          {...slash.aria}
          placeholder={t("composer.placeholder", { agent: row.agent })}
          value={text}
          onChange={(event) => keepText(row.id, event.target.value)}
          onKeyDown={(event) => {
            if (slash.onKey(event)) return;
            if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
            event.preventDefault();
            submit();
          }}
          className="block max-h-[40dvh] w-full resize-none rounded-xl bg-transparent px-4 pt-3 pb-1 placeholder:text-soft focus:outline-none pointer-coarse:text-base"
        />
        <div className="flex flex-wrap items-center justify-end gap-2 px-2 pb-2">
          <AttachButton chat={row.id} />
          <p id={hint} className="mr-auto hidden pl-2 text-xs text-soft sm:block">
            {failed ? t("attach.failed") : slash.follows || t("composer.hint")}
          </p>
          {busy && ready && (
            <select
              aria-label={t("composer.delivery")}
              value={way}
              onChange={(event) => setWay(event.target.value as Way)}
              className="min-h-9 min-w-0 rounded-md border border-edge bg-raised px-2 text-sm max-sm:order-first max-sm:w-full"
            >
              <option value="queue">{t("composer.queue")}</option>
              {row.capabilities.includes("steer") && (
                <option value="steer">{t("composer.steer")}</option>
              )}
              <option value="interrupt">{t("composer.interrupt")}</option>
            </select>
          )}
          {busy && <Stop row={row} act={act} />}
          <Button type="submit" look="brand" disabled={!ready}>
            <Icon name="send" />
            {t("composer.send")}
          </Button>
        </div>
      </form>
    </>
  );
}

async function post(chat: string, text: string, delivery: Way): Promise<void> {
  const files = takeKept(chat);
  const attachments = idsOf(files);
  const names = files.map((one) => one.file.name).join(", ");
  const body = { text, delivery, ...(attachments.length > 0 ? { attachments } : {}) };
  const message = { chat, text: text.trim() === "" ? names : text };
  try {
    await write(to("POST", "/chats/{chat}/messages", { at: { chat }, body }), chat, message);
    accepted(chat);
  } catch (fault) {
    putBack(chat, files);
    if (fault instanceof Refused) show({ message, problem: fault.problem });
  }
}

/** Ends the turn; where the agent does not obey, the agent itself. */
function Stop({ row, act }: { row: Row; act: Act }) {
  const [asked, setAsked] = useState(false);
  const [late, setLate] = useState(false);
  useEffect(() => {
    if (!asked) return;
    const timer = setTimeout(() => setLate(true), STOP_PATIENCE);
    return () => clearTimeout(timer);
  }, [asked]);
  const stop = async (what: "turn" | "agent") => {
    setAsked(true);
    const body = what === "agent" ? { agent: "stop" as const } : {};
    const wanted = to("POST", "/chats/{chat}/interrupt", { at: { chat: row.id }, body });
    if (!(await act.run(() => write(wanted, `${row.id}/act`)))) setAsked(false);
  };
  if (late) {
    return (
      <Button look="bad" onClick={() => void stop("agent")}>
        {t("composer.stopAgent")}
      </Button>
    );
  }
  return (
    <Button onClick={() => void stop("turn")} disabled={asked}>
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

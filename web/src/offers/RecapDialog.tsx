import { useEffect, useState } from "react";
import { faultOf } from "../events/act.ts";
import { call } from "../events/api.ts";
import { useHost } from "../events/host.ts";
import { to } from "../events/request.ts";
import type { Choice } from "../events/wire.ts";
import { t } from "../i18n/t.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog, DialogBody, DialogFoot } from "../ui/Dialog.tsx";
import { INPUT } from "../ui/Field.tsx";
import { ChoiceSelect } from "./ChoiceSelect.tsx";

/** Shows what a new session is told of a chat, to be changed before it is sent. */
export function RecapDialog({
  chat,
  onClose,
  onStart,
}: {
  chat: string | null;
  onClose: () => void;
  onStart: (recap: string, choice: Choice | null) => void;
}) {
  const [text, setText] = useState<string | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const [choice, setChoice] = useState<Choice | null>(null);
  // A new session cannot be asked whether it has a message.
  const doubt = useHost(
    (host) =>
      chat !== null &&
      host.open?.id === chat &&
      host.open.items.some((item) => item.delivery?.state === "unknown"),
  );
  useEffect(() => {
    setChoice(null);
    setText(null);
    setFault(null);
    if (!chat) return;
    const cancel = new AbortController();
    call(to("GET", "/offers/{chat}/recap", { at: { chat } }), { signal: cancel.signal })
      .then((recap) => setText(recap.text))
      .catch((thrown: unknown) => {
        if (cancel.signal.aborted) return;
        setFault(faultOf(thrown)?.text ?? null);
        // A person may write one of their own.
        setText("");
      });
    return () => cancel.abort();
  }, [chat]);
  return (
    <Dialog
      open={chat !== null}
      onClose={onClose}
      title={t("recap.title")}
      text={t("recap.text")}
      wide
    >
      <DialogBody>
        {fault && (
          <p role="alert" className="rounded-md bg-bad-ground px-3 py-2 text-sm text-bad">
            {t("recap.failed", { why: fault })}
          </p>
        )}
        <textarea
          aria-label={t("recap.label")}
          rows={14}
          disabled={text === null}
          value={text ?? t("chat.loading")}
          onChange={(event) => setText(event.target.value)}
          className={`${INPUT} font-mono text-sm`}
        />
        {doubt && (
          <p className="flex flex-wrap items-center gap-2">
            {t("recap.doubt")}
            <ChoiceSelect label={t("offers.choice")} choice={choice} onChoice={setChoice} />
          </p>
        )}
      </DialogBody>
      <DialogFoot>
        <Button onClick={onClose}>{t("app.cancel")}</Button>
        <Button
          look="brand"
          disabled={text === null || text.trim() === "" || (doubt && !choice)}
          onClick={() => {
            onStart(text ?? "", choice);
            onClose();
          }}
        >
          {t("recap.start")}
        </Button>
      </DialogFoot>
    </Dialog>
  );
}

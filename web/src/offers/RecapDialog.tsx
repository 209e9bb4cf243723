import { useEffect, useState } from "react";
import { get } from "../events/api.ts";
import { t } from "../i18n/t.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog, DialogBody, DialogFoot } from "../ui/Dialog.tsx";
import { INPUT } from "../ui/Field.tsx";

/** Shows what a new session is told of a chat, to be changed before it is sent. */
export function RecapDialog({
  chat,
  onClose,
  onStart,
}: {
  chat: string | null;
  onClose: () => void;
  onStart: (recap: string) => void;
}) {
  const [text, setText] = useState<string | null>(null);
  useEffect(() => {
    setText(null);
    if (!chat) return;
    const cancel = new AbortController();
    get<{ text: string }>(`/offers/${chat}/recap`, cancel.signal)
      .then((recap) => setText(recap.text))
      .catch(() => !cancel.signal.aborted && setText(""));
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
        <textarea
          aria-label={t("recap.label")}
          rows={14}
          disabled={text === null}
          value={text ?? t("chat.loading")}
          onChange={(event) => setText(event.target.value)}
          className={`${INPUT} font-mono text-sm`}
        />
      </DialogBody>
      <DialogFoot>
        <Button onClick={onClose}>{t("app.cancel")}</Button>
        <Button
          look="brand"
          disabled={text === null || text.trim() === ""}
          onClick={() => {
            onStart(text ?? "");
            onClose();
          }}
        >
          {t("recap.start")}
        </Button>
      </DialogFoot>
    </Dialog>
  );
}

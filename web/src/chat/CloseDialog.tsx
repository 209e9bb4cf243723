import { send } from "../events/host.ts";
import type { Row } from "../events/wire.ts";
import { t } from "../i18n/t.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog, DialogBody, DialogFoot } from "../ui/Dialog.tsx";
import { LeftoverLines } from "./Tasks.tsx";

/** Asks before a chat is closed, and what becomes of processes that still run. */
export function CloseDialog({
  row,
  open,
  onClose,
}: {
  row: Row;
  open: boolean;
  onClose: () => void;
}) {
  const left = row.activity.leftovers;
  const close = (leftovers: "end" | "leave") => {
    const path = `/chats/${row.id}/close`;
    send({ method: "POST", path, body: { leftovers }, lane: row.id });
    onClose();
  };
  return (
    <Dialog open={open} onClose={onClose} title={t("close.title")} text={t("close.text")}>
      {left.length > 0 && (
        <DialogBody>
          <p>{t("close.leftovers")}</p>
          <LeftoverLines leftovers={left} />
        </DialogBody>
      )}
      <DialogFoot>
        <Button onClick={onClose}>{t("app.cancel")}</Button>
        {left.length > 0 && <Button onClick={() => close("leave")}>{t("close.leave")}</Button>}
        <Button look="brand" onClick={() => close("end")}>
          {left.length > 0 ? t("close.end") : t("chat.closeChat")}
        </Button>
      </DialogFoot>
    </Dialog>
  );
}

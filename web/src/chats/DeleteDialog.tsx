import { useAct } from "../events/act.ts";
import { write } from "../events/host.ts";
import { to } from "../events/request.ts";
import type { Row } from "../events/wire.ts";
import { t } from "../i18n/t.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog, DialogBody, DialogFoot } from "../ui/Dialog.tsx";
import { FaultLine } from "../ui/FaultLine.tsx";
import { nameOf } from "./names.ts";

/** Asks before a chat is removed for good. Where the host refuses, the dialog stays and says why. */
export function DeleteDialog({
  row,
  onClose,
  onDeleted,
}: {
  row: Row | null;
  onClose: () => void;
  onDeleted: (row: Row) => void;
}) {
  const act = useAct();
  const close = () => {
    act.clear();
    onClose();
  };
  const remove = async (row: Row) => {
    const wanted = to("DELETE", "/chats/{chat}", { at: { chat: row.id } });
    const done = await act.run(() => write(wanted, row.id));
    if (!done) return;
    onDeleted(row);
    close();
  };
  return (
    <Dialog
      open={row !== null}
      onClose={close}
      title={t("delete.title")}
      text={row ? t("delete.text", { title: nameOf(row) }) : ""}
    >
      <DialogBody>
        <FaultLine act={act} />
      </DialogBody>
      <DialogFoot>
        <Button onClick={close}>{t("app.cancel")}</Button>
        <Button look="bad" disabled={act.busy} onClick={() => row && void remove(row)}>
          {t("chat.delete")}
        </Button>
      </DialogFoot>
    </Dialog>
  );
}

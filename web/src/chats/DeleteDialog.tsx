import type { Row } from "../events/wire.ts";
import { t } from "../i18n/t.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog, DialogFoot } from "../ui/Dialog.tsx";
import { nameOf } from "./names.ts";

/** Asks before a chat is removed for good. */
export function DeleteDialog({
  row,
  onClose,
  onDelete,
}: {
  row: Row | null;
  onClose: () => void;
  onDelete: (row: Row) => void;
}) {
  return (
    <Dialog
      open={row !== null}
      onClose={onClose}
      title={t("delete.title")}
      text={row ? t("delete.text", { title: nameOf(row) }) : ""}
    >
      <DialogFoot>
        <Button onClick={onClose}>{t("app.cancel")}</Button>
        <Button
          look="bad"
          onClick={() => {
            if (row) onDelete(row);
            onClose();
          }}
        >
          {t("chat.delete")}
        </Button>
      </DialogFoot>
    </Dialog>
  );
}

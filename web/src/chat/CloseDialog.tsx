import { useAct } from "../events/act.ts";
import { write } from "../events/host.ts";
import { to } from "../events/request.ts";
import type { Row } from "../events/wire.ts";
import { t } from "../i18n/t.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog, DialogBody, DialogFoot } from "../ui/Dialog.tsx";
import { FaultLine } from "../ui/FaultLine.tsx";
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
  const act = useAct();
  const left = row.activity.leftovers;
  const leave = () => {
    act.clear();
    onClose();
  };
  const close = async (leftovers: "end" | "leave") => {
    const body = { leftovers };
    const wanted = to("POST", "/chats/{chat}/close", { at: { chat: row.id }, body });
    if (await act.run(() => write(wanted, row.id))) onClose();
  };
  return (
    <Dialog open={open} onClose={leave} title={t("close.title")} text={t("close.text")}>
      <DialogBody>
        {left.length > 0 && (
          <>
            <p>{t("close.leftovers")}</p>
            <LeftoverLines leftovers={left} />
          </>
        )}
        <FaultLine act={act} />
      </DialogBody>
      <DialogFoot>
        <Button onClick={leave}>{t("app.cancel")}</Button>
        {left.length > 0 && (
          <Button disabled={act.busy} onClick={() => void close("leave")}>
            {t("close.leave")}
          </Button>
        )}
        <Button look="brand" disabled={act.busy} onClick={() => void close("end")}>
          {left.length > 0 ? t("close.end") : t("chat.closeChat")}
        </Button>
      </DialogFoot>
    </Dialog>
  );
}

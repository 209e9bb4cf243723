import { useState } from "react";
import { useAct } from "../events/act.ts";
import { useHost, write } from "../events/host.ts";
import { to } from "../events/request.ts";
import type { Item } from "../events/wire.ts";
import { t } from "../i18n/t.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog, DialogBody, DialogFoot } from "../ui/Dialog.tsx";
import { FaultLine } from "../ui/FaultLine.tsx";
import { Field, INPUT } from "../ui/Field.tsx";
import { Icon } from "../ui/Icon.tsx";
import { type Choice, Menu } from "../ui/Menu.tsx";
import { fork } from "./fork.ts";
import { offersBack } from "./rests.ts";

/** Stands at the end of a turn, quietly: another chat can begin there, and this one go back to it. */
export function TurnEnd({ chat, item, newest }: { chat: string; item: Item; newest: boolean }) {
  const act = useAct();
  const [asks, setAsks] = useState(false);
  const offered = useHost((host) => offersBack(host.chats.get(chat), item));
  const isOpen = useHost((host) => host.chats.get(chat)?.state === "open");
  if (!offered) return null;
  const choices: Choice[] = [
    { label: t("fork.here"), act: () => void act.run(() => fork(chat, item.seq)) },
  ];
  if (!newest && isOpen) choices.push({ label: t("back.here"), act: () => setAsks(true) });
  return (
    <div className="mt-1 -ml-2">
      <Menu label={t("back.menu")} choices={choices} size="small" align="start">
        <Icon name="fork" />
      </Menu>
      <FaultLine act={act} className="mt-1" />
      <BackDialog chat={chat} at={item.seq} open={asks} onClose={() => setAsks(false)} />
    </div>
  );
}

/** Asks before a chat goes back: what happens, and what does not. */
function BackDialog({
  chat,
  at,
  open,
  onClose,
}: {
  chat: string;
  at: number;
  open: boolean;
  onClose: () => void;
}) {
  const act = useAct();
  const [text, setText] = useState("");
  const leave = () => {
    act.clear();
    onClose();
  };
  const back = async () => {
    const said = text.trim() === "" ? {} : { text };
    const wanted = to("POST", "/chats/{chat}/rewind", { at: { chat }, body: { at, ...said } });
    if (await act.run(() => write(wanted, chat))) {
      setText("");
      onClose();
    }
  };
  return (
    <Dialog open={open} onClose={leave} title={t("back.title")} text={t("back.text")}>
      <DialogBody>
        <p className="text-soft">{t("back.files")}</p>
        <Field
          label={t("back.say")}
          control={(props) => (
            <textarea
              {...props}
              rows={3}
              value={text}
              onChange={(event) => setText(event.target.value)}
              className={INPUT}
            />
          )}
        />
        <FaultLine act={act} />
      </DialogBody>
      <DialogFoot>
        <Button onClick={leave}>{t("app.cancel")}</Button>
        <Button look="brand" disabled={act.busy} onClick={() => void back()}>
          {t("back.go")}
        </Button>
      </DialogFoot>
    </Dialog>
  );
}

/** Stands for what was left behind, and shows it. */
export function LeftBehind({
  count,
  open,
  onToggle,
}: {
  count: number;
  open: boolean;
  onToggle: () => void;
}) {
  const words = count === 1 ? t("back.left.one", { count }) : t("back.left.other", { count });
  return (
    <div className="flex items-center gap-3 text-sm text-soft">
      <span aria-hidden="true" className="h-px flex-1 bg-edge" />
      <Button look="quiet" size="small" aria-expanded={open} onClick={onToggle}>
        <Icon name={open ? "up" : "down"} />
        {words}
      </Button>
      <span aria-hidden="true" className="h-px flex-1 bg-edge" />
    </div>
  );
}

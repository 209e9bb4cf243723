import { useAct } from "../events/act.ts";
import { useHost } from "../events/host.ts";
import type { Item } from "../events/wire.ts";
import { t } from "../i18n/t.ts";
import { Button } from "../ui/Button.tsx";
import { FaultLine } from "../ui/FaultLine.tsx";
import { Icon } from "../ui/Icon.tsx";
import { fork } from "./fork.ts";
import { offersFork } from "./rests.ts";

/** Stands below what the agent said last, once the chat rests: from here another way can be tried. */
export function ForkHere({ chat, last }: { chat: string; last: Item }) {
  const act = useAct();
  const offered = useHost(
    (host) => host.open?.beyond === null && offersFork(host.chats.get(chat), last),
  );
  if (!offered) return null;
  return (
    <div className="mt-1">
      <Button
        look="quiet"
        size="small"
        className="-ml-2"
        title={t("fork.hint")}
        disabled={act.busy}
        onClick={() => void act.run(() => fork(chat))}
      >
        <Icon name="fork" />
        {t("fork.here")}
      </Button>
      <FaultLine act={act} className="mt-1" />
    </div>
  );
}

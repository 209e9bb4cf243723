import { useAct } from "../events/act.ts";
import { useHost, write } from "../events/host.ts";
import { to } from "../events/request.ts";
import type { Choice, Delivery } from "../events/wire.ts";
import { t, tword } from "../i18n/t.ts";
import { Button } from "../ui/Button.tsx";
import { FaultLine } from "../ui/FaultLine.tsx";

const UNKNOWN: Choice[] = ["arrived", "send_again", "discard"];
const REFUSED: Choice[] = ["send_again", "discard"];

/** How far a message is; where nobody but a person can tell, what they may say. */
export function DeliveryLine({ chat, delivery }: { chat: string; delivery: Delivery }) {
  const { state, asking, refused, message, steer } = delivery;
  if (state === "unknown" && !asking) {
    return (
      <Doubt chat={chat} message={message} text={t("delivery.unknown.text")} choices={UNKNOWN} />
    );
  }
  if (state === "refused") {
    const why = refused?.text;
    const text = why ? t("delivery.refused.why", { why }) : t("delivery.refused.text");
    return <Doubt chat={chat} message={message} text={text} choices={REFUSED} />;
  }
  if (asking) return <Asking chat={chat} />;
  // That a message arrived is what everybody expects; not so what became of one for a running turn.
  if (steer && (steer === "given" || state === "taken" || state === "settled")) {
    return <Word>{tword("steer", steer)}</Word>;
  }
  if (state === "taken" || state === "settled") return null;
  return <Word>{tword("delivery", state)}</Word>;
}

/** Only an agent that lives can say whether it has a message. */
function Asking({ chat }: { chat: string }) {
  const stopped = useHost((host) => host.chats.get(chat)?.status.process === "stopped");
  return <Word>{t(stopped ? "delivery.toAsk" : "delivery.asking")}</Word>;
}

function Word({ children }: { children: string }) {
  return <p className="text-right text-xs text-soft">{children}</p>;
}

function Doubt({
  chat,
  message,
  text,
  choices,
}: {
  chat: string;
  message: string;
  text: string;
  choices: readonly Choice[];
}) {
  const act = useAct();
  const choose = (choice: Choice) => {
    const what = { at: { chat, message }, body: { choice } };
    const wanted = to("POST", "/chats/{chat}/messages/{message}/resolve", what);
    void act.run(() => write(wanted, `${chat}/act`));
  };
  return (
    <div className="mt-2 rounded-md bg-warn-ground px-3 py-2 text-sm text-warn">
      <p>{text}</p>
      <p className="mt-1 flex flex-wrap gap-2">
        {choices.map((choice) => (
          <Button
            key={choice}
            size="small"
            disabled={act.busy}
            onClick={() => choose(choice)}
            className="text-ink"
          >
            {t(`choice.${choice}`)}
          </Button>
        ))}
      </p>
      <FaultLine act={act} className="mt-1" />
    </div>
  );
}

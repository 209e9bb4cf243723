import { useState } from "react";
import { Told, useAct } from "../events/act.ts";
import { useHost, write } from "../events/host.ts";
import { to } from "../events/request.ts";
import type { Action, Choice, Failure, Result, ResumeOne, Row } from "../events/wire.ts";
import { t, tword } from "../i18n/t.ts";
import { Button } from "../ui/Button.tsx";
import { FaultLine } from "../ui/FaultLine.tsx";
import { actionsOf, asSeen, dismiss, resume } from "./act.ts";
import { ChoiceSelect } from "./ChoiceSelect.tsx";
import { RecapDialog } from "./RecapDialog.tsx";
import { sentence } from "./sentence.ts";

/** In a chat that was stopped or failed: what it was doing, and the same acts as in the dialog. */
export function Banner({ row }: { row: Row }) {
  const offer = useHost((host) => host.offers.get(row.id));
  const failure = useHost((host) => host.failures.get(row.id));
  const [choice, setChoice] = useState<Choice | null>(null);
  const [recap, setRecap] = useState(false);
  const doing = useAct();
  if (!offer && !failure) return null;
  const go = (more: Partial<ResumeOne>) => {
    const wanted = { ...asSeen(row.id, offer), ...(choice ? { choice } : {}), ...more };
    void doing.run(() => told(resume([wanted])));
  };
  const letRun = () => {
    const wanted = to("POST", "/chats/{chat}/queue/resume", { at: { chat: row.id } });
    void doing.run(() => write(wanted, row.id));
  };
  const act = (action: Action) => {
    if (action === "start_fresh_with_recap") setRecap(true);
    else if (action === "start_anyway" && offer) go({ anyway: true });
    else if (offer) go({});
    // Without an offer it is the queue that could not be begun.
    else letRun();
  };
  return (
    <section
      aria-label={t(offer ? "state.toResume" : "failure.title")}
      className="flex flex-col gap-2"
    >
      <FaultLine act={doing} />
      {failure && <Failed failure={failure} onAct={act} />}
      {offer && (
        <div className="flex flex-wrap items-center gap-2 rounded-lg border border-edge bg-warn-ground px-4 py-2">
          <div className="min-w-0 flex-1 basis-60">
            <p className="font-semibold text-warn" title={offer.details.join("\n")}>
              {sentence(offer)}
            </p>
            <p className="text-sm">
              {offer.resuming
                ? t("offers.resuming")
                : t("banner.stopped", { cause: tword("cause", offer.cause ?? "unknown") })}
            </p>
            {offer.needs_choice && !offer.resuming && (
              <div className="mt-1 flex flex-wrap items-center gap-2 text-sm">
                {t("banner.needsChoice")}
                <ChoiceSelect label={t("offers.choice")} choice={choice} onChoice={setChoice} />
              </div>
            )}
          </div>
          <Button
            look="brand"
            disabled={offer.resuming || (offer.needs_choice && !choice)}
            onClick={() => go({})}
          >
            {t("offers.resume")}
          </Button>
          <Button
            disabled={offer.resuming}
            onClick={() => void doing.run(() => told(dismiss([offer])))}
          >
            {t("offers.dismiss")}
          </Button>
        </div>
      )}
      <RecapDialog
        chat={recap ? row.id : null}
        onClose={() => setRecap(false)}
        onStart={(recap, said) => go({ fresh: true, recap, ...(said ? { choice: said } : {}) })}
      />
    </section>
  );
}

function Failed({ failure, onAct }: { failure: Failure; onAct: (action: Action) => void }) {
  return (
    <div className="flex flex-wrap items-center gap-2 rounded-lg border border-edge bg-bad-ground px-4 py-2">
      <p className="min-w-0 flex-1 basis-60 wrap-anywhere text-bad">{failure.text}</p>
      {actionsOf(failure).map((action) => (
        <Button key={action} size="small" onClick={() => onAct(action)}>
          {tword("action", action)}
        </Button>
      ))}
    </div>
  );
}

/** Says what was refused; a failure is told by the host, and stands in the chat. */
async function told(results: Promise<Result[]>): Promise<void> {
  for (const { outcome, failure } of await results) {
    const refused = outcome === "refused" || outcome === "superseded";
    if (refused) throw new Told(failure?.text ?? t("offers.superseded"));
  }
}

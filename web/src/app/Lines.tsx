import { useEffect, useState } from "react";
import { Refusal } from "../composer/Refusal.tsx";
import { useHost } from "../events/host.ts";
import { t, tn } from "../i18n/t.ts";
import { chatOf, usePath } from "./route.ts";

/** Milliseconds for which a lost host is not worth a word. */
const PATIENCE = 700;

/** Quiet lines over everything: the host does not answer, or it refused something. */
export function Lines() {
  const link = useHost((host) => host.link);
  const outbox = useHost((host) => host.outbox);
  const turned = useHost((host) => host.turned);
  const gone = useLasting(link !== "live");
  // What belongs to the chat that is looked at is shown there.
  const chat = chatOf(usePath());
  const elsewhere = turned.filter((one) => !one.message || one.message.chat !== chat);
  const count = outbox.writes.length;
  const stuck = !gone && outbox.stuck && outbox.why;
  return (
    <div aria-live="polite">
      {gone && (
        <p className="bg-warn-ground px-4 py-1.5 text-center text-sm text-warn">
          {count > 0 ? tn("link.lost.writes", count) : t("link.lost")}
        </p>
      )}
      {stuck && (
        <p className="bg-warn-ground px-4 py-1.5 text-center text-sm text-warn">
          {t("link.stuck", { why: stuck })}
        </p>
      )}
      {elsewhere.map((one) => (
        <Refusal key={one.id} turned={one} />
      ))}
    </div>
  );
}

/** Whether something is so for longer than a moment. */
function useLasting(now: boolean): boolean {
  const [lasts, setLasts] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLasts(now), now ? PATIENCE : 0);
    return () => clearTimeout(timer);
  }, [now]);
  return lasts && now;
}

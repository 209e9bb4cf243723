import { useEffect, useState } from "react";
import { keepText } from "../composer/kept.ts";
import { putAway, useHost } from "../events/host.ts";
import type { Turned } from "../events/outbox.ts";
import { t, tn } from "../i18n/t.ts";
import { Button } from "../ui/Button.tsx";
import { go } from "./route.ts";

/** Milliseconds for which a lost host is not worth a word. */
const PATIENCE = 700;

/** Quiet lines over everything: the host does not answer, or it refused something. */
export function Lines() {
  const link = useHost((host) => host.link);
  const outbox = useHost((host) => host.outbox);
  const turned = useHost((host) => host.turned);
  const gone = useLasting(link !== "live");
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
      {turned.map((one) => (
        <Refusal key={one.write.key + one.problem.code} turned={one} />
      ))}
    </div>
  );
}

function Refusal({ turned }: { turned: Turned }) {
  const { write, problem } = turned;
  const message = write.message;
  return (
    <p
      role="alert"
      className="flex flex-wrap items-center justify-center gap-2 bg-bad-ground px-4 py-1.5 text-sm text-bad"
    >
      {t(message ? "turned.message" : "turned.other", { detail: problem.detail })}
      {message && (
        <Button
          size="small"
          onClick={() => {
            keepText(message.chat, message.text);
            go(`/chats/${message.chat}`);
            putAway(turned);
          }}
        >
          {t("turned.back")}
        </Button>
      )}
      <Button size="small" look="quiet" onClick={() => putAway(turned)}>
        {t("app.dismissLine")}
      </Button>
    </p>
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

import { go } from "../app/route.ts";
import { putAway, type Shown } from "../events/host.ts";
import { t } from "../i18n/t.ts";
import { Button } from "../ui/Button.tsx";
import { keepText } from "./kept.ts";

/** What the host refused. The text of a message is not lost: it can be put back. */
export function Refusal({ turned }: { turned: Shown }) {
  const { message, problem } = turned;
  return (
    <div className="flex flex-wrap items-center justify-center gap-2 rounded-md bg-bad-ground px-4 py-1.5 text-sm text-bad">
      <p role="alert" className="min-w-0 wrap-anywhere">
        {t(message ? "turned.message" : "turned.other", { detail: problem.detail })}
      </p>
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
    </div>
  );
}

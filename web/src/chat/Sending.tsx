import { t } from "../i18n/t.ts";
import { Prose } from "./Prose.tsx";

/** A message that the host has not acknowledged yet. */
export function Sending({ text }: { text: string }) {
  return (
    <div className="ml-auto w-fit max-w-[85%] rounded-2xl border border-dashed border-edge px-4 py-2">
      <Prose text={text} />
      <p className="text-right text-xs text-soft">{t("delivery.sending")}</p>
    </div>
  );
}

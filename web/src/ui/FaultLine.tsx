import type { Act } from "../events/act.ts";
import { t } from "../i18n/t.ts";
import { Icon } from "./Icon.tsx";

/** What went wrong with an act, at the place where it was made. */
export function FaultLine({ act, className = "" }: { act: Act; className?: string }) {
  if (!act.fault) return null;
  return (
    <div
      className={`flex items-start gap-2 rounded-md bg-bad-ground px-3 py-2 text-sm text-bad ${className}`}
    >
      <p role="alert" className="min-w-0 flex-1 wrap-anywhere">
        {act.fault.text}
      </p>
      <button
        type="button"
        aria-label={t("app.dismissLine")}
        title={t("app.dismissLine")}
        onClick={act.clear}
        className="rounded pointer-coarse:p-2"
      >
        <Icon name="close" />
      </button>
    </div>
  );
}

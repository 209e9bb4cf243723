import type { Choice } from "../events/wire.ts";
import { t } from "../i18n/t.ts";

const CHOICES: Choice[] = ["arrived", "send_again", "discard"];

/** What is true of a message in doubt. */
export function ChoiceSelect({
  label,
  choice,
  onChoice,
}: {
  label: string;
  choice: Choice | null;
  onChoice: (choice: Choice | null) => void;
}) {
  return (
    <select
      aria-label={label}
      value={choice ?? ""}
      onChange={(event) => onChoice((event.target.value || null) as Choice | null)}
      className="min-h-8 rounded-md border border-edge bg-raised px-2 text-sm text-ink"
    >
      <option value="">{t("offers.choice.pick")}</option>
      {CHOICES.map((one) => (
        <option key={one} value={one}>
          {t(`choice.${one}`)}
        </option>
      ))}
    </select>
  );
}

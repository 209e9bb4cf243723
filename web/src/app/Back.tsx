import { t } from "../i18n/t.ts";
import { buttonClass } from "../ui/Button.tsx";
import { Icon } from "../ui/Icon.tsx";
import { follow } from "./route.ts";

/** On a phone, where the list is a screen of its own: the way there. */
export function Back() {
  return (
    <a
      href="/"
      onClick={follow}
      aria-label={t("app.back")}
      className={`${buttonClass("quiet")} md:hidden`}
    >
      <Icon name="back" />
    </a>
  );
}

import { neededBeside } from "../chats/arrange.ts";
import { useHost } from "../events/host.ts";
import { t, tn } from "../i18n/t.ts";
import { buttonClass } from "../ui/Button.tsx";
import { Icon } from "../ui/Icon.tsx";
import { follow } from "./route.ts";

/** On a phone, where the list is a screen of its own: the way there, and what waits there. */
export function Back({ from = "" }: { from?: string }) {
  const beside = useHost((host) => neededBeside(host.chats.values(), from));
  const waits = tn("count.beside", beside);
  return (
    <a
      href="/"
      onClick={follow}
      aria-label={beside > 0 ? `${t("app.back")}: ${waits}` : t("app.back")}
      className={`${buttonClass("quiet")} md:hidden`}
    >
      <Icon name="back" />
      {beside > 0 && (
        <span
          title={waits}
          className="min-w-5 rounded-full bg-warn px-1 text-center text-xs font-semibold text-ground"
        >
          {beside}
        </span>
      )}
    </a>
  );
}

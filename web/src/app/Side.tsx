import { useState } from "react";
import { neededIn } from "../chats/arrange.ts";
import { useAct } from "../events/act.ts";
import { call } from "../events/api.ts";
import { signOut, useHost } from "../events/host.ts";
import { to } from "../events/request.ts";
import { t, tn } from "../i18n/t.ts";
import { buttonClass } from "../ui/Button.tsx";
import { FaultLine } from "../ui/FaultLine.tsx";
import { Icon } from "../ui/Icon.tsx";
import { Menu } from "../ui/Menu.tsx";
import { LinkDialog } from "./LinkDialog.tsx";
import { follow } from "./route.ts";

/** The name and the four counts. */
export function SideHead({
  onNeeds,
  onOffers,
  onCheck,
}: {
  onNeeds: () => void;
  onOffers: () => void;
  onCheck: () => void;
}) {
  const counts = useHost((host) => host.counts);
  const needed = useHost((host) => neededIn(host.chats.values()));
  // Who waits for a person does not work meanwhile.
  const working = Math.max(counts.running - needed, 0);
  const [link, setLink] = useState<string | null>(null);
  const act = useAct();
  const newLink = async () => {
    const made = await act.run(() => call(to("POST", "/session/links")));
    if (made) setLink(location.origin + made.path);
  };
  return (
    <header className="px-3 pt-2 pb-2">
      <div className="flex items-center justify-between">
        <a href="/" onClick={follow} className="px-1 text-lg font-semibold">
          {t("app.name")}
        </a>
        <Menu
          label={t("app.menu")}
          choices={[
            { label: t("app.newLink"), act: () => void newLink() },
            { label: t("app.signOut"), act: () => void act.run(signOut) },
          ]}
        >
          <Icon name="more" />
        </Menu>
      </div>
      <div className="flex flex-wrap items-center gap-x-2 px-1 text-sm">
        <span className="text-soft">{t("count.working", { count: working })}</span>
        <Count key="needs" count={needed} onClick={onNeeds} tone="text-warn">
          {tn("count.needsYou", needed)}
        </Count>
        <Count key="resume" count={counts.to_resume} onClick={onOffers} tone="text-warn">
          {t("count.toResume", { count: counts.to_resume })}
        </Count>
        <Count key="check" count={counts.to_check} onClick={onCheck} tone="text-bad">
          {t("count.toCheck", { count: counts.to_check })}
        </Count>
      </div>
      <FaultLine act={act} className="mt-1" />
      <LinkDialog link={link} onClose={() => setLink(null)} />
    </header>
  );
}

/** A count that leads to what it counts. */
function Count({
  count,
  onClick,
  tone,
  children,
}: {
  count: number;
  onClick: () => void;
  tone: string;
  children: string;
}) {
  if (count === 0) return <span className="text-soft">{children}</span>;
  return (
    <button
      type="button"
      onClick={onClick}
      className={`rounded font-semibold underline underline-offset-2 pointer-coarse:py-2 ${tone}`}
    >
      {children}
    </button>
  );
}

export function SideFoot() {
  return (
    <footer className="border-t border-edge px-3 py-2 pb-[max(0.5rem,env(safe-area-inset-bottom))]">
      <a href="/history" onClick={follow} className={buttonClass("quiet", "small")}>
        {t("list.history")}
      </a>
    </footer>
  );
}

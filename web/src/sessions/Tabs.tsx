import { Back } from "../app/Back.tsx";
import { follow } from "../app/route.ts";
import { t } from "../i18n/t.ts";

const TABS = [
  { path: "/new", name: "new.title" },
  { path: "/before", name: "before.title" },
] as const;

/** The two ways to another chat: something new, and something that was begun without Holdfast. */
export function Tabs({ here }: { here: (typeof TABS)[number]["path"] }) {
  return (
    <header className="flex flex-col gap-2">
      <div className="flex items-center gap-1">
        <Back />
        <h2 className="text-xl font-semibold">
          {t(here === "/new" ? "new.title" : "before.heading")}
        </h2>
      </div>
      <nav aria-label={t("before.ways")} className="flex gap-1 border-b border-edge">
        {TABS.map(({ path, name }) => (
          <a
            key={path}
            href={path}
            onClick={follow}
            aria-current={path === here ? "page" : undefined}
            className="-mb-px border-b-2 border-transparent px-3 py-1.5 text-soft hover:text-ink aria-[current]:border-brand aria-[current]:font-medium aria-[current]:text-ink pointer-coarse:py-2.5"
          >
            {t(name)}
          </a>
        ))}
      </nav>
    </header>
  );
}

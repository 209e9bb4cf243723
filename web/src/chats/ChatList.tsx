import { useEffect, useMemo, useState } from "react";
import { follow } from "../app/route.ts";
import { useHost } from "../events/host.ts";
import { t } from "../i18n/t.ts";
import { buttonClass } from "../ui/Button.tsx";
import { Input } from "../ui/Field.tsx";
import { Icon } from "../ui/Icon.tsx";
import { ALL, type Group, grouped, narrowed, type Only } from "./arrange.ts";
import { ChatLine } from "./ChatLine.tsx";
import { OnlySelect } from "./OnlySelect.tsx";
import { SearchResults } from "./SearchResults.tsx";

/** The open chats in their groups; or what a search finds, in closed ones too. */
export function ChatList({ only, onOnly }: { only: Only; onOnly: (only: Only) => void }) {
  const [words, setWords] = useState("");
  // Who asks for what is to check wants to see that, not what was searched before.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new choice ends the search
  useEffect(() => setWords(""), [only]);
  return (
    <>
      <div className="flex gap-2 px-3 pb-2">
        <Input
          type="search"
          aria-label={t("list.search")}
          placeholder={t("list.search.short")}
          value={words}
          onChange={(event) => setWords(event.target.value)}
        />
        <a href="/new" onClick={follow} className={buttonClass("brand")}>
          {t("list.new")}
        </a>
      </div>
      {words.trim() === "" ? (
        <Open only={only} onOnly={onOnly} />
      ) : (
        <SearchResults words={words.trim()} />
      )}
    </>
  );
}

function Open({ only, onOnly }: { only: Only; onOnly: (only: Only) => void }) {
  const chats = useHost((host) => host.chats);
  const failures = useHost((host) => host.failures);
  const known = useHost((host) => host.known);
  const rows = useMemo(() => narrowed(chats.values(), only, failures), [chats, only, failures]);
  const groups = useMemo(() => grouped(rows), [rows]);
  return (
    <>
      <OnlySelect only={only} onOnly={onOnly} />
      <nav aria-label={t("list.open")} className="min-h-0 flex-1 overflow-y-auto px-2 pb-2">
        {groups.map((group) => (
          <Rows key={`${group.kind} ${group.name}`} group={group} alone={groups.length === 1} />
        ))}
        {known && rows.length === 0 && <Nothing only={only} onOnly={onOnly} />}
      </nav>
    </>
  );
}

function Rows({ group, alone }: { group: Group; alone: boolean }) {
  const list = (
    <ul className="flex flex-col gap-px">
      {group.rows.map((row) => (
        <ChatLine key={row.id} row={row} />
      ))}
    </ul>
  );
  if (group.kind === "folder") return <Folder group={group}>{list}</Folder>;
  // A list of one kind needs no heading.
  if (alone && group.kind === "loose") return list;
  return (
    <section className="pt-1">
      <h2 className="px-3 py-1 text-xs font-semibold text-soft">
        {t(group.kind === "pinned" ? "list.pinned" : "list.loose")}
      </h2>
      {list}
    </section>
  );
}

/** A folder, which stays open or closed as a person left it in this browser. */
function Folder({ group, children }: { group: Group; children: React.ReactNode }) {
  const name = `holdfast.folded.${group.name}`;
  const [open, setOpen] = useState(() => localStorage.getItem(name) === null);
  const unread = group.rows.some((row) => row.unread);
  const toggle = () => {
    if (open) localStorage.setItem(name, "1");
    else localStorage.removeItem(name);
    setOpen(!open);
  };
  return (
    <section className="pt-1">
      <h2 className="text-xs font-semibold text-soft">
        <button
          type="button"
          aria-expanded={open}
          onClick={toggle}
          className="flex w-full items-center gap-1 rounded px-3 py-1 -outline-offset-2 pointer-coarse:py-2.5 [&_svg]:size-3.5"
        >
          <span className="truncate">
            {group.name} · {group.rows.length}
          </span>
          {unread && !open && <span className="text-brand">· {t("row.unread")}</span>}
          <Icon name={open ? "up" : "down"} />
        </button>
      </h2>
      {open && children}
    </section>
  );
}

function Nothing({ only, onOnly }: { only: Only; onOnly: (only: Only) => void }) {
  if (only.by !== "all") {
    return (
      <p className="flex items-center justify-between px-2 py-4 text-soft">
        {t("list.noSuch")}
        <button type="button" onClick={() => onOnly(ALL)} className="underline">
          {t("list.all")}
        </button>
      </p>
    );
  }
  return (
    <div className="px-2 py-4 text-soft">
      <p className="font-medium text-ink">{t("list.empty")}</p>
      <p>{t("list.empty.hint")}</p>
    </div>
  );
}

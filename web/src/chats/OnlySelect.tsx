import { useMemo } from "react";
import { useHost } from "../events/host.ts";
import { t } from "../i18n/t.ts";
import { names, type Only } from "./arrange.ts";

/** Narrows the list to a folder, a tag, or what needs a look. */
export function OnlySelect({ only, onOnly }: { only: Only; onOnly: (only: Only) => void }) {
  const chats = useHost((host) => host.chats);
  const [folders, tags] = useMemo(() => {
    const open = [...chats.values()].filter((row) => row.state === "open");
    const chosen = (by: Only["by"]) => (only.by === by && "name" in only ? [only.name] : []);
    return [
      names([...open.map((row) => row.folder), ...chosen("folder")]),
      names([...open.flatMap((row) => row.tags), ...chosen("tag")]),
    ];
  }, [chats, only]);
  return (
    <div className="px-3 pb-1">
      <select
        aria-label={t("only.label")}
        value={JSON.stringify(only)}
        onChange={(event) => onOnly(JSON.parse(event.target.value) as Only)}
        className="w-full rounded-md border border-edge bg-ground px-2 py-1 text-sm pointer-coarse:min-h-10 pointer-coarse:text-base"
      >
        {(["all", "needs_you", "unread", "to_check"] as const).map((by) => (
          <option key={by} value={JSON.stringify({ by })}>
            {t(`only.${by}`)}
          </option>
        ))}
        <Names by="folder" all={folders} />
        <Names by="tag" all={tags} />
      </select>
    </div>
  );
}

function Names({ by, all }: { by: "folder" | "tag"; all: readonly string[] }) {
  if (all.length === 0) return null;
  return (
    <optgroup label={t(`only.${by}`)}>
      {all.map((name) => (
        <option key={name} value={JSON.stringify({ by, name })}>
          {by === "tag" ? `#${name}` : name}
        </option>
      ))}
    </optgroup>
  );
}

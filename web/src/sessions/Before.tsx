import { useId, useState } from "react";
import { chatPath, follow, go } from "../app/route.ts";
import { useAct } from "../events/act.ts";
import { call } from "../events/api.ts";
import { know, useHost, write } from "../events/host.ts";
import { usePaged } from "../events/paged.ts";
import { to } from "../events/request.ts";
import type { Session, SessionPage } from "../events/wire.ts";
import { ago, bytes, t } from "../i18n/t.ts";
import { Button, buttonClass } from "../ui/Button.tsx";
import { useNow } from "../ui/clock.ts";
import { FaultLine } from "../ui/FaultLine.tsx";
import { INPUT, Input } from "../ui/Field.tsx";
import { keepers } from "./keepers.ts";
import { Tabs } from "./Tabs.tsx";

/** Milliseconds of quiet after which words are looked for. */
const QUIET = 200;

/** What a person talked about with an agent's own program, to be gone on with here. */
export function Before() {
  const agents = useHost((host) => keepers(host.agents));
  const [chosen, setChosen] = useState<string | null>(null);
  const [words, setWords] = useState("");
  const select = useId();
  const agent = chosen ?? agents[0]?.id ?? null;
  const live = useHost((host) => host.link === "live");
  const q = words.trim();
  const page = usePaged<Session, SessionPage>(
    live && agent ? `${agent} ${q}` : null,
    q ? QUIET : 0,
    (before, signal) =>
      call(
        to("GET", "/agents/{agent}/sessions", {
          at: { agent: agent ?? "" },
          query: { ...(q ? { q } : {}), ...before },
        }),
        { signal },
      ),
  );
  const waits = agent !== null && page.items === null && !page.fault;
  return (
    <section className="mx-auto flex min-h-0 w-full max-w-3xl flex-1 flex-col gap-3 overflow-y-auto p-5">
      <Tabs here="/before" />
      <p className="text-sm text-soft">{t("before.text")}</p>
      {agent === null ? (
        <p className="text-soft">{t("before.noAgent")}</p>
      ) : (
        <div className="flex flex-wrap gap-2">
          {agents.length > 1 && (
            <span className="flex items-center gap-2">
              <label htmlFor={select} className="text-sm text-soft">
                {t("new.agent")}
              </label>
              <select
                id={select}
                className={`${INPUT} w-auto`}
                value={agent}
                onChange={(event) => setChosen(event.target.value)}
              >
                {agents.map((one) => (
                  <option key={one.id} value={one.id}>
                    {one.id}
                  </option>
                ))}
              </select>
            </span>
          )}
          <span className="min-w-0 flex-1 basis-60">
            <Input
              type="search"
              aria-label={t("before.search")}
              placeholder={t("before.search")}
              value={words}
              onChange={(event) => setWords(event.target.value)}
            />
          </span>
        </div>
      )}
      {page.fault && (
        <p className="flex items-center gap-2 rounded-md bg-bad-ground px-3 py-2 text-bad">
          <span role="alert" className="min-w-0 flex-1 wrap-anywhere">
            {page.fault.text}
          </span>
          <Button size="small" onClick={page.again}>
            {t("action.retry")}
          </Button>
        </p>
      )}
      <p role="status" className="text-soft empty:hidden">
        {waits && t("before.looking")}
        {page.items?.length === 0 &&
          !page.more &&
          (q ? t("list.nothing", { words: q }) : t("before.empty", { agent: agent ?? "" }))}
      </p>
      <ul className="flex flex-col divide-y divide-edge">
        {agent !== null &&
          page.items?.map((session) => <One key={session.id} agent={agent} session={session} />)}
      </ul>
      {page.more && (
        <Button className="self-center" onClick={page.more}>
          {t("history.more")}
        </Button>
      )}
    </section>
  );
}

/** One session: what it was about, and the way on from there. */
function One({ agent, session }: { agent: string; session: Session }) {
  const act = useAct();
  const now = useNow();
  const name = session.title ?? session.first ?? t("before.untitled");
  const adopt = async () => {
    const body = { agent, adopt: { session: session.id } };
    const row = await act.run(() => write(to("POST", "/chats", { body }), session.id));
    if (!row) return;
    localStorage.setItem("holdfast.agent", agent);
    know(row);
    go(chatPath(row.id));
  };
  const facts = [
    session.cwd ?? t("before.nowhere"),
    ago(session.changed_at, now),
    bytes(session.bytes),
  ];
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-2 py-3">
      <span className="min-w-0 flex-1 basis-60">
        <span className="block truncate font-medium">{name}</span>
        {session.title && session.first && session.first !== session.title && (
          <span className="block truncate text-sm">{session.first}</span>
        )}
        <span className="block text-sm wrap-anywhere text-soft">{facts.join(" · ")}</span>
        {!session.cwd_exists && <span className="block text-sm text-warn">{t("before.gone")}</span>}
        {session.open_elsewhere && !session.chat && (
          <span className="block text-sm text-warn">{t("before.open")}</span>
        )}
      </span>
      {session.chat ? (
        <a
          href={chatPath(session.chat)}
          onClick={follow}
          aria-label={t("before.hereLabel", { session: name })}
          className={buttonClass("plain", "small")}
        >
          {t("before.here")}
        </a>
      ) : (
        <Button
          size="small"
          look="brand"
          disabled={act.busy || !session.cwd_exists}
          aria-label={t("before.adoptLabel", { session: name })}
          onClick={() => void adopt()}
        >
          {t("before.adopt")}
        </Button>
      )}
      <FaultLine act={act} className="basis-full" />
    </li>
  );
}

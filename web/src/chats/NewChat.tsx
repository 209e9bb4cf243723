import { useId, useState } from "react";
import { go } from "../app/route.ts";
import { atField } from "../events/act.ts";
import { Refused } from "../events/api.ts";
import { know, loadAgents, useHost, write } from "../events/host.ts";
import { to } from "../events/request.ts";
import type { Agent, Problem } from "../events/wire.ts";
import { t } from "../i18n/t.ts";
import { Tabs } from "../sessions/Tabs.tsx";
import { Button } from "../ui/Button.tsx";
import { Field, INPUT, Input } from "../ui/Field.tsx";

const MORE = ["title", "model", "mode", "effort"] as const;
const NAMES = ["agent", "cwd", "message", ...MORE] as const;
type Name = (typeof NAMES)[number];

/** Whether what was refused has a field here at which that can be said. */
function isAtField(problem: Problem): boolean {
  return NAMES.some((name) => name === problem.field);
}

/** The form for a new chat. What was chosen last is proposed again. */
export function NewChat() {
  const agents = useHost((host) => host.agents);
  const chats = useHost((host) => host.chats);
  const live = useHost((host) => host.link === "live");
  const [agent, setAgent] = useState<string | null>(null);
  const [cwd, setCwd] = useState(() => localStorage.getItem("holdfast.cwd") ?? "");
  const [message, setMessage] = useState("");
  const [more, setMore] = useState({ title: "", model: "", mode: "", effort: "" });
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [shown, setShown] = useState(false);
  const directories = useId();
  const chosen = agent ?? proposed(agents);
  const demo = chosen === "demo";
  const faultAt = (name: Name) => (problem?.field === name ? atField(problem.detail) : null);
  const start = async () => {
    if (!chosen || busy) return;
    setBusy(true);
    setProblem(null);
    const wanted = {
      agent: chosen,
      cwd: cwd.trim() || null,
      message: message.trim() || null,
      title: more.title.trim() || null,
      model: more.model.trim() || null,
      mode: more.mode.trim() || null,
      effort: more.effort.trim() || null,
    };
    try {
      const row = await write(to("POST", "/chats", { body: wanted }), "new");
      localStorage.setItem("holdfast.agent", chosen);
      localStorage.setItem("holdfast.cwd", cwd.trim());
      know(row);
      go(`/chats/${row.id}`);
    } catch (fault) {
      if (!(fault instanceof Refused)) return;
      setProblem(fault.problem);
      // What is wrong is not to be hidden.
      if (MORE.some((name) => name === fault.problem.field)) setShown(true);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form
      className="mx-auto flex w-full max-w-xl flex-col gap-4 overflow-y-auto p-5"
      onSubmit={(event) => {
        event.preventDefault();
        void start();
      }}
    >
      <Tabs here="/new" />
      {/* What was sent stays as it was sent: it may wait for the host. */}
      <fieldset disabled={busy} className="contents">
        <Field
          label={t("new.agent")}
          fault={faultAt("agent")}
          control={(props) => (
            <select
              {...props}
              className={INPUT}
              value={chosen ?? ""}
              onChange={(event) => setAgent(event.target.value)}
            >
              {agents.map((one) => (
                <option key={one.id} value={one.id} disabled={!one.available}>
                  {one.available ? named(one) : t("new.unavailable", { agent: one.id })}
                </option>
              ))}
            </select>
          )}
        />
        <Unavailable agents={agents} chosen={chosen} />
        <Field
          label={t("new.cwd")}
          hint={t("new.cwd.hint")}
          fault={faultAt("cwd")}
          control={(props) => (
            <Input
              {...props}
              className="font-mono"
              list={directories}
              value={cwd}
              autoComplete="off"
              autoCapitalize="off"
              spellCheck={false}
              onChange={(event) => setCwd(event.target.value)}
            />
          )}
        />
        <datalist id={directories}>
          {[...new Set([...chats.values()].map((row) => row.cwd))].map((known) => (
            <option key={known} value={known} />
          ))}
        </datalist>
        <Field
          label={t("new.message")}
          fault={faultAt("message")}
          control={(props) => (
            <textarea
              {...props}
              rows={5}
              className={INPUT}
              value={message}
              onChange={(event) => setMessage(event.target.value)}
              onKeyDown={(event) => {
                if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing)
                  return;
                event.preventDefault();
                void start();
              }}
            />
          )}
        />
        {demo && <Directives onTake={(text) => setMessage(withText(message, text))} />}
        <details open={shown} onToggle={(event) => setShown(event.currentTarget.open)}>
          <summary className="w-fit text-soft pointer-coarse:py-2">{t("new.more")}</summary>
          <div className="flex flex-col gap-3 pt-2">
            <p className="text-sm text-soft">{t("new.more.hint")}</p>
            {MORE.map((name) => (
              <Field
                key={name}
                fault={faultAt(name)}
                label={t(`edit.${name}`)}
                control={(props) => (
                  <Input
                    {...props}
                    autoComplete="off"
                    value={more[name]}
                    onChange={(event) => setMore({ ...more, [name]: event.target.value })}
                  />
                )}
              />
            ))}
          </div>
        </details>
        {problem && !isAtField(problem) && (
          <p role="alert" className="rounded-md bg-bad-ground px-3 py-2 text-bad">
            {problem.detail}
          </p>
        )}
        <Button type="submit" look="brand" disabled={busy || !chosen} className="self-start">
          {!busy ? t("new.start") : live ? t("new.starting") : t("new.waiting")}
        </Button>
      </fieldset>
    </form>
  );
}

/** An agent with its version, where that is known. */
function named(agent: Agent): string {
  return agent.version ? `${agent.id} ${agent.version}` : agent.id;
}

/** The text with another part at its end. */
function withText(text: string, more: string): string {
  return text.trim() === "" ? more : `${text.trimEnd()} ${more}`;
}

const DIRECTIVES = ["stream", "plan", "approve", "ask", "task", "die"] as const;

/** What the demo agent understands, to be clicked: who tries it first cannot know. */
function Directives({ onTake }: { onTake: (text: string) => void }) {
  return (
    <section aria-label={t("demo.title")} className="-mt-2 text-sm text-soft">
      <p>{t("demo.text")}</p>
      <ul className="mt-1 flex flex-wrap gap-1.5">
        {DIRECTIVES.map((name) => (
          <li key={name}>
            <Button
              size="small"
              title={t(`demo.${name}`)}
              onClick={() => onTake(t(`demo.${name}`))}
              className="text-ink"
            >
              {t(`demo.${name}.does`)}
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Agents that cannot be started, and why; of the chosen one also what is amiss all the same. */
function Unavailable({ agents, chosen }: { agents: readonly Agent[]; chosen: string | null }) {
  const known = useHost((host) => host.known);
  if (known && agents.length === 0) {
    return (
      <p className="flex items-center gap-2 text-sm text-bad">
        <span role="alert" className="flex-1">
          {t("new.noAgents")}
        </span>
        <Button size="small" onClick={() => void loadAgents()}>
          {t("action.retry")}
        </Button>
      </p>
    );
  }
  return agents
    .filter((agent) => agent.reason && (!agent.available || agent.id === chosen))
    .map((agent) => (
      <p key={agent.id} className="-mt-3 text-sm wrap-anywhere text-soft">
        {agent.id}: {agent.reason}
      </p>
    ));
}

/** The agent of the last chat, where it is still there; otherwise the first that can be started. */
function proposed(agents: readonly Agent[]): string | null {
  const last = localStorage.getItem("holdfast.agent");
  const can = agents.filter((agent) => agent.available);
  return (can.find((agent) => agent.id === last) ?? can[0])?.id ?? null;
}

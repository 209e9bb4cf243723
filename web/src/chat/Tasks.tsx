import { useAct } from "../events/act.ts";
import { write } from "../events/host.ts";
import { to } from "../events/request.ts";
import type { Leftover, Row } from "../events/wire.ts";
import { ago, t, tn, tword } from "../i18n/t.ts";
import { Button } from "../ui/Button.tsx";
import { useNow } from "../ui/clock.ts";
import { FaultLine } from "../ui/FaultLine.tsx";

/** Background work that lives, and processes that outlived their tool call. */
export function Tasks({ row }: { row: Row }) {
  const now = useNow();
  const act = useAct();
  const { tasks, more_tasks, leftovers } = row.activity;
  const count = tasks.length + more_tasks;
  if (count === 0 && leftovers.length === 0) return null;
  const stop = (task: string) => {
    const at = { chat: row.id, task };
    const wanted = to("POST", "/chats/{chat}/tasks/{task}/stop", { at });
    void act.run(() => write(wanted, `${row.id}/act`));
  };
  return (
    <section className="max-h-40 overflow-y-auto rounded-lg border border-edge bg-panel px-3 py-2">
      <FaultLine act={act} />
      {count > 0 && (
        <>
          <h3 className="text-sm font-semibold">{tn("tasks.title", count)}</h3>
          <ul>
            {tasks.map((task) => (
              <li key={task.id} className="flex items-center gap-2 text-sm">
                <span className="min-w-0 flex-1 truncate" title={task.label}>
                  {tword("task", task.kind)}: {task.label}
                </span>
                <span className="text-soft">{ago(task.since, now)}</span>
                <Button
                  size="small"
                  look="quiet"
                  aria-label={t("tasks.stopLabel", { label: task.label })}
                  onClick={() => stop(task.id)}
                >
                  {t("tasks.stop")}
                </Button>
              </li>
            ))}
            {more_tasks > 0 && (
              <li className="text-sm text-soft">{t("tasks.more", { count: more_tasks })}</li>
            )}
          </ul>
        </>
      )}
      {leftovers.length > 0 && (
        <>
          <h3 className="text-sm font-semibold">{tn("leftovers.title", leftovers.length)}</h3>
          <LeftoverLines leftovers={leftovers} />
        </>
      )}
    </section>
  );
}

export function LeftoverLines({ leftovers }: { leftovers: readonly Leftover[] }) {
  return (
    <ul>
      {leftovers.map((left) => (
        <li key={left.id} className="truncate font-mono text-sm" title={left.command}>
          {left.ports.length > 0
            ? t("leftover.ports", { command: left.command, ports: left.ports.join(", ") })
            : left.command}
        </li>
      ))}
    </ul>
  );
}

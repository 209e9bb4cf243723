import { useEffect, useState } from "react";
import { type Act, useAct } from "../events/act.ts";
import { call, Refused } from "../events/api.ts";
import { write } from "../events/host.ts";
import { to } from "../events/request.ts";
import type { Grant, Row } from "../events/wire.ts";
import { t } from "../i18n/t.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog, DialogBody, DialogFoot } from "../ui/Dialog.tsx";
import { FaultLine } from "../ui/FaultLine.tsx";

const WHEN = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** What a person allowed a chat for good, and the way to take it back. */
export function GrantsDialog({
  row,
  open,
  onClose,
}: {
  row: Row;
  open: boolean;
  onClose: () => void;
}) {
  return (
    <Dialog open={open} onClose={onClose} title={t("grants.title")} text={t("grants.text")}>
      <Grants row={row} />
      <DialogFoot>
        <Button onClick={onClose}>{t("app.close")}</Button>
      </DialogFoot>
    </Dialog>
  );
}

/** They are asked for each time that the dialog opens. */
function Grants({ row }: { row: Row }) {
  const [grants, setGrants] = useState<readonly Grant[] | null>(null);
  const [ended, setEnded] = useState<string | null>(null);
  const reading = useAct();
  const taking = useAct();
  const load = () =>
    reading.run(async () => {
      const got = await call(to("GET", "/chats/{chat}/grants", { at: { chat: row.id } }));
      setGrants(got.items);
    });
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each time that it opens
  useEffect(() => void load(), []);
  const takeBack = async (grant: Grant) => {
    const at = { chat: row.id, grant: grant.id };
    const wanted = to("DELETE", "/chats/{chat}/grants/{grant}", { at });
    const done = await taking.run(async () => {
      try {
        return await write(wanted, row.id);
      } catch (fault) {
        // Somebody else took it back, which the host says; it is not to be listed any more.
        if (fault instanceof Refused && fault.problem.code === "grant_not_found") void load();
        throw fault;
      }
    });
    if (!done) return;
    setGrants((old) => old?.filter((one) => one.id !== grant.id) ?? null);
    setEnded(t("grants.ended", { rule: grant.rule }));
  };
  const running = row.status.process === "running" || row.status.process === "starting";
  return (
    <DialogBody>
      <FaultLine act={reading} />
      {reading.fault && (
        <Button className="self-start" onClick={() => void load()}>
          {t("action.retry")}
        </Button>
      )}
      {grants === null && !reading.fault && <p className="text-soft">{t("chat.loading")}</p>}
      {grants?.length === 0 && <p className="text-soft">{t("grants.none")}</p>}
      {grants && grants.length > 0 && (
        <ul className="flex flex-col divide-y divide-edge">
          {grants.map((grant) => (
            <GrantLine key={grant.id} grant={grant} act={taking} onEnd={() => takeBack(grant)} />
          ))}
        </ul>
      )}
      <FaultLine act={taking} />
      <p role="status" className="text-sm wrap-anywhere empty:-mt-3">
        {ended}
      </p>
      {running && (ended || grants?.length) && (
        <p className="text-sm text-soft">{t("grants.running")}</p>
      )}
    </DialogBody>
  );
}

function GrantLine({ grant, act, onEnd }: { grant: Grant; act: Act; onEnd: () => void }) {
  const since = new Date(grant.since);
  return (
    <li className="flex items-center gap-3 py-2">
      <div className="min-w-0 flex-1">
        <p className="font-mono text-sm wrap-anywhere">{grant.rule}</p>
        <p className="text-sm text-soft">
          {t("grants.since", { by: grant.by, since: WHEN.format(since), grant: grant.id })}
        </p>
      </div>
      <Button
        size="small"
        aria-label={t("grants.endLabel", { rule: grant.rule })}
        disabled={act.busy}
        onClick={onEnd}
      >
        {t("grants.end")}
      </Button>
    </li>
  );
}

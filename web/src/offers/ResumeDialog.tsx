import { useEffect, useMemo, useRef, useState } from "react";
import { nameOf } from "../chats/names.ts";
import { useAct } from "../events/act.ts";
import { useHost } from "../events/host.ts";
import type { Choice, Result } from "../events/wire.ts";
import { t, tn } from "../i18n/t.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog, DialogBody, DialogFoot } from "../ui/Dialog.tsx";
import { FaultLine } from "../ui/FaultLine.tsx";
import { dismiss, resume } from "./act.ts";
import { OfferTree } from "./OfferTree.tsx";
import {
  build,
  fresh,
  type Leaf,
  leaves,
  type Node,
  tickable,
  tickOf,
  toggle,
  wanted,
} from "./tree.ts";

/** After a start with offers: which chats are to carry on. Closing it puts it off, no more. */
export function ResumeDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const offers = useHost((host) => host.offers);
  const chats = useHost((host) => host.chats);
  const failures = useHost((host) => host.failures);
  const nodes = useMemo(() => {
    const name = (row: Parameters<typeof nameOf>[0] | undefined) =>
      row ? nameOf(row) : t("offers.unreadable");
    return build([...offers.values()], chats, failures, name);
  }, [offers, chats, failures]);
  const all = leaves(nodes);
  const progress = useProgress(all.map((leaf) => leaf.id));
  const [ticked, setTicked] = useTicked(nodes);
  const [choices, setChoices] = useState<ReadonlyMap<string, Choice>>(new Map());
  const [results, setResults] = useState<ReadonlyMap<string, Result>>(new Map());
  const tree = useRef<HTMLDivElement>(null);
  const chosen = wanted(nodes, ticked, choices);
  // Nothing is left to decide.
  useEffect(() => {
    if (open && offers.size === 0) onClose();
  }, [open, offers, onClose]);
  const act = useAct();
  const take = async (ask: () => Promise<Result[]>) => {
    const got = await act.run(ask);
    if (!got) return false;
    setResults((old) => new Map([...old, ...got.map((one) => [one.chat, one] as const)]));
    return true;
  };
  const go = async () => {
    if (chosen.length === 0) return;
    const ids = chosen.map((one) => one.chat);
    if (!(await take(() => resume(chosen)))) return;
    progress.begin(ids);
    setTicked((old) => new Set([...old].filter((id) => !ids.includes(id))));
  };
  const rest = all.filter((leaf) => ticked.has(leaf.id)).map((leaf) => leaf.offer);
  const tick = nodes.length > 0 ? overall(nodes, ticked) : null;
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={t("offers.title")}
      text={t("offers.text")}
      initialFocus={tree}
      wide
    >
      <DialogBody>
        <div className="flex items-center justify-between gap-2">
          <label className="flex items-center gap-2 pl-1 pointer-coarse:min-h-10">
            <input
              type="checkbox"
              className="size-4 accent-brand"
              checked={tick === "all"}
              disabled={tick === null}
              ref={(box) => {
                if (box) box.indeterminate = tick === "some";
              }}
              onChange={() => setTicked(toggle(nodes, ticked))}
            />
            {tn("offers.all", all.filter(tickable).length)}
          </label>
          {progress.total > 0 && (
            <p role="status" className="text-sm text-soft">
              {t("offers.progress", { done: progress.done, total: progress.total })}
            </p>
          )}
        </div>
        <OfferTree
          ref={tree}
          nodes={nodes}
          ticked={ticked}
          onTicked={setTicked}
          choices={choices}
          onChoice={(chat, choice) => {
            const next = new Map(choices);
            if (choice) next.set(chat, choice);
            else next.delete(chat);
            setChoices(next);
          }}
          results={results}
          onResume={() => void go()}
        />
        <FaultLine act={act} />
      </DialogBody>
      <DialogFoot>
        <Button look="quiet" className="mr-auto" onClick={onClose}>
          {t("offers.later")}
        </Button>
        {/* Where all are ticked it would be the same button twice. */}
        {rest.length < all.length && (
          <Button onClick={() => void take(() => dismiss(all.map((leaf) => leaf.offer)))}>
            {t("offers.dismissAll")}
          </Button>
        )}
        <Button disabled={rest.length === 0} onClick={() => void take(() => dismiss(rest))}>
          {t("offers.dismiss.n", { count: rest.length })}
        </Button>
        <Button look="brand" disabled={chosen.length === 0 || act.busy} onClick={() => void go()}>
          {t("offers.resume.n", { count: chosen.length })}
        </Button>
      </DialogFoot>
    </Dialog>
  );
}

function overall(nodes: readonly Node[], ticked: ReadonlySet<string>) {
  return tickOf({ kind: "project", id: "", label: "", nodes: [...nodes] }, ticked);
}

/** The ticks: an offer that was not seen before is ticked; what a person did to others stays. */
function useTicked(nodes: readonly Node[]) {
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set());
  const known = useRef(new Set<string>());
  useEffect(() => {
    const name = (leaf: Leaf) => `${leaf.id} ${leaf.offer.recorded_at}`;
    const able = fresh(nodes);
    const unseen = leaves(nodes).filter((leaf) => !known.current.has(name(leaf)));
    for (const leaf of unseen) known.current.add(name(leaf));
    const come = unseen.map((leaf) => leaf.id).filter((id) => able.has(id));
    if (come.length > 0) setTicked((old) => new Set([...old, ...come]));
  }, [nodes]);
  return [ticked, setTicked] as const;
}

/** How many of the resumes that were asked for here are through: their offers have ended. */
function useProgress(there: readonly string[]) {
  const [asked, setAsked] = useState<ReadonlySet<string>>(new Set());
  const done = [...asked].filter((id) => !there.includes(id)).length;
  return {
    total: asked.size,
    done,
    begin: (ids: readonly string[]) => setAsked((old) => new Set([...old, ...ids])),
  };
}

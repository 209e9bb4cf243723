import { type Ref, useEffect, useRef, useState } from "react";
import type { Choice, Result } from "../events/wire.ts";
import { ago, t } from "../i18n/t.ts";
import { useNow } from "../ui/clock.ts";
import { ChoiceSelect } from "./ChoiceSelect.tsx";
import { sentence } from "./sentence.ts";
import {
  askedOf,
  key,
  type Leaf,
  type Line,
  lines,
  type Node,
  tickable,
  tickOf,
  toggle,
} from "./tree.ts";

interface Props {
  nodes: readonly Node[];
  ticked: ReadonlySet<string>;
  onTicked: (ticked: Set<string>) => void;
  choices: ReadonlyMap<string, Choice>;
  onChoice: (chat: string, choice: Choice | null) => void;
  results: ReadonlyMap<string, Result>;
  onResume: () => void;
  ref: Ref<HTMLDivElement>;
}

const CHECKED = { all: true, some: "mixed", none: false } as const;

/** Offers as a tree: one stop of the tab key, then arrows, Home, End, Space and Enter. */
export function OfferTree(props: Props) {
  const { nodes, ticked, onTicked, onResume } = props;
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [focus, setFocus] = useState<string | null>(null);
  const seen = lines(nodes, closed);
  const current = seen.some((line) => line.node.id === focus) ? focus : (seen[0]?.node.id ?? null);
  const items = useRef(new Map<string, HTMLDivElement>());
  const moved = useRef(false);
  useEffect(() => {
    if (moved.current && current !== null) items.current.get(current)?.focus();
    moved.current = false;
  });
  const shut = (id: string, shutIt: boolean) => {
    const next = new Set(closed);
    if (shutIt) next.add(id);
    else next.delete(id);
    setClosed(next);
  };
  const press = (event: React.KeyboardEvent) => {
    if (event.target instanceof HTMLSelectElement || event.ctrlKey || event.metaKey) return;
    const move = key(event.key, seen, current, closed);
    if (!move) return;
    event.preventDefault();
    if ("focus" in move) {
      moved.current = true;
      setFocus(move.focus);
    } else if ("open" in move) shut(move.open, false);
    else if ("shut" in move) shut(move.shut, true);
    else if ("toggle" in move) {
      const line = seen.find((one) => one.node.id === move.toggle);
      if (line) onTicked(toggle([line.node], ticked));
    } else onResume();
  };
  return (
    <div
      ref={props.ref}
      role="tree"
      aria-label={t("offers.tree")}
      aria-multiselectable="true"
      onKeyDown={press}
      className="outline-none"
    >
      {seen.map((line) => {
        const { node, level } = line;
        const tick = tickOf(node, ticked);
        return (
          <div
            key={node.id}
            ref={(element) => {
              if (element) items.current.set(node.id, element);
              else items.current.delete(node.id);
            }}
            role="treeitem"
            aria-level={level}
            aria-checked={tick ? CHECKED[tick] : undefined}
            aria-disabled={tick === null}
            aria-selected={tick === "all"}
            aria-expanded={node.kind === "chat" ? undefined : !closed.has(node.id)}
            tabIndex={node.id === current ? 0 : -1}
            onFocus={() => setFocus(node.id)}
            onClick={(event) => {
              if (event.target instanceof HTMLSelectElement) return;
              onTicked(toggle([node], ticked));
            }}
            onKeyDown={() => {}}
            className={`flex items-start gap-2 rounded-md py-1.5 pr-2 -outline-offset-2 hover:bg-panel ${INDENT[Math.min(level, 3)]}`}
          >
            <Box tick={tick} />
            {node.kind === "chat" ? <Chat leaf={node} {...props} /> : <Branch line={line} />}
          </div>
        );
      })}
    </div>
  );
}

const INDENT = ["", "pl-1", "pl-6", "pl-11"];

/** The tick, drawn: the line itself is what is ticked. */
function Box({ tick }: { tick: "all" | "some" | "none" | null }) {
  const on = tick === "all" || tick === "some";
  return (
    <svg
      aria-hidden="true"
      viewBox="0 0 16 16"
      className={`mt-1 size-4 shrink-0 rounded-sm border ${on ? "border-brand bg-brand text-on-brand" : "border-soft"} ${tick === null ? "opacity-40" : ""}`}
      fill="none"
      stroke="currentColor"
      strokeWidth="2"
    >
      {tick === "all" && <path d="M3.5 8.5l3 3 6-7" />}
      {tick === "some" && <path d="M4 8h8" />}
    </svg>
  );
}

function Branch({ line }: { line: Line }) {
  const label = line.node.label || t("offers.noProject");
  return <span className="truncate font-medium">{label}</span>;
}

function Chat({ leaf, choices, onChoice, results }: Props & { leaf: Leaf }) {
  const now = useNow();
  const { offer, row, failure } = leaf;
  const result = results.get(leaf.id);
  const said = failure?.text ?? result?.failure?.text ?? null;
  const asked = askedOf(row);
  return (
    <div className="min-w-0 flex-1">
      <p className="flex items-baseline justify-between gap-2">
        <span className="truncate font-medium">{leaf.label}</span>
        <span className="shrink-0 text-xs text-soft">
          {[row?.agent, row?.model, ago(offer.recorded_at, now)].filter(Boolean).join(" · ")}
        </span>
      </p>
      {asked && <p className="truncate text-sm text-soft">{asked}</p>}
      <p className="text-sm text-warn" title={offer.details.join("\n")}>
        {offer.resuming ? t("offers.resuming") : sentence(offer)}
      </p>
      {said && <p className="text-sm text-bad">{t("offers.failed", { text: said })}</p>}
      {result?.outcome === "superseded" && (
        <p className="text-sm text-bad">{t("offers.superseded")}</p>
      )}
      {offer.needs_choice && tickable(leaf) && (
        <p className="flex flex-wrap items-center gap-2 text-sm">
          {t("offers.choice")}
          <ChoiceSelect
            label={`${t("offers.choice")}: ${leaf.label}`}
            choice={choices.get(leaf.id) ?? null}
            onChoice={(choice) => onChoice(leaf.id, choice)}
          />
        </p>
      )}
    </div>
  );
}

import type { Row } from "../events/wire.ts";
import { stateOf } from "./names.ts";

/** The state of a chat: a sign of its own shape and a word, never a colour alone. */
export function Dot({ row, hushed = false }: { row: Row; hushed?: boolean }) {
  const shown = row.state === "closed" ? "idle" : row.offer ? "offer" : row.status.shown;
  const word = stateOf(row);
  return (
    <span
      className={`inline-flex shrink-0 items-center gap-1.5 text-sm whitespace-nowrap ${TONES[shown] ?? "text-soft"}`}
    >
      <svg
        aria-hidden="true"
        viewBox="0 0 10 10"
        className={`size-2.5 shrink-0 ${shown === "working" ? "live" : ""}`}
        fill="currentColor"
      >
        {SHAPES[shown] ?? SHAPES.idle}
      </svg>
      <span className={hushed ? "sr-only" : ""}>{word}</span>
    </span>
  );
}

const TONES: Record<string, string> = {
  blocked: "text-warn font-semibold",
  working: "text-brand",
  monitoring: "text-brand",
  to_check: "text-bad font-semibold",
  offer: "text-warn font-semibold",
  idle: "text-soft",
};

const SHAPES: Record<string, React.ReactNode> = {
  blocked: <path d="M5 0l5 5-5 5-5-5z" />,
  working: <circle cx="5" cy="5" r="4.5" />,
  monitoring: <circle cx="5" cy="5" r="3.5" fill="none" stroke="currentColor" strokeWidth="2" />,
  to_check: <path d="M5 .5l5 9H0z" />,
  offer: <path d="M1.5 .5l8 4.5-8 4.5z" />,
  idle: <circle cx="5" cy="5" r="2" />,
};

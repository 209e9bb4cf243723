// What a chat has left behind by going back: folded away, and there to be read.

import type { Entry } from "../events/state.ts";

/** One line of a transcript: an entry, or what stands for several that were left behind. */
export type Line =
  | { kind: "item"; item: Entry; left: boolean }
  | {
      kind: "fold";
      /** The place of the line that says that the chat went back: the name of the fold. */
      by: number;
      /** How many entries there are in it. */
      count: number;
      open: boolean;
    };

/** The place to which a line says that the chat went back. */
function backTo(item: Entry): number | null {
  return item.notice?.kind === "went_back" ? (item.notice.to ?? null) : null;
}

/**
 * The lines of a transcript. What is between a place and the line that goes back to it is one fold, also
 * where the chat had gone back before; it is shown where `opened` has its name, or where it holds the
 * entry at the place `found`.
 */
export function lines(
  items: readonly Entry[],
  opened: ReadonlySet<number>,
  found: number | null = null,
): Line[] {
  const backwards: Line[] = [];
  // The fold that is being walked through, from its end.
  let fold: { by: number; to: number } | null = null;
  const close = () => {
    if (!fold) return;
    const { by, to } = fold;
    backwards.push({ kind: "fold", by, count: by - to - 1, open: isOpen(by, to) });
    fold = null;
  };
  const isOpen = (by: number, to: number) =>
    opened.has(by) || (found !== null && found > to && found < by);
  for (const item of items.toReversed()) {
    if (fold && item.seq <= fold.to) close();
    if (fold) {
      if (isOpen(fold.by, fold.to)) backwards.push({ kind: "item", item, left: true });
      continue;
    }
    backwards.push({ kind: "item", item, left: false });
    const to = backTo(item);
    if (to !== null && to < item.seq - 1) fold = { by: item.seq, to };
  }
  close();
  return backwards.reverse();
}

/** The newest end of a turn that counts: there the conversation is. */
export function newestEnd(all: readonly Line[]): number | null {
  const ends = all.filter((line) => line.kind === "item" && !line.left && line.item.turn_end);
  const last = ends.at(-1);
  return last?.kind === "item" ? last.item.seq : null;
}

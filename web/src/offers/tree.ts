// The tree of the resume dialog: project, directory, chat. Pure.

import type { Choice, Failure, Offer, Row } from "../events/wire.ts";

export interface Leaf {
  kind: "chat";
  id: string;
  label: string;
  offer: Offer;
  row: Row | undefined;
  failure: Failure | undefined;
}

export interface Branch {
  kind: "project" | "directory";
  id: string;
  label: string;
  nodes: Node[];
}

export type Node = Leaf | Branch;
export type Tick = "all" | "some" | "none";

/** What can be seen of the tree, line by line. */
export interface Line {
  node: Node;
  level: number;
  parent: string | null;
}

/** Offers by project and directory. A project or directory with nothing beside it is left out. */
export function build(
  offers: readonly Offer[],
  chats: ReadonlyMap<string, Row>,
  failures: ReadonlyMap<string, Failure>,
  name: (row: Row | undefined) => string,
): Node[] {
  const projects = new Map<string, Map<string, Leaf[]>>();
  for (const offer of offers) {
    const row = chats.get(offer.chat);
    const [project, directory] = [row?.project ?? "", row?.cwd ?? ""];
    const directories = projects.get(project) ?? new Map<string, Leaf[]>();
    const failure = failures.get(offer.chat);
    const leaf: Leaf = { kind: "chat", id: offer.chat, label: name(row), offer, row, failure };
    directories.set(directory, [...(directories.get(directory) ?? []), leaf]);
    projects.set(project, directories);
  }
  const sorted = <T>(map: Map<string, T>) => [...map].sort(([a], [b]) => (a < b ? -1 : 1));
  const branches = sorted(projects).map(([project, directories]): Branch => {
    const nodes = sorted(directories).map(([directory, leaves]): Branch => {
      const id = `${project}\n${directory}`;
      return { kind: "directory", id, label: directory || "/", nodes: leaves };
    });
    return { kind: "project", id: project, label: project, nodes };
  });
  const bare = branches.length === 1 && branches[0]?.label === "";
  return bare ? (branches[0]?.nodes ?? []) : branches;
}

/** What a chat with a title was last asked; not what still waits, which the agent never had. */
export function askedOf(row: Row | undefined): string | null {
  return row?.title && row.queue_length === 0 ? row.last_prompt : null;
}

export function leaves(nodes: readonly Node[]): Leaf[] {
  return nodes.flatMap((node) => (node.kind === "chat" ? [node] : leaves(node.nodes)));
}

/** Whether an offer may be ticked: not while it resumes, nor after a failure that no retry mends. */
export function tickable(leaf: Leaf): boolean {
  const hopeless = leaf.failure && !leaf.failure.actions.includes("retry");
  return leaf.offer.readable && !leaf.offer.resuming && !hopeless;
}

/** What is ticked when the dialog opens: whatever has not failed. */
export function fresh(nodes: readonly Node[]): Set<string> {
  const able = leaves(nodes).filter((leaf) => tickable(leaf) && !leaf.failure);
  return new Set(able.map((leaf) => leaf.id));
}

/** How a node is ticked; `null` where it cannot be. */
export function tickOf(node: Node, ticked: ReadonlySet<string>): Tick | null {
  const able = leaves([node]).filter(tickable);
  if (able.length === 0) return null;
  const count = able.filter((leaf) => ticked.has(leaf.id)).length;
  return count === 0 ? "none" : count === able.length ? "all" : "some";
}

/** Ticks all of a node, or none of it. */
export function toggle(nodes: readonly Node[], ticked: ReadonlySet<string>): Set<string> {
  const able = leaves(nodes).filter(tickable);
  const all = able.every((leaf) => ticked.has(leaf.id));
  const next = new Set(ticked);
  for (const leaf of able) {
    if (all) next.delete(leaf.id);
    else next.add(leaf.id);
  }
  return next;
}

/** The lines that are seen while these branches are closed. */
export function lines(
  nodes: readonly Node[],
  closed: ReadonlySet<string>,
  level = 1,
  parent: string | null = null,
): Line[] {
  return nodes.flatMap((node): Line[] => {
    const line = { node, level, parent };
    if (node.kind === "chat" || closed.has(node.id)) return [line];
    return [line, ...lines(node.nodes, closed, level + 1, node.id)];
  });
}

export type Move =
  | { focus: string }
  | { open: string }
  | { shut: string }
  | { toggle: string }
  | { resume: true };

/** What a key means at a line. */
export function key(
  name: string,
  seen: readonly Line[],
  focus: string | null,
  closed: ReadonlySet<string>,
): Move | null {
  const at = seen.findIndex((line) => line.node.id === focus);
  const line = seen[at];
  const to = (index: number): Move | null => {
    const there = seen[Math.max(0, Math.min(index, seen.length - 1))];
    return there ? { focus: there.node.id } : null;
  };
  if (!line) return to(0);
  const branch = line.node.kind !== "chat";
  const shut = closed.has(line.node.id);
  switch (name) {
    case "ArrowDown":
      return to(at + 1);
    case "ArrowUp":
      return to(at - 1);
    case "Home":
      return to(0);
    case "End":
      return to(seen.length - 1);
    case "ArrowRight":
      return branch ? (shut ? { open: line.node.id } : to(at + 1)) : null;
    case "ArrowLeft":
      if (branch && !shut) return { shut: line.node.id };
      return line.parent === null ? null : { focus: line.parent };
    case " ":
      return { toggle: line.node.id };
    case "Enter":
      return { resume: true };
    default:
      return null;
  }
}

/** What is asked to be resumed: the ticked offers, each as it was seen. */
export function wanted(
  nodes: readonly Node[],
  ticked: ReadonlySet<string>,
  choices: ReadonlyMap<string, Choice>,
): { chat: string; recorded_at: string; choice?: Choice }[] {
  const chosen = leaves(nodes).filter((leaf) => tickable(leaf) && ticked.has(leaf.id));
  const ready = chosen.filter((leaf) => !leaf.offer.needs_choice || choices.has(leaf.id));
  return ready.map(({ id, offer }) => {
    const choice = choices.get(id);
    return { chat: id, recorded_at: offer.recorded_at, ...(choice ? { choice } : {}) };
  });
}

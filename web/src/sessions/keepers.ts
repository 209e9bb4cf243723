// Which agents keep sessions that a chat can go on with.

import type { Agent } from "../events/wire.ts";

const KINDS: readonly string[] = ["claude", "codex"];

let known: { of: readonly Agent[]; keep: readonly Agent[] } | null = null;

/** The agents that keep sessions; the same list for the same agents. */
export function keepers(agents: readonly Agent[]): readonly Agent[] {
  if (known?.of !== agents) {
    known = { of: agents, keep: agents.filter((agent) => KINDS.includes(agent.kind)) };
  }
  return known.keep;
}

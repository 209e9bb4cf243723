// What a composer proposes after a slash.

import type { AgentCommand } from "../events/wire.ts";

/** Whether a text is, so far, a slash and a name that may be begun. */
export function isBegun(text: string): boolean {
  return text.startsWith("/") && !text.includes("\n");
}

/**
 * The commands that a text may become, in the agent's order: those that begin as it does, then those
 * that hold what is written. None once a command is written and more follows.
 */
export function proposed(text: string, commands: readonly AgentCommand[]): readonly AgentCommand[] {
  if (!isBegun(text)) return [];
  const typed = text.slice(1).toLowerCase();
  const begin = commands.filter((one) => one.name.toLowerCase().startsWith(typed));
  if (/\s/.test(typed)) return begin;
  const hold = commands.filter((one) => {
    const at = one.name.toLowerCase().indexOf(typed);
    return at > 0;
  });
  return [...begin, ...hold];
}

/** The text with a command in it, ready for what may follow. */
export function completed(command: AgentCommand): string {
  return command.hint === "" ? `/${command.name}` : `/${command.name} `;
}

/** The command that a text is, apart from what follows its name; the longest name counts. */
export function written(text: string, commands: readonly AgentCommand[]): AgentCommand | undefined {
  const is = (one: AgentCommand) => text === `/${one.name}` || text.startsWith(`/${one.name} `);
  return commands.filter(is).sort((a, b) => b.name.length - a.name.length)[0];
}

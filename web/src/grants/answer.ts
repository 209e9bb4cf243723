// Answers that no person gave: what was allowed for good answers the very same thing again.

import type { Answered, Option, Prompt } from "../events/wire.ts";

/** The grant that answered; `null`: a person did. */
export function grantOf(answer: Answered): string | null {
  return /^grant (g\d+)$/.exec(answer.by)?.[1] ?? null;
}

/** The option of an approval that is kept. */
export function keptOption(prompt: Prompt): Option | null {
  if (prompt.kind !== "approval") return null;
  return prompt.options.find((option) => option.kind === "allow_always") ?? null;
}

import type { ReactNode } from "react";
import { t } from "./t.ts";
import type { Key } from "./texts.ts";

/** A text whose placeholders are filled with more than words. */
export function Said({ name, parts }: { name: Key; parts: Record<string, ReactNode> }) {
  // Every second piece is the name of a placeholder.
  return t(name)
    .split(/\{(\w+)\}/)
    .map((piece, at) => (at % 2 === 0 ? piece : <span key={piece}>{parts[piece]}</span>));
}

import type { ComponentProps } from "react";

type Look = "plain" | "brand" | "quiet" | "bad";

const LOOKS: Record<Look, string> = {
  plain: "border border-edge bg-raised hover:bg-panel",
  brand: "border border-transparent bg-brand text-on-brand hover:opacity-90",
  quiet: "border border-transparent text-soft hover:bg-panel hover:text-ink",
  bad: "border border-edge bg-raised text-bad hover:bg-bad-ground",
};

const SIZES = { normal: "min-h-9 px-3 py-1", small: "min-h-7 px-2 py-0.5 text-sm" };

/** A button; at least as large as a finger needs on a phone. */
export function Button({
  look = "plain",
  size = "normal",
  className = "",
  ...rest
}: ComponentProps<"button"> & { look?: Look; size?: keyof typeof SIZES }) {
  return <button type="button" {...rest} className={`${buttonClass(look, size)} ${className}`} />;
}

export function buttonClass(look: Look, size: keyof typeof SIZES = "normal"): string {
  return `inline-flex items-center justify-center gap-1.5 rounded-md font-medium whitespace-nowrap transition-colors disabled:opacity-50 pointer-coarse:min-h-10 ${SIZES[size]} ${LOOKS[look]}`;
}

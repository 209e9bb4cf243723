import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { call } from "../events/api.ts";
import { to } from "../events/request.ts";
import type { AgentCommand } from "../events/wire.ts";
import { t, tn } from "../i18n/t.ts";
import { completed, isBegun, proposed, written } from "./slash.ts";

/** The agent's commands, as far as they fit what is written. */
export interface Slash {
  /** What is proposed; empty where nothing is. */
  options: readonly AgentCommand[];
  /** Which of them Enter takes. */
  active: number;
  /** What the text area says of the list. */
  aria: Record<string, string>;
  /** What may follow the command that is written. */
  follows: string;
  id: string;
  /** Takes a key that is the list's; says whether it was. */
  onKey(event: KeyboardEvent): boolean;
  choose(command: AgentCommand): void;
  point(index: number): void;
}

/** Proposes commands where a text begins with a slash. They are asked for each time that one is begun. */
export function useSlash(chat: string, text: string, change: (text: string) => void): Slash {
  const id = useId();
  const [commands, setCommands] = useState<readonly AgentCommand[]>([]);
  const [at, setAt] = useState(0);
  // The text for which the list was put away, or for which something was taken from it.
  const [away, setAway] = useState<string | null>(null);
  const begun = isBegun(text);
  useEffect(() => {
    setAway(null);
    if (!begun) return;
    let here = true;
    call(to("GET", "/chats/{chat}/commands", { at: { chat } })).then(
      (got) => here && setCommands(got.items),
      // Without proposals what is written is sent all the same.
      () => here && setCommands([]),
    );
    return () => {
      here = false;
    };
  }, [chat, begun]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another text has another first one
  useEffect(() => setAt(0), [text]);
  const fits = away === null ? proposed(text, commands) : [];
  const done = fits.length === 1 && fits[0] && text === completed(fits[0]);
  const options = done ? [] : fits;
  const active = Math.min(at, Math.max(options.length - 1, 0));
  const open = options.length > 0;
  const command = written(text, commands);
  const choose = (one: AgentCommand) => {
    change(completed(one));
    setAway(completed(one));
  };
  // Who goes on writing after Escape does not want it; who begins anew gets it again.
  const onKey = (event: KeyboardEvent): boolean => {
    const bare = !event.shiftKey && !event.ctrlKey && !event.altKey && !event.metaKey;
    const one = options[active];
    if (!open || !bare || !one || event.nativeEvent.isComposing) return false;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setAt((active + step + options.length) % options.length);
    else if (event.key === "Escape") setAway(text);
    else if (event.key === "Tab") choose(one);
    // What is written whole already is sent.
    else if (event.key === "Enter" && text !== `/${one.name}`) choose(one);
    else return false;
    event.preventDefault();
    return true;
  };
  const aria: Record<string, string> = { "aria-autocomplete": "list", "aria-haspopup": "listbox" };
  if (open) {
    aria["aria-controls"] = id;
    aria["aria-activedescendant"] = `${id}-${active}`;
  }
  const hint = command && !open ? command.hint : "";
  const follows = hint && t("slash.follows", { hint });
  return { options, active, aria, follows, id, onKey, choose, point: setAt };
}

/** The list, above what is written. */
export function SlashList({ slash }: { slash: Slash }) {
  const { options, active, id } = slash;
  const shown = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another one is active
  useEffect(() => {
    shown.current?.scrollIntoView({ block: "nearest" });
  }, [active, options]);
  return (
    <>
      <p role="status" className="sr-only">
        {options.length > 0 && tn("slash.count", options.length)}
      </p>
      {options.length > 0 && (
        <div
          id={id}
          role="listbox"
          aria-label={t("slash.label")}
          className="absolute inset-x-0 bottom-full z-20 mb-2 max-h-[min(20rem,40dvh)] overflow-y-auto rounded-xl border border-edge bg-raised p-1 shadow-lg"
        >
          {options.map((one, index) => (
            <div
              key={one.name}
              id={`${id}-${index}`}
              ref={index === active ? shown : null}
              role="option"
              tabIndex={-1}
              aria-selected={index === active}
              // The text area keeps the focus.
              onMouseDown={(event) => event.preventDefault()}
              onMouseMove={() => index !== active && slash.point(index)}
              onClick={() => slash.choose(one)}
              onKeyDown={slash.onKey}
              className="flex flex-wrap items-baseline gap-x-3 rounded-lg px-3 py-1.5 select-none aria-selected:bg-panel pointer-coarse:py-2.5"
            >
              <span className="font-mono text-sm wrap-anywhere">
                /{one.name}
                {one.hint !== "" && <span className="text-soft"> {one.hint}</span>}
              </span>
              <span className="min-w-0 basis-full truncate text-sm text-soft sm:flex-1 sm:basis-0">
                {one.description}
              </span>
            </div>
          ))}
        </div>
      )}
    </>
  );
}

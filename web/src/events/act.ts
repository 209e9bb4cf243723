// An act of a person: whether it is on its way, and what went wrong, to be said where it was made.

import { useEffect, useRef, useState } from "react";
import { t } from "../i18n/t.ts";
import { aProblem, Refused, SignedOut, Unreachable } from "./api.ts";
import { show } from "./host.ts";

export interface Fault {
  /** What is wrong and what to do. */
  text: string;
  /** The field that it is about. */
  field: string | null;
}

export interface Act {
  busy: boolean;
  fault: Fault | null;
  /** Does it; gives nothing where it went wrong, which is then said. */
  run<A>(make: () => Promise<A>): Promise<A | undefined>;
  /** Puts away what was said. */
  clear(): void;
}

/** Something that went wrong, in words for the person. */
export class Told extends Error {}

export function useAct(): Act {
  const [running, setRunning] = useState(0);
  const [fault, setFault] = useState<Fault | null>(null);
  const here = useRef(true);
  useEffect(() => {
    here.current = true;
    return () => {
      here.current = false;
    };
  }, []);
  const run = async <A>(make: () => Promise<A>): Promise<A | undefined> => {
    setRunning((count) => count + 1);
    setFault(null);
    try {
      return await make();
    } catch (thrown) {
      const said = faultOf(thrown);
      if (said && here.current) setFault(said);
      // Nobody looks at the place any more.
      else if (said) show({ problem: aProblem("internal", said.text, 0) });
      return undefined;
    } finally {
      setRunning((count) => count - 1);
    }
  };
  return { busy: running > 0, fault, run, clear: () => setFault(null) };
}

/** What to say of it; nothing where the page says it elsewhere. */
export function faultOf(thrown: unknown): Fault | null {
  if (thrown instanceof Refused)
    return { text: thrown.problem.detail, field: thrown.problem.field };
  if (thrown instanceof Told) return { text: thrown.message, field: null };
  if (thrown instanceof Unreachable) {
    return { text: thrown.problem?.detail ?? t("fault.unreachable"), field: null };
  }
  if (thrown instanceof SignedOut) return null;
  if (thrown instanceof DOMException && thrown.name === "AbortError") return null;
  return { text: t("fault.odd"), field: null };
}

/** What the host says of a field, where it stands at that field: without the field's name on the wire. */
export function atField(detail: string): string {
  return detail.replace(/^The field \S+ /, t("fault.this"));
}

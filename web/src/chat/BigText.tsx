import { type ReactNode, useEffect, useState } from "react";
import type { Full } from "../events/wire.ts";
import { bytes, t } from "../i18n/t.ts";
import { Button } from "../ui/Button.tsx";
import { type More, readMore } from "./ranges.ts";

/** A text of which only the beginning came: the rest is asked for piece by piece. */
export function BigText({
  text,
  have,
  full,
  show,
}: {
  text: string;
  have: number;
  full: Full | null;
  show: (text: string) => ReactNode;
}) {
  const [more, setMore] = useState<More | null>(null);
  const [fault, setFault] = useState(false);
  // What was read goes on where the beginning ended; a beginning that changed begins anew.
  const fits = more !== null && more.from === have;
  useEffect(() => setMore((old) => (old && old.from !== have ? null : old)), [have]);
  const read = fits ? more.upto : have;
  const rest = full && read < full.bytes ? full : null;
  const load = async () => {
    if (!full) return;
    setFault(false);
    try {
      setMore(await readMore(full, fits ? more : null, have));
    } catch {
      setFault(true);
    }
  };
  return (
    <>
      {show(fits ? text + more.text : text)}
      {rest && (
        <p className="mt-1 flex flex-wrap items-center gap-2 text-sm">
          <Button size="small" onClick={() => void load()}>
            {t("item.more", { shown: bytes(read), bytes: bytes(rest.bytes) })}
          </Button>
          <a href={rest.href} target="_blank" rel="noopener noreferrer" className="underline">
            {t("item.tab")}
          </a>
          {fault && <span role="alert">{t("item.loadFailed")}</span>}
        </p>
      )}
    </>
  );
}

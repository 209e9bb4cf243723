// Chats that the host finds for some words.

import { useEffect, useState } from "react";
import { get } from "../events/api.ts";
import type { Page, Row } from "../events/wire.ts";

/** Milliseconds of quiet after which a search is asked. */
const QUIET = 150;

/** What was found; `null` while it is asked, and without words. */
export function useFound(words: string): Row[] | null {
  const [found, setFound] = useState<{ words: string; rows: Row[] } | null>(null);
  const wanted = words.trim();
  useEffect(() => {
    if (wanted === "") return;
    const cancel = new AbortController();
    const ask = async () => {
      const query = new URLSearchParams({ q: wanted, state: "all" });
      const page = await get<Page<Row, string>>(`/chats?${query}`, cancel.signal);
      setFound({ words: wanted, rows: page.items });
    };
    const timer = setTimeout(() => ask().catch(() => {}), QUIET);
    return () => {
      clearTimeout(timer);
      cancel.abort();
    };
  }, [wanted]);
  return found?.words === wanted ? found.rows : null;
}

// A chat that somebody looks at is not unread, on any device.

import { useEffect } from "react";
import { call } from "../events/api.ts";
import { to } from "../events/request.ts";
import type { Row } from "../events/wire.ts";

export function useSeen(row: Row | undefined): void {
  const chat = row?.unread && !row.unreadable ? row.id : null;
  useEffect(() => {
    if (!chat) return;
    const tell = () => {
      if (document.visibilityState !== "visible") return;
      const wanted = to("PATCH", "/chats/{chat}", { at: { chat }, body: { unread: false } });
      // Nobody asked for it: it is told anew when the chat is looked at again.
      call(wanted).catch(() => {});
    };
    tell();
    document.addEventListener("visibilitychange", tell);
    return () => document.removeEventListener("visibilitychange", tell);
  }, [chat]);
}

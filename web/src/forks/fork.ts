// Another chat that begins as one is now.

import { chatPath, go } from "../app/route.ts";
import { Told } from "../events/act.ts";
import { call } from "../events/api.ts";
import { know, now, write } from "../events/host.ts";
import { to } from "../events/request.ts";
import { t } from "../i18n/t.ts";

/**
 * Opens it, at a place or where the chat is now, and goes there where the person still looks at the
 * first.
 */
export async function fork(chat: string, at: number | null = null): Promise<void> {
  const place = at ?? (await endOf(chat));
  if (place === null) throw new Told(t("fork.nothing"));
  const wanted = to("POST", "/chats/{chat}/fork", { at: { chat }, body: { at: place } });
  const made = await write(wanted, chat);
  know(made);
  if (now().open?.id === chat) go(chatPath(made.id));
}

/** The place of its last item, as the person sees it; `null`: it has none. */
async function endOf(chat: string): Promise<number | null> {
  const open = now().open;
  const seen = open?.id === chat && open.before !== undefined && open.beyond === null;
  if (seen) return open.items.at(-1)?.seq ?? null;
  const query = { limit: 1 };
  const page = await call(to("GET", "/chats/{chat}/items", { at: { chat }, query }));
  return page.items.at(-1)?.seq ?? null;
}

import type { Item } from "../events/wire.ts";
import { tn } from "../i18n/t.ts";

type Told = NonNullable<Item["notice"]>;

/** Where what stands above comes from. */
export function AdoptedNotice({ notice, more }: { notice: Told; more: string | null }) {
  const shown = notice.shown ?? 0;
  const older = notice.older ?? 0;
  const day = notice.since ? new Date(notice.since).toLocaleDateString() : null;
  return (
    <>
      {day ? tn("before.notice.of", shown, { day }) : tn("before.notice", shown)}
      {older > 0 && <span className="block">{tn("before.notice.older", older)}</span>}
      {more && <span className="block wrap-anywhere">{more}</span>}
    </>
  );
}

import type { Attachment } from "../events/wire.ts";
import { t } from "../i18n/t.ts";

/** What the host serves as an image; anything else it gives to be saved. */
const IMAGES = ["image/avif", "image/bmp", "image/gif", "image/jpeg", "image/png", "image/webp"];

export function shownAsImage(one: Attachment): boolean {
  return IMAGES.includes(one.media_type);
}

/** A small picture of an image; its name stands beside it. */
export function Thumbnail({ of }: { of: Attachment }) {
  return <img src={of.href} alt="" loading="lazy" className="size-8 rounded object-cover" />;
}

/** What goes with a message. */
export function Attachments({ of }: { of: readonly Attachment[] | undefined }) {
  if (!of || of.length === 0) return null;
  return (
    <ul aria-label={t("attach.list")} className="mt-1 flex flex-wrap gap-2">
      {of.map((one) => (
        <li key={one.id} className="max-w-full">
          <a
            href={one.href}
            target="_blank"
            rel="noopener noreferrer"
            className="flex max-w-full flex-col rounded-lg border border-edge p-1 text-sm"
          >
            {shownAsImage(one) && (
              <img
                src={one.href}
                alt=""
                loading="lazy"
                className="max-h-48 rounded object-contain"
              />
            )}
            <span className="truncate px-1">
              {one.name} <span className="text-soft">{size(one.bytes)}</span>
            </span>
          </a>
        </li>
      ))}
    </ul>
  );
}

/** A number of bytes in a word. */
export function size(bytes: number): string {
  if (bytes < 1024) return t("size.bytes", { count: bytes });
  if (bytes < 1024 * 1024) return t("size.kib", { count: Math.round(bytes / 1024) });
  return t("size.mib", { count: (bytes / 1024 / 1024).toFixed(1) });
}

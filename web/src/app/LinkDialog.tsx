import { useRef, useState } from "react";
import { t } from "../i18n/t.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog, DialogBody, DialogFoot } from "../ui/Dialog.tsx";
import { INPUT } from "../ui/Field.tsx";
import { isLoopback } from "./loopback.ts";

/** A link that signs another browser in: to copy, and where it leads at all. */
export function LinkDialog({ link, onClose }: { link: string | null; onClose: () => void }) {
  const field = useRef<HTMLInputElement>(null);
  const [copied, setCopied] = useState<"yes" | "no" | null>(null);
  const leave = () => {
    setCopied(null);
    onClose();
  };
  const copy = async () => setCopied((await copyFrom(field.current)) ? "yes" : "no");
  return (
    <Dialog
      open={link !== null}
      onClose={leave}
      title={t("app.newLink")}
      text={t("app.newLink.text")}
    >
      <DialogBody>
        {isLoopback(location.hostname) && (
          <p className="rounded-md bg-warn-ground px-3 py-2 text-sm text-warn">
            {t("app.newLink.here")}
          </p>
        )}
        <div className="flex gap-2">
          <input
            ref={field}
            readOnly
            aria-label={t("app.newLink")}
            value={link ?? ""}
            onFocus={(event) => event.target.select()}
            className={`${INPUT} min-w-0 font-mono`}
          />
          <Button onClick={() => void copy()}>{t("app.copy")}</Button>
        </div>
        <p role="status" className="min-h-5 text-sm text-soft">
          {copied && t(copied === "yes" ? "app.copied" : "app.notCopied")}
        </p>
      </DialogBody>
      <DialogFoot>
        <Button onClick={leave}>{t("app.close")}</Button>
      </DialogFoot>
    </Dialog>
  );
}

/** Copies what stands in a field. Over plain HTTP a browser may refuse; it is selected then. */
async function copyFrom(field: HTMLInputElement | null): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(field?.value ?? "");
    return true;
  } catch {
    field?.select();
    return false;
  }
}

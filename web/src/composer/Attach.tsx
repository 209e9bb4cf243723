import { type ClipboardEvent, type DragEvent, useRef } from "react";
import { shownAsImage, Thumbnail } from "../chat/Attachments.tsx";
import { t } from "../i18n/t.ts";
import { Button } from "../ui/Button.tsx";
import { Icon } from "../ui/Icon.tsx";
import { addFiles, type Beside, removeFile, sendAgain } from "./attached.ts";

/** What a composer does with files that are pasted into it or dropped on it. */
export function takesFiles(chat: string) {
  const take = (event: ClipboardEvent | DragEvent, data: DataTransfer | null) => {
    if (!data || data.files.length === 0) return;
    event.preventDefault();
    addFiles(chat, data.files);
  };
  return {
    onPaste: (event: ClipboardEvent) => take(event, event.clipboardData),
    onDrop: (event: DragEvent) => take(event, event.dataTransfer),
    onDragOver: (event: DragEvent) => {
      if (event.dataTransfer.types.includes("Files")) event.preventDefault();
    },
  };
}

/** The button that asks for files. */
export function AttachButton({ chat }: { chat: string }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-hidden="true"
        tabIndex={-1}
        onChange={(event) => {
          addFiles(chat, event.target.files ?? []);
          // The same file may be wanted once more.
          event.target.value = "";
        }}
      />
      <Button look="quiet" aria-label={t("attach.add")} onClick={() => input.current?.click()}>
        <Icon name="attach" />
      </Button>
    </>
  );
}

/** What goes with the message that is being written. */
export function BesideList({ chat, files }: { chat: string; files: readonly Beside[] }) {
  if (files.length === 0) return null;
  return (
    <ul aria-label={t("attach.list")} className="flex flex-wrap gap-2 px-4 pt-3">
      {files.map((one) => (
        <Chip key={one.key} chat={chat} one={one} />
      ))}
    </ul>
  );
}

function Chip({ chat, one }: { chat: string; one: Beside }) {
  const { file, state } = one;
  return (
    <li
      className={`flex max-w-full items-center gap-2 rounded-lg border px-2 py-1 text-sm ${
        state.at === "failed" ? "border-bad text-bad" : "border-edge"
      }`}
    >
      {state.at === "kept" && shownAsImage(state.as) && <Thumbnail of={state.as} />}
      <span className="min-w-0 truncate" title={file.name}>
        {file.name}
      </span>
      {state.at === "sending" && <span className="text-soft">{t("attach.sending")}</span>}
      {state.at === "failed" && (
        <>
          <span role="alert" className="min-w-0 wrap-anywhere">
            {state.why}
          </span>
          <Button size="small" onClick={() => sendAgain(chat, one)}>
            {t("attach.again")}
          </Button>
        </>
      )}
      <Button
        look="quiet"
        size="small"
        aria-label={t("attach.remove", { name: file.name })}
        onClick={() => removeFile(chat, one)}
      >
        <Icon name="close" />
      </Button>
    </li>
  );
}

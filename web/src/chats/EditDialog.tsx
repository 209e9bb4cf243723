import { useEffect, useId, useRef, useState } from "react";
import { useAct } from "../events/act.ts";
import { know, useHost, write } from "../events/host.ts";
import { to } from "../events/request.ts";
import type { Row } from "../events/wire.ts";
import { t } from "../i18n/t.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog, DialogBody, DialogFoot } from "../ui/Dialog.tsx";
import { FaultLine } from "../ui/FaultLine.tsx";
import { Field, Input } from "../ui/Field.tsx";
import { names } from "./arrange.ts";
import { changeOf, type Form, formOf } from "./edit.ts";

const FIELDS = ["title", "folder", "tags", "model", "mode", "effort"] as const;
const HINTS = { tags: t("edit.tags.hint"), model: t("edit.model.hint") };

/** What a person calls a chat, where they put it, and how its agent works. */
export function EditDialog({
  row,
  open,
  onClose,
}: {
  row: Row;
  open: boolean;
  onClose: () => void;
}) {
  const chats = useHost((host) => host.chats);
  const [before, setBefore] = useState(() => formOf(row));
  const [form, setForm] = useState(before);
  const act = useAct();
  const first = useRef<HTMLInputElement>(null);
  const folders = useId();
  const efforts = useId();
  // What it is when it opens; what is told meanwhile overwrites nothing that is being written.
  // biome-ignore lint/correctness/useExhaustiveDependencies: filled once, when it opens
  useEffect(() => {
    if (!open) return;
    setBefore(formOf(row));
    setForm(formOf(row));
    act.clear();
  }, [open]);
  const save = async () => {
    const body = changeOf(before, form);
    if (Object.keys(body).length === 0) return onClose();
    const wanted = to("PATCH", "/chats/{chat}", { at: { chat: row.id }, body });
    const changed = await act.run(() => write(wanted, row.id));
    if (!changed) return;
    know(changed);
    onClose();
  };
  const fieldOf = (name: keyof Form) => (
    <Field
      key={name}
      label={t(`edit.${name}`)}
      {...(name in HINTS ? { hint: HINTS[name as keyof typeof HINTS] } : {})}
      {...(name === "effort" ? { hint: effortHint(row.efforts) } : {})}
      control={(props) => (
        <Input
          {...props}
          {...(name === "title" ? { ref: first } : {})}
          {...(name === "folder" ? { list: folders } : {})}
          {...(name === "effort" ? { list: efforts } : {})}
          autoComplete="off"
          value={form[name]}
          aria-invalid={act.fault?.field === name}
          onChange={(event) => setForm({ ...form, [name]: event.target.value })}
        />
      )}
    />
  );
  return (
    <Dialog open={open} onClose={onClose} title={t("edit.heading")} initialFocus={first}>
      <form
        className="contents"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <DialogBody>
          {FIELDS.map(fieldOf)}
          <datalist id={folders}>
            {names([...chats.values()].map((one) => one.folder)).map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
          <datalist id={efforts}>
            {row.efforts.map((effort) => (
              <option key={effort} value={effort} />
            ))}
          </datalist>
          <FaultLine act={act} />
        </DialogBody>
        <DialogFoot>
          <Button onClick={onClose}>{t("app.cancel")}</Button>
          <Button type="submit" look="brand" disabled={act.busy}>
            {t("chat.save")}
          </Button>
        </DialogFoot>
      </form>
    </Dialog>
  );
}

/** The words for an effort, where the agent has told them. */
function effortHint(efforts: readonly string[]): string {
  if (efforts.length === 0) return t("edit.effort.hint");
  return t("edit.effort.known", { efforts: efforts.join(", ") });
}

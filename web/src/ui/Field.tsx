import { type ComponentProps, type ReactNode, useId } from "react";

export const INPUT =
  "w-full rounded-md border border-edge bg-ground px-3 py-1.5 text-ink placeholder:text-soft aria-invalid:border-bad pointer-coarse:text-base";

export interface Control {
  id: string;
  "aria-describedby"?: string;
  "aria-invalid"?: true;
}

/** A labelled input; what is wrong with it stands at it. */
export function Field({
  label,
  hint,
  fault,
  control,
}: {
  label: string;
  hint?: string;
  fault?: string | null;
  control: (props: Control) => ReactNode;
}) {
  const id = useId();
  const told = [fault && `${id}-fault`, hint && `${id}-hint`].filter(Boolean).join(" ");
  const described = told ? { "aria-describedby": told } : {};
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="font-medium">
        {label}
      </label>
      {control({ id, ...described, ...(fault ? { "aria-invalid": true } : {}) })}
      {fault && (
        <p id={`${id}-fault`} role="alert" className="text-sm wrap-anywhere text-bad">
          {fault}
        </p>
      )}
      {hint && (
        <p id={`${id}-hint`} className="text-sm text-soft">
          {hint}
        </p>
      )}
    </div>
  );
}

export function Input(props: ComponentProps<"input">) {
  return <input {...props} className={`${INPUT} ${props.className ?? ""}`} />;
}

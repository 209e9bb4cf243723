import { type ComponentProps, type ReactNode, useId } from "react";

export const INPUT =
  "w-full rounded-md border border-edge bg-ground px-3 py-1.5 text-ink placeholder:text-soft pointer-coarse:text-base";

/** A labelled input. */
export function Field({
  label,
  hint,
  control,
}: {
  label: string;
  hint?: string;
  control: (props: { id: string; "aria-describedby"?: string }) => ReactNode;
}) {
  const id = useId();
  const described = hint ? { "aria-describedby": `${id}-hint` } : {};
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="font-medium">
        {label}
      </label>
      {control({ id, ...described })}
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

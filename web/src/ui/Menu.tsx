import { Menu as Base } from "@base-ui/react/menu";
import { type ReactNode, useState } from "react";
import { buttonClass } from "./Button.tsx";

export interface Choice {
  label: string;
  act: () => void;
  bad?: boolean;
}

/** A button that opens a menu. */
export function Menu({
  label,
  choices,
  children,
  size = "normal",
  align = "end",
}: {
  label: string;
  choices: readonly Choice[];
  children: ReactNode;
  size?: "normal" | "small";
  align?: "start" | "end";
}) {
  // Opening draws it anew: by then the page's main part is there for it to stand in.
  const [open, setOpen] = useState(false);
  return (
    <Base.Root open={open} onOpenChange={setOpen}>
      <Base.Trigger aria-label={label} title={label} className={buttonClass("quiet", size)}>
        {children}
      </Base.Trigger>
      <Base.Portal container={document.getElementById("main")}>
        <Base.Positioner align={align} sideOffset={4} className="z-30">
          <Base.Popup className="min-w-44 rounded-lg border border-edge bg-raised p-1 shadow-lg">
            {choices.map((choice) => (
              <Base.Item
                key={choice.label}
                onClick={choice.act}
                className={`rounded-md px-3 py-1.5 outline-none select-none data-highlighted:bg-panel pointer-coarse:py-2.5 ${choice.bad ? "text-bad" : ""}`}
              >
                {choice.label}
              </Base.Item>
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

import { Dialog as Base } from "@base-ui/react/dialog";
import type { ReactNode, RefObject } from "react";

/** A dialog over the page: Escape and a click beside it close it, focus stays within. */
export function Dialog({
  open,
  onClose,
  title,
  text,
  children,
  initialFocus,
  wide = false,
}: {
  open: boolean;
  onClose: () => void;
  title: string;
  text?: string;
  children: ReactNode;
  initialFocus?: RefObject<HTMLElement | null>;
  wide?: boolean;
}) {
  return (
    <Base.Root open={open} onOpenChange={(to) => !to && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-black/40" />
        <Base.Popup
          {...(initialFocus ? { initialFocus } : {})}
          className={`fixed inset-x-0 bottom-0 z-50 flex max-h-[92dvh] flex-col rounded-t-xl border border-edge bg-raised shadow-xl sm:inset-x-auto sm:top-1/2 sm:bottom-auto sm:left-1/2 sm:max-h-[85dvh] sm:w-[calc(100vw-3rem)] sm:-translate-x-1/2 sm:-translate-y-1/2 sm:rounded-xl ${wide ? "sm:max-w-3xl" : "sm:max-w-lg"}`}
        >
          <header className="px-5 pt-4 pb-2">
            <Base.Title className="text-lg font-semibold">{title}</Base.Title>
            {text && <Base.Description className="text-soft">{text}</Base.Description>}
          </header>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

/** The part of a dialog that scrolls. */
export function DialogBody({ children }: { children: ReactNode }) {
  return <div className="flex min-h-0 flex-col gap-3 overflow-y-auto px-5 py-2">{children}</div>;
}

/** Its buttons. */
export function DialogFoot({ children }: { children: ReactNode }) {
  return (
    <footer className="flex flex-wrap justify-end gap-2 px-5 pt-2 pb-[max(1rem,env(safe-area-inset-bottom))]">
      {children}
    </footer>
  );
}

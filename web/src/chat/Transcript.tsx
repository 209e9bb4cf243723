import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef, useState } from "react";
import { loadOlder, useHost } from "../events/host.ts";
import { t } from "../i18n/t.ts";
import { Button } from "../ui/Button.tsx";
import { Icon } from "../ui/Icon.tsx";
import { ItemView } from "./ItemView.tsx";
import { Sending } from "./Sending.tsx";

/** Pixels from the end within which a reader is taken to be at the end. */
const NEAR_END = 80;
/** Milliseconds without a move after which a reader rests. */
const REST = 150;
/** Pixels from the beginning at which the page before is asked for. */
const NEAR_START = 400;

/** What was said, as far as it is looked at: the rest of a long chat costs nothing. */
export function Transcript({ id, agent }: { id: string; agent: string }) {
  const open = useHost((host) => (host.open?.id === id ? host.open : null));
  const writes = useHost((host) => host.outbox.writes);
  const items = open?.items ?? [];
  const sending = useMemo(() => writes.filter((write) => write.message?.chat === id), [writes, id]);
  const scroller = useRef<HTMLDivElement>(null);
  const [atEnd, setAtEnd] = useState(true);
  const list = useVirtualizer({
    count: items.length + sending.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 90,
    getItemKey: (index) => items[index]?.id ?? sending[index - items.length]?.key ?? index,
    overscan: 8,
    paddingStart: 16,
    paddingEnd: 16,
    anchorTo: "end",
    followOnAppend: true,
    scrollEndThreshold: NEAR_END,
  });
  const shown = list.getVirtualItems();
  const older = () => {
    if ((scroller.current?.scrollTop ?? 0) < NEAR_START) void loadOlder();
  };
  const oldest = items[0]?.id;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a page that came may not be enough
  useEffect(older, [oldest]);
  // What stands below grows and shrinks, and items are measured: who reads the end stays there,
  // until they move. Where they are is looked at once they rest.
  const reading = useRef(true);
  const moving = useRef<ReturnType<typeof setTimeout>>(undefined);
  const height = list.getTotalSize();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the end moves with the height
  useEffect(() => {
    if (reading.current) list.scrollToEnd();
    else setAtEnd(isAtEnd(scroller.current));
  }, [list, height]);
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const watch = new ResizeObserver(() => reading.current && list.scrollToEnd());
    watch.observe(element);
    return () => {
      watch.disconnect();
      clearTimeout(moving.current);
    };
  }, [list]);
  const rest = () => {
    moving.current = undefined;
    reading.current = isAtEnd(scroller.current);
    setAtEnd(reading.current);
  };
  const move = () => {
    reading.current = false;
    clearTimeout(moving.current);
    moving.current = setTimeout(rest, REST);
  };
  const begun = open?.before !== undefined;
  return (
    <div className="relative min-h-0 flex-1">
      <section
        ref={scroller}
        aria-label={t("chat.transcript")}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
        tabIndex={0}
        onScroll={() => {
          if (moving.current !== undefined) move();
          const ended = isAtEnd(scroller.current);
          // Items that come into sight are measured: the way to the end is longer than was guessed.
          if (reading.current && !ended) list.scrollToEnd();
          setAtEnd(ended || reading.current);
          older();
        }}
        onWheel={move}
        onKeyDown={move}
        onPointerDown={move}
        className="h-full overflow-y-auto overscroll-contain -outline-offset-2 [overflow-anchor:none]"
      >
        {open?.before ? (
          <p className="pt-2 text-center text-sm text-soft">{t("chat.older")}</p>
        ) : null}
        {!begun && <p className="p-6 text-center text-soft">{t("chat.loading")}</p>}
        {begun && items.length + sending.length === 0 && (
          <p className="p-6 text-center text-soft">{t("chat.empty")}</p>
        )}
        <ol className="relative mx-auto w-full max-w-3xl" style={{ height }}>
          {shown.map((line) => {
            const item = items[line.index];
            const write = sending[line.index - items.length];
            return (
              <li
                key={line.key}
                ref={list.measureElement}
                data-index={line.index}
                className="absolute inset-x-0 top-0 px-3 py-1.5 md:px-5"
                style={{ transform: `translateY(${line.start}px)` }}
              >
                {item && <ItemView chat={id} agent={agent} item={item} />}
                {write?.message && <Sending text={write.message.text} />}
              </li>
            );
          })}
        </ol>
      </section>
      {!atEnd && begun && (
        <Button
          className="absolute right-4 bottom-3 rounded-full shadow-md"
          aria-label={t("chat.newest")}
          title={t("chat.newest")}
          onClick={() => {
            clearTimeout(moving.current);
            moving.current = undefined;
            reading.current = true;
            setAtEnd(true);
            list.scrollToEnd();
          }}
        >
          <Icon name="down" />
        </Button>
      )}
    </div>
  );
}

/** Whether the end of what scrolls can be seen. */
function isAtEnd(element: HTMLElement | null): boolean {
  if (!element) return true;
  return element.scrollHeight - element.scrollTop - element.clientHeight <= NEAR_END;
}

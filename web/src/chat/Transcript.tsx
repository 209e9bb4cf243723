import { useVirtualizer } from "@tanstack/react-virtual";
import { type RefObject, useEffect, useMemo, useRef, useState } from "react";
import { chatPath, go } from "../app/route.ts";
import { loadNewer, loadOlder, useHost } from "../events/host.ts";
import type { Entry } from "../events/state.ts";
import { ForkHere } from "../forks/ForkHere.tsx";
import { lines as linesOf, newestEnd } from "../forks/left.ts";
import { Earlier } from "../forks/Origin.tsx";
import { LeftBehind, TurnEnd } from "../forks/TurnEnd.tsx";
import { t } from "../i18n/t.ts";
import { Button } from "../ui/Button.tsx";
import { Icon } from "../ui/Icon.tsx";
import { ItemView } from "./ItemView.tsx";
import { Sending } from "./Sending.tsx";

const NOTHING: readonly Entry[] = [];
/** Pixels from the end within which a reader is taken to be at the end. */
const NEAR_END = 80;
/** Milliseconds without a move after which a reader rests. */
const REST = 150;
/** Pixels from either end of what is here at which the page beyond it is asked for. */
const NEAR_PAGE = 400;

/** What was said, as far as it is looked at: the rest of a long chat costs nothing. */
export function Transcript({ id, agent, at }: { id: string; agent: string; at: number | null }) {
  const open = useHost((host) => (host.open?.id === id ? host.open : null));
  const writes = useHost((host) => host.outbox.writes);
  const items = open?.items ?? NOTHING;
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const [shut, setShut] = useState(false);
  // Where a search led to something that was left behind, that is shown, until it is folded away.
  const lines = useMemo(() => linesOf(items, opened, shut ? null : at), [items, opened, shut, at]);
  const toggle = (by: number, isOpen: boolean) => {
    if (isOpen) setShut(true);
    const next = new Set(opened);
    if (isOpen) next.delete(by);
    else next.add(by);
    setOpened(next);
  };
  const end = useMemo(() => newestEnd(lines), [lines]);
  // Whether the newest item is here.
  const whole = !open || open.beyond === null;
  const sending = useMemo(() => writes.filter((write) => write.message?.chat === id), [writes, id]);
  const scroller = useRef<HTMLDivElement>(null);
  const [atEnd, setAtEnd] = useState(at === null);
  const list = useVirtualizer({
    count: lines.length + sending.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 90,
    getItemKey: (index) => {
      const line = lines[index];
      if (line?.kind === "fold") return `fold ${line.by}`;
      return line?.item.id ?? sending[index - lines.length]?.key ?? index;
    },
    overscan: 8,
    paddingStart: 16,
    paddingEnd: 16,
    anchorTo: "end",
    followOnAppend: whole,
    scrollEndThreshold: NEAR_END,
  });
  const shown = list.getVirtualItems();
  const last = lines.length + sending.length - 1;
  // A place that a search led to is gone to once, when it is here.
  const found =
    at === null ? -1 : lines.findIndex((line) => line.kind === "item" && line.item.seq >= at);
  const went = useRef(false);
  const told = useRef(false);
  useEffect(() => {
    if (found < 0 || went.current) return;
    went.current = true;
    list.scrollToIndex(found, { align: "center" });
  }, [list, found]);
  const pages = () => {
    if ((scroller.current?.scrollTop ?? 0) < NEAR_PAGE) void loadOlder();
    if (!whole && fromEnd(scroller.current) < NEAR_PAGE) void loadNewer();
  };
  const live = useHost((host) => host.link === "live");
  const [oldest, newest] = [items[0]?.id, items.at(-1)?.id];
  // biome-ignore lint/correctness/useExhaustiveDependencies: a page may not be enough, or not have come
  useEffect(pages, [oldest, newest, open?.beyond, live]);
  // What stands below grows and shrinks, and items are measured: who reads the end stays there,
  // until they move. Where they are is looked at once they rest.
  const reading = useRef(at === null);
  const moving = useRef<ReturnType<typeof setTimeout>>(undefined);
  const height = list.getTotalSize();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the end moves with the height
  useEffect(() => {
    if (reading.current) list.scrollToEnd();
    else setAtEnd(whole && isAtEnd(scroller.current));
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
    reading.current = whole && isAtEnd(scroller.current);
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
          const ended = whole && isAtEnd(scroller.current);
          // Items that come into sight are measured: the way to the end is longer than was guessed.
          if (reading.current && !ended) list.scrollToEnd();
          setAtEnd(ended || reading.current);
          pages();
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
            const there = lines[line.index];
            const item = there?.kind === "item" ? there.item : undefined;
            const left = there?.kind === "item" && there.left;
            const write = sending[line.index - lines.length];
            return (
              <li
                key={line.key}
                ref={list.measureElement}
                data-index={line.index}
                className="absolute inset-x-0 top-0 px-3 py-1.5 md:px-5"
                style={{ transform: `translateY(${line.start}px)` }}
              >
                {line.index === 0 && item && <Earlier id={id} first={item.seq} />}
                {line.index === found && <FoundHere told={told} />}
                {there?.kind === "fold" && (
                  <LeftBehind
                    count={there.count}
                    open={there.open}
                    onToggle={() => toggle(there.by, there.open)}
                  />
                )}
                {item && (
                  <div className={left ? "border-l-2 border-edge pl-3 opacity-75" : undefined}>
                    <ItemView chat={id} agent={agent} item={item} />
                  </div>
                )}
                {item && line.index === last && <ForkHere chat={id} last={item} />}
                {item && !left && line.index !== last && (
                  <TurnEnd chat={id} item={item} newest={item.seq === end} />
                )}
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
            // The end is another place than the one that a search led to.
            if (!whole) return go(chatPath(id));
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

/** Says which item a search led to. Focus goes there once, for who reads by ear. */
function FoundHere({ told }: { told: RefObject<boolean> }) {
  const mark = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (!told.current) mark.current?.focus({ preventScroll: true });
    told.current = true;
  }, [told]);
  return (
    <p
      ref={mark}
      tabIndex={-1}
      className="mb-1 w-fit rounded-full bg-found px-2 text-xs font-semibold text-ink"
    >
      {t("chat.found")}
    </p>
  );
}

/** Whether the end of what scrolls can be seen. */
function isAtEnd(element: HTMLElement | null): boolean {
  return fromEnd(element) <= NEAR_END;
}

/** Pixels below what can be seen. */
function fromEnd(element: HTMLElement | null): number {
  if (!element) return 0;
  return element.scrollHeight - element.scrollTop - element.clientHeight;
}

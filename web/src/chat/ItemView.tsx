import { memo } from "react";
import type { Entry } from "../events/state.ts";
import type { Item } from "../events/wire.ts";
import { ForkedNotice } from "../forks/Origin.tsx";
import { t, tword } from "../i18n/t.ts";
import { PromptCard } from "../prompts/PromptCard.tsx";
import { AdoptedNotice } from "../sessions/AdoptedNotice.tsx";
import { Attachments } from "./Attachments.tsx";
import { BigText } from "./BigText.tsx";
import { CallView } from "./CallView.tsx";
import { DeliveryLine } from "./DeliveryLine.tsx";
import { Prose } from "./Prose.tsx";

/** One entry of a transcript. */
export const ItemView = memo(function ItemView({
  chat,
  agent,
  item,
}: {
  chat: string;
  agent: string;
  item: Entry;
}) {
  switch (item.kind) {
    case "message":
      return item.role === "agent" ? (
        <Said item={item} agent={agent} />
      ) : (
        <Asked chat={chat} item={item} />
      );
    case "thinking":
      return <Thinking item={item} />;
    case "tool_call":
      return item.call && <CallView item={item} call={item.call} />;
    case "prompt":
      return item.prompt && <PromptCard chat={chat} prompt={item.prompt} />;
    case "plan":
      return <Plan item={item} />;
    case "notice":
      return <Notice item={item} />;
    case "compaction":
      return <Line>{t("item.compaction")}</Line>;
    case "note":
      return (
        <div className="rounded-lg border border-edge px-4 py-2">
          <p className="text-xs font-semibold text-soft">{t("item.note")}</p>
          <Text item={item} />
        </div>
      );
    default:
      return <Unrecognised item={item} />;
  }
});

/** What the agent says. */
function Said({ item, agent }: { item: Entry; agent: string }) {
  return (
    <article aria-label={agent}>
      <Text item={item} />
    </article>
  );
}

/** What the agent was sent: by a person, an app, or Holdfast itself. */
function Asked({ chat, item }: { chat: string; item: Entry }) {
  const by = item.delivery?.by ?? "person";
  const who =
    by === "person" ? t("item.you") : by === "host" ? t("item.continuation") : t("item.app");
  if (by === "host") {
    return (
      <details className="rounded-lg border border-edge px-4 py-2 text-soft">
        <summary>{who}</summary>
        <Text item={item} />
        {item.delivery && <DeliveryLine chat={chat} delivery={item.delivery} />}
      </details>
    );
  }
  return (
    <article aria-label={who} className="ml-auto w-fit max-w-[85%] rounded-2xl bg-mine px-4 py-2">
      {by !== "person" && <p className="text-xs font-semibold text-soft">{who}</p>}
      <Text item={item} />
      <Attachments of={item.attachments} />
      {item.delivery && <DeliveryLine chat={chat} delivery={item.delivery} />}
    </article>
  );
}

function Text({ item }: { item: Entry }) {
  return (
    <BigText
      text={item.text ?? ""}
      have={item.have.text}
      full={item.full}
      show={(text) => <Prose text={text} />}
    />
  );
}

function Thinking({ item }: { item: Entry }) {
  return (
    <details className="text-soft">
      <summary className="w-fit text-sm">
        {item.closed ? t("item.thinking") : t("item.thinkingNow")}
      </summary>
      <div className="mt-1 border-l-2 border-edge pl-3 text-sm">
        <Text item={item} />
      </div>
    </details>
  );
}

function Plan({ item }: { item: Item }) {
  return (
    <section className="rounded-lg border border-edge px-4 py-2">
      <h3 className="text-sm font-semibold">{t("item.plan")}</h3>
      <ol className="text-sm">
        {item.plan?.map((step, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a plan comes whole, and its steps have no names
          <li key={index} className="flex gap-2">
            <span
              className={`w-14 shrink-0 ${step.state === "completed" ? "text-good" : "text-soft"}`}
            >
              {tword("plan", step.state)}
            </span>
            <span className="wrap-anywhere">{step.text}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Notice({ item }: { item: Item }) {
  const from = item.notice?.kind === "forked" ? item.notice.chat : null;
  if (from)
    return (
      <Line>
        <ForkedNotice chat={from} />
      </Line>
    );
  if (item.notice?.kind === "adopted")
    return (
      <Line>
        <AdoptedNotice notice={item.notice} more={item.text || null} />
      </Line>
    );
  const { kind, cause, code } = item.notice ?? { kind: "", cause: null, code: null };
  const params = { kind, cause: tword("cause", cause ?? "unknown"), code: code ?? "" };
  const detail = item.text && item.text.length > 0 ? item.text : null;
  // Why a start failed is a sentence of the host's own.
  if (kind === "start_failed" && detail) return <Line>{detail}</Line>;
  return (
    <Line>
      {tword("notice", kind, params)}
      {detail && <span className="block wrap-anywhere">{detail}</span>}
    </Line>
  );
}

function Line({ children }: { children: React.ReactNode }) {
  return <p className="text-center text-sm text-soft">{children}</p>;
}

function Unrecognised({ item }: { item: Entry }) {
  return (
    <details className="text-sm text-soft">
      <summary>
        {t("item.unrecognised")}
        {item.reason && `: ${item.reason}`}
      </summary>
      <BigText
        text={item.text ?? ""}
        have={item.have.text}
        full={item.full}
        show={(text) => <pre className="font-mono wrap-anywhere whitespace-pre-wrap">{text}</pre>}
      />
    </details>
  );
}

import type { Entry } from "../events/state.ts";
import { byteLength } from "../events/state.ts";
import type { Call } from "../events/wire.ts";
import { t, tword } from "../i18n/t.ts";
import { BigText } from "./BigText.tsx";

const TONES: Record<Call["state"], string> = {
  running: "text-brand",
  completed: "text-good",
  failed: "text-bad",
  unknown: "text-warn",
};

/** A tool call: its name and end in a line, what went in and came out below. */
export function CallView({ item, call }: { item: Entry; call: Call }) {
  const input = inputText(call.input);
  return (
    <details className="rounded-lg border border-edge bg-panel">
      <summary className="flex items-baseline gap-2 px-3 py-1.5 pointer-coarse:py-2.5">
        <span className="min-w-0 flex-1 truncate font-mono text-sm">{call.name}</span>
        <span
          className={`shrink-0 text-sm ${TONES[call.state] ?? "text-soft"} ${call.state === "running" ? "live" : ""}`}
        >
          {tword("call", call.state)}
        </span>
      </summary>
      <div className="flex flex-col gap-2 border-t border-edge px-3 py-2">
        {input !== "" && (
          <Block label={t("item.input")}>
            <BigText
              text={input}
              have={call.input_full ? byteLength(input) : 0}
              full={call.input_full}
              show={code}
            />
          </Block>
        )}
        <Block label={t("item.output")}>
          {item.have.output === 0 ? (
            <p className="text-sm text-soft">{t("item.noOutput")}</p>
          ) : (
            <BigText
              text={call.output.text}
              have={item.have.output}
              full={call.output.full}
              show={code}
            />
          )}
        </Block>
      </div>
    </details>
  );
}

function Block({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <section>
      <p className="text-xs font-semibold text-soft">{label}</p>
      {children}
    </section>
  );
}

function code(text: string) {
  return (
    <pre
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
      tabIndex={0}
      className="max-h-96 overflow-auto font-mono text-sm wrap-anywhere whitespace-pre-wrap"
    >
      {text}
    </pre>
  );
}

/** An input as a person reads it: a single text as it is, anything else as JSON. */
export function inputText(input: unknown): string {
  if (input === null || input === undefined) return "";
  if (typeof input === "string") return input;
  if (typeof input === "object" && !Array.isArray(input)) {
    const values = Object.values(input);
    if (values.length === 0) return "";
    if (values.length === 1 && typeof values[0] === "string") return values[0];
  }
  return JSON.stringify(input, null, 2);
}

import { useState } from "react";
import { useAct } from "../events/act.ts";
import { Refused } from "../events/api.ts";
import { write } from "../events/host.ts";
import { to } from "../events/request.ts";
import type { Answered, Prompt } from "../events/wire.ts";
import { grantOf, keptOption } from "../grants/answer.ts";
import { t, tword } from "../i18n/t.ts";
import { Button } from "../ui/Button.tsx";
import { FaultLine } from "../ui/FaultLine.tsx";
import { type Answer, saidOf } from "./answer.ts";
import { Questions } from "./Questions.tsx";

/** What the agent asks, and what it was answered. */
export function PromptCard({ chat, prompt }: { chat: string; prompt: Prompt }) {
  const act = useAct();
  const [late, setLate] = useState(false);
  const answer = async (body: Answer) => {
    const at = { chat, prompt: prompt.id };
    const wanted = to("POST", "/chats/{chat}/prompts/{prompt}/answer", { at, body });
    try {
      await write(wanted, `${chat}/${prompt.id}`);
    } catch (fault) {
      const code = fault instanceof Refused ? fault.problem.code : null;
      // Whoever comes second is told so, and sees the answer that counts.
      if (code === "already_answered") setLate(true);
      else if (code !== "prompt_gone") throw fault;
    }
  };
  const open = prompt.state === "open";
  const granted = prompt.answer !== null && grantOf(prompt.answer) !== null;
  // What nobody waits for any more asks for nothing.
  const kind = open ? (`prompt.${prompt.kind}` as const) : (`prompt.${prompt.kind}.over` as const);
  const heading = t(granted ? "prompt.granted" : kind);
  return (
    <section
      // What waits for a person is a landmark; a transcript may hold many that do not any more.
      role={open ? undefined : "group"}
      aria-label={`${heading}: ${prompt.label}`}
      className={`rounded-lg border-2 px-4 py-3 ${open ? "border-warn bg-warn-ground" : "border-edge"}`}
    >
      <h3 className={`text-sm font-semibold ${open ? "text-warn" : "text-soft"}`}>{heading}</h3>
      <p className={`wrap-anywhere ${prompt.kind === "approval" ? "font-mono text-sm" : ""}`}>
        {prompt.label}
      </p>
      {open && !act.busy && (
        <Open prompt={prompt} onAnswer={(body) => void act.run(() => answer(body))} />
      )}
      {open && act.busy && <p className="mt-2 text-sm">{t("prompt.answering")}</p>}
      <FaultLine act={act} className="mt-2" />
      {late && (
        <p role="status" className="mt-1 text-sm font-semibold text-warn">
          {t("prompt.late")}
        </p>
      )}
      {prompt.state === "answered" && prompt.answer && (
        <Given prompt={prompt} answer={prompt.answer} />
      )}
      {prompt.state === "gone" && <p className="mt-1 text-sm text-soft">{t("prompt.gone")}</p>}
    </section>
  );
}

function Open({ prompt, onAnswer }: { prompt: Prompt; onAnswer: (body: Answer) => void }) {
  if (prompt.questions) {
    return (
      <Questions
        questions={prompt.questions}
        options={prompt.options}
        label={prompt.label}
        onAnswer={onAnswer}
      />
    );
  }
  const kept = keptOption(prompt);
  const hint = `${prompt.id}-kept`;
  return (
    <>
      <p className="mt-2 flex flex-wrap gap-2">
        {prompt.options.map((option) => (
          <Button
            key={option.id}
            look={option.kind === "allow_once" ? "brand" : "plain"}
            aria-describedby={option === kept ? hint : undefined}
            onClick={() => onAnswer({ option: option.id })}
          >
            {option.label}
          </Button>
        ))}
      </p>
      {kept && (
        <p id={hint} className="mt-1.5 text-sm text-soft">
          {t("prompt.kept", { option: kept.label })}
        </p>
      )}
    </>
  );
}

function Given({ prompt, answer }: { prompt: Prompt; answer: Answered }) {
  const said = saidOf(prompt, answer) ?? t("prompt.cancelled");
  const grant = grantOf(answer);
  return (
    <p className="mt-1 text-sm wrap-anywhere">
      {grant
        ? t("prompt.answered.grant", { grant, answer: said })
        : answer.device
          ? t("prompt.answered.by", { device: answer.device, answer: said })
          : t("prompt.answered", { answer: said })}
      <span className="text-soft"> · {tword("life", answer.life)}</span>
    </p>
  );
}

import { useState } from "react";
import type { Option, Question } from "../events/wire.ts";
import { t } from "../i18n/t.ts";
import { Button } from "../ui/Button.tsx";
import { Input } from "../ui/Field.tsx";
import { type Answer, answerOf, type Chosen, choose, complete, NOTHING } from "./answer.ts";

/**
 * One or several questions. A single one with nothing to write is answered by a click. An option
 * answers for all of them.
 */
export function Questions({
  questions,
  options,
  label,
  onAnswer,
}: {
  questions: readonly Question[];
  options: readonly Option[];
  label: string;
  onAnswer: (body: Answer) => void;
}) {
  const [chosen, setChosen] = useState<Chosen>({});
  const only = questions.length === 1 ? questions[0] : undefined;
  if (only && !only.multi && !only.free && options.length === 0) {
    return (
      <p className="mt-2 flex flex-wrap gap-2">
        {only.options.map((option) => (
          <Button
            key={option.id}
            onClick={() => onAnswer(answerOf(questions, choose({}, only, option.id)))}
          >
            {option.label}
          </Button>
        ))}
      </p>
    );
  }
  return (
    <form
      className="mt-2 flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        if (complete(questions, chosen)) onAnswer(answerOf(questions, chosen));
      }}
    >
      {questions.map((question) => (
        <One
          key={question.id}
          question={question}
          hushed={question.text === label}
          chosen={chosen}
          onChosen={setChosen}
        />
      ))}
      <p className="flex flex-wrap gap-2">
        <Button type="submit" look="brand" disabled={!complete(questions, chosen)}>
          {t("prompt.answer")}
        </Button>
        {options.map((option) => (
          <Button key={option.id} onClick={() => onAnswer({ option: option.id })}>
            {option.label}
          </Button>
        ))}
      </p>
    </form>
  );
}

function One({
  question,
  hushed,
  chosen,
  onChosen,
}: {
  question: Question;
  hushed: boolean;
  chosen: Chosen;
  onChosen: (chosen: Chosen) => void;
}) {
  const now = chosen[question.id] ?? NOTHING;
  return (
    <fieldset className="flex flex-col gap-1">
      <legend className={hushed ? "sr-only" : "font-medium"}>{question.text}</legend>
      {question.options.map((option) => (
        <label key={option.id} className="flex items-center gap-2 pointer-coarse:min-h-10">
          <input
            type={question.multi ? "checkbox" : "radio"}
            name={question.id}
            checked={now.options.includes(option.id)}
            onChange={() => onChosen(choose(chosen, question, option.id))}
            className="size-4 accent-brand"
          />
          {option.label}
        </label>
      ))}
      {question.free && (
        <Input
          aria-label={`${question.text}: ${t("prompt.own")}`}
          placeholder={t("prompt.own")}
          value={now.text}
          onChange={(event) =>
            onChosen({ ...chosen, [question.id]: { ...now, text: event.target.value } })
          }
        />
      )}
    </fieldset>
  );
}

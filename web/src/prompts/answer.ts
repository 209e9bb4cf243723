// Answers to prompts: what is sent, and how one that was given reads.

import type { Answered, NewAnswer, OneAnswer, Option, Prompt, Question } from "../events/wire.ts";

export type Answer = NewAnswer;

/** What a person chose and wrote so far, by question. */
export type Chosen = Record<string, { options: string[]; text: string }>;

export const NOTHING: Chosen[string] = { options: [], text: "" };

/** Chooses an option, or takes it back. */
export function choose(chosen: Chosen, question: Question, option: string): Chosen {
  const was = chosen[question.id] ?? NOTHING;
  const taken = was.options.includes(option);
  const others = question.multi ? was.options.filter((one) => one !== option) : [];
  const options = taken && question.multi ? others : [...others, option];
  return { ...chosen, [question.id]: { ...was, options } };
}

/** Whether every question has an answer. */
export function complete(questions: readonly Question[], chosen: Chosen): boolean {
  return questions.every((question) => {
    const { options, text } = chosen[question.id] ?? NOTHING;
    return options.length > 0 || (question.free && text.trim() !== "");
  });
}

/** The answer as the host takes it. */
export function answerOf(questions: readonly Question[], chosen: Chosen): Answer {
  const answers = questions.map((question) => {
    const { options, text } = chosen[question.id] ?? NOTHING;
    const own = question.free ? text.trim() : "";
    return { question: question.id, options, ...(own === "" ? {} : { text: own }) };
  });
  return { answers };
}

/** How an answer reads; nothing where there was none. */
export function saidOf(prompt: Prompt, answer: Answered): string | null {
  const labelOf = (options: readonly Option[], id: string) =>
    options.find((option) => option.id === id)?.label ?? id;
  if (answer.option !== null) {
    const all = [...prompt.options, ...(prompt.questions?.[0]?.options ?? [])];
    return joined([labelOf(all, answer.option)], answer.text);
  }
  const one = (given: OneAnswer) => {
    const question = prompt.questions?.find((asked) => asked.id === given.question);
    const labels = given.options.map((id) => labelOf(question?.options ?? [], id));
    return joined(labels, given.text);
  };
  const all = answer.answers?.map(one).filter((said) => said !== "") ?? [];
  return all.length > 0 ? all.join(" · ") : null;
}

function joined(labels: readonly string[], text: string | null): string {
  return [...labels, ...(text ? [`“${text}”`] : [])].join(", ");
}

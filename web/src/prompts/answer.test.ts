import { expect, it } from "vitest";
import type { Answered, Prompt, Question } from "../events/wire.ts";
import { answerOf, choose, complete, saidOf } from "./answer.ts";

const option = (id: string) => ({ id, label: id.toUpperCase(), kind: "choice" });
const single: Question = {
  id: "q1",
  text: "One?",
  multi: false,
  free: false,
  options: ["a", "b"].map(option),
};
const multi: Question = {
  id: "q2",
  text: "Some?",
  multi: true,
  free: true,
  options: ["c", "d"].map(option),
};

it("chooses one of a single question, and any of a multiple one", () => {
  let chosen = choose(choose({}, single, "a"), single, "b");
  expect(chosen.q1?.options).toEqual(["b"]);
  chosen = choose(choose(choose({}, multi, "c"), multi, "d"), multi, "c");
  expect(chosen.q2?.options).toEqual(["d"]);
});

it("is complete when every question has an answer", () => {
  const one = choose({}, single, "a");
  expect(complete([single, multi], one)).toBe(false);
  const own = { ...one, q2: { options: [], text: " mine " } };
  expect(complete([single, multi], own)).toBe(true);
  expect(answerOf([single, multi], own)).toEqual({
    answers: [
      { question: "q1", options: ["a"] },
      { question: "q2", options: [], text: "mine" },
    ],
  });
});

it("reads as it was given", () => {
  const prompt: Prompt = {
    id: "p",
    item: "i",
    kind: "question",
    state: "answered",
    label: "",
    at: "",
    options: [option("x")],
    questions: [single, multi],
    answer: null,
  };
  const given: Answered = {
    option: null,
    text: null,
    input: null,
    answers: null,
    by: "owner",
    device: null,
    at: "",
    life: "taken",
  };
  expect(saidOf(prompt, { ...given, option: "x", text: "why" })).toBe("X, “why”");
  const answers = [
    { question: "q1", options: ["a"], text: null },
    { question: "q2", options: ["c", "d"], text: "more" },
  ];
  expect(saidOf(prompt, { ...given, answers })).toBe("A · C, D, “more”");
  expect(saidOf(prompt, given)).toBeNull();
});

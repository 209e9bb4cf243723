// Short names for what goes over the wire. The types are made from the document of the API, so that
// the page stops compiling where the two part. Clients ignore unknown fields, and take unknown words
// of enums as they come.

import type { components } from "../../generated/openapi.d.ts";

type Schemas = components["schemas"];

export type Action = Schemas["Action"];
export type Agent = Schemas["Agent"];
export type AgentCommand = Schemas["AgentCommand"];
export type Answered = Schemas["PromptAnswer"];
export type Attachment = Schemas["Attachment"];
export type Call = Schemas["ToolCall"];
export type Change = Schemas["Change"];
export type ChatChange = Schemas["ChatChange"];
export type Choice = Schemas["Doubt"];
export type Counts = Schemas["Counts"];
export type Delivery = Schemas["Delivery"];
export type Failure = Schemas["Failure"];
export type Found = Schemas["Found"];
export type FoundItem = Schemas["FoundItem"];
export type Frame = Schemas["Frame"];
export type Full = Schemas["Full"];
export type Grant = Schemas["Grant"];
export type Item = Schemas["Item"];
export type ItemPage = Schemas["ItemPage"];
export type Leftover = Schemas["Leftover"];
export type NewAnswer = Schemas["NewAnswer"];
export type Offer = Schemas["Offer"];
export type OneAnswer = Schemas["QuestionAnswer"];
export type Option = Schemas["PromptOption"];
export type Problem = Schemas["Problem"];
export type Prompt = Schemas["Prompt"];
export type Question = Schemas["Question"];
export type Queue = Schemas["Queue"];
export type Result = Schemas["OfferResult"];
export type ResumeOne = Schemas["ResumeOne"];
export type Row = Schemas["Row"];
export type RowPage = Schemas["RowPage"];
export type SentBy = Schemas["SentBy"];
export type Session = Schemas["Session"];
export type SessionPage = Schemas["SessionPage"];
export type Waiting = Schemas["QueuedMessage"];

export type Delta = Extract<Frame, { type: "delta" }>;
export type Snapshot = Extract<Frame, { type: "snapshot" }>;

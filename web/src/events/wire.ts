// What goes over the wire, as `crates/http/src/wire` writes it: to be replaced by the types made from
// the OpenAPI document. Clients ignore unknown fields and take unknown words of enums as they come.

export type Shown = "blocked" | "working" | "monitoring" | "to_check" | "idle";
export type PromptKind = "approval" | "question";
export type TaskKind = "agent" | "workflow" | "command" | "monitor" | "unknown";
export type DeliveryState =
  | "queued"
  | "handed"
  | "taken"
  | "settled"
  | "refused"
  | "unknown"
  | "withdrawn";
export type Choice = "arrived" | "send_again" | "discard";
export type Action = "retry" | "open_chat" | "start_fresh_with_recap" | "start_anyway";

export interface Counts {
  running: number;
  to_resume: number;
  to_check: number;
  open: number;
  queued: number;
}

export interface TaskBrief {
  id: string;
  kind: TaskKind;
  label: string;
  state: string;
  since: string;
  foreground: boolean;
}

export interface PromptBrief {
  id: string;
  kind: PromptKind;
  label: string;
  item: string;
  since: string;
}

export interface Leftover {
  id: string;
  command: string;
  ports: number[];
  since: string;
}

export interface Row {
  id: string;
  slot: string | null;
  title: string | null;
  agent: string;
  model: string | null;
  mode: string | null;
  project: string | null;
  cwd: string;
  state: "open" | "closed" | "deleted";
  status: {
    shown: Shown;
    lead: "working" | "blocked" | "done";
    since: string;
    evidence: string;
    process: "stopped" | "starting" | "running" | "stopping" | "stalled";
  };
  activity: {
    lead: string;
    starting: boolean;
    prompts: PromptBrief[];
    tasks: TaskBrief[];
    more_tasks: number;
    leftovers: Leftover[];
  };
  offer: { cause: string } | null;
  failure: string | null;
  muted: boolean;
  last_prompt: string | null;
  queue_length: number;
  queue_paused: boolean;
  user_messages: number;
  created_at: string;
  updated_at: string;
  seq: number;
  unreadable: string | null;
}

/** Where a text is that is shown only in part. */
export interface Full {
  bytes: number;
  href: string;
}

export interface Delivery {
  state: DeliveryState;
  asking: boolean;
  message: string;
  by: "person" | "channel" | "app" | "schedule" | "host";
  refused: { why: string; text: string | null } | null;
  steer: string | null;
  context: { count: number; bytes: number };
}

export interface Call {
  name: string;
  tool_kind: string;
  input: unknown;
  input_full: Full | null;
  state: "running" | "completed" | "failed" | "unknown";
  output: { text: string; full: Full | null };
  task: string | null;
  parent: string | null;
}

export interface Option {
  id: string;
  label: string;
  kind: string;
}

export interface Question {
  id: string;
  text: string;
  multi: boolean;
  free: boolean;
  options: Option[];
}

export interface OneAnswer {
  question: string;
  options: string[];
  text: string | null;
}

export interface Answered {
  option: string | null;
  text: string | null;
  answers: OneAnswer[] | null;
  by: string;
  device: string | null;
  at: string;
  life: string;
}

export interface Prompt {
  id: string;
  item: string;
  kind: PromptKind;
  state: "open" | "answered" | "gone";
  label: string;
  at: string;
  options: Option[];
  questions: Question[] | null;
  answer: Answered | null;
}

export interface Attachment {
  id: string;
  name: string;
  media_type: string;
  bytes: number;
  sha256: string;
  href: string;
}

export interface Item {
  id: string;
  seq: number;
  turn: string | null;
  kind:
    | "message"
    | "thinking"
    | "tool_call"
    | "prompt"
    | "plan"
    | "note"
    | "notice"
    | "compaction"
    | "unrecognised";
  role: "user" | "agent" | "host" | "app";
  at: string;
  text: string | null;
  full: Full | null;
  delivery: Delivery | null;
  attachments?: Attachment[];
  call: Call | null;
  prompt: Prompt | null;
  plan: { text: string; state: string }[] | null;
  notice: { kind: string; cause: string | null; code: string | null } | null;
  reason: string | null;
  closed: boolean;
  version: number;
}

export interface Waiting {
  message: string;
  text: string;
  full: Full | null;
  by: string;
  state: DeliveryState;
  at: string;
  attachments?: Attachment[];
}

export type Held = "stop" | "close" | "person" | "dismiss" | "offer" | "start_failed";

export interface Queue {
  items: Waiting[];
  next: string | null;
  paused: boolean;
  reason: Held | null;
}

export interface Offer {
  chat: string;
  cause: string | null;
  recorded_at: string;
  summary: { parts: { key: string; params: { label?: string; count?: number } }[]; text: string };
  details: string[];
  snapshot: object | null;
  needs_choice: boolean;
  resuming: boolean;
  readable: boolean;
}

export interface Failure {
  chat: string;
  code: string;
  text: string;
  actions: Action[];
  at: string;
}

export interface Result {
  chat: string;
  outcome: "pending" | "dismissed" | "superseded" | "refused" | "failed" | "resumed";
  receipt: string | null;
  failure: { code: string; text: string; actions: Action[] } | null;
}

export interface Agent {
  id: string;
  kind: string;
  version: string | null;
  available: boolean;
  reason: string | null;
  capabilities: string[];
}

export interface Page<T, N> {
  items: T[];
  next: N | null;
}

export interface Problem {
  code: string;
  title: string;
  detail: string;
  status: number;
  field: string | null;
  winner?: Answered;
}

export type Change =
  | { what: "chat"; chat: string; value: Row | null }
  | { what: "item"; chat: string; value: Item | null }
  | { what: "prompt"; chat: string; value: Prompt | null }
  | { what: "queue"; chat: string; value: Queue | null }
  | { what: "offer"; chat: string; value: Offer | null }
  | { what: "failure"; chat: string; value: Failure | null }
  | { what: "counts"; chat: null; value: Counts }
  | { what: "removed"; chat: string; value: null }
  | { what: "turn" | "task" | "context"; chat: string; value: unknown };

export interface Delta {
  type: "delta";
  chat: string;
  item: string;
  field: "text" | "input" | "output";
  /** Bytes of UTF-8 before the text. */
  at: number;
  text: string;
}

export interface Snapshot {
  type: "snapshot";
  cursor: string;
  counts: Counts;
  chats: Row[];
  offers: Offer[];
  failures: Failure[];
  items: (Item & { chat: string })[];
}

export type Frame =
  | {
      type: "hello";
      generation: number;
      incarnation: string;
      cursor: string;
      verdict: "ok" | "gap";
    }
  | Snapshot
  | { type: "changes"; cursor: string; changes: Change[] }
  | Delta;

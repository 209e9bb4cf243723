// One call to the host. The page's cookie goes along by itself.

import type { Request } from "./request.ts";
import type { Problem } from "./wire.ts";

/** The host said no; the same request would get the same answer. */
export class Refused extends Error {
  readonly problem: Problem;
  constructor(problem: Problem) {
    super(problem.detail);
    this.problem = problem;
  }
}

/** Nobody answered, or the host could not now: the same request may be made again. */
export class Unreachable extends Error {
  /** What the host said, if it said anything. */
  readonly problem: Problem | null;
  constructor(problem: Problem | null) {
    super(problem?.detail ?? "unreachable");
    this.problem = problem;
  }
}

/** Nobody is signed in. */
export class SignedOut extends Error {}

export interface How {
  /** The name of the operation, for a write that may be repeated. */
  key?: string;
  signal?: AbortSignal;
}

/** What this browser calls itself, for whoever comes too late with an answer. */
export function device(agent = navigator.userAgent): string {
  const find = (words: [string, string][]) => words.find(([sign]) => agent.includes(sign))?.[1];
  const browser = find([
    ["Firefox/", "Firefox"],
    ["Edg/", "Edge"],
    ["Chrome/", "Chrome"],
    ["Safari/", "Safari"],
  ]);
  const system = find([
    ["iPhone", "iPhone"],
    ["iPad", "iPad"],
    ["Android", "Android"],
    ["Mac OS", "Mac"],
    ["Windows", "Windows"],
    ["Linux", "Linux"],
  ]);
  return `${browser ?? "Browser"} on ${system ?? "a computer"}`;
}

/** Makes a call and gives its answer. Throws `Refused`, `Unreachable` or `SignedOut`. */
export async function call<A>(request: Request<A>, how: How = {}): Promise<A> {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (request.method !== "GET") headers["Holdfast-Device"] = device();
  if (how.key) headers["Idempotency-Key"] = how.key;
  if (request.body !== undefined) headers["Content-Type"] = "application/json";
  let response: Response;
  let text: string;
  try {
    response = await fetch(`/api/v1${request.path}`, {
      method: request.method,
      headers,
      body: request.body === undefined ? null : JSON.stringify(request.body),
      signal: how.signal ?? null,
      credentials: "same-origin",
    });
    text = await response.text();
  } catch (fault) {
    if (how.signal?.aborted) throw fault;
    throw new Unreachable(null);
  }
  if (response.ok) return (text ? JSON.parse(text) : {}) as A;
  const problem = read(text, response.status);
  if (problem.code === "not_authorised") throw new SignedOut();
  const later = response.status >= 500 || problem.code === "overloaded";
  throw later ? new Unreachable(problem) : new Refused(problem);
}

function read(text: string, status: number): Problem {
  try {
    const problem = JSON.parse(text) as Problem;
    if (typeof problem.code === "string") return problem;
  } catch {
    // What stands between may answer in its own words.
  }
  return aProblem("internal", `HTTP ${status}`, status);
}

/** A problem in the page's own words. */
export function aProblem(code: Problem["code"], detail: string, status: number): Problem {
  return { type: `/errors/${code}`, title: "", code, detail, status, field: null, limit: null };
}

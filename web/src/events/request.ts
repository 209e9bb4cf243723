// A call as the document of the API has it: its method and path, what it takes and what it answers.
// What the document does not have does not compile.

import type { paths } from "../../generated/openapi.d.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

declare const ANSWER: unique symbol;

/** A call that can be made; `A` is what it answers. */
export interface Request<A> {
  method: Method;
  /** Below `/api/v1`, with its query. */
  path: string;
  body?: unknown;
  /** There for the compiler alone. */
  readonly [ANSWER]?: A;
}

type Has<M extends Method> = Record<Lowercase<M>, { responses: object }>;
type Below<P> = P extends `/api/v1${infer Rest}` ? Rest : never;

/** The paths that take a method. */
export type Path<M extends Method> = {
  [P in keyof paths]: paths[P] extends Has<M> ? Below<P> : never;
}[keyof paths];

type Operation<M extends Method, P extends string> = `/api/v1${P}` extends infer F extends
  keyof paths
  ? paths[F] extends Record<Lowercase<M>, infer O>
    ? O
    : never
  : never;

type Json<R> = R extends { content: { "application/json": infer B } } ? B : never;

/** What a call answers when it does what it was asked. */
export type Answer<M extends Method, P extends string> =
  Operation<M, P> extends { responses: infer R }
    ? Json<R[Extract<keyof R, 200 | 201 | 202>]>
    : never;

type At<O> = O extends { parameters: { path: infer V } } ? { at: V } : { at?: never };
type Query<O> = O extends { parameters: { query: infer V } }
  ? { query: V }
  : O extends { parameters: { query?: infer V } }
    ? { query?: V }
    : { query?: never };
type Body<O> = O extends { requestBody?: never }
  ? { body?: never }
  : O extends { requestBody: infer R }
    ? { body: Json<R> }
    : O extends { requestBody?: infer R }
      ? { body?: Json<R> }
      : { body?: never };

/** What a call takes: what stands in its path, its query, its body. */
export type What<M extends Method, P extends string> = At<Operation<M, P>> &
  Query<Operation<M, P>> &
  Body<Operation<M, P>>;

interface Loose {
  at?: Record<string, string>;
  query?: Record<string, unknown>;
  body?: unknown;
}

export function to<M extends Method, P extends Path<M>>(
  method: M,
  path: P,
  ...[what]: object extends What<M, P> ? [What<M, P>?] : [What<M, P>]
): Request<Answer<M, P>> {
  const { at = {}, query = {}, body } = (what ?? {}) as Loose;
  const filled = String(path).replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(at[name] ?? ""),
  );
  const said = Object.entries(query).filter(([, value]) => value !== null && value !== undefined);
  const search = new URLSearchParams(said.map(([name, value]) => [name, String(value)])).toString();
  const full = search === "" ? filled : `${filled}?${search}`;
  // A write has a body, be it an empty one.
  if (body === undefined && (method === "GET" || method === "DELETE"))
    return { method, path: full };
  return { method, path: full, body: body ?? {} };
}

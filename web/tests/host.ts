// A real host as a process, with a data directory of its own; and what its demo agent noted.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

export const BINARY = process.env.HOLDFAST_BINARY ?? "../target/debug/holdfast";

interface Ready {
  url: string;
  token: string;
  pid: number;
}

export class TestHost {
  readonly home = mkdtempSync(join(tmpdir(), "holdfast-web-"));
  readonly log = join(this.home, "agent.log");
  #child: ChildProcess | null = null;
  #listen = "127.0.0.1:0";
  #stderr = "";
  url = "";
  token = "";

  /** A directory for chats. */
  directory(name: string): string {
    const path = join(this.home, "work", name);
    mkdirSync(path, { recursive: true });
    return path;
  }

  /** Starts it, at the same port as before. */
  async start(more: Record<string, string> = {}): Promise<void> {
    const data = join(this.home, "data");
    const args = ["serve", "--listen", this.#listen, "--data-dir", data, "--json"];
    const demo = { HOLDFAST_DEMO_DIR: join(this.home, "demo"), HOLDFAST_DEMO_LOG: this.log };
    const env = { ...process.env, HOME: this.home, ...demo, ...more };
    const child = spawn(BINARY, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    this.#child = child;
    child.stderr.on("data", (text) => {
      this.#stderr += text;
    });
    const line = await Promise.race([
      once(createInterface(child.stdout), "line").then(([text]) => String(text)),
      once(child, "exit").then(() =>
        Promise.reject(new Error(`it did not start: ${this.#stderr}`)),
      ),
    ]);
    const ready = JSON.parse(line) as Ready;
    this.url = ready.url;
    this.token = ready.token;
    this.#listen = new URL(ready.url).host;
  }

  /** A call with the token, as another program makes it. */
  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(`${this.url}/api/v1${path}`, {
      method,
      headers: { Authorization: `Bearer ${this.token}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as T;
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
    return answer;
  }

  async chat(body: Record<string, unknown>): Promise<string> {
    const row = await this.call<{ id: string }>("POST", "/chats", { agent: "demo", ...body });
    return row.id;
  }

  /** An address that signs a browser in, once. */
  async link(): Promise<string> {
    const { path } = await this.call<{ path: string }>("POST", "/session/links", {});
    return this.url + path;
  }

  /** What a demo agent noted, by the kind of the note. */
  notes(): Record<string, unknown>[] {
    if (!existsSync(this.log)) return [];
    const lines = readFileSync(this.log, "utf8").split("\n").filter(Boolean);
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /** Ends the host as a crash does; agents and keepers live on. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  /** Stops it and its agents, with offers. */
  async stop(): Promise<void> {
    await this.#end("SIGTERM");
  }

  async #end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill(signal);
    await gone;
  }

  /** The processes of its attempts: each carries the path of this home in its environment. */
  attempts(): number[] {
    return pids().filter((pid) => {
      const env = read(`/proc/${pid}/environ`);
      return env.includes(`HOLDFAST_DEMO_LOG=${this.log}\0`) && pid !== this.#child?.pid;
    });
  }

  /** Stops everything and removes it. */
  async remove(): Promise<void> {
    await this.stop();
    for (const pid of this.attempts()) process.kill(pid, "SIGKILL");
    rmSync(this.home, { recursive: true, force: true });
  }
}

function pids(): number[] {
  const { readdirSync } = process.getBuiltinModule("node:fs");
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

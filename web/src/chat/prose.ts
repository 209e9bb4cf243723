// Finds the fenced code in a text; also in one that still grows, whose last fence is open.

export interface Part {
  kind: "words" | "code";
  text: string;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/;

export function split(text: string): Part[] {
  const parts: Part[] = [];
  let fence: string | null = null;
  let lines: string[] = [];
  const end = (kind: Part["kind"]) => {
    const joined = lines.join("\n");
    if (kind === "code" || joined.trim() !== "") {
      parts.push({ kind, text: kind === "code" ? joined : trimmed(joined) });
    }
    lines = [];
  };
  for (const line of text.split("\n")) {
    const mark = FENCE.exec(line)?.[1] ?? null;
    if (fence === null && mark) {
      end("words");
      fence = mark;
    } else if (fence !== null && mark?.startsWith(fence) && line.trim() === mark) {
      end("code");
      fence = null;
    } else {
      lines.push(line);
    }
  }
  end(fence === null ? "words" : "code");
  return parts;
}

/** Without empty lines at its ends. */
function trimmed(text: string): string {
  return text.replace(/^(?:[ \t]*\n)+/, "").trimEnd();
}

// The name of a write: a UUIDv7, whose time tells the host how old a repeat is.

export function newKey(now: number = Date.now(), random = randomBytes()): string {
  const bytes = Uint8Array.from(random);
  for (let at = 0; at < 6; at += 1) bytes[at] = Math.floor(now / 256 ** (5 - at)) % 256;
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)];
  return [...parts, hex.slice(20)].join("-");
}

function randomBytes(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(16));
}

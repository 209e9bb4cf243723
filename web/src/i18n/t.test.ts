import { expect, it } from "vitest";
import { ago, bytes, t, tn, tword } from "./t.ts";

it("fills placeholders by name, and leaves what nobody gave", () => {
  expect(t("count.working", { count: 3 })).toBe("3 working");
  expect(t("offer.approval")).toBe("Waiting for your approval: {label}");
  expect(t("offer.approval", { label: "{count} $&" })).toBe(
    "Waiting for your approval: {count} $&",
  );
});

it("has a form for one and for others", () => {
  expect(tn("queue.title", 1)).toBe("1 message waits");
  expect(tn("queue.title", 2)).toBe("2 messages wait");
});

it("shows a word that it does not know as it came", () => {
  expect(tword("state", "idle")).toBe("idle");
  expect(tword("state", "half_asleep")).toBe("half asleep");
});

it("tells ages and sizes", () => {
  const now = Date.parse("2026-01-03T00:00:00Z");
  const ages = ["2026-01-02T23:59:30Z", "2026-01-02T23:00:00Z", "2025-12-30T00:00:00Z", "odd"];
  expect(ages.map((at) => ago(at, now))).toEqual(["now", "1 h", "4 d", "now"]);
  expect([999, 16_384, 2_500_000].map(bytes)).toEqual(["999 bytes", "16 kB", "2.5 MB"]);
});

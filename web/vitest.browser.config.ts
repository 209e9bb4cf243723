import { defineConfig } from "vitest/config";

// Real hosts and a real browser: one file after another, on a machine that others use as well.
export default defineConfig({
  test: {
    include: ["tests/**/*.spec.ts"],
    environment: "node",
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});

import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// The page is built into the program: nothing is inlined, since its policy forbids it.
export default defineConfig({
  plugins: [react(), tailwindcss()],
  build: {
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
    // In kB. It comes from the same machine, once: Vite's own bound is for pages far away.
    chunkSizeWarningLimit: 700,
  },
  test: { include: ["src/**/*.test.{ts,tsx}"], environment: "happy-dom" },
});

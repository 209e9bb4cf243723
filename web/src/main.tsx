import { CSPProvider } from "@base-ui/react/csp-provider";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/App.tsx";
import { chatOf, placeOf } from "./app/route.ts";
import { begin } from "./events/host.ts";
import "./styles.css";

const root = document.getElementById("root");
if (root) {
  const path = location.pathname + location.search;
  void begin(chatOf(path), placeOf(path));
  createRoot(root).render(
    <StrictMode>
      <CSPProvider disableStyleElements>
        <App />
      </CSPProvider>
    </StrictMode>,
  );
}

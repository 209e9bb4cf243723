import { CSPProvider } from "@base-ui/react/csp-provider";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/App.tsx";
import { chatOf } from "./app/route.ts";
import { begin } from "./events/host.ts";
import "./styles.css";

const root = document.getElementById("root");
if (root) {
  void begin(chatOf(location.pathname));
  createRoot(root).render(
    <StrictMode>
      <CSPProvider disableStyleElements>
        <App />
      </CSPProvider>
    </StrictMode>,
  );
}

import { useEffect, useRef, useState } from "react";
import { Chat } from "../chat/Chat.tsx";
import { ALL, type Only } from "../chats/arrange.ts";
import { ChatList } from "../chats/ChatList.tsx";
import { History } from "../chats/History.tsx";
import { NewChat } from "../chats/NewChat.tsx";
import { lookAt, useHost } from "../events/host.ts";
import { t } from "../i18n/t.ts";
import { useOffered } from "../offers/offered.ts";
import { ResumeDialog } from "../offers/ResumeDialog.tsx";
import { Before } from "../sessions/Before.tsx";
import { Announcer } from "./Announcer.tsx";
import { Lines } from "./Lines.tsx";
import { NotThere } from "./NotThere.tsx";
import { chatOf, placeOf, screenOf, usePath } from "./route.ts";
import { SideFoot, SideHead } from "./Side.tsx";
import { SignIn } from "./SignIn.tsx";

/** The page: a list and a chat side by side, or on a phone one after the other. */
export function App() {
  const signedIn = useHost((host) => host.signedIn);
  if (signedIn === false) return <SignIn />;
  return <Rooms />;
}

function Rooms() {
  const path = usePath();
  const screen = screenOf(path);
  const chat = chatOf(path);
  const at = placeOf(path);
  const [only, setOnly] = useState<Only>(ALL);
  const [offers, setOffers] = useOffered();
  const gone = useHost((host) => host.link !== "live");
  useEffect(() => lookAt(chat, at), [chat, at]);
  useFocus(path);
  return (
    <div data-gone={gone || undefined} className="flex h-dvh flex-col">
      <a
        href="#chat"
        className="sr-only rounded-md bg-raised px-3 py-2 focus:not-sr-only focus:absolute focus:z-50 focus:m-2"
      >
        {t("app.skip")}
      </a>
      <header className="sr-only">
        <h1>{t("app.name")}</h1>
      </header>
      <Lines />
      <main id="main" className="flex min-h-0 flex-1">
        <section
          id="chats"
          aria-label={t("app.chats")}
          tabIndex={-1}
          className={`outline-none w-full min-w-0 flex-col border-edge bg-panel md:flex md:w-80 md:border-r lg:w-96 ${screen === "list" ? "flex" : "hidden"}`}
        >
          <SideHead
            onNeeds={() => setOnly({ by: "needs_you" })}
            onOffers={() => setOffers(true)}
            onCheck={() => setOnly({ by: "to_check" })}
          />
          <ChatList only={only} onOnly={setOnly} />
          <SideFoot />
        </section>
        <section
          id="chat"
          aria-label={t("app.chat")}
          tabIndex={-1}
          className={`min-w-0 flex-1 flex-col outline-none md:flex ${screen === "list" ? "hidden" : "flex"}`}
        >
          <Main />
        </section>
      </main>
      <Announcer />
      <ResumeDialog open={offers} onClose={() => setOffers(false)} />
    </div>
  );
}

function Main() {
  const path = usePath();
  const chat = chatOf(path);
  if (chat) return <Chat key={chat} id={chat} at={placeOf(path)} />;
  switch (screenOf(path)) {
    case "new":
      return <NewChat />;
    case "before":
      return <Before />;
    case "history":
      return <History />;
    case "nowhere":
      return <NotThere>{t("app.nowhere")}</NotThere>;
    default:
      return <p className="m-auto p-6 text-soft">{t("chat.pick")}</p>;
  }
}

/** Focus follows to another screen, so that keys and readers are where the person went. */
function useFocus(path: string): void {
  const last = useRef(path);
  useEffect(() => {
    if (last.current === path) return;
    last.current = path;
    const room = screenOf(path) === "list" ? "chats" : "chat";
    document.getElementById(room)?.focus({ preventScroll: true });
  }, [path]);
}

import { useState } from "react";
import { signIn, useHost } from "../events/host.ts";
import { t } from "../i18n/t.ts";
import { Button } from "../ui/Button.tsx";
import { Field, Input } from "../ui/Field.tsx";

/** Asks for the token where no link signed this browser in. */
export function SignIn() {
  const [token, setToken] = useState("");
  const [fault, setFault] = useState<string | null>(null);
  const used = useHost((host) => host.linkRefused);
  const enter = async () => setFault(await signIn({ token: token.trim() }));
  const said = fault ?? (used ? "refused" : null);
  return (
    <main className="flex h-dvh items-center justify-center p-5">
      <form
        className="flex w-full max-w-sm flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          void enter();
        }}
      >
        <div>
          <h1 className="text-xl font-semibold">{t("signIn.title")}</h1>
          <p className="text-soft">{t("signIn.text")}</p>
        </div>
        <Field
          label={t("signIn.token")}
          hint={t("signIn.where")}
          control={(props) => (
            <Input
              {...props}
              type="password"
              autoComplete="current-password"
              value={token}
              required
              onChange={(event) => setToken(event.target.value)}
            />
          )}
        />
        {said && (
          <p role="alert" className="rounded-md bg-bad-ground px-3 py-2 text-bad">
            {said === "refused" ? t("signIn.refused") : t("signIn.unreachable")}
          </p>
        )}
        <Button type="submit" look="brand">
          {t("signIn.button")}
        </Button>
      </form>
    </main>
  );
}

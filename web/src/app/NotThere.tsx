import { Back } from "./Back.tsx";

/** In place of what an address names and what is not there; on a phone with the way to the list. */
export function NotThere({ children }: { children: string }) {
  return (
    <>
      <p className="px-2 pt-1.5">
        <Back />
      </p>
      <p role="status" className="m-auto p-6 text-soft">
        {children}
      </p>
    </>
  );
}

import { waitFor } from "./wait-for.ts";

export type ReloadTold = {
  outcome: string;
  changes: { path: string; from?: unknown; to?: unknown }[];
  problems: string[];
};

/** Asks a process by its ops server to read its configuration again. */
export async function askReload(
  { opsUrl }: { opsUrl: string },
  { query = "", ...options }: RequestInit & { query?: string } = {},
): Promise<{ status: number; body: ReloadTold }> {
  const response = await fetch(`${opsUrl}/reload${query}`, { method: "POST", ...options });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

/** Asks as soon as it may be asked again. */
export async function reloadInTurn(
  process: { opsUrl: string },
  query = "",
): Promise<{ status: number; body: ReloadTold }> {
  return waitFor("its turn has come", async () => {
    const answer = await askReload(process, { query });
    return answer.body.outcome === "too_soon" ? undefined : answer;
  });
}

import { z } from "zod";
import { waitFor } from "../helpers/wait-for.ts";
import type { DevUnderTest } from "./dev-rig.ts";

/** On the shipped allowlist. */
export const claimant = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const answerSchema = z.object({
  status: z.number(),
  claim: z.object({ id: z.string(), status: z.string() }).optional(),
  code: z.string().optional(),
});

/** Claims for that account, at the faucet or through the gateway. */
export async function postClaim(url: string, headers: Record<string, string> = {}) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify({ address: claimant, website: "" }),
  });
  return answerSchema.parse({ ...z.looseObject({}).parse(await response.json()), status: response.status });
}

export async function claimOf(dev: DevUnderTest, id = "") {
  const response = await fetch(`http://127.0.0.1:${dev.ports.faucet}/claims/${id}`);
  return answerSchema.parse({ ...z.looseObject({}).parse(await response.json()), status: response.status });
}

export async function claimConfirmed(dev: DevUnderTest, id: string | undefined): Promise<void> {
  await waitFor(
    "the claim is confirmed",
    async () => (await claimOf(dev, id)).claim?.status === "confirmed",
    {
      withinMs: 60_000,
      everyMs: 100,
    },
  );
}

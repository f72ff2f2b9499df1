import { z } from "zod";
import { claimant, funded } from "../accounts.ts";
import type { Verdict } from "../check.ts";
import { postJson } from "../json-rpc.ts";
import type { Rig } from "../rig.ts";
import { isMined, nonceOf, send, transfer } from "../transactions.ts";

const claimSchema = z.object({ claim: z.object({ id: z.string(), status: z.string() }) });

/** The gateway's callers notice nothing of a validator that goes. */
export async function oneAway(rig: Rig, short: boolean, away: () => Promise<void>): Promise<Verdict> {
  const calls = short ? 100 : 5000;
  let failed = 0;
  const asking = (async () => {
    for (let index = 0; index < calls; index += 1) {
      const answer = await rig.gateway("eth_getBalance", [funded.address, "latest"]).catch(() => undefined);
      if (answer?.result === undefined) failed += 1;
    }
  })();
  await away();
  await asking;
  // Docker starts again what ended by itself.
  await rig.until("the validator that is missed", async () => (await rig.command("status")).code !== 1);
  await rig.command("start", "2");
  const seconds = await rig.statusIs(0);
  return {
    ok: failed === 0,
    seen: `${failed} of ${calls} calls failed; all is well ${seconds} s after its start`,
  };
}

export async function twoDown(rig: Rig): Promise<Verdict> {
  await rig.command("stop", "2");
  await rig.command("stop", "4");
  await rig.statusIs(1);
  const nonce = await nonceOf(rig);
  const hashes: string[] = [];
  for (let sent = 0; sent < 6; sent += 1) hashes.push(await send(rig, nonce + sent, transfer(1n)));
  const claimed = await postJson(`${rig.faucetUrl}/claim`, { address: claimant.address, website: "" });
  const claim = claimSchema.safeParse(JSON.parse(claimed.text)).data?.claim;
  const recovered = await rig.command("recover");
  if (recovered.code !== 0) return { ok: false, seen: recovered.text };
  await rig.servicesReady();
  const seconds = await rig.until("all sends mined", async () => {
    const mined = await Promise.all(hashes.map((hash) => isMined(rig, hash)));
    return mined.every(Boolean);
  });
  const words = `${/after \d+ s/.exec(recovered.text)?.[0] ?? ""}; 6 of 6 sends mined ${seconds} s later`;
  if (claim === undefined) return { ok: false, seen: `${words}; the claim was refused: ${claimed.text}` };
  const paid = await rig.until("the claim paid", async () => {
    const response = await fetch(`${rig.faucetUrl}/claims/${claim.id}`, {
      headers: { Accept: "application/json" },
    });
    const now = claimSchema.parse(await response.json()).claim;
    if (now.status === "refused") throw new Error("the claim ended as refused");
    return now.status === "confirmed";
  });
  await rig.statusIs(0);
  return { ok: true, seen: `the next block came ${words}, the claim paid after ${paid} s` };
}

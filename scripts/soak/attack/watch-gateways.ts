import { setTimeout as sleep } from "node:timers/promises";
import type { GatewayChild } from "./gateway-child.ts";

const opsAnswerMsMax = 10_000;

/** Memory of the gateways, and whether they live and their ops ports answer. */
export function watchGateways(gateways: readonly GatewayChild[]) {
  let residentBytes = 0;
  let isOver = false;
  const problems: string[] = [];
  const sampled = setInterval(() => {
    for (const gateway of gateways) residentBytes = Math.max(residentBytes, gateway.residentBytes());
  }, 50);
  const asked = Promise.all(
    gateways.map(async ({ opsUrl }, index) => {
      while (!isOver) {
        try {
          const answer = await fetch(`${opsUrl}/livez`, { signal: AbortSignal.timeout(opsAnswerMsMax) });
          await answer.text();
        } catch (error) {
          problems.push(`the ops port of gateway ${index} does not answer: ${String(error)}`);
          return;
        }
        await sleep(500);
      }
    }),
  );
  return {
    async stop(): Promise<{ residentBytes: number; problems: string[] }> {
      isOver = true;
      clearInterval(sampled);
      await asked;
      for (const [index, gateway] of gateways.entries()) {
        const end = gateway.ended();
        if (end !== undefined) problems.push(`gateway ${index} ${end}`);
      }
      return { residentBytes, problems };
    },
  };
}

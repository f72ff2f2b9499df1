import { openSync, writeSync } from "node:fs";
import { z } from "zod";
import { chargeAtOnce, startLimiter } from "./start-limiter.ts";

/*
 * A gateway process as far as limits go: a limiter of its own, told over IPC what to charge. Started by `processes.ts`.
 */

const settings = z
  .object({
    url: z.string(),
    windowMs: z.number(),
    injectedClock: z.boolean(),
    wallSkewMs: z.number(),
  })
  .parse(JSON.parse(process.argv[2] ?? "{}"));

const key = { keyId: z.string(), team: z.string(), limitPerMinute: z.number() };
const message = z.discriminatedUnion("do", [
  // Single calls, all at once, at `nowMs` by the injected clock.
  z.object({ do: z.literal("atOnce"), id: z.number(), calls: z.number(), nowMs: z.number(), ...key }),
  // Ten calls a turn of the event loop until the time is over or calls are refused; progress in `progressFile`.
  z.object({ do: z.literal("load"), id: z.number(), forMs: z.number(), progressFile: z.string(), ...key }),
  z.object({ do: z.literal("stop"), id: z.number() }),
]);

let nowMs = 0;
const running = await startLimiter({
  url: settings.url,
  windowMs: settings.windowMs,
  wallSkewMs: settings.wallSkewMs,
  clock: settings.injectedClock ? () => nowMs : undefined,
});

process.on("message", async (untrusted) => {
  const order = message.parse(untrusted);
  if (order.do === "stop") {
    await running.stop();
    process.send?.({ id: order.id });
    process.disconnect();
    return;
  }
  const { keyId, team, limitPerMinute } = order;
  if (order.do === "atOnce") {
    nowMs = order.nowMs;
    const counted = await chargeAtOnce(running.limiter, { keyId, team, limitPerMinute }, order.calls);
    process.send?.({ id: order.id, ...counted });
    return;
  }
  const request = { keyId, team, limitPerMinute, costs: [1] };
  const admitted = await load(request, order.forMs, openSync(order.progressFile, "w"));
  process.send?.({ id: order.id, admitted, refused: 0, degraded: 0 });
});
process.send?.({ id: 0 });

/** Writes the number of admitted calls after each, so that it is known of a process that was killed. */
async function load(
  request: { keyId: string; team: string; limitPerMinute: number; costs: number[] },
  forMs: number,
  file: number,
): Promise<number> {
  const endMs = performance.now() + forMs;
  let admitted = 0;
  let refused = 0;
  while (performance.now() < endMs && refused === 0) {
    await Promise.all(
      Array.from({ length: 10 }, async () => {
        const result = await running.limiter.charge(request);
        if (result.admitted[0] !== true) {
          refused += 1;
          return;
        }
        admitted += 1;
        writeSync(file, String(admitted).padStart(10), 0);
      }),
    );
    await new Promise((resolve) => setImmediate(resolve));
  }
  return admitted;
}

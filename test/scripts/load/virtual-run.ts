import { type ArrivalKind, createArrivals, type Stage } from "../../../scripts/load/drive/arrivals.ts";
import { createDispatcher } from "../../../scripts/load/drive/dispatcher.ts";
import { createDriver } from "../../../scripts/load/drive/driver.ts";
import type { Reply, Transport } from "../../../scripts/load/http/transport.ts";
import { createRandom } from "../../../scripts/load/mix/random.ts";
import { createRecorder, type Recorded } from "../../../scripts/load/record/recorder.ts";
import type { LoadRequest } from "../../../scripts/load/request.ts";
import { createVirtualClock } from "./virtual-clock.ts";

const rightAnswer: Reply = {
  kind: "answer",
  status: 200,
  headers: {},
  body: '{"jsonrpc":"2.0","id":1,"result":"0x1"}',
};
const request: LoadRequest = {
  label: "eth_blockNumber",
  body: "",
  isBatch: false,
  calls: [{ method: "eth_blockNumber", id: 1, expectation: { kinds: ["quantity"], equals: undefined } }],
};

export type VirtualRun = Parameters<typeof runVirtually>[0];

/** The whole way of a request but for the socket, in virtual time: what a server does is known to the microsecond. */
export async function runVirtually({
  stages,
  kind = "constant",
  connections = 1_000,
  timeoutMs = 10_000,
  scriptsRunningMax = 100_000,
  answerAfterMs,
  stopAtMs,
}: {
  stages: readonly Stage[];
  kind?: ArrivalKind;
  connections?: number;
  timeoutMs?: number;
  scriptsRunningMax?: number;
  /** How long the server takes for a request that reaches it then; `index` counts requests. */
  answerAfterMs: (sentAtMs: number, index: number) => number;
  stopAtMs?: number;
}): Promise<Recorded> {
  const { clock, at, runUntil } = createVirtualClock();
  let free = connections;
  let sent = 0;
  const transport: Transport = {
    free: () => free,
    inFlight: () => connections - free,
    send(_body, done) {
      free -= 1;
      const afterMs = answerAfterMs(clock.now(), sent);
      sent += 1;
      at(clock.now() + Math.min(afterMs, timeoutMs), () => {
        free += 1;
        done(afterMs < timeoutMs ? rightAnswer : { kind: "timeout", timeoutMs });
      });
    },
    close() {},
  };
  const recorder = createRecorder({
    now: clock.now,
    timeoutMs,
    sliceMs: 1000,
    waiting: () => ({ inFlight: transport.inFlight(), queued: dispatcher.queued() }),
  });
  const dispatcher = createDispatcher({ transport, recorder, now: clock.now, timeoutMs });
  const script = {
    name: request.label,
    calls: 1,
    run: async (intendedMs: number) => void (await dispatcher.request(request, intendedMs)),
  };
  const driver = createDriver({
    ...{
      arrivals: createArrivals({ stages, kind, random: createRandom(1) }),
      pick: () => script,
      dispatcher,
    },
    recorder,
    clock,
    scriptsRunningMax,
    onSweep: () => {},
  });
  if (stopAtMs !== undefined) at(stopAtMs, driver.stop);
  await runUntil(driver.run());
  return recorder.result();
}

import { setTimeout as sleep } from "node:timers/promises";
import type { Validators } from "../../../test/fakes/validators/start-validators.ts";

/** A contract whose calls are slow, and one with many logs. Attackers name them, honest clients do not. */
export const slowAddress = `0x${"51".repeat(20)}`;
export const bigAddress = `0x${"b1".repeat(20)}`;
export const wideAddress = `0x${"3d".repeat(20)}`;
/** A trace whose data holds these bytes ends its validator with any amount of gas: a flaw that no bound knows of. */
export const deadlyData = "5b600056deadbeef";

/** Real Besu needs as long for a call of 50 million gas. */
export const slowCallMs = 110;
const wideLogsMs = 300;
/** Real Besu survives a trace with so much gas at -Xmx512m. */
const traceGasMax = 5_000_000;
/** The five stand-ins share one thread, which answers of 4 MiB each would overload. */
const bigLogsBytes = 1024 * 1024;
const sendBytesParsed = 64 * 1024;

/** Gives the stand-ins the weaknesses of real validators that attackers aim at. */
export function makeVulnerable(cluster: Validators): { lost: () => number; forget: () => void } {
  const dead = new Set<number>();
  const bigLogs = manyLogs(bigLogsBytes);
  for (const validator of cluster.validators) {
    const dieOf = (method: string) =>
      validator.answer(method, (params) => {
        const text = JSON.stringify(params);
        if (!isDeadly(text)) return { result: "[]" };
        dead.add(validator.index);
        void validator.die();
        return new Promise(() => {});
      });
    for (const method of ["trace_callMany", "trace_call", "debug_traceCall"]) dieOf(method);
    validator.answer("eth_call", ([call]) =>
      addressOf(call, "to") === slowAddress ? sleep(slowCallMs).then(() => ({ result: '"0x"' })) : undefined,
    );
    validator.answer("eth_getLogs", ([filter]) => {
      const address = addressOf(filter, "address");
      if (address === bigAddress) return { result: bigLogs };
      return address === wideAddress ? sleep(wideLogsMs).then(() => ({ result: "[]" })) : undefined;
    });
    // Besu refuses such a transaction at once; the stand-in's library would need a second for it.
    validator.answer("eth_sendRawTransaction", ([raw]) =>
      typeof raw === "string" && raw.length > sendBytesParsed * 2
        ? { error: { code: -32000, message: "Intrinsic gas exceeds gas limit" } }
        : undefined,
    );
  }
  return { lost: () => dead.size, forget: () => dead.clear() };
}

function isDeadly(text: string): boolean {
  if (text.includes(deadlyData)) return true;
  const gas = [...text.matchAll(/"gas":"(0x[0-9a-f]+)"/g)].map(([, value]) => Number(value));
  // A call that names no gas gets the node's limit, ten times what the node survives.
  return gas.length === 0 || gas.some((one) => one > traceGasMax);
}

function addressOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined;
}

function manyLogs(bytes: number): string {
  const log = JSON.stringify({
    address: bigAddress,
    topics: [`0x${"00".repeat(32)}`],
    data: `0x${"ab".repeat(400)}`,
    blockNumber: "0x1",
    transactionHash: `0x${"11".repeat(32)}`,
    transactionIndex: "0x0",
    blockHash: `0x${"22".repeat(32)}`,
    logIndex: "0x0",
    removed: false,
  });
  return `[${Array.from({ length: Math.floor(bytes / log.length) }, () => log).join(",")}]`;
}

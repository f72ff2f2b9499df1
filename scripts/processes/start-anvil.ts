import { arch, platform } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { foundryProgram } from "./foundry-program.ts";
import { type Child, runChild } from "./run-child.ts";

export type RunningAnvil = {
  url: string;
  port: number;
  child: Child;
  /** Calls the node. Rejects with the node's message where the answer is an error. */
  rpc(method: string, params: readonly unknown[], timeoutMs?: number): Promise<unknown>;
};

export type AnvilOptions = {
  env: Readonly<Record<string, string | undefined>>;
  /** 0 takes a free one. */
  port: number;
  chainId: number;
  /** "on demand": a block for each transaction, at once. */
  blockTimeSeconds: number | "on demand";
  /** A folder for the states of older blocks, which leave memory. */
  cacheFolder: string;
  /** A saved chain, as JSON. */
  loadFile?: string | undefined;
  /** A genesis.json, whose accounts it begins with. */
  genesisFile?: string | undefined;
  /** Seconds since 1970; the genesis hash follows from it. Now unless told otherwise. */
  genesisTimestampSeconds?: number;
  /** Whether debug_traceTransaction has each step of the EVM, which takes memory for each transaction. */
  recordsSteps?: boolean;
  onLine: (line: string) => void;
  /** Called with the process as soon as it runs, before it answers. */
  onChild?: (child: Child) => void;
};

const readyWithinMs = 30_000;
const pollMs = 10;
const rpcTimeoutMs = 10_000;

/**
 * How many states of older blocks anvil keeps on disk, beside at least 10 in memory: reads at a block of the last two
 * minutes work. Each state holds the hashes of all blocks of this run, so more of them would grow without bound. With
 * this number 12 000 blocks (7 hours) end at 70 MB of memory and 60 MB on disk, with a peak of 210 MB: anvil 1.7.1
 * begins with 1 500 states in memory wherever blocks come every 2 s or faster, whatever --prune-history says.
 */
const statesOnDiskMax = 64;

/**
 * Starts anvil with the numbers of the network: no base fee, price 0 accepted, Cancun, 30 M gas, and the ten public
 * development accounts with 1 000 000 tokens each.
 *
 * @returns the running node, or why it could not be started.
 */
export async function startAnvil(options: AnvilOptions): Promise<RunningAnvil | { failed: string }> {
  let announced: (port: number) => void = () => {};
  const listening = new Promise<number>((resolve) => {
    announced = resolve;
  });
  let quiet = true;
  const program = foundryProgram("anvil", { platform: platform(), arch: arch() });
  const child = await runChild({
    name: "chain",
    program,
    args: anvilArguments(options),
    env: options.env,
    onLine(line) {
      // The banner lists the public accounts and their keys in 60 lines; the README has them.
      const port = /^Listening on \S+:(\d+)$/.exec(line)?.[1];
      if (port !== undefined) announced(Number(port));
      if (!quiet && tells(line)) options.onLine(line);
      if (port !== undefined) quiet = false;
    },
  });
  if ("failed" in child) return child;
  options.onChild?.(child);

  const stopWaiting = new AbortController();
  const first = await Promise.race([
    listening,
    child.ended,
    sleep(readyWithinMs, "late" as const, { signal: stopWaiting.signal }),
  ]);
  stopWaiting.abort();
  if (typeof first !== "number") {
    await child.stop({ withinMs: 1000 });
    return { failed: `the dev chain did not start: ${await child.obituary()}` };
  }
  const url = `http://127.0.0.1:${first}`;
  const rpc = (method: string, params: readonly unknown[], timeoutMs = rpcTimeoutMs) =>
    askNode({ url, method, params, timeoutMs });
  while ((await rpc("eth_chainId", []).catch(() => undefined)) === undefined && child.running()) {
    await sleep(pollMs);
  }
  return { url, port: first, child, rpc };
}

/** anvil prints each call's name and three lines for each block. Only transactions and their logs are kept. */
function tells(line: string): boolean {
  return !/^\s*$|^[a-z]+_\w+$|^ {4}(?:Block (?:Number|Hash|Time)|Request): /.test(line);
}

function anvilArguments(options: AnvilOptions): string[] {
  const { port, chainId, blockTimeSeconds, cacheFolder, loadFile, genesisFile, genesisTimestampSeconds } =
    options;
  return [
    // Without --no-cors any web page that finds its port could call it.
    ...["--host", "127.0.0.1", "--port", String(port), "--no-cors", "--chain-id", String(chainId)],
    ...["--hardfork", "cancun", "--gas-limit", "30000000", "--balance", "1000000"],
    // Price 0 is accepted like this. With --disable-min-priority-fee, which would also make eth_gasPrice 0 as on Besu,
    // anvil 1.7.1 refuses its own eth_sendTransaction ("max priority fee per gas higher than max fee per gas").
    ...["--block-base-fee-per-gas", "0"],
    ...(blockTimeSeconds === "on demand" ? [] : ["--block-time", String(blockTimeSeconds)]),
    ...["--cache-path", cacheFolder, "--max-persisted-states", String(statesOnDiskMax)],
    ...["--no-request-size-limit", "--color", "never"],
    ...(loadFile === undefined ? [] : ["--load-state", loadFile]),
    ...(genesisFile === undefined ? [] : ["--init", genesisFile]),
    ...(options.recordsSteps === true ? ["--steps-tracing"] : []),
    ...(genesisTimestampSeconds === undefined ? [] : ["--timestamp", String(genesisTimestampSeconds)]),
  ];
}

const answerSchema = z.object({
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional(),
});

async function askNode({
  url,
  method,
  params,
  timeoutMs,
}: {
  url: string;
  method: string;
  params: readonly unknown[];
  timeoutMs: number;
}): Promise<unknown> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    signal: AbortSignal.timeout(timeoutMs),
  });
  const { result, error } = answerSchema.parse(await response.json());
  if (error !== undefined) throw new Error(`${method}: ${error.message}`);
  return result;
}

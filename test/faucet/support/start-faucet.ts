import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { type FaucetConfig, readFaucetConfig } from "../../../faucet/config.ts";
import type { CrashPoint } from "../../../faucet/serve.ts";
import { type Faucet, start } from "../../../faucet/start.ts";
import type { ReadAgain } from "../../../lib/reload/reloader.ts";
import type { Teardown } from "../../../scripts/processes/teardown.ts";
import { asUser } from "../../helpers/redis.ts";
import { waitFor } from "../../helpers/wait-for.ts";

export type FaucetUnderTest = {
  url: string;
  privateUrl: string;
  opsUrl: string;
  /** The wallet that pays. */
  wallet: string;
  config: FaucetConfig;
  logLines: string[];
  /** POSTs a claim as JSON. */
  claim(
    body: unknown,
    options?: { headers?: Record<string, string>; url?: string },
  ): Promise<{ status: number; headers: Headers; json: ClaimAnswer }>;
  /** Follows a claim until it has ended. */
  ended(id: string): Promise<ClaimAnswer["claim"]>;
  get(path: string): Promise<{ status: number; headers: Headers; text: string }>;
  stop(): Promise<void>;
};

/** A claim or a problem document; a test reads what it expects. */
export type ClaimAnswer = {
  claim: {
    id: string;
    address: string;
    amount: string;
    status: string;
    txHash: string | null;
    reason?: string;
    blockNumber?: number;
  };
  code: string;
  detail: string;
  errors?: { pointer: string; message: string }[];
};

export type Entry = { address: string; label?: string; amount?: string };

/** The text of an allowlist's file. */
export function allowlistText(entries: readonly Entry[]): string {
  return JSON.stringify({ addresses: entries.map((entry) => ({ label: "test", ...entry })) });
}

/** Five hundred claims that wait for one another on a busy machine. */
const endedWithinMs = 120_000;

/** A faucet of the shipped configuration on free loopback ports, with an allowlist of its own. */
export async function startFaucet(
  t: Teardown,
  {
    redisUrl,
    upstream,
    allowlist = [],
    allowlistFile,
    change = (config) => config,
    redisNow,
    atPoint,
    adopt = false,
    readAgain,
  }: {
    redisUrl: string;
    upstream: string;
    allowlist?: readonly Entry[];
    allowlistFile?: string;
    change?: (config: FaucetConfig) => FaucetConfig;
    redisNow?: () => number;
    atPoint?: (point: CrashPoint) => void | Promise<void>;
    adopt?: boolean;
    /** What a reload reads. */
    readAgain?: ReadAgain<FaucetConfig>;
  },
): Promise<FaucetUnderTest> {
  const shipped = readFaucetConfig({
    file: fileURLToPath(new URL("../../../config/faucet.yaml", import.meta.url)),
    env: { REDIS_URL: asUser(redisUrl, "faucet"), FAUCET_UPSTREAM: upstream },
  });
  const folder = await mkdtemp(join(tmpdir(), "tollgate-faucet-"));
  const file = allowlistFile ?? join(folder, "allowlist.yaml");
  if (allowlistFile === undefined) await writeFile(file, allowlistText(allowlist));
  const config = change({
    ...shipped,
    port: 0,
    private: { ...shipped.private, port: 0 },
    ops: { ...shipped.ops, port: 0 },
    allowlistFile: file,
    allowlistPollMs: 50,
    pollMs: 20,
    idlePollMs: 100,
    leaderMs: 2000,
    limits: { ...shipped.limits, perClient: 100_000, overall: 1_000_000, refusals: 100_000 },
  });
  const logLines: string[] = [];
  const logger = pino({ level: "debug" }, { write: (line: string) => void logLines.push(line) });
  const faucet: Faucet = await start(config, {
    logger,
    adopt,
    ...(redisNow === undefined ? {} : { redisNow }),
    ...(atPoint === undefined ? {} : { atPoint }),
    ...(readAgain === undefined ? {} : { readAgain }),
  });
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= faucet.stop();
    return stopped;
  };
  t.teardown(async () => {
    await stop();
    await rm(folder, { recursive: true, force: true });
  });
  const { address } = faucet;
  const url = `http://127.0.0.1:${address.port}`;
  return {
    url,
    privateUrl: `http://127.0.0.1:${address.privatePort}`,
    opsUrl: `http://127.0.0.1:${address.opsPort}`,
    wallet: address.wallet,
    config,
    logLines,
    stop,
    claim: (body, { headers = {}, url: base = url } = {}) => postClaim(base, body, headers),
    async ended(id) {
      return waitFor(
        `claim ${id} has ended`,
        async () => {
          const response = await fetch(`${url}/claims/${id}`);
          const text = await response.text();
          // 503: a Redis that is away or slow.
          if (response.status !== 200 && response.status !== 503) throw new Error(`claim ${id}: ${text}`);
          const { claim }: Partial<ClaimAnswer> = JSON.parse(text);
          return (claim?.status === "confirmed" || claim?.status === "refused") && claim;
        },
        { withinMs: endedWithinMs, everyMs: 20 },
      );
    },
    async get(path) {
      const response = await fetch(url + path);
      return { status: response.status, headers: response.headers, text: await response.text() };
    },
  };
}

export async function postClaim(
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: Headers; json: ClaimAnswer }> {
  const response = await fetch(`${url}/claim`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, json: JSON.parse(await response.text()) };
}

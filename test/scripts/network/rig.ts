import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Test } from "tap";
import { z } from "zod";
import { runGenesis } from "../../../genesis/run-genesis.ts";
import type { ProgressView } from "../../../scripts/network/output/progress-view.ts";
import { runNetwork } from "../../../scripts/network/run-network.ts";
import { isFree } from "../../../scripts/processes/free-port.ts";
import { processIdentity } from "../../../scripts/processes/process-identity.ts";
import { claimPortBlock } from "../../../scripts/processes/reserved-port.ts";
import { placeStandIn } from "../../fakes/besu-stand-in/place-stand-in.ts";
import { nodeEnvironment } from "../../helpers/node-environment.ts";
import { testFolder } from "../../helpers/test-folder.ts";

export type Outcome = { code: number; out: string; err: string };

const pollMs = 100;
const waitMs = 90_000;
const noProgress: ProgressView = { show: () => {}, end: () => {} };
const recordSchema = z.object({ pid: z.int() });
const statusSchema = z.object({
  verdict: z.string(),
  reasons: z.array(z.string()),
  height: z.number().nullable(),
  present: z.number(),
  blocks: z.number(),
  roundsAboveZero: z.number(),
  members: z.number(),
  quorum: z.number(),
  validators: z.array(
    z.object({
      name: z.string(),
      address: z.string(),
      state: z.string(),
      inSet: z.boolean(),
      takesPart: z.boolean(),
      proposed: z.number(),
      missedTurns: z.number(),
      height: z.number().nullable(),
      peers: z.number().nullable(),
      lag: z.number().nullable(),
      missedSeals: z.number(),
    }),
  ),
});

const listSchema = z.object({
  validators: z.number(),
  quorum: z.number(),
  rows: z.array(
    z.object({
      name: z.string(),
      address: z.string(),
      state: z.string(),
      inSet: z.boolean(),
      proposed: z.number(),
      votes: z.record(z.string(), z.boolean()).nullable(),
    }),
  ),
  former: z.array(z.object({ name: z.string(), address: z.string() })),
});

export type NetworkStatusRead = z.output<typeof statusSchema> & { code: number };

/** A network of stand-ins in a folder of the test's own, on free ports; nothing runs yet. All is ended with the test. */
export async function makeNetwork(t: Test, { more = [] }: { more?: readonly string[] } = {}) {
  const parent = testFolder(t, {});
  const folder = join(parent, "network");
  const portBase = await freePortBase();
  const configFile = join(parent, "network.yaml");
  const settings = ["blockSeconds: 1", "requestTimeoutSeconds: 2", `native: { portBase: ${portBase} }`];
  writeFileSync(configFile, [...settings, ...more, "status: { stalledAfterSeconds: 5 }", ""].join("\n"));
  const env = {
    BESU_HOME: placeStandIn(join(parent, "besu")),
    ...nodeEnvironment,
    STAND_IN_OWNER_PID: String(process.pid),
  };
  const made = await runGenesis({
    args: ["init", "--config", configFile, "--out", folder],
    env,
    now: () => new Date(),
    print: () => {},
    note: t.comment,
  });
  if (made !== 0) throw new Error("there is no network");

  /** The command line in this process. */
  async function network(...args: string[]): Promise<Outcome> {
    return networkWith({ args });
  }

  /** The same, but for this folder or with this environment. */
  async function networkWith({
    args,
    ...other
  }: {
    args: readonly string[];
    folder?: string;
    env?: Record<string, string | undefined>;
  }): Promise<Outcome> {
    const out: string[] = [];
    const err: string[] = [];
    const code = await runNetwork({
      args: [...args, "--native", "--folder", other.folder ?? folder, "--config", configFile],
      env: other.env ?? env,
      now: Date.now,
      progress: noProgress,
      signal: new AbortController().signal,
      print: (text) => out.push(text),
      note: (text) => err.push(text),
    });
    return { code, out: out.join("\n"), err: err.join("\n") };
  }

  async function status(): Promise<NetworkStatusRead> {
    const { code, out } = await network("status", "--json");
    return { code, ...statusSchema.parse(JSON.parse(out)) };
  }

  t.teardown(() => network("down"));
  return {
    folder,
    parent,
    configFile,
    portBase,
    env,
    network,
    networkWith,
    status,
    /** Asks until it is so, and gives the status then. */
    async statusWhen(isSo: (now: NetworkStatusRead) => boolean) {
      const giveUpAt = Date.now() + waitMs;
      for (;;) {
        const now = await status();
        if (isSo(now)) return now;
        if (Date.now() > giveUpAt) throw new Error(`it never was so: ${JSON.stringify(now, null, 1)}`);
        await sleep(pollMs);
      }
    },
    pidOf(number: number): number | undefined {
      try {
        const file = join(folder, "native", `validator-${number}`, "process.json");
        return recordSchema.parse(JSON.parse(readFileSync(file, "utf8"))).pid;
      } catch {
        return undefined;
      }
    },
    validators: async () => listSchema.parse(JSON.parse((await network("validator", "list", "--json")).out)),
    rpcUrl: (number: number) => `http://127.0.0.1:${portBase + 10 * number}`,
  };
}

/** Which of these processes still run; one that has ended and is only not yet waited for does not. */
export async function runningOf(pids: readonly (number | undefined)[]): Promise<number[]> {
  const known = pids.flatMap((pid) => pid ?? []);
  const identities = await Promise.all(known.map(processIdentity));
  return known.filter((_pid, index) => identities[index] !== undefined);
}

/** A base from which on five validators' ports are free and no other test's, below those of outgoing connections. */
export async function freePortBase(): Promise<number> {
  for (let tries = 1; tries <= 50; tries += 1) {
    const { base } = await claimPortBlock({ from: 10_000, to: 19_000 });
    // Five validators, and a node for traces or those that are added.
    const ports = [1, 2, 3, 4, 5, 6, 7, 8].flatMap((number) =>
      [0, 1, 2, 3].map((offset) => base + 10 * number + offset),
    );
    const free = await Promise.all(ports.map(isFree));
    if (free.every(Boolean)) return base;
  }
  throw new Error("there are no free ports");
}

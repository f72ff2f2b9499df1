import { randomBytes } from "node:crypto";
import type { ArrivalKind } from "./drive/arrivals.ts";
import type { Mix } from "./mix/mix-schema.ts";
import type { LoadOptions } from "./options.ts";
import { type Part, type Plan, shareOf, wholePlan } from "./plan/plan.ts";
import type { Inputs } from "./read-inputs.ts";

/** All that one process needs for its part of a run: plain data, which another process can be sent. */
export type RunSetup = {
  url: string;
  key: string;
  ca: string | undefined;
  mix: Mix;
  mixFile: string;
  plan: Plan;
  part: Part;
  connections: number;
  timeoutMs: number;
  warmupMs: number;
  arrivals: ArrivalKind;
  seed: number;
  funderKey: string | undefined;
};

const seedRange = 0x7fff_ffff;

export function createSetup(
  { url, timeoutMs, warmupMs, arrivals, seed }: LoadOptions,
  { key, ca, mix, mixFile, plan, connections, funder }: Inputs,
): RunSetup {
  return {
    ...{ url: url.href, key, ca, mixFile, plan, connections, timeoutMs, warmupMs, arrivals },
    mix: withSenderSeed(mix),
    part: wholePlan,
    seed: seed ?? 1 + Math.floor(Math.random() * seedRange),
    funderKey: funder?.privateKey,
  };
}

/** The setups of several processes that share a run. */
export function splitSetup(setup: RunSetup, of: number): RunSetup[] {
  return Array.from({ length: of }, (_, index) => ({
    ...setup,
    part: { index, of },
    connections: Math.max(1, shareOf(setup.connections, { index, of })),
    seed: setup.seed + index,
  }));
}

/** Processes that share new accounts have to draw them from the same seed. */
function withSenderSeed(mix: Mix): Mix {
  const { senders } = mix;
  if (senders === undefined) return mix;
  const isGiven = [senders.seed, senders.mnemonic, senders.privateKeys].some(
    (source) => source !== undefined,
  );
  return isGiven ? mix : { ...mix, senders: { ...senders, seed: randomBytes(32).toString("hex") } };
}

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse, stringify } from "yaml";
import { z } from "zod";
import type { Command, Contestant, Setup } from "../contestant.ts";

const root = fileURLToPath(new URL("../../../../", import.meta.url));

export const ours: Contestant = {
  name: "ours",
  title: "Tollgate's gateway as configured by default: keys and limits in Redis, one process",
  keepsLimits: true,
  usesRedis: true,
  prepare: (setup) => prepareOurs(setup),
};

/** @param nodeFlags come before the gateway's file. */
export function prepareOurs(setup: Setup, nodeFlags: readonly string[] = []): Command {
  const { folder, port, validatorPorts, redisUrl } = setup;
  const file = join(folder, "gateway.yaml");
  writeFileSync(file, configuration(setup));
  return {
    program: process.execPath,
    args: [
      "--disable-warning=ExperimentalWarning",
      ...nodeFlags,
      join(root, "gateway/main.ts"),
      ...["--config", file],
    ],
    env: {
      REDIS_URL: redisUrl,
      UPSTREAMS: validatorPorts.map((validator) => `http://127.0.0.1:${validator}`).join(","),
      GATEWAY_PORT: String(port),
      GATEWAY_OPS_PORT: "0",
    },
  };
}

/** The configuration that is shipped, with the bench's keys. The stubs have no WebSocket. */
function configuration({ keys }: Setup): string {
  const shipped: unknown = parse(readFileSync(join(root, "config/gateway.yaml"), "utf8"));
  return stringify({
    ...z.record(z.string(), z.unknown()).parse(shipped),
    methodsFile: join(root, "config/methods.yaml"),
    newHeads: "none",
    keys: keys.map(({ value, limitPerMinute }) => ({
      label: value.slice(0, 16),
      team: "bench",
      value,
      permissions: ["rpc"],
      limitPerMinute,
    })),
  });
}

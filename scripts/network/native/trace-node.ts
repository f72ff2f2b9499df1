import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Manifest } from "../../../genesis/manifest.ts";
import { nativeFolder } from "../../../genesis/write-network.ts";
import { askNode } from "../chain/ask-node.ts";
import type { Nodes } from "../nodes.ts";
import { besuArguments, besuEnvironment, loopback, nativePorts } from "./besu-command.ts";
import { checkKeys } from "./check-keys.ts";
import { findBesu } from "./find-besu.ts";
import { createNodeProcess } from "./node-process.ts";

const answersWithinMs = 120_000;
const pollMs = 250;

/** The node that runs traces, as a process beside the validators, on the ports behind theirs. It is no part of the quorum. */
export function openTraceNode({
  folder,
  node: { name, address, javaMemoryMb },
  slot,
  portBase,
  staticNodesFile,
  env,
  stopValidators,
}: {
  folder: string;
  node: NonNullable<Manifest["traceNode"]>;
  /** Behind the validators'. */
  slot: number;
  portBase: number;
  staticNodesFile: string;
  env: Readonly<Record<string, string | undefined>>;
  stopValidators: () => Promise<unknown>;
}): NonNullable<Nodes["beside"]> {
  const process = createNodeProcess({ folder: join(folder, nativeFolder, name) });
  const ports = nativePorts(portBase, slot);
  const dataFolder = join(folder, nativeFolder, name, "data");

  async function answers(signal: AbortSignal): Promise<{ failed: string } | undefined> {
    const giveUpAt = performance.now() + answersWithinMs;
    while (performance.now() < giveUpAt && !signal.aborted) {
      const height = await askNode(`http://${loopback}:${ports.http}`, [{ method: "eth_blockNumber" }]);
      if (height?.[0] !== undefined) return undefined;
      if ((await process.pid()) === undefined) return { failed: `${name} has ended: see ${process.logFile}` };
      await sleep(pollMs, undefined, { signal }).catch(() => {});
    }
    return {
      failed: signal.aborted ? "it was interrupted" : `${name} does not answer: see ${process.logFile}`,
    };
  }

  return {
    async up(signal) {
      if ((await process.pid()) !== undefined) return undefined;
      const besu = await findBesu(env);
      if ("failed" in besu) return besu;
      const [problem] = await checkKeys({ folder, validators: [{ name, address }] });
      if (problem !== undefined) return { failed: problem };
      await mkdir(dataFolder, { recursive: true, mode: 0o700 });
      const failure = await process.start({
        program: besu.program,
        args: besuArguments({ folder, name, dataFolder, staticNodesFile, ports }),
        env: besuEnvironment({ env, javaMemoryMb }),
      });
      return failure === undefined ? answers(signal) : { failed: `${name}: ${failure.failed}` };
    },
    async down() {
      await process.stop();
      await stopValidators();
    },
  };
}

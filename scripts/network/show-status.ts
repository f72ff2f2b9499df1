import { json } from "../../lib/cli/format.ts";
import { type NetworkStatus, networkStatus, stallLimitSeconds } from "./chain/network-status.ts";
import { observe } from "./chain/observe.ts";
import type { CommandInput } from "./command.ts";
import { statusText } from "./output/status-text.ts";

export async function currentStatus({
  nodes,
  manifest,
  config,
  now,
}: Pick<CommandInput, "nodes" | "manifest" | "config" | "now">): Promise<NetworkStatus> {
  const { windowBlocks, stalledAfterSeconds } = config.status;
  // Heads are told at once, and it may take seconds until a silent node is given up.
  const nowMs = now();
  const views = await observe({ nodes, genesisHash: manifest.genesisHash, windowBlocks });
  const limitSeconds = stallLimitSeconds({ ...manifest, stalledAfterSeconds });
  return networkStatus({ views, nowMs, stalledAfterSeconds: limitSeconds });
}

/** Prints the current status; JSON has more fields. */
export async function showStatus(
  input: Pick<CommandInput, "nodes" | "manifest" | "config" | "now" | "json" | "print">,
  more: Readonly<Record<string, unknown>> = {},
): Promise<NetworkStatus> {
  const status = await currentStatus(input);
  input.print(input.json ? json({ ...more, ...status }) : statusText(status));
  return status;
}

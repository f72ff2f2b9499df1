import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createRpcClient } from "../../lib/chain/rpc-client.ts";
import { readFeeSettings } from "../../lib/fee-collector/fee-settings.ts";
import { deployContracts } from "../contracts/deploy-contracts.ts";
import { readOwnerKey } from "../contracts/owner-key.ts";
import type { CommandInput } from "./command.ts";

const developmentFile = fileURLToPath(new URL("../../config/fees.yaml", import.meta.url));
const timeoutMs = 10_000;

/**
 * Brings the fee contracts onto a network that makes blocks: those of its own fees.yaml (`npm run genesis -- fee-keys`), in the development
 * profile those of config/fees.yaml. Where it cannot, that is said in a line: the network is up all the same.
 */
export async function deployFees({
  nodes,
  manifest,
  folder,
  config,
  note,
}: {
  nodes: Pick<CommandInput["nodes"], "list">;
  manifest: Pick<CommandInput["manifest"], "chainId">;
  /** The network's. */
  folder: string;
  config: Pick<CommandInput["config"], "profile">;
  note: (text: string) => void;
}): Promise<void> {
  const own = join(folder, "fees.yaml");
  const hasOwn = existsSync(own);
  const [first] = nodes.list;
  if (first === undefined) return;
  if (!hasOwn && config.profile === "production") {
    note(`No fees are taken: ${own} is missing (npm run genesis -- fee-keys).`);
    return;
  }
  const rpc = createRpcClient({ url: first.rpcUrl, timeoutMs });
  try {
    const settings = readFeeSettings({ file: hasOwn ? own : developmentFile, env: {} });
    const done = await deployContracts({
      rpc,
      chainId: manifest.chainId,
      settings,
      ownerKey: () => readOwnerKey({ owner: settings.owner, values: keystoreOf(folder), env: {} }),
    });
    if (done.length > 0) note(`The FeeCollector is at ${settings.feeCollector}.`);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    note(`No fees are taken: ${why}`);
  } finally {
    await rpc.stop();
  }
}

/** What `fee-keys` has made, while it is there: it belongs away from this machine once the contract is deployed. */
function keystoreOf(folder: string): Readonly<Record<string, string>> {
  const file = join(folder, "secrets", "fee-owner-keystore.json");
  if (!existsSync(file)) return {};
  return {
    "owner-keystore": file,
    "owner-password-file": join(folder, "secrets", "fee-owner-keystore-password"),
  };
}

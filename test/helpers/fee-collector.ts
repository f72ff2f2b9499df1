import { createRpcClient } from "../../lib/chain/rpc-client.ts";
import { developmentOwner } from "../../lib/fee-collector/development-keys.ts";
import { developmentFeeSettings, type FeeSettings } from "../../lib/fee-collector/fee-settings.ts";
import { deployContracts } from "../../scripts/contracts/deploy-contracts.ts";

/** Deploys the dev chain's contracts on a node that mines on each transaction; answers what was done. */
export async function deployOn(
  url: string,
  settings: FeeSettings = developmentFeeSettings,
): Promise<string[]> {
  const rpc = createRpcClient({ url, timeoutMs: 10_000 });
  try {
    const ownerKey = async () => developmentOwner.privateKey;
    return await deployContracts({ rpc, chainId: 8845, settings, ownerKey });
  } finally {
    await rpc.stop();
  }
}

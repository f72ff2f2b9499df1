import { ChainUnavailableError, createRpcClient, type RpcClient } from "../../lib/chain/rpc-client.ts";
import { CommandError, type OptionTable, textOf, type Values } from "../../lib/cli/command.ts";
import { type FeeSettings, readFeeSettings } from "../../lib/fee-collector/fee-settings.ts";
import { network } from "../../lib/network.ts";

/** What the commands that ask a chain take. */
export const chainOptions: OptionTable = {
  rpc: { value: "URL", text: "a node's JSON-RPC", default: "http://127.0.0.1:8545" },
  fees: { value: "FILE", text: "owner, treasury and signers", default: "config/fees.yaml" },
};

export type OpenedChain = { rpc: RpcClient; chainId: number; settings: FeeSettings };

const timeoutMs = 30_000;

/** Reads the settings, and runs `use` with a client of the chain. @throws CommandError, ConfigError. */
export async function withChain<Value>({
  values,
  env,
  use,
}: {
  values: Values;
  env: Readonly<Record<string, string | undefined>>;
  use: (chain: OpenedChain) => Promise<Value>;
}): Promise<Value> {
  const url = textOf(values, "rpc") ?? "http://127.0.0.1:8545";
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new CommandError("--rpc: an address that begins with http:// or https:// was expected.", {
      exitCode: 2,
    });
  }
  const settings = readFeeSettings({ file: textOf(values, "fees") ?? "config/fees.yaml", env });
  const rpc = createRpcClient({ url, timeoutMs });
  try {
    return await use({ rpc, chainId: network.chainId, settings });
  } catch (error) {
    if (!(error instanceof ChainUnavailableError)) throw error;
    throw new CommandError(`${url}: ${error.message}. Another node: --rpc URL`, { exitCode: 1 });
  } finally {
    await rpc.stop();
  }
}

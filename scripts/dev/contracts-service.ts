import { createRpcClient } from "../../lib/chain/rpc-client.ts";
import { developmentOwner } from "../../lib/fee-collector/development-keys.ts";
import type { FeeSettings } from "../../lib/fee-collector/fee-settings.ts";
import { deployContracts } from "../contracts/deploy-contracts.ts";
import type { Service } from "./service.ts";

const timeoutMs = 10_000;

/**
 * Brings the fee contracts of the settings onto the dev chain, where they are not there yet: about 0.2 s, and a look
 * later. anvil makes the block at once; on validators the others go on starting meanwhile. What is missing afterwards is
 * said, and stops nothing.
 */
export function contractsService({
  fees,
  chainId,
  minesAtOnce,
}: {
  fees: FeeSettings | undefined;
  chainId: number;
  minesAtOnce: boolean;
}): Service {
  return {
    name: "contracts",
    ports: [],
    async start({ addresses, say, childLine, onStop, stopping }) {
      const url = addresses.chain;
      if (fees === undefined || url === undefined) return { rows: [] };
      if (fees.owner !== developmentOwner.address) {
        say(`The FeeCollector's owner is ${fees.owner}: npm run contracts -- deploy, with its key.`);
        return { rows: [] };
      }
      const rpc = createRpcClient({ url, timeoutMs });
      const deployment = deployContracts({
        rpc,
        chainId,
        settings: fees,
        ownerKey: async () => developmentOwner.privateKey,
        ...(minesAtOnce ? { afterSending: async () => void (await rpc.ask("evm_mine", [])) } : {}),
      }).then(
        (done) => {
          if (done.length > 0) childLine("contracts", `the FeeCollector is at ${fees.feeCollector}`);
        },
        (error: unknown) => {
          if (stopping.aborted) return;
          const why = error instanceof Error ? error.message : String(error);
          say(`The fee contracts are not on this chain, so that nothing can be bought. ${why}`);
        },
      );
      if (minesAtOnce) {
        await deployment;
        await rpc.stop();
      } else {
        onStop(async () => {
          await rpc.stop();
          await deployment;
        });
      }
      return { rows: [] };
    },
  };
}

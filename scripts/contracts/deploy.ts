import { exitCodes } from "../../lib/service/exit-codes.ts";
import { chainOptions, withChain } from "./chain-options.ts";
import type { ContractsCommand } from "./command.ts";
import { deployContracts } from "./deploy-contracts.ts";
import { ownerOptions, readOwnerKey } from "./owner-key.ts";

export const deployCommand: ContractsCommand = {
  name: "deploy",
  positionals: [],
  summary: "Brings burn sink, FeeCollector and signers of config/fees.yaml onto a chain.",
  details: [
    "Looks first, and sends only what is missing: it can be run again at any time. npm start and npm run network -- up",
    "do the same. A signer that the file does not name any more keeps its right: signers revoke takes it.",
  ],
  options: { ...chainOptions, ...ownerOptions },
  examples: [
    "deploy",
    "deploy --rpc http://127.0.0.1:8610 --owner-keystore owner.json --owner-password-file owner.txt",
  ],
  async run({ values, env, print, note }) {
    return await withChain({
      values,
      env,
      async use({ rpc, chainId, settings }) {
        const done = await deployContracts({
          rpc,
          chainId,
          settings,
          ownerKey: () => readOwnerKey({ owner: settings.owner, values, env }),
          say: note,
        });
        const what = done.length === 0 ? "was there already, with all its signers" : "is there";
        print(`FeeCollector ${settings.feeCollector} ${what}.`);
        return exitCodes.done;
      },
    });
  },
};
